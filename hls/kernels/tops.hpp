// The kernels' tops, one per kernel and size: what an HLS compiler is given as the function to build.
// Parameters: see the templates (matvec.hpp, softmax_unit.hpp, residual_chain.hpp, swiglu_chain.hpp). Relies on
// beats.hpp and sizes.hpp. Formatted by hand like the files that define them.
#pragma once

#include <hls_stream.h>

#include "hls/kernels/beats.hpp"
#include "hls/kernels/sizes.hpp"

// clang-format off
namespace lpu {
namespace kernels {

// Rows of binary32 that the vector chains keep, [values / lanes][lanes].
constexpr int kTinyBeats = kTiny.residual_values / kTiny.vector_lanes;
constexpr int kU55cBeats = kU55c.residual_values / kU55c.vector_lanes;

}  // namespace kernels
}  // namespace lpu

// ---- tiny
extern "C" void lpu_kernel_matvec_tiny(std::int32_t new_words, std::int32_t new_minimums, std::int32_t row_groups,
    std::int32_t column_sets, std::int32_t nibbles, bool signed_code, bool signed_scale, bool has_minimum,
    bool adds_residual, hls::stream<lpu::kernels::WeightWord>& weights, hls::stream<std::uint16_t>& minimum_words,
    hls::stream<lpu::engine::Block>& activations,
    hls::stream<lpu::kernels::StartBeat<lpu::kernels::kTiny.lanes>>& starts,
    hls::stream<lpu::kernels::SumBeat<lpu::kernels::kTiny.lanes>>& sums, std::uint32_t& saturations);
extern "C" void lpu_kernel_softmax_tiny(std::int32_t positions, std::int32_t score_exponent,
    hls::stream<lpu::kernels::ScoreBeat<lpu::kernels::kTiny.softmax_lanes>>& scores,
    hls::stream<lpu::kernels::WeightBlock>& blocks, std::int32_t& largest_exponent, std::int32_t& exponent_difference,
    float& inverse, std::uint32_t& saturations);
extern "C" void lpu_kernel_residual_tiny(std::int32_t values, float inverse_width, float epsilon,
    hls::stream<lpu::kernels::RowBeat<lpu::kernels::kTiny.vector_lanes>>& rows,
    float residual[lpu::kernels::kTinyBeats][lpu::kernels::kTiny.vector_lanes],
    const float gains[lpu::kernels::kTinyBeats][lpu::kernels::kTiny.vector_lanes],
    hls::stream<lpu::engine::Block>& blocks, float& scale, std::uint32_t& saturations);
extern "C" void lpu_kernel_swiglu_tiny(std::int32_t values, float scale,
    hls::stream<lpu::kernels::RowBeat<lpu::kernels::kTiny.vector_lanes>>& rows,
    hls::stream<lpu::engine::Block>& blocks, std::uint32_t& saturations);

// ---- u55c
extern "C" void lpu_kernel_matvec_u55c(std::int32_t new_words, std::int32_t new_minimums, std::int32_t row_groups,
    std::int32_t column_sets, std::int32_t nibbles, bool signed_code, bool signed_scale, bool has_minimum,
    bool adds_residual, hls::stream<lpu::kernels::WeightWord>& weights, hls::stream<std::uint16_t>& minimum_words,
    hls::stream<lpu::engine::Block>& activations,
    hls::stream<lpu::kernels::StartBeat<lpu::kernels::kU55c.lanes>>& starts,
    hls::stream<lpu::kernels::SumBeat<lpu::kernels::kU55c.lanes>>& sums, std::uint32_t& saturations);
extern "C" void lpu_kernel_softmax_u55c(std::int32_t positions, std::int32_t score_exponent,
    hls::stream<lpu::kernels::ScoreBeat<lpu::kernels::kU55c.softmax_lanes>>& scores,
    hls::stream<lpu::kernels::WeightBlock>& blocks, std::int32_t& largest_exponent, std::int32_t& exponent_difference,
    float& inverse, std::uint32_t& saturations);
extern "C" void lpu_kernel_residual_u55c(std::int32_t values, float inverse_width, float epsilon,
    hls::stream<lpu::kernels::RowBeat<lpu::kernels::kU55c.vector_lanes>>& rows,
    float residual[lpu::kernels::kU55cBeats][lpu::kernels::kU55c.vector_lanes],
    const float gains[lpu::kernels::kU55cBeats][lpu::kernels::kU55c.vector_lanes],
    hls::stream<lpu::engine::Block>& blocks, float& scale, std::uint32_t& saturations);
extern "C" void lpu_kernel_swiglu_u55c(std::int32_t values, float scale,
    hls::stream<lpu::kernels::RowBeat<lpu::kernels::kU55c.vector_lanes>>& rows,
    hls::stream<lpu::engine::Block>& blocks, std::uint32_t& saturations);
