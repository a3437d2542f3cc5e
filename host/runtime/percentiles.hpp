// Percentiles by the nearest rank: the p-th percentile is the smallest value that at least p % of the values don't
// exceed. Nothing is interpolated (as pandas' and LLMPerf's quantiles are), so every figure was really measured, and
// with n values the p99.9 is the largest one until n exceeds 1,000. Relies on nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace lpu::runtime {

struct Percentiles {
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double p99_9 = 0;
  double worst = 0;  ///< the largest; of speeds the smallest
  double mean = 0;
  std::size_t count = 0;
};

/// Of times: towards the large ones. nullopt without values.
std::optional<Percentiles> percentiles(std::vector<double> values);

/// Of speeds: towards the small ones, so that p99 is what 99 % of the values reach. nullopt without values.
std::optional<Percentiles> speed_percentiles(std::vector<double> values);

}  // namespace lpu::runtime
