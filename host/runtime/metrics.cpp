// See metrics.hpp.
#include "host/runtime/metrics.hpp"

#include <algorithm>

namespace lpu::runtime {

std::optional<LatencyFigures> latency_figures(const std::vector<double>& times_s) {
  if (times_s.empty()) return std::nullopt;
  LatencyFigures figures;
  const double last_s = times_s.back();
  const auto count = static_cast<double>(times_s.size());
  figures.ttft_s = times_s.front();
  figures.e2e_tokens_per_s = last_s > 0 ? count / last_s : 0;
  if (times_s.size() > 1) {
    const double tpot_s = (last_s - figures.ttft_s) / (count - 1);
    figures.tpot_s = tpot_s;
    if (tpot_s > 0) figures.decode_tokens_per_s = 1 / tpot_s;
  }
  return figures;
}

std::uint64_t jitter_cycles(const std::vector<std::uint64_t>& predicted, const std::vector<std::uint64_t>& measured) {
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < std::min(predicted.size(), measured.size()); ++i)
    largest = std::max(largest, std::max(predicted[i], measured[i]) - std::min(predicted[i], measured[i]));
  return largest;
}

}  // namespace lpu::runtime
