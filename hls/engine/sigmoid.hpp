// σ(g) = 1/(1 + e^−g) by a table of 1,024 lines over |g| < 16 (docs/numbers.md §5), in 0.23 fixed point, exact as
// binary32. Absolute error: kSigmoidErrorLog2 in tables_data.hpp. Latency: 2 + kTableCycles, as counted in
// kSwigluCycles. Relies on tables.hpp, convert.hpp.
#pragma once

#include "hls/engine/convert.hpp"
#include "hls/engine/tables.hpp"

namespace lpu {
namespace engine {

constexpr int kSigmoidArgumentMax = (1 << kSigmoidArgumentBits) - 1;
static_assert(kSigmoidArgumentBits <= 21, "magnitude_to_fixed tells 21 bits from more");

/// σ of x·2^−16 in units of 2^−23; x: 0…2^20 − 1.
inline std::int32_t sigmoid_fixed(std::int32_t x) {
  const std::int32_t rest = x & ((1 << kSigmoidRestBits) - 1);
  return interpolate(kSigmoidTable[x >> kSigmoidRestBits], rest, kSigmoidRestBits);
}

inline float sigmoid(float g) {
  const std::int32_t fixed = magnitude_to_fixed(g, kSigmoidFractionBits);
  const std::int32_t x = fixed > kSigmoidArgumentMax ? kSigmoidArgumentMax : fixed;
  const std::int32_t y = sigmoid_fixed(x);
  const bool negative = (bits_from_float(flush(g)) & kSignBit) != 0;
  return static_cast<float>(negative ? (1 << 23) - y : y) * (1.0f / (1 << 23));  // at most 24 bits: exact
}

}  // namespace engine
}  // namespace lpu
