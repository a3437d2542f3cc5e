// ln Σ e^logit from the exact buckets of log_sum.hpp. Host only: the one place beside the arithmetic that uses the C
// library's logarithm; no kernel includes it. Relies on log_sum.hpp.
#pragma once

#include <cmath>

#include "hls/engine/log_sum.hpp"

namespace lpu {
namespace engine {

/// −infinity when nothing was inserted.
inline double natural_log_of_sum(const LogSum& sum) {
  double total = 0;  // in units of 2^(−128 − 16); below 2^(256 + 40), far inside binary64
  for (int i = 0; i < contract::kLogSumBuckets; ++i) total += std::ldexp(static_cast<double>(sum.buckets[i]), i);
  const double low = contract::kLogSumLow - contract::kPowerFractionBits;
  return std::log(total) + low * std::log(2.0);
}

}  // namespace engine
}  // namespace lpu
