// What the times of a benchmark's requests say: per-request latencies and speeds, intervals between tokens, and what
// the whole system did. The same for card time, wall time and another server. Words: docs/json.md. Relies on
// host/runtime/percentiles.hpp.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "host/runtime/percentiles.hpp"

namespace lpu::bench {

/// All in seconds since the benchmark began.
struct RequestTimes {
  double arrival_s = 0;          ///< when the request was there
  double start_s = 0;            ///< when it got its slot; a server elsewhere doesn't tell: the arrival
  std::vector<double> pieces_s;  ///< when each token, or each piece of a streamed text, was there; not empty
  std::size_t output_tokens = 0;
};

struct Figures {
  std::size_t requests = 0;
  std::size_t output_tokens = 0;
  std::optional<runtime::Percentiles> ttft_s;                  ///< from the arrival: waiting included
  std::optional<runtime::Percentiles> ttft_without_waiting_s;  ///< from the slot on
  std::optional<runtime::Percentiles> waiting_s;
  std::optional<runtime::Percentiles> tpot_s;         ///< per request, (last − first) / (n − 1)
  std::optional<runtime::Percentiles> inter_token_s;  ///< every interval of every request; the first token isn't one
  std::optional<runtime::Percentiles> e2e_s;          ///< from the arrival to the last token
  std::optional<runtime::Percentiles> decode_tokens_per_s;  ///< 1 / TPOT, one user
  std::optional<runtime::Percentiles> e2e_tokens_per_s;     ///< n / e2e, one user
  std::optional<double> inter_token_spread_s;               ///< largest − smallest interval
  double seconds = 0;                                       ///< from the first arrival to the last token
  double total_tokens_per_s = 0;                            ///< all output tokens / seconds
  double queries_per_minute = 0;
};

/// Error(kInternal) for times that run backwards or a request without a token.
Figures figures_of(const std::vector<RequestTimes>& requests);

}  // namespace lpu::bench
