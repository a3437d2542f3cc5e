// The vector chain after an output or down projection: a row's sum becomes binary32, is the new residual (the old one
// is in the sum, docs/numbers.md §4), times the next norm's gain, quantised in blocks of 32; beside it the exact sum of
// squares and, at the end, 1/rms (docs/numbers.md §3, §6). VectorLanes rows a cycle. Relies on hls/engine for all
// arithmetic. Formatted by hand: clang-format breaks pragmas.
#pragma once

#include <hls_stream.h>

#include "hls/engine/accumulate.hpp"
#include "hls/engine/convert.hpp"
#include "hls/engine/rms_norm.hpp"
#include "hls/kernels/beats.hpp"

// clang-format off
namespace lpu {
namespace kernels {

/// residual (out), gains: [values / lanes][lanes]. A last block that isn't full ends in zeros.
template <int VectorLanes, int MaxValues>
void residual_chain(std::int32_t values, float inverse_width, float epsilon, hls::stream<RowBeat<VectorLanes>>& rows,
                    float residual[MaxValues / VectorLanes][VectorLanes],
                    const float gains[MaxValues / VectorLanes][VectorLanes], hls::stream<engine::Block>& blocks,
                    float& scale, std::uint32_t& saturations) {
  constexpr int kBeatsOfBlock = contract::kBlockValues / VectorLanes;
  constexpr int kMaxBeats = MaxValues / VectorLanes;
  static_assert(kBeatsOfBlock * VectorLanes == contract::kBlockValues, "vector lanes must divide a block");

  float block_values[contract::kBlockValues];
#pragma HLS array_partition variable=block_values type=complete
  engine::Status status;
  engine::Int128 squares = 0;
  const std::int32_t wanted = (values + VectorLanes - 1) / VectorLanes;
  const std::int32_t beats = wanted < kMaxBeats ? wanted : static_cast<std::int32_t>(kMaxBeats);
residual_beats:
  for (std::int32_t beat = 0; beat < beats; ++beat) {
#pragma HLS pipeline ii=1
#pragma HLS loop_tripcount min=1 max=4096
    const RowBeat<VectorLanes> in = rows.read();
    const int part = beat % kBeatsOfBlock;
    if (part == 0) {
residual_clear:
      for (int j = 0; j < contract::kBlockValues; ++j) {
#pragma HLS unroll
        block_values[j] = 0;
      }
    }
    engine::Int128 beat_squares = 0;  // of all lanes, so that the running sum is one addition a beat
residual_lanes:
    for (int lane = 0; lane < VectorLanes; ++lane) {
#pragma HLS unroll
      if (beat * VectorLanes + lane < values) {
        const float value = engine::convert(in.sums[lane], engine::sum_exponent(in.exponents[lane]), status);
        residual[beat][lane] = value;
        beat_squares = beat_squares + engine::square_term(value, status);
        block_values[part * VectorLanes + lane] = engine::multiply(value, gains[beat][lane], status);
      }
    }
    squares = squares + beat_squares;
    if (part == kBeatsOfBlock - 1 || beat == beats - 1) blocks.write(engine::quantise(block_values, status));
  }
  scale = engine::norm_scale(squares, inverse_width, epsilon, status);
  saturations = status.saturations;
}

}  // namespace kernels
}  // namespace lpu
