// See generation_report.hpp.
#include "host/cli/generation_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "hls/contract/describe.hpp"
#include "host/base/number_text.hpp"
#include "host/base/process_memory.hpp"
#include "host/runtime/metrics.hpp"

namespace lpu::cli {
namespace {

using runtime::LatencyFigures;

/// Beats that the model needs at a position: the compiler noted them at a few positions, and between two they grow
/// evenly, as attention does. nullopt where the bundle's report doesn't say.
std::optional<double> useful_beats(const Json& report, std::uint32_t position) {
  const auto found = report.find("cycles_by_position");
  if (found == report.end() || !found->is_array() || found->empty()) return std::nullopt;
  const auto number = [](const Json& entry, const char* key) {
    return entry.is_object() && entry.contains(key) && entry[key].is_number() ? entry[key].get<double>() : 0.0;
  };
  const Json& first = found->front();
  const Json& last = found->back();
  const double length = number(last, "position") - number(first, "position");
  const double begin = number(first, "useful_beats");
  if (begin <= 0) return std::nullopt;
  if (length <= 0) return begin;
  return begin + (number(last, "useful_beats") - begin) * (position - number(first, "position")) / length;
}

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json figures_json(const std::optional<LatencyFigures>& figures) {
  const auto pick = [&](auto member) {
    return figures ? or_null(std::optional<double>((*figures).*member)) : Json(nullptr);
  };
  return {{"ttft_s", pick(&LatencyFigures::ttft_s)},
          {"tpot_s", figures ? or_null(figures->tpot_s) : Json(nullptr)},
          {"decode_tokens_per_s", figures ? or_null(figures->decode_tokens_per_s) : Json(nullptr)},
          {"e2e_tokens_per_s", pick(&LatencyFigures::e2e_tokens_per_s)}};
}

/// Cycles of the steps that made the generated tokens: smallest, mean, largest.
std::string cycles_text(const runtime::Generation& run) {
  const std::size_t count = std::min(run.measured_cycles.size(), run.tokens.size());
  if (count == 0) return "-";
  const auto first = run.measured_cycles.end() - static_cast<std::ptrdiff_t>(count);
  const auto [least, most] = std::minmax_element(first, run.measured_cycles.end());
  const std::uint64_t mean = std::accumulate(first, run.measured_cycles.end(), std::uint64_t{0}) / count;
  return fmt::format("{} ({} to {})", grouped_text(mean), grouped_text(*least), grouped_text(*most));
}

}  // namespace

std::optional<double> mac_utilisation(const bundle::Bundle& bundle,
                                      const std::vector<const runtime::Generation*>& runs) {
  const Json report = Json::parse(bundle.report_json(), nullptr, false);
  if (!report.is_object()) return std::nullopt;
  double useful = 0;
  std::uint64_t cycles = 0;
  for (const runtime::Generation* run : runs) {
    const std::size_t steps = run->positions.size();
    for (std::size_t i = steps - std::min(steps, run->tokens.size()); i < steps; ++i) {
      const std::optional<double> beats = useful_beats(report, run->positions[i]);
      if (!beats) return std::nullopt;
      useful += *beats;
      cycles += run->measured_cycles[i];
    }
  }
  return cycles == 0 ? std::nullopt : std::optional(useful / static_cast<double>(cycles));
}

Json generation_json(const RunFacts& facts) {
  const runtime::Generation& run = facts.generation;
  const ProcessMemory memory = process_memory();
  const std::uint64_t file_bytes = facts.bundle.model_file_bytes();
  return {{"text", facts.text},
          {"token_ids", run.tokens},
          {"prompt_token_ids", facts.prompt},
          {"end_reason", runtime::name_of(run.end)},
          {"model", facts.bundle.model_name()},
          {"hardware", facts.bundle.hardware_name()},
          {"contract", contract::contract_hash_text()},
          {"card_name", facts.card},
          {"clock_mhz", facts.bundle.hardware().clock_mhz},
          {"positions", run.positions},
          {"predicted_cycles", run.predicted_cycles},
          {"measured_cycles", run.measured_cycles},
          {"jitter_cycles", runtime::jitter_cycles(run.predicted_cycles, run.measured_cycles)},
          {"card", figures_json(runtime::latency_figures(run.card_times_s))},
          {"wall", figures_json(runtime::latency_figures(run.wall_times_s))},
          {"mac_utilisation", or_null(mac_utilisation(facts.bundle, {&run}))},
          {"busy_beats", run.busy_beats},
          {"resident_card_bytes", facts.bundle.resident_bytes()},
          {"process_resident_bytes", memory.resident_bytes},
          {"process_peak_bytes", memory.peak_bytes},
          {"model_file_bytes", file_bytes == 0 ? Json(nullptr) : Json(file_bytes)}};
}

std::string generation_text(const RunFacts& facts) {
  const runtime::Generation& run = facts.generation;
  const auto card = runtime::latency_figures(run.card_times_s);
  const auto wall = runtime::latency_figures(run.wall_times_s);
  const auto seconds = [](const auto& figures) { return figures ? seconds_text(figures->ttft_s) : std::string("-"); };
  const auto tpot = [](const auto& figures) {
    return figures && figures->tpot_s ? seconds_text(*figures->tpot_s) : std::string("-");
  };
  const auto rate = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.1f}", *value) : std::string("-");
  };
  const auto decode = [&](const auto& figures) { return rate(figures ? figures->decode_tokens_per_s : std::nullopt); };
  const auto e2e = [&](const auto& figures) {
    return rate(figures ? std::optional(figures->e2e_tokens_per_s) : std::nullopt);
  };

  const int clock_mhz = facts.bundle.hardware().clock_mhz;
  Table table({fmt::format("{} prompt tokens, {} generated ({})", run.prompt_tokens, run.tokens.size(),
                           runtime::name_of(run.end)),
               fmt::format("card time ({} at {} MHz)", facts.bundle.hardware_name(), clock_mhz),
               fmt::format("wall time ({})", facts.card)});
  table.add({"time to first token (TTFT)", seconds(card), seconds(wall)});
  table.add({"time per output token (TPOT)", tpot(card), tpot(wall)});
  table.add({"decode tokens/s, one user", decode(card), decode(wall)});
  table.add({"end-to-end tokens/s", e2e(card), e2e(wall)});
  table.add({"cycles per generated token", cycles_text(run), ""});
  table.add({"measured - predicted cycles",
             fmt::format("{}", runtime::jitter_cycles(run.predicted_cycles, run.measured_cycles)), ""});
  if (const auto utilisation = mac_utilisation(facts.bundle, {&run}))
    table.add({"MAC utilisation", percent_text(*utilisation), ""});

  const ProcessMemory memory = process_memory();
  table.add({"resident memory", bytes_text(facts.bundle.resident_bytes()), bytes_text(memory.resident_bytes)});
  std::string text = table.text();
  if (const std::uint64_t file_bytes = facts.bundle.model_file_bytes(); file_bytes != 0) {
    const auto ratio = [file_bytes](std::uint64_t bytes) {
      return static_cast<double>(bytes) / static_cast<double>(file_bytes);
    };
    text += fmt::format("this process holds {:.2f} times the model file's {} (at most {:.2f} times)\n",
                        ratio(memory.resident_bytes), bytes_text(file_bytes), ratio(memory.peak_bytes));
  }
  return text;
}

}  // namespace lpu::cli
