// An exact sum to binary32, the one rounding of a dot product (docs/numbers.md §4): RNE(sum · 2^exponent), then flushed
// or saturated. Sign and leading zeros, shift, round. Latency: kConvertCycles. Relies on rounding.hpp.
#pragma once

#include "hls/engine/rounding.hpp"

namespace lpu {
namespace engine {

/// sum: |sum| < 2^127. Zero gives +0; the flush is tested after rounding to 24 bits, as in multiply().
inline float convert(Int128 sum, int exponent, Status& status) {
  // Sums of 64 bits, nearly all of them on a processor: its own conversion rounds to nearest even, too.
  const std::int64_t narrow = static_cast<std::int64_t>(sum);
  if (static_cast<Int128>(narrow) == sum) return times_power_of_two(static_cast<float>(narrow), exponent, status);
  const bool negative = sum < 0;
  const UInt128 flip = static_cast<UInt128>(sum >> 127);  // all ones where negative
  const UInt128 magnitude = (static_cast<UInt128>(sum) ^ flip) - flip;
  const std::uint32_t sign = negative ? kSignBit : 0u;
  const int top = highest_bit(magnitude);
  // The leading one moves to bit 127: 24 bits stay, 104 decide the rounding, of which the low 64 only as "not zero".
  const UInt128 aligned = magnitude << (127 - top);
  const std::uint64_t high = static_cast<std::uint64_t>(aligned >> 64);
  const std::uint32_t kept = static_cast<std::uint32_t>(high >> (63 - kFloatFractionBits));
  // Half a unit is bit 62 of `rest`; a tie rounds up where the kept number is odd.
  const std::uint64_t low_bits = static_cast<std::uint64_t>(aligned) != 0 ? 1u : 0u;
  const std::uint64_t rest = ((high << (kFloatFractionBits + 1)) >> 1) | low_bits;
  const bool up = rest + (kept & 1u) > static_cast<std::uint64_t>(1) << 62;
  // 24 bits, or 2^24 where rounding carried: then the fraction is zero and the exponent one higher.
  const std::uint32_t significand = kept + (up ? 1u : 0u);
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
