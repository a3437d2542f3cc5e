// The words for latency, used everywhere alike, and what they are computed from. Card time (cycles / clock of the
// board) and wall time (of this process) are two sets of the same figures, never mixed. Relies on nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace lpu::runtime {

struct LatencyFigures {
  double ttft_s = 0;                          ///< from the request to the first generated token
  std::optional<double> tpot_s;               ///< (last token − first token) / (n − 1); from two tokens on
  std::optional<double> decode_tokens_per_s;  ///< 1 / TPOT
  double e2e_tokens_per_s = 0;                ///< n / time of the last token
};

/// times_s: when each generated token was there, since the request. nullopt when there is none.
std::optional<LatencyFigures> latency_figures(const std::vector<double>& times_s);

/// The largest |measured − predicted|: 0 on a card that keeps the schedule.
std::uint64_t jitter_cycles(const std::vector<std::uint64_t>& predicted, const std::vector<std::uint64_t>& measured);

}  // namespace lpu::runtime
