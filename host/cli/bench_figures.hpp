// The figures of a benchmark as its tables, JSON and picture all need them: times by clock, speed by position.
// Relies on host/bench.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/cli/bench_report.hpp"

namespace lpu::cli {

/// One clock's figures, with the name that a table gives it.
struct ClockFigures {
  std::string key;   ///< "card", "wall", "endpoint"
  std::string name;  ///< "card time (virtual at 300 MHz)"
  bench::Figures figures;
  /// Card time: largest − smallest (measured − predicted), so what the schedule didn't say. Wall time and elsewhere,
  /// where nobody predicts: largest − smallest interval between two tokens.
  std::optional<double> jitter_s;
};
std::vector<ClockFigures> clock_figures(const BenchFacts& facts);

struct PositionSpeed {
  std::uint32_t position = 0;
  std::uint64_t predicted_cycles = 0;
  std::uint64_t measured_cycles = 0;  ///< the largest, if they differ
  double predicted_tokens_per_s = 0;
  double measured_tokens_per_s = 0;
};
PositionSpeed speed_at(const BenchFacts& facts, std::uint32_t position);
/// Position 0, the first one that made a token, every one from which on more cycles are predicted, 999 if it was
/// reached, and the last.
std::vector<std::uint32_t> telling_positions(const bench::CardBench& on_card);
/// 999 if it was reached, else the last position: against position 0 it tells how much speed decays.
std::uint32_t decay_position(const bench::CardBench& on_card);

}  // namespace lpu::cli
