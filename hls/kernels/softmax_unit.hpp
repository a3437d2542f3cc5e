// The softmax unit: one row of scores streams in, blocks of 32 weights stream out as they are made; at the end the
// row's largest exponent, what its sums have to be scaled by, and 1/Z (docs/numbers.md §9). One beat of SoftmaxLanes a
// cycle. Relies on hls/engine for all arithmetic. Formatted by hand: clang-format breaks pragmas.
#pragma once

#include <hls_stream.h>

#include "hls/engine/softmax.hpp"
#include "hls/kernels/beats.hpp"

// clang-format off
namespace lpu {
namespace kernels {

/// positions: 1 … MaxBlocks·32, those up to the current one; the last beat's others are masked. score_exponent: of the
/// sums' unit. Blocks go out in order, as many as whole beats fill (with more than 32 lanes the last one may be empty).
template <int SoftmaxLanes, int MaxBlocks>
void softmax_unit(std::int32_t positions, std::int32_t score_exponent, hls::stream<ScoreBeat<SoftmaxLanes>>& scores,
                  hls::stream<WeightBlock>& blocks, std::int32_t& largest_exponent, std::int32_t& exponent_difference,
                  float& inverse, std::uint32_t& saturations) {
  constexpr int kBlocksAtOnce = SoftmaxLanes > contract::kBlockValues ? SoftmaxLanes / contract::kBlockValues : 1;
  constexpr int kValuesAtOnce = kBlocksAtOnce * contract::kBlockValues;
  constexpr int kBeatsAtOnce = kValuesAtOnce / SoftmaxLanes;
  constexpr int kRounds = (MaxBlocks + kBlocksAtOnce - 1) / kBlocksAtOnce;
  static_assert(kBeatsAtOnce * SoftmaxLanes == kValuesAtOnce, "softmax lanes must divide a block, or be whole blocks");

  engine::Weight weights[kBlocksAtOnce][contract::kBlockValues];
#pragma HLS array_partition variable=weights type=complete dim=0
  std::int32_t wholes[kRounds][kBlocksAtOnce];  // N_b
#pragma HLS array_partition variable=wholes type=complete dim=2
  std::int64_t denominators[kRounds][kBlocksAtOnce];  // z_b
#pragma HLS array_partition variable=denominators type=complete dim=2
  engine::Status status;
  engine::SoftmaxRow row = engine::softmax_row_start();
  const std::int32_t rounds_wanted = (positions + kValuesAtOnce - 1) / kValuesAtOnce;
  const std::int32_t rounds = rounds_wanted < kRounds ? rounds_wanted : static_cast<std::int32_t>(kRounds);

softmax_rounds:
  for (std::int32_t round = 0; round < rounds; ++round) {
#pragma HLS loop_tripcount min=1 max=2048
softmax_beats:
    for (int beat = 0; beat < kBeatsAtOnce; ++beat) {
#pragma HLS pipeline ii=1
      const ScoreBeat<SoftmaxLanes> in = scores.read();
softmax_lanes:
      for (int lane = 0; lane < SoftmaxLanes; ++lane) {
#pragma HLS unroll
        const int place = beat * SoftmaxLanes + lane;
        const bool masked = round * kValuesAtOnce + place >= positions;
        // A masked score may be anything: it must not count as a saturation.
        const engine::Int128 sum = masked ? engine::Int128(0) : in.sums[lane];
        const std::int32_t score = engine::score_to_fixed(sum, score_exponent, status);
        weights[place / contract::kBlockValues][place % contract::kBlockValues] =
            engine::softmax_weight(score, in.value_scales[lane]);
      }
      if (beat == kBeatsAtOnce - 1) {
softmax_blocks:
        for (int k = 0; k < kBlocksAtOnce; ++k) {
#pragma HLS unroll
          const std::int32_t left = positions - (round * kValuesAtOnce + k * contract::kBlockValues);
          const engine::SoftmaxBlock block =
              engine::softmax_block(weights[k], left < contract::kBlockValues ? left : contract::kBlockValues);
          engine::take_largest(row, block);
          wholes[round][k] = block.whole;
          denominators[round][k] = block.denominator;
          WeightBlock out;
softmax_copy:
          for (int j = 0; j < contract::kBlockValues; ++j) {
#pragma HLS unroll
            out.mantissas[j] = block.mantissas[j];
          }
          out.exponent = block.exponent;
          blocks.write(out);
        }
      }
    }
  }

softmax_denominators:
  for (std::int32_t round = 0; round < rounds; ++round) {
#pragma HLS pipeline ii=1
#pragma HLS loop_tripcount min=1 max=2048
softmax_denominator_blocks:
    for (int k = 0; k < kBlocksAtOnce; ++k) {
#pragma HLS unroll
      engine::add_denominator(row, wholes[round][k], denominators[round][k]);
    }
  }
  largest_exponent = row.exponent;
  exponent_difference = row.exponent - row.whole;
  inverse = engine::softmax_inverse(row, status);
  saturations = status.saturations;
}

}  // namespace kernels
}  // namespace lpu
