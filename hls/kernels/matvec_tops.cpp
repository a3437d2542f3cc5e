// Tops of the streaming matrix-vector engine (matvec.hpp).
// Relies on the template for everything but the interface. Formatted by hand: clang-format breaks pragmas.
#include "hls/kernels/matvec.hpp"
#include "hls/kernels/tops.hpp"

// clang-format off
extern "C" void lpu_kernel_matvec_tiny(std::int32_t new_words, std::int32_t new_minimums, std::int32_t row_groups,
    std::int32_t column_sets, std::int32_t nibbles, bool signed_code, bool signed_scale, bool has_minimum,
    bool adds_residual, hls::stream<lpu::kernels::WeightWord>& weights, hls::stream<std::uint16_t>& minimum_words,
    hls::stream<lpu::engine::Block>& activations,
    hls::stream<lpu::kernels::StartBeat<lpu::kernels::kTiny.lanes>>& starts,
    hls::stream<lpu::kernels::SumBeat<lpu::kernels::kTiny.lanes>>& sums, std::uint32_t& saturations) {
#pragma HLS interface mode=s_axilite port=new_words bundle=control
#pragma HLS interface mode=s_axilite port=new_minimums bundle=control
#pragma HLS interface mode=s_axilite port=row_groups bundle=control
#pragma HLS interface mode=s_axilite port=column_sets bundle=control
#pragma HLS interface mode=s_axilite port=nibbles bundle=control
#pragma HLS interface mode=s_axilite port=signed_code bundle=control
#pragma HLS interface mode=s_axilite port=signed_scale bundle=control
#pragma HLS interface mode=s_axilite port=has_minimum bundle=control
#pragma HLS interface mode=s_axilite port=adds_residual bundle=control
#pragma HLS interface mode=ap_fifo port=weights
#pragma HLS interface mode=ap_fifo port=minimum_words
#pragma HLS interface mode=ap_fifo port=activations
#pragma HLS interface mode=ap_fifo port=starts
#pragma HLS interface mode=ap_fifo port=sums
#pragma HLS interface mode=s_axilite port=saturations bundle=control
#pragma HLS interface mode=s_axilite port=return bundle=control
  lpu::kernels::matvec<lpu::kernels::kTiny.lanes, lpu::kernels::kTiny.column_groups, lpu::kernels::kTiny.lane_words,
                       lpu::kernels::kTiny.minimum_words, lpu::kernels::kTiny.activation_blocks>(
      new_words, new_minimums, row_groups, column_sets, nibbles, signed_code, signed_scale, has_minimum, adds_residual,
      weights, minimum_words, activations, starts, sums, saturations);
}

extern "C" void lpu_kernel_matvec_u55c(std::int32_t new_words, std::int32_t new_minimums, std::int32_t row_groups,
    std::int32_t column_sets, std::int32_t nibbles, bool signed_code, bool signed_scale, bool has_minimum,
    bool adds_residual, hls::stream<lpu::kernels::WeightWord>& weights, hls::stream<std::uint16_t>& minimum_words,
    hls::stream<lpu::engine::Block>& activations,
    hls::stream<lpu::kernels::StartBeat<lpu::kernels::kU55c.lanes>>& starts,
    hls::stream<lpu::kernels::SumBeat<lpu::kernels::kU55c.lanes>>& sums, std::uint32_t& saturations) {
#pragma HLS interface mode=s_axilite port=new_words bundle=control
#pragma HLS interface mode=s_axilite port=new_minimums bundle=control
#pragma HLS interface mode=s_axilite port=row_groups bundle=control
#pragma HLS interface mode=s_axilite port=column_sets bundle=control
#pragma HLS interface mode=s_axilite port=nibbles bundle=control
#pragma HLS interface mode=s_axilite port=signed_code bundle=control
#pragma HLS interface mode=s_axilite port=signed_scale bundle=control
#pragma HLS interface mode=s_axilite port=has_minimum bundle=control
#pragma HLS interface mode=s_axilite port=adds_residual bundle=control
#pragma HLS interface mode=ap_fifo port=weights
#pragma HLS interface mode=ap_fifo port=minimum_words
#pragma HLS interface mode=ap_fifo port=activations
#pragma HLS interface mode=ap_fifo port=starts
#pragma HLS interface mode=ap_fifo port=sums
#pragma HLS interface mode=s_axilite port=saturations bundle=control
#pragma HLS interface mode=s_axilite port=return bundle=control
  lpu::kernels::matvec<lpu::kernels::kU55c.lanes, lpu::kernels::kU55c.column_groups, lpu::kernels::kU55c.lane_words,
                       lpu::kernels::kU55c.minimum_words, lpu::kernels::kU55c.activation_blocks>(
      new_words, new_minimums, row_groups, column_sets, nibbles, signed_code, signed_scale, has_minimum, adds_residual,
      weights, minimum_words, activations, starts, sums, saturations);
}
