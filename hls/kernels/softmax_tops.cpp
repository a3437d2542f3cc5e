// Tops of the softmax unit (softmax_unit.hpp).
// Relies on the template for everything but the interface. Formatted by hand: clang-format breaks pragmas.
#include "hls/kernels/softmax_unit.hpp"
#include "hls/kernels/tops.hpp"

// clang-format off
extern "C" void lpu_kernel_softmax_tiny(std::int32_t positions, std::int32_t score_exponent,
    hls::stream<lpu::kernels::ScoreBeat<lpu::kernels::kTiny.softmax_lanes>>& scores,
    hls::stream<lpu::kernels::WeightBlock>& blocks, std::int32_t& largest_exponent, std::int32_t& exponent_difference,
    float& inverse, std::uint32_t& saturations) {
#pragma HLS interface mode=s_axilite port=positions bundle=control
#pragma HLS interface mode=s_axilite port=score_exponent bundle=control
#pragma HLS interface mode=ap_fifo port=scores
#pragma HLS interface mode=ap_fifo port=blocks
#pragma HLS interface mode=s_axilite port=largest_exponent bundle=control
#pragma HLS interface mode=s_axilite port=exponent_difference bundle=control
#pragma HLS interface mode=s_axilite port=inverse bundle=control
#pragma HLS interface mode=s_axilite port=saturations bundle=control
#pragma HLS interface mode=s_axilite port=return bundle=control
  lpu::kernels::softmax_unit<lpu::kernels::kTiny.softmax_lanes, lpu::kernels::longest_row_blocks(lpu::kernels::kTiny)>(
      positions, score_exponent, scores, blocks, largest_exponent, exponent_difference, inverse, saturations);
}

extern "C" void lpu_kernel_softmax_u55c(std::int32_t positions, std::int32_t score_exponent,
    hls::stream<lpu::kernels::ScoreBeat<lpu::kernels::kU55c.softmax_lanes>>& scores,
    hls::stream<lpu::kernels::WeightBlock>& blocks, std::int32_t& largest_exponent, std::int32_t& exponent_difference,
    float& inverse, std::uint32_t& saturations) {
#pragma HLS interface mode=s_axilite port=positions bundle=control
#pragma HLS interface mode=s_axilite port=score_exponent bundle=control
#pragma HLS interface mode=ap_fifo port=scores
#pragma HLS interface mode=ap_fifo port=blocks
#pragma HLS interface mode=s_axilite port=largest_exponent bundle=control
#pragma HLS interface mode=s_axilite port=exponent_difference bundle=control
#pragma HLS interface mode=s_axilite port=inverse bundle=control
#pragma HLS interface mode=s_axilite port=saturations bundle=control
#pragma HLS interface mode=s_axilite port=return bundle=control
  lpu::kernels::softmax_unit<lpu::kernels::kU55c.softmax_lanes, lpu::kernels::longest_row_blocks(lpu::kernels::kU55c)>(
      positions, score_exponent, scores, blocks, largest_exponent, exponent_difference, inverse, saturations);
}
