// The tables and the picture: see bench_report.hpp.
#include "host/cli/bench_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/base/number_text.hpp"
#include "host/cli/bench_figures.hpp"
#include "host/cli/generation_report.hpp"

namespace lpu::cli {
namespace {

using runtime::Percentiles;

std::string rate_text(double value) { return fmt::format("{:.1f}", value); }
std::string time_text(double seconds) { return seconds == 0 ? "0" : seconds_text(seconds); }

void add_row(Table& table, const char* name, const std::optional<Percentiles>& value, std::string (*text)(double)) {
  if (value)
    table.add({name, text(value->p50), text(value->p90), text(value->p99), text(value->p99_9), text(value->worst)});
}

std::string clock_text(const ClockFigures& clock, bool has_queue) {
  const bench::Figures& figures = clock.figures;
  Table table({clock.name, "p50", "p90", "p99", "p99.9", "max"});
  add_row(table, "time to first token (TTFT)", figures.ttft_s, time_text);
  if (has_queue) add_row(table, "  without waiting", figures.ttft_without_waiting_s, time_text);
  add_row(table, "time per output token (TPOT)", figures.tpot_s, time_text);
  add_row(table, "between two tokens", figures.inter_token_s, time_text);
  add_row(table, "end to end (e2e)", figures.e2e_s, time_text);
  add_row(table, "decode tokens/s, one user", figures.decode_tokens_per_s, rate_text);
  add_row(table, "e2e tokens/s, one user", figures.e2e_tokens_per_s, rate_text);
  return table.text();
}

std::string whole_text(const BenchFacts& facts, const std::vector<ClockFigures>& clocks) {
  std::vector<std::string> header = {"whole system"};
  for (const ClockFigures& clock : clocks) header.push_back(clock.name);
  Table table(header);
  const auto add = [&](const char* name, const auto& text) {
    std::vector<std::string> row = {name};
    for (const ClockFigures& clock : clocks) row.push_back(text(clock));
    table.add(std::move(row));
  };
  add("requests", [](const ClockFigures& clock) { return grouped_text(clock.figures.requests); });
  add("output tokens", [](const ClockFigures& clock) { return grouped_text(clock.figures.output_tokens); });
  add("from the first arrival to the last token",
      [](const ClockFigures& clock) { return time_text(clock.figures.seconds); });
  add("tokens/s, all users", [](const ClockFigures& clock) { return rate_text(clock.figures.total_tokens_per_s); });
  add("queries a minute", [](const ClockFigures& clock) { return rate_text(clock.figures.queries_per_minute); });
  if (facts.on_card)
    add("jitter: measured - predicted, max - min", [](const ClockFigures& clock) {
      return clock.key == "card" ? time_text(clock.jitter_s.value_or(0)) : std::string();
    });
  add("spread between two tokens, max - min", [](const ClockFigures& clock) {
    const auto& spread_s = clock.figures.inter_token_spread_s;
    return spread_s ? time_text(*spread_s) : std::string("-");
  });
  return table.text();
}

std::string decay_text(const BenchFacts& facts) {
  const bench::CardBench& on_card = *facts.on_card;
  Table table({"speed over position, card time", "cycles predicted", "measured", "tokens/s predicted", "measured",
               "of position 0"});
  const PositionSpeed first = speed_at(facts, 0);
  std::vector<std::uint32_t> shown = {0};
  if (on_card.by_position.size() > 1) shown.push_back(std::next(on_card.by_position.begin())->first);
  shown.push_back(decay_position(on_card));
  shown.push_back(on_card.by_position.rbegin()->first);
  shown.erase(std::unique(shown.begin(), shown.end()), shown.end());
  for (const std::uint32_t position : shown) {
    const PositionSpeed speed = speed_at(facts, position);
    table.add({fmt::format("position {}", position), grouped_text(speed.predicted_cycles),
               grouped_text(speed.measured_cycles), rate_text(speed.predicted_tokens_per_s),
               rate_text(speed.measured_tokens_per_s),
               percent_text(speed.measured_tokens_per_s / first.measured_tokens_per_s)});
  }
  return table.text();
}

std::string requests_text(const BenchFacts& facts) {
  const auto& admitted = facts.admission.admitted;
  const auto [least, most] = std::minmax_element(admitted.begin(), admitted.end(), [](const auto& a, const auto& b) {
    return a.prompt_ids.size() < b.prompt_ids.size();
  });
  std::string text = fmt::format("{}: {} requests of {} sessions, seed {}; prompts of {} to {} tokens, {} tokens out\n",
                                 facts.task.name, facts.requests, facts.sessions, facts.seed, least->prompt_ids.size(),
                                 most->prompt_ids.size(), facts.task.output_tokens);
  text += fmt::format("admitted {}, refused {}", admitted.size(), facts.admission.refused.size());
  if (facts.on_card) {
    const bench::CardBench& on_card = *facts.on_card;
    const auto waited = std::count_if(on_card.runs.begin(), on_card.runs.end(),
                                      [](const bench::CardRun& run) { return run.place != 0; });
    text += fmt::format("; the card serves {} at a time: {} waited, at most {} at once", on_card.slots, waited,
                        on_card.most_waiting);
  }
  text += '\n';
  constexpr std::size_t kRefusalsShown = 3;
  for (std::size_t i = 0; i < std::min(kRefusalsShown, facts.admission.refused.size()); ++i)
    text +=
        fmt::format("  refused: request {}, {}\n", facts.admission.refused[i].index, facts.admission.refused[i].why);
  return text;
}

std::string endpoint_text(const BenchFacts& facts) {
  const auto& runs = *facts.on_endpoint;
  const auto short_ones = std::count_if(runs.begin(), runs.end(), [](const bench::EndpointRun& run) {
    return run.times.output_tokens < run.asked_tokens;
  });
  const auto uncounted =
      std::count_if(runs.begin(), runs.end(), [](const bench::EndpointRun& run) { return !run.is_counted_by_server; });
  std::string text = fmt::format("{} as \"{}\": the same prompts, as text\n", facts.endpoint, facts.endpoint_model);
  if (short_ones != 0) text += fmt::format("  {} answers are shorter than was asked\n", short_ones);
  if (uncounted != 0)
    text += fmt::format("  {} answers' tokens are counted by the bundle's tokenizer, since the server doesn't say\n",
                        uncounted);
  return text;
}

std::vector<std::pair<double, double>> curve(const std::optional<Percentiles>& value) {
  if (!value) return {};
  const double values_s[] = {value->p50, value->p90, value->p99, value->p99_9, value->worst};
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = 0; i < std::size(values_s); ++i) {
    if (values_s[i] > 0) points.emplace_back(static_cast<double>(i), values_s[i] * 1e3);  // a logarithmic scale
  }
  return points;
}

}  // namespace

