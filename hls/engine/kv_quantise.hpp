// K and V with a scale fitted to the largest of n values (docs/numbers.md §8): scale s on a static grid 2^e, rounded
// up, and codes q = RNE(x/(s·2^e)). K: a fit per block of 32; V: one per position and head. Latency: kFitCycles. Relies
// on reciprocal.hpp, rounding.hpp, number_formats.hpp.
#pragma once

#include "hls/contract/number_formats.hpp"
#include "hls/engine/reciprocal.hpp"
#include "hls/engine/rounding.hpp"

namespace lpu {
namespace engine {

struct Fit {
  std::uint16_t scale;  ///< s, 1…65535
  float inverse;        ///< ≈ 1/(s·2^e)
};

/// Largest code of a width in bits: 127 for 8, 2047 for 12.
constexpr int code_limit(int bits) { return (1 << (bits - 1)) - 1; }

/// RNE(1/limit); only two limits exist.
inline float inverse_limit(int limit) {
  return limit == code_limit(contract::kKvMantissaBits) ? 1.0f / 127.0f : 1.0f / 2047.0f;
}

/// ⌈x·2^power⌉ of x ≥ 0, clamped to 65,536: one more than the largest scale.
inline std::int32_t ceil_to_scale(float x, int power) {
  const int field = exponent_field(x);
  if (field == 0) return 0;
  const std::uint32_t significand = (bits_from_float(x) & kFractionMask) | kSmallestNormalBits;
  const int right = kFloatBias + kFloatFractionBits - field - power;
  if (right <= kFloatFractionBits - 16) return contract::kKvScaleMax + 1;  // x·2^power ≥ 2^16
  if (right > kFloatFractionBits) return 1;                                // below 1
  const std::uint32_t rest = significand & ((1u << right) - 1);
  return static_cast<std::int32_t>((significand >> right) + (rest != 0 ? 1u : 0u));
}

/// largest_magnitude: max |x| of the values; limit: 127 or 2047; grid_exponent: e of this layer and head.
inline Fit fit(float largest_magnitude, int limit, int grid_exponent, Status& status) {
  const float step = multiply(largest_magnitude, inverse_limit(limit), status);
  const std::int32_t wanted = ceil_to_scale(step, -grid_exponent);
  if (wanted > contract::kKvScaleMax) status.saturations += 1;
  const std::int32_t scale =
      wanted < 1 ? 1 : (wanted > contract::kKvScaleMax ? static_cast<std::int32_t>(contract::kKvScaleMax) : wanted);
  const float grid = times_power_of_two(static_cast<float>(scale), grid_exponent, status);
  Fit result;
  result.scale = static_cast<std::uint16_t>(scale);
  result.inverse = reciprocal(grid);
  return result;
}

/// RNE(x·inverse rounded), clamped to ±limit.
inline std::int32_t kv_code(float value, const Fit& fitted, int limit, Status& status) {
  const float ratio = multiply(value, fitted.inverse, status);
  const Int128 code = float_to_fixed(ratio, 0);
  if (code > limit) return limit;
  if (code < -limit) return -limit;
  return static_cast<std::int32_t>(code);
}

}  // namespace engine
}  // namespace lpu
