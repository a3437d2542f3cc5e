// An exact sum to binary32, the one rounding of a dot product (docs/numbers.md §4): RNE(sum · 2^exponent), then flushed
// or saturated. Sign and leading zeros, shift, round. Latency: kConvertCycles. Relies on rounding.hpp.
#pragma once

#include "hls/engine/rounding.hpp"

namespace lpu {
namespace engine {

/// sum: |sum| < 2^127. Zero gives +0; the flush is tested after rounding to 24 bits, as in multiply().
inline float convert(Int128 sum, int exponent, Status& status) {
  if (sum == 0) return float_from_bits(0);
  const bool negative = sum < 0;
  const UInt128 magnitude = static_cast<UInt128>(negative ? static_cast<Int128>(-sum) : sum);
  const std::uint32_t sign = negative ? kSignBit : 0u;
  const int top = highest_bit(magnitude);
  // 24 bits, or 2^24 where rounding carried: then the fraction is zero and the exponent one higher.
  const Int128 rounded = shift_right_round_even(static_cast<Int128>(magnitude), top - kFloatFractionBits);
  const std::uint32_t significand = static_cast<std::uint32_t>(rounded);
  const int carry = static_cast<int>(significand >> (kFloatFractionBits + 1));
  const int field = top + carry + exponent + kFloatBias;
  if (field <= 0) return float_from_bits(sign);
  if (field >= 255) {
    status.saturations += 1;
    return float_from_bits(sign | kLargestFiniteBits);
  }
  return float_from_bits(sign | (static_cast<std::uint32_t>(field) << kFloatFractionBits) |
                         (significand & kFractionMask));
}

}  // namespace engine
}  // namespace lpu
