// The vector chain between the feed-forward network's matrices: sums of gate and up rows, which come in turn, become
// binary32, times 1/rms, silu(gate)·up, quantised in blocks of 32 (docs/numbers.md §3, §10). VectorLanes rows, half as
// many values, a cycle. Relies on hls/engine for all arithmetic. Formatted by hand: clang-format breaks pragmas.
#pragma once

#include <hls_stream.h>

#include "hls/engine/accumulate.hpp"
#include "hls/engine/convert.hpp"
#include "hls/engine/swiglu.hpp"
#include "hls/kernels/beats.hpp"

// clang-format off
namespace lpu {
namespace kernels {

/// values: results, half the rows; at most MaxValues. scale: 1/rms. A last block that isn't full ends in zeros.
template <int VectorLanes, int MaxValues>
void swiglu_chain(std::int32_t values, float scale, hls::stream<RowBeat<VectorLanes>>& rows,
                  hls::stream<engine::Block>& blocks, std::uint32_t& saturations) {
  constexpr int kValuesOfBeat = VectorLanes / 2;
  constexpr int kBeatsOfBlock = contract::kBlockValues / kValuesOfBeat;
  constexpr int kMaxBeats = MaxValues / kValuesOfBeat;
  static_assert(kBeatsOfBlock * kValuesOfBeat == contract::kBlockValues, "vector lanes must be even and divide a block");

  float block_values[contract::kBlockValues];
#pragma HLS array_partition variable=block_values type=complete
  engine::Status status;
  const std::int32_t wanted = (values + kValuesOfBeat - 1) / kValuesOfBeat;
  const std::int32_t beats = wanted < kMaxBeats ? wanted : static_cast<std::int32_t>(kMaxBeats);
swiglu_beats:
  for (std::int32_t beat = 0; beat < beats; ++beat) {
#pragma HLS pipeline ii=1
#pragma HLS loop_tripcount min=1 max=4096
    const RowBeat<VectorLanes> in = rows.read();
    const int part = beat % kBeatsOfBlock;
    if (part == 0) {
swiglu_clear:
      for (int j = 0; j < contract::kBlockValues; ++j) {
#pragma HLS unroll
        block_values[j] = 0;
      }
    }
swiglu_pairs:
    for (int pair = 0; pair < kValuesOfBeat; ++pair) {
#pragma HLS unroll
      if (beat * kValuesOfBeat + pair < values) {
        const int gate_row = 2 * pair;
        const int up_row = 2 * pair + 1;
        const float gate_sum =
            engine::convert(in.sums[gate_row], engine::sum_exponent(in.exponents[gate_row]), status);
        const float up_sum = engine::convert(in.sums[up_row], engine::sum_exponent(in.exponents[up_row]), status);
        const float gate = engine::multiply(gate_sum, scale, status);
        const float up = engine::multiply(up_sum, scale, status);
        block_values[part * kValuesOfBeat + pair] = engine::swiglu(gate, up, status);
      }
    }
    if (part == kBeatsOfBlock - 1 || beat == beats - 1) blocks.write(engine::quantise(block_values, status));
  }
  saturations = status.saturations;
}

}  // namespace kernels
}  // namespace lpu
