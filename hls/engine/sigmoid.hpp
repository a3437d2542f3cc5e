// σ(g) = 1/(1 + e^−g) by a table of 1,024 lines over |g| < 16 (docs/numbers.md §5), in 0.23 fixed point, exact as
// binary32. Absolute error: kSigmoidErrorLog2 in tables_data.hpp. Latency: 2 + kTableCycles, as counted in
// kSwigluCycles. Relies on tables.hpp, convert.hpp.
#pragma once

#include "hls/engine/convert.hpp"
#include "hls/engine/tables.hpp"

namespace lpu {
namespace engine {

constexpr int kSigmoidArgumentMax = (1 << kSigmoidArgumentBits) - 1;

/// σ of x·2^−16 in units of 2^−23; x: 0…2^20 − 1.
inline std::int32_t sigmoid_fixed(std::int32_t x) {
  const std::int32_t rest = x & ((1 << kSigmoidRestBits) - 1);
  return interpolate(kSigmoidTable[x >> kSigmoidRestBits], rest, kSigmoidRestBits);
}

inline float sigmoid(float g) {
  const float magnitude = float_from_bits(bits_from_float(g) & ~kSignBit);
  const Int128 fixed = float_to_fixed(magnitude, kSigmoidFractionBits);
  const std::int32_t x =
      fixed > kSigmoidArgumentMax ? static_cast<std::int32_t>(kSigmoidArgumentMax) : static_cast<std::int32_t>(fixed);
  const std::int32_t y = sigmoid_fixed(x);
  const bool negative = (bits_from_float(flush(g)) & kSignBit) != 0;
  Status never;  // y·2^−23 is at most 1 and exact
  return convert(static_cast<Int128>(negative ? (1 << 23) - y : y), -23, never);
}

}  // namespace engine
}  // namespace lpu
