// Round to nearest even, and saturation, of integers and of binary32 taken to fixed point (docs/numbers.md, `RNE`).
// A shift, an increment and a comparison; counted in the latencies of the operations that use them.
// Relies on integers.hpp and binary32.hpp.
#pragma once

#include <cstdint>

#include "hls/engine/binary32.hpp"
#include "hls/engine/integers.hpp"

namespace lpu {
namespace engine {

/// RNE(value · 2^−shift). A shift ≤ 0 is one to the left: the caller knows that the result fits.
inline Int128 shift_right_round_even(Int128 value, int shift) {
  if (shift <= 0) return shift_left(value, -shift);
  const std::int64_t narrow = static_cast<std::int64_t>(value);
  if (shift < 63 && static_cast<Int128>(narrow) == value) {  // nearly always on a processor
    const std::int64_t whole = narrow >> shift;
    const std::uint64_t below = static_cast<std::uint64_t>(narrow) & ((static_cast<std::uint64_t>(1) << shift) - 1);
    const std::uint64_t middle = static_cast<std::uint64_t>(1) << (shift - 1);
    return whole + (below + static_cast<std::uint64_t>(whole & 1) > middle ? 1 : 0);
  }
  if (shift > 127) return 0;  // |value| ≤ 2^127: at most one half, and zero is even
  const Int128 floor = value >> shift;
  const UInt128 one = 1;
  const UInt128 rest = static_cast<UInt128>(value) & static_cast<UInt128>((one << shift) - 1);
  const UInt128 half = one << (shift - 1);
  const bool up = rest > half || (rest == half && (floor & 1) != 0);
  return floor + (up ? 1 : 0);
}

/// Clamps to 32 bits, two's complement; counts when that changes the value.
inline std::int32_t saturate32(Int128 value, Status& status) {
  const Int128 highest = 2147483647;
  const Int128 lowest = -highest - 1;
  if (value > highest) {
    status.saturations += 1;
    return 2147483647;
  }
  if (value < lowest) {
    status.saturations += 1;
    return -2147483647 - 1;
  }
  return static_cast<std::int32_t>(value);
}

/// RNE(x · 2^fraction_bits). Magnitudes from 2^64 on give ±2^64: every user clamps to fewer bits than that.
inline Int128 float_to_fixed(float x, int fraction_bits) {
  const int field = exponent_field(x);
  if (field == 0) return 0;
  const std::uint32_t bits = bits_from_float(x);
  const std::int32_t magnitude = static_cast<std::int32_t>((bits & kFractionMask) | kSmallestNormalBits);
  const bool negative = (bits & kSignBit) != 0;
  // x = ±magnitude · 2^(field − bias − 23)
  const int left = field - kFloatBias - kFloatFractionBits + fraction_bits;
  if (left > 40) return negative ? shift_left(-1, 64) : shift_left(1, 64);
  if (left < -kFloatFractionBits - 1) return 0;  // below one half
  // 24 bits shifted by at most 40: within 64 bits and unsigned until the end, so that the shifter is a narrow one.
  const int right = left < 0 ? -left : 0;
  const std::uint64_t moved = static_cast<std::uint64_t>(magnitude) << (left > 0 ? left : 0);
  const std::uint64_t floor = moved >> right;
  const std::uint64_t twice_rest = (moved - (floor << right)) * 2;
  const std::uint64_t one = static_cast<std::uint64_t>(1) << right;
  const bool up = twice_rest + (floor & 1u) > one;
  const std::uint64_t rounded = floor + (up ? 1u : 0u);
  const Int128 fixed = static_cast<Int128>(rounded);
  const Int128 flip = negative ? -1 : 0;
  return static_cast<Int128>((fixed ^ flip) - flip);
}

/// RNE(|x| · 2^fraction_bits), or something above 2^21 where that is above 2^22: for users that clamp to fewer bits.
inline std::int32_t magnitude_to_fixed(float x, int fraction_bits) {
  const int field = exponent_field(x);
  const std::int32_t fraction = static_cast<std::int32_t>(bits_from_float(x) & kFractionMask);
  const std::int32_t magnitude = field == 0 ? 0 : fraction + static_cast<std::int32_t>(kSmallestNormalBits);
  // |x| = magnitude · 2^(field − bias − 23), magnitude < 2^24. Shifts of 26 and more leave zero.
  const int wanted = kFloatBias + kFloatFractionBits - fraction_bits - field;
  const int shift = wanted < 1 ? 1 : (wanted > 26 ? 26 : wanted);
  const std::int32_t odd = (magnitude >> shift) & 1;
  return (magnitude + (1 << (shift - 1)) - 1 + odd) >> shift;
}

}  // namespace engine
}  // namespace lpu
