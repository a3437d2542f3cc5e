// Roundings of binary32 written a second time, in binary64 and the C library's rounding: what the tests compare with.
#pragma once

#include <cmath>
#include <cstdint>

#include "hls/engine/binary32.hpp"
#include "hls/engine/integers.hpp"

namespace lpu::engine::reference {

constexpr double kLargestFloat = 3.4028234663852886e38;  // (2^24 − 1)·2^104

/// RNE to 24 bits with exponents without end, then the machine's flush and saturation. Correct when `value` is exact or
/// differs from the exact number by a rounding to at least 50 bits that is no tie of 24 bits.
inline float machine_float(double value, std::uint32_t& saturations) {
  if (value == 0) return std::signbit(value) ? -0.0f : 0.0f;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);  // 0.5…1
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(fraction, 24)), exponent - 24);
  if (std::fabs(rounded) < std::ldexp(1.0, -126)) return std::signbit(value) ? -0.0f : 0.0f;
  if (std::fabs(rounded) > kLargestFloat) {
    saturations += 1;
    return static_cast<float>(std::copysign(kLargestFloat, value));
  }
  return static_cast<float>(rounded);
}

inline double flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0, value) : static_cast<double>(value);
}

/// The integer as binary64 with its last bit "sticky": rounded to odd, so that one more rounding to 24 bits is right.
inline double rounded_to_odd(Int128 value) {
  const bool negative = value < 0;
  UInt128 magnitude = negative ? -static_cast<UInt128>(value) : static_cast<UInt128>(value);
  int shift = 0;
  bool lost = false;
  while (magnitude >= (static_cast<UInt128>(1) << 53)) {
    lost = lost || (magnitude & 1) != 0;
    magnitude >>= 1;
    ++shift;
  }
  if (lost) magnitude |= 1;
  const double result = std::ldexp(static_cast<double>(static_cast<std::uint64_t>(magnitude)), shift);
  return negative ? -result : result;
}

}  // namespace lpu::engine::reference
