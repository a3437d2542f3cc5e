// See bench_figures.hpp.
#include "host/cli/bench_figures.hpp"

#include <fmt/format.h>

#include <set>

namespace lpu::cli {
namespace {

constexpr std::uint32_t kDecayPosition = 999;

template <typename Runs, typename Pick>
bench::Figures figures_of(const Runs& runs, Pick pick) {
  std::vector<bench::RequestTimes> times;
  times.reserve(runs.size());
  for (const auto& run : runs) times.push_back(pick(run));
  return bench::figures_of(times);
}

}  // namespace

std::vector<ClockFigures> clock_figures(const BenchFacts& facts) {
  std::vector<ClockFigures> clocks;
  if (facts.on_card) {
    const int clock_mhz = facts.bundle.hardware().clock_mhz;
    const auto& runs = facts.on_card->runs;
    const double jitter_s = static_cast<double>(facts.on_card->spread_cycles) / (clock_mhz * 1e6);
    clocks.push_back({"card", fmt::format("card time ({} at {} MHz)", facts.bundle.hardware_name(), clock_mhz),
                      figures_of(runs, [](const bench::CardRun& run) { return run.card; }), jitter_s});
    bench::Figures wall = figures_of(runs, [](const bench::CardRun& run) { return run.wall; });
    const std::optional<double> spread_s = wall.inter_token_spread_s;
    clocks.push_back({"wall", fmt::format("wall time ({})", facts.card), std::move(wall), spread_s});
  }
  if (facts.on_endpoint) {
    bench::Figures figures = figures_of(*facts.on_endpoint, [](const bench::EndpointRun& run) { return run.times; });
    const std::optional<double> spread_s = figures.inter_token_spread_s;
    clocks.push_back({"endpoint", fmt::format("wall time ({})", facts.endpoint), std::move(figures), spread_s});
  }
  return clocks;
}

PositionSpeed speed_at(const BenchFacts& facts, std::uint32_t position) {
  const bench::PositionCycles& cycles = facts.on_card->by_position.at(position);
  const double clock_hz = facts.bundle.hardware().clock_mhz * 1e6;
  return {position, cycles.predicted, cycles.measured_most, clock_hz / static_cast<double>(cycles.predicted),
          clock_hz / static_cast<double>(cycles.measured_most)};
}

std::vector<std::uint32_t> telling_positions(const bench::CardBench& on_card) {
  std::set<std::uint32_t> positions;
  std::uint64_t before = 0;
  std::size_t entry = 0;
  for (const auto& [position, cycles] : on_card.by_position) {
    const bool is_first_of_requests = entry++ == 1;
    if (cycles.predicted != before || is_first_of_requests || position == kDecayPosition) positions.insert(position);
    before = cycles.predicted;
  }
  if (!on_card.by_position.empty()) positions.insert(on_card.by_position.rbegin()->first);
  return {positions.begin(), positions.end()};
}

std::uint32_t decay_position(const bench::CardBench& on_card) {
  return on_card.by_position.contains(kDecayPosition) ? kDecayPosition : on_card.by_position.rbegin()->first;
}

}  // namespace lpu::cli
