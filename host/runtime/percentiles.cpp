// See percentiles.hpp.
#include "host/runtime/percentiles.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace lpu::runtime {
namespace {

/// The value of rank ⌈n · permille / 1000⌉, counted from 1, in integers: no rounding can move a rank.
double nearest_rank(const std::vector<double>& sorted, std::size_t permille) {
  const std::size_t rank = (sorted.size() * permille + 999) / 1000;
  return sorted[rank - 1];
}

template <typename Before>
std::optional<Percentiles> of(std::vector<double> values, Before before) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end(), before);
  Percentiles result;
  result.p50 = nearest_rank(values, 500);
  result.p90 = nearest_rank(values, 900);
  result.p99 = nearest_rank(values, 990);
  result.p99_9 = nearest_rank(values, 999);
  result.worst = values.back();
  result.count = values.size();
  result.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  return result;
}

}  // namespace

std::optional<Percentiles> percentiles(std::vector<double> values) { return of(std::move(values), std::less<>()); }

std::optional<Percentiles> speed_percentiles(std::vector<double> values) {
  return of(std::move(values), std::greater<>());
}

}  // namespace lpu::runtime
