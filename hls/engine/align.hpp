// A residual value to the unit of the sum that it starts (docs/numbers.md §4): RNE(x · 2^−exponent) as an exact
// integer, saturated to the accumulator. So a residual joins its sum before the sum's one rounding, and no
// floating-point addition waits behind it. Shift and round, hidden behind the products of the same beat
// (kMatvecCycles). Relies on rounding.hpp.
#pragma once

#include "hls/contract/number_formats.hpp"
#include "hls/engine/rounding.hpp"

namespace lpu {
namespace engine {

/// Magnitudes of 2^(kAccumulatorBits − 2) and more become that and count as a saturation: the sum's own growth needs
/// the rest.
inline Int128 align(float x, int exponent, Status& status) {
  const int field = exponent_field(x);
  if (field == 0) return 0;
  const std::uint32_t bits = bits_from_float(x);
  const Int128 magnitude = static_cast<Int128>((bits & kFractionMask) | kSmallestNormalBits);
  const bool negative = (bits & kSignBit) != 0;
  // x = ±magnitude · 2^(field − bias − 23), magnitude < 2^24
  const int left = field - kFloatBias - kFloatFractionBits - exponent;
  Int128 aligned = 0;
  if (left > contract::kAccumulatorBits - 2 - 24) {
    status.saturations += 1;
    aligned = shift_left(1, contract::kAccumulatorBits - 2);
  } else {
    aligned = shift_right_round_even(magnitude, -left);
  }
  return negative ? static_cast<Int128>(-aligned) : aligned;
}

}  // namespace engine
}  // namespace lpu
