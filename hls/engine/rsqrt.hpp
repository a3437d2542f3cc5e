// 1/√x of a positive binary32 by a table of 2 × 256 lines (docs/numbers.md §5): x = m·4^k with m = 1…4, y ≈ 2^24/√m,
// 1/√x = y·2^(−24−k). Relative error: kRsqrtErrorLog2 in tables_data.hpp. Latency: kTableCycles. Relies on
// reciprocal.hpp.
#pragma once

#include "hls/engine/reciprocal.hpp"

namespace lpu {
namespace engine {

/// x > 0; its sign is ignored. Zero and subnormals count as 2^−127.
inline float reciprocal_square_root(float x) {
  const std::uint32_t fraction = bits_from_float(flush(x)) & kFractionMask;
  const int field = exponent_field(x);
  const int odd = (field + 1) % 2;                 // e = field − 127 is odd when the field is even
  const int half_exponent = (field + 1) / 2 - 64;  // floor(e / 2), without a negative division
  const std::uint32_t index = (static_cast<std::uint32_t>(odd) << 8) | (fraction >> kRsqrtRestBits);
  const std::int32_t rest = static_cast<std::int32_t>(fraction & ((1u << kRsqrtRestBits) - 1));
  const std::int32_t y = interpolate(kRsqrtTable[index], rest, kRsqrtRestBits);
  return float_from_table(y, -24 - half_exponent);
}

}  // namespace engine
}  // namespace lpu
