// Tops of the vector chains (residual_chain.hpp, swiglu_chain.hpp).
// Relies on the template for everything but the interface. Formatted by hand: clang-format breaks pragmas.
#include "hls/kernels/residual_chain.hpp"
#include "hls/kernels/swiglu_chain.hpp"
#include "hls/kernels/tops.hpp"

// clang-format off
extern "C" void lpu_kernel_residual_tiny(std::int32_t values, float inverse_width, float epsilon,
    hls::stream<lpu::kernels::RowBeat<lpu::kernels::kTiny.vector_lanes>>& rows,
    float residual[lpu::kernels::kTinyBeats][lpu::kernels::kTiny.vector_lanes],
    const float gains[lpu::kernels::kTinyBeats][lpu::kernels::kTiny.vector_lanes],
    hls::stream<lpu::engine::Block>& blocks, float& scale, std::uint32_t& saturations) {
#pragma HLS interface mode=s_axilite port=values bundle=control
#pragma HLS interface mode=s_axilite port=inverse_width bundle=control
#pragma HLS interface mode=s_axilite port=epsilon bundle=control
#pragma HLS interface mode=ap_fifo port=rows
#pragma HLS interface mode=ap_memory port=residual
#pragma HLS interface mode=ap_memory port=gains
#pragma HLS interface mode=ap_fifo port=blocks
#pragma HLS interface mode=s_axilite port=scale bundle=control
#pragma HLS interface mode=s_axilite port=saturations bundle=control
#pragma HLS interface mode=s_axilite port=return bundle=control
#pragma HLS array_partition variable=residual type=complete dim=2
#pragma HLS array_partition variable=gains type=complete dim=2
  lpu::kernels::residual_chain<lpu::kernels::kTiny.vector_lanes, lpu::kernels::kTiny.residual_values>(
      values, inverse_width, epsilon, rows, residual, gains, blocks, scale, saturations);
}

extern "C" void lpu_kernel_swiglu_tiny(std::int32_t values, float scale,
    hls::stream<lpu::kernels::RowBeat<lpu::kernels::kTiny.vector_lanes>>& rows,
    hls::stream<lpu::engine::Block>& blocks, std::uint32_t& saturations) {
#pragma HLS interface mode=s_axilite port=values bundle=control
#pragma HLS interface mode=s_axilite port=scale bundle=control
#pragma HLS interface mode=ap_fifo port=rows
#pragma HLS interface mode=ap_fifo port=blocks
#pragma HLS interface mode=s_axilite port=saturations bundle=control
#pragma HLS interface mode=s_axilite port=return bundle=control
  lpu::kernels::swiglu_chain<lpu::kernels::kTiny.vector_lanes, lpu::contract::kMaxColumns>(
      values, scale, rows, blocks, saturations);
}

extern "C" void lpu_kernel_residual_u55c(std::int32_t values, float inverse_width, float epsilon,
    hls::stream<lpu::kernels::RowBeat<lpu::kernels::kU55c.vector_lanes>>& rows,
    float residual[lpu::kernels::kU55cBeats][lpu::kernels::kU55c.vector_lanes],
    const float gains[lpu::kernels::kU55cBeats][lpu::kernels::kU55c.vector_lanes],
    hls::stream<lpu::engine::Block>& blocks, float& scale, std::uint32_t& saturations) {
#pragma HLS interface mode=s_axilite port=values bundle=control
#pragma HLS interface mode=s_axilite port=inverse_width bundle=control
#pragma HLS interface mode=s_axilite port=epsilon bundle=control
#pragma HLS interface mode=ap_fifo port=rows
#pragma HLS interface mode=ap_memory port=residual
#pragma HLS interface mode=ap_memory port=gains
#pragma HLS interface mode=ap_fifo port=blocks
#pragma HLS interface mode=s_axilite port=scale bundle=control
#pragma HLS interface mode=s_axilite port=saturations bundle=control
#pragma HLS interface mode=s_axilite port=return bundle=control
#pragma HLS array_partition variable=residual type=complete dim=2
#pragma HLS array_partition variable=gains type=complete dim=2
  lpu::kernels::residual_chain<lpu::kernels::kU55c.vector_lanes, lpu::kernels::kU55c.residual_values>(
      values, inverse_width, epsilon, rows, residual, gains, blocks, scale, saturations);
}

extern "C" void lpu_kernel_swiglu_u55c(std::int32_t values, float scale,
    hls::stream<lpu::kernels::RowBeat<lpu::kernels::kU55c.vector_lanes>>& rows,
    hls::stream<lpu::engine::Block>& blocks, std::uint32_t& saturations) {
#pragma HLS interface mode=s_axilite port=values bundle=control
#pragma HLS interface mode=s_axilite port=scale bundle=control
#pragma HLS interface mode=ap_fifo port=rows
#pragma HLS interface mode=ap_fifo port=blocks
#pragma HLS interface mode=s_axilite port=saturations bundle=control
#pragma HLS interface mode=s_axilite port=return bundle=control
  lpu::kernels::swiglu_chain<lpu::kernels::kU55c.vector_lanes, lpu::contract::kMaxColumns>(
      values, scale, rows, blocks, saturations);
}
