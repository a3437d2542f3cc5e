// Runs a benchmark's requests on a card, several sessions at once, by the card's own clock: one count of cycles for the
// whole benchmark, in which requests arrive, wait for a slot and are served. Sessions are closed loops: each sends its
// next request when its answer has ended.
//
// Two times come out. Card time is measured cycles / clock. Wall time is what this process took for the same work in
// the same order; a request that arrives in the middle of another one, by card time, is put at the same share of that
// one's wall time; a card that idles costs no wall time. Relies on host/runtime.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "host/bench/figures.hpp"
#include "host/bench/workload.hpp"
#include "host/runtime/session.hpp"

namespace lpu::bench {

struct CardBenchOptions {
  std::size_t sessions = 1;
  double interval_s = 0;              ///< card time between the first requests of two sessions
  runtime::SamplingOptions sampling;  ///< the seed is that of request 0; request i has seed + i
  std::function<bool()> is_interrupted;
  std::function<void(double)> on_progress;  ///< share of all tokens, 0…1; may be empty
};

struct CardRun {
  std::size_t index = 0;  ///< of the request
  std::size_t session = 0;
  std::size_t place = 0;  ///< in the queue when it arrived; 0: had a slot at once
  RequestTimes card;
  RequestTimes wall;
  runtime::Generation generation;
};

/// Of the steps that make a token (head included) at one position.
struct PositionCycles {
  std::uint64_t predicted = 0;
  std::uint64_t measured_least = 0;
  std::uint64_t measured_most = 0;
};

struct CardBench {
  std::vector<CardRun> runs;  ///< in the order in which they were served
  std::size_t slots = 1;
  std::size_t most_waiting = 0;                         ///< at once
  std::map<std::uint32_t, PositionCycles> by_position;  ///< position 0 from a step of its own, after the benchmark
  std::uint64_t jitter_cycles = 0;                      ///< largest |measured − predicted|, all steps
  std::uint64_t spread_cycles = 0;                      ///< largest − smallest (measured − predicted), all steps
};

/// Every answer is as long as was asked, end tokens or not. Error(kInterrupted) when interrupted; what a session
/// throws.
CardBench run_on_card(card::Card& card, const bundle::Bundle& bundle, const std::vector<Request>& requests,
                      const CardBenchOptions& options);

}  // namespace lpu::bench
