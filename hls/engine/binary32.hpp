// binary32 as the machine does it (docs/numbers.md §1): IEEE 754 round to nearest even, subnormals are zero, no NaN and
// no infinity; an overflow gives the largest finite number and is counted. Latencies: kAddCycles, kMultiplyCycles of
// hls/contract/latencies.hpp; flushing and powers of two are part of their steps. Relies on a compiler that keeps each
// operation a binary32 operation (-ffp-contract=off, no -ffast-math).
#pragma once

#include <cstdint>

namespace lpu {
namespace engine {

/// What an operation reports besides its result. A card with saturations ≠ 0 reports an error.
struct Status {
  std::uint32_t saturations = 0;
};

/// A float and its bits: the form of this conversion that every HLS compiler turns into wires.
union FloatBits {
  float number;
  std::uint32_t bits;
};
inline float float_from_bits(std::uint32_t bits) {
  FloatBits both;
  both.bits = bits;
  return both.number;
}
inline std::uint32_t bits_from_float(float value) {
  FloatBits both;
  both.number = value;
  return both.bits;
}

constexpr std::uint32_t kSignBit = 0x80000000u;
constexpr std::uint32_t kLargestFiniteBits = 0x7f7fffffu;
constexpr std::uint32_t kSmallestNormalBits = 0x00800000u;
constexpr std::uint32_t kInfinityBits = 0x7f800000u;
constexpr std::uint32_t kFractionMask = 0x007fffffu;
constexpr int kFloatFractionBits = 23;
constexpr int kFloatBias = 127;

inline int exponent_field(float value) {
  return static_cast<int>((bits_from_float(value) >> kFloatFractionBits) & 0xffu);
}

/// A subnormal becomes zero of its sign.
inline float flush(float value) {
  return exponent_field(value) == 0 ? float_from_bits(bits_from_float(value) & kSignBit) : value;
}

/// floor(log2 |x|) of a normal number.
inline int floor_log2(float value) { return exponent_field(value) - kFloatBias; }

/// The end of every operation: flush, or saturate and count.
inline float finish(float value, Status& status) {
  const std::uint32_t bits = bits_from_float(value);
  if ((bits & ~kSignBit) >= kInfinityBits) {
    status.saturations += 1;
    return float_from_bits((bits & kSignBit) | kLargestFiniteBits);
  }
  return flush(value);
}

/// a + b. A subnormal sum is exact, so that it doesn't matter when the flush is tested.
inline float add(float a, float b, Status& status) {
  const float left = flush(a);
  const float right = flush(b);
  const float sum = left + right;
  return finish(sum, status);
}

/// a · b, rounded to 24 bits as if exponents had no lower end, then flushed. IEEE 754 rounds a subnormal product to
/// fewer bits, which lifts products just below 2^−126 to 2^−126; hardware without subnormals doesn't have that case.
inline float multiply(float a, float b, Status& status) {
  const float plain = a * b;
  const bool ordinary = exponent_field(plain) > 1 && exponent_field(plain) < 255;
  if (ordinary && exponent_field(a) != 0 && exponent_field(b) != 0) return plain;  // nothing to flush anywhere
  const float left = flush(a);
  const float right = flush(b);
  const float product = left * right;
  const std::uint32_t sign = bits_from_float(product) & kSignBit;
  if ((bits_from_float(product) & ~kSignBit) == kSmallestNormalBits) {
    // One factor is below 2^−62: 2^24 times it is exact, and so far from the lower end the rounding is the one wanted.
    const bool left_is_smaller = exponent_field(left) < exponent_field(right);
    const float small = (left_is_smaller ? left : right) * 16777216.0f;
    const float scaled = small * (left_is_smaller ? right : left);
    if (exponent_field(scaled) < 1 + 24) return float_from_bits(sign);
  }
  return finish(product, status);
}

/// x · 2^power: a sum of exponents.
inline float times_power_of_two(float x, int power, Status& status) {
  const std::uint32_t bits = bits_from_float(x);
  const int field = exponent_field(x);
  if (field == 0 || field + power <= 0) return float_from_bits(bits & kSignBit);
  if (field + power >= 255) {
    status.saturations += 1;
    return float_from_bits((bits & kSignBit) | kLargestFiniteBits);
  }
  return float_from_bits((bits & (kSignBit | kFractionMask)) |
                         (static_cast<std::uint32_t>(field + power) << kFloatFractionBits));
}

}  // namespace engine
}  // namespace lpu