std::string bench_text(const BenchFacts& facts) {
  const std::vector<ClockFigures> clocks = clock_figures(facts);
  std::string text = requests_text(facts);
  if (facts.on_endpoint) text += endpoint_text(facts);
  for (const ClockFigures& clock : clocks) text += "\n" + clock_text(clock, clock.key != "endpoint");
  text += "\n" + whole_text(facts, clocks);
  if (facts.on_card) {
    text += "\n" + decay_text(facts);
    std::vector<const runtime::Generation*> generations;
    for (const bench::CardRun& run : facts.on_card->runs) generations.push_back(&run.generation);
    if (const auto utilisation = mac_utilisation(facts.bundle, generations))
      text += fmt::format("MAC utilisation {}\n", percent_text(*utilisation));
  }
  return text;
}

bench::Plot bench_plot(const BenchFacts& facts) {
  bench::Plot plot;
  plot.title = fmt::format("lpu bench: {}, {} of {} requests, {} sessions, {}", facts.task.name,
                           facts.admission.admitted.size(), facts.requests, facts.sessions, facts.bundle.model_name());
  if (facts.on_card) {
    bench::Series predicted{fmt::format("predicted, {}", facts.bundle.hardware_name()), true, {}};
    bench::Series measured{"measured, card time", false, {}};
    const double clock_hz = facts.bundle.hardware().clock_mhz * 1e6;
    for (std::uint32_t position = 0; position < facts.bundle.shape().context_tokens; ++position) {
      const std::uint64_t cycles = runtime::predicted_cycles(facts.bundle.program(), position, true);
      predicted.points.emplace_back(position, clock_hz / static_cast<double>(cycles));
    }
    for (const auto& [position, cycles] : facts.on_card->by_position)
      measured.points.emplace_back(position, clock_hz / static_cast<double>(cycles.measured_most));
    plot.speed = {std::move(predicted), std::move(measured)};
  }
  for (const ClockFigures& clock : clock_figures(facts)) {
    plot.latencies.push_back({"TTFT, " + clock.name, true, curve(clock.figures.ttft_s)});
    plot.latencies.push_back({"between two tokens, " + clock.name, true, curve(clock.figures.inter_token_s)});
  }
  return plot;
}

}  // namespace lpu::cli
