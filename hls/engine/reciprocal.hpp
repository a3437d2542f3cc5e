// 1/x of a positive binary32 by a table of 512 lines (docs/numbers.md §5): x = 1.f·2^e, y ≈ 2^24/1.f, 1/x =
// y·2^(−24−e). Relative error: kReciprocalErrorLog2 in tables_data.hpp. Latency: kTableCycles. Relies on tables.hpp,
// binary32.hpp.
#pragma once

#include "hls/engine/binary32.hpp"
#include "hls/engine/tables.hpp"

namespace lpu {
namespace engine {

/// y·2^(power) as binary32 for y = 2^23…2^24: exact, or +0 below the normal numbers.
inline float float_from_table(std::int32_t y, int power) {
  const std::uint32_t significand = static_cast<std::uint32_t>(y);
  const int carry = static_cast<int>(significand >> (kFloatFractionBits + 1));
  const int field = kFloatBias + kFloatFractionBits + carry + power;
  if (field <= 0) return float_from_bits(0);
  return float_from_bits((static_cast<std::uint32_t>(field) << kFloatFractionBits) | (significand & kFractionMask));
}

/// x > 0; its sign is ignored. Zero and subnormals count as 2^−127: the result is finite without a special case.
inline float reciprocal(float x) {
  const std::uint32_t fraction = bits_from_float(flush(x)) & kFractionMask;
  const std::uint32_t index = fraction >> kReciprocalRestBits;
  const std::int32_t rest = static_cast<std::int32_t>(fraction & ((1u << kReciprocalRestBits) - 1));
  const std::int32_t y = interpolate(kReciprocalTable[index], rest, kReciprocalRestBits);
  return float_from_table(y, -24 - floor_log2(x));
}

}  // namespace engine
}  // namespace lpu
