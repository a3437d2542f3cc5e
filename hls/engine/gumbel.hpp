// Sampling by Gumbel-max (docs/numbers.md §11): the largest of logit/τ + G wins, G = −ln(−ln u) of a random number per
// id. Two look-ups in one table of log2 (256 lines, points exact, so that the tail u → 1 keeps its relative accuracy),
// integers only. Runs beside the logits within kLogitCycles. Relies on tables.hpp, integers.hpp, rounding.hpp.
#pragma once

#include <cstdint>

#include "hls/engine/rounding.hpp"
#include "hls/engine/tables.hpp"

namespace lpu {
namespace engine {

constexpr int kGumbelLogBits = 26;       ///< fraction bits of both logarithms
constexpr int kGumbelFractionBits = 16;  ///< of G and of a sampling key

/// log2(x) with 26 fraction bits, x = 1…2^32 − 1: whole part from the leading one, 31 bits below it into the table.
inline std::int64_t log2_fixed(std::uint32_t x) {
  const int whole = highest_bit(static_cast<UInt128>(x));
  const std::uint32_t below = (x << (31 - whole)) & 0x7fffffffu;
  const std::int32_t rest = static_cast<std::int32_t>(below & ((1u << kLog2RestBits) - 1));
  const std::int32_t part = interpolate(kLog2Table[below >> kLog2RestBits], rest, kLog2RestBits);
  return static_cast<std::int64_t>(whole) * (1 << kGumbelLogBits) + part;
}

/// G with 16 fraction bits, −3.1…18.4. With A = −log2(u), G = −ln 2·log2(A) − ln(ln 2).
inline std::int32_t gumbel(std::uint32_t random) {
  // u = (random | 1)·2^−32 lies strictly between 0 and 1. A = 1 unit … 32·2^26, which doesn't fit 31 bits.
  const std::int64_t minus_log = 32 * (static_cast<std::int64_t>(1) << kGumbelLogBits) - log2_fixed(random | 1u);
  const std::uint32_t exponential = minus_log < 1 ? 1u : static_cast<std::uint32_t>(minus_log);
  const std::int64_t log_of_it =
      log2_fixed(exponential) - (static_cast<std::int64_t>(kGumbelLogBits) << kGumbelLogBits);
  const std::int64_t scaled = kGumbelOffset - log_of_it * kGumbelFactor;  // 42 fraction bits, below 2^48
  const std::int64_t half = static_cast<std::int64_t>(1) << (kGumbelLogBits - 1);
  return static_cast<std::int32_t>((scaled + half) >> kGumbelLogBits);
}

/// k of one id; the largest wins, ties go to the lowest id. inverse_temperature: 1/τ; noise: gumbel() of the id's
/// number.
inline std::int64_t sampling_key(float logit, float inverse_temperature, std::int32_t noise, Status& status) {
  const float scaled = multiply(logit, inverse_temperature, status);
  const std::int32_t fixed = saturate32(float_to_fixed(scaled, kGumbelFractionBits), status);
  return static_cast<std::int64_t>(fixed) + noise;
}

}  // namespace engine
}  // namespace lpu
