// 1/rms of the residual (docs/numbers.md §6): squares of a fixed-point rounding, summed exactly; mean, + epsilon, 1/√.
// Latency: kNormCycles from the last value's entry. Relies on convert.hpp, rsqrt.hpp, number_formats.hpp.
#pragma once

#include "hls/contract/number_formats.hpp"
#include "hls/engine/convert.hpp"
#include "hls/engine/rsqrt.hpp"

namespace lpu {
namespace engine {

/// RNE(2^(−2·kSquareFractionBits)/width), width 1…65536: a constant of the bundle. The division is correctly rounded,
/// the power of two exact.
inline float inverse_width_factor(int width) {
  const float fraction = 1.0f / static_cast<float>(width);
  return fraction * (1.0f / static_cast<float>(1 << (2 * contract::kSquareFractionBits)));
}

/// v² with v = RNE(residual·2^kSquareFractionBits) saturated to 32 bits; the norm's sum is the exact sum of these.
inline Int128 square_term(float residual, Status& status) {
  const std::int64_t value = saturate32(float_to_fixed(residual, contract::kSquareFractionBits), status);
  const std::int64_t square = value * value;  // at most 2^62
  return square;
}

/// rsqrt(convert(sum)·factor + epsilon).
inline float norm_scale(Int128 sum, float factor, float epsilon, Status& status) {
  const float total = convert(sum, 0, status);
  const float mean = multiply(total, factor, status);
  const float shifted = add(mean, epsilon, status);
  return reciprocal_square_root(shifted);
}

}  // namespace engine
}  // namespace lpu
