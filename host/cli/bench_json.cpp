// A benchmark as JSON: see bench_report.hpp; keys: docs/json.md.
#include <algorithm>

#include "hls/contract/describe.hpp"
#include "host/base/process_memory.hpp"
#include "host/cli/bench_figures.hpp"
#include "host/cli/bench_report.hpp"
#include "host/cli/generation_report.hpp"

namespace lpu::cli {
namespace {

using runtime::Percentiles;

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }
Json median(const std::optional<Percentiles>& value) { return value ? Json(value->p50) : Json(nullptr); }

/// last: "max" of times, "min" of speeds.
Json spread_json(const std::optional<Percentiles>& value, const char* last) {
  if (!value) return nullptr;
  return {{"p50", value->p50},  {"p90", value->p90},   {"p99", value->p99},    {"p99_9", value->p99_9},
          {last, value->worst}, {"mean", value->mean}, {"count", value->count}};
}

Json clock_json(const ClockFigures& clock) {
  const bench::Figures& figures = clock.figures;
  return {{"ttft_s", median(figures.ttft_s)},
          {"tpot_s", median(figures.tpot_s)},
          {"decode_tokens_per_s", median(figures.decode_tokens_per_s)},
          {"e2e_tokens_per_s", median(figures.e2e_tokens_per_s)},
          {"jitter_s", or_null(clock.jitter_s)},
          {"inter_token_spread_s", or_null(figures.inter_token_spread_s)},
          {"total_tokens_per_s", figures.total_tokens_per_s},
          {"queries_per_minute", figures.queries_per_minute},
          {"seconds", figures.seconds},
          {"requests", figures.requests},
          {"output_tokens", figures.output_tokens},
          {"percentiles",
           {{"ttft_s", spread_json(figures.ttft_s, "max")},
            {"ttft_without_waiting_s", spread_json(figures.ttft_without_waiting_s, "max")},
            {"waiting_s", spread_json(figures.waiting_s, "max")},
            {"tpot_s", spread_json(figures.tpot_s, "max")},
            {"inter_token_s", spread_json(figures.inter_token_s, "max")},
            {"e2e_s", spread_json(figures.e2e_s, "max")},
            {"decode_tokens_per_s", spread_json(figures.decode_tokens_per_s, "min")},
            {"e2e_tokens_per_s", spread_json(figures.e2e_tokens_per_s, "min")}}}};
}

Json times_json(const bench::RequestTimes& times) {
  return {{"arrival_s", times.arrival_s},
          {"start_s", times.start_s},
          {"first_token_s", times.pieces_s.front()},
          {"last_token_s", times.pieces_s.back()}};
}

Json run_json(const bench::CardRun& run) {
  const auto sum = [](const std::vector<std::uint64_t>& values) {
    std::uint64_t total = 0;
    for (const std::uint64_t value : values) total += value;
    return total;
  };
  const runtime::Generation& generation = run.generation;
  return {{"request", run.index},
          {"session", run.session},
          {"queue_place", run.place},
          {"prompt_tokens", generation.prompt_tokens},
          {"token_ids", generation.tokens},
          {"predicted_cycles", sum(generation.predicted_cycles)},
          {"measured_cycles", sum(generation.measured_cycles)},
          {"card", times_json(run.card)},
          {"wall", times_json(run.wall)}};
}

void add_card(const BenchFacts& facts, Json& json) {
  const bench::CardBench& on_card = *facts.on_card;
  std::vector<const runtime::Generation*> generations;
  std::uint64_t busy_beats = 0;
  std::size_t waited = 0;
  Json runs = Json::array();
  for (const bench::CardRun& run : on_card.runs) {
    generations.push_back(&run.generation);
    busy_beats += run.generation.busy_beats;
    waited += run.place != 0 ? 1 : 0;
    runs.push_back(run_json(run));
  }
  Json speeds = Json::array();
  for (const std::uint32_t position : telling_positions(on_card)) {
    const PositionSpeed speed = speed_at(facts, position);
    speeds.push_back({{"position", position},
                      {"predicted_cycles", speed.predicted_cycles},
                      {"measured_cycles", speed.measured_cycles},
                      {"predicted_tokens_per_s", speed.predicted_tokens_per_s},
                      {"measured_tokens_per_s", speed.measured_tokens_per_s}});
  }
  const PositionSpeed from = speed_at(facts, 0);
  const PositionSpeed to = speed_at(facts, decay_position(on_card));
  json["slots"] = on_card.slots;
  json["queued"] = waited;
  json["most_waiting"] = on_card.most_waiting;
  json["jitter_cycles"] = on_card.jitter_cycles;
  json["decay"] = {{"from_position", from.position},
                   {"to_position", to.position},
                   {"predicted_share", to.predicted_tokens_per_s / from.predicted_tokens_per_s},
                   {"measured_share", to.measured_tokens_per_s / from.measured_tokens_per_s}};
  json["speed_by_position"] = std::move(speeds);
  json["mac_utilisation"] = or_null(mac_utilisation(facts.bundle, generations));
  json["busy_beats"] = busy_beats;
  json["runs"] = std::move(runs);
}

void add_endpoint(const BenchFacts& facts, Json& json) {
  Json runs = Json::array();
  for (const bench::EndpointRun& run : *facts.on_endpoint)
    runs.push_back({{"request", run.index},
                    {"session", run.session},
                    {"asked_tokens", run.asked_tokens},
                    {"output_tokens", run.times.output_tokens},
                    {"pieces", run.times.pieces_s.size()},
                    {"counted_by", run.is_counted_by_server ? "server" : "tokenizer"},
                    {"wall", times_json(run.times)}});
  json["endpoint_url"] = facts.endpoint;
  json["endpoint_model"] = facts.endpoint_model;
  json["endpoint_runs"] = std::move(runs);
}

}  // namespace

Json bench_json(const BenchFacts& facts) {
  const ProcessMemory memory = process_memory();
  Json refused = Json::array();
  for (const bench::Refusal& refusal : facts.admission.refused)
    refused.push_back({{"request", refusal.index}, {"prompt_tokens", refusal.prompt_tokens}, {"why", refusal.why}});
  const std::uint64_t file_bytes = facts.bundle.model_file_bytes();
  Json json = {{"task", facts.task.name},
               {"sessions", facts.sessions},
               {"requests", facts.requests},
               {"admitted", facts.admission.admitted.size()},
               {"refused", std::move(refused)},
               {"seed", facts.seed},
               {"prompt_tokens", facts.task.prompt_tokens},
               {"prompt_deviation_tokens", facts.task.prompt_deviation_tokens},
               {"output_tokens", facts.task.output_tokens},
               {"percentile_method", "nearest rank"},
               {"model", facts.bundle.model_name()},
               {"hardware", facts.bundle.hardware_name()},
               {"contract", contract::contract_hash_text()},
               {"card_name", facts.card},
               {"clock_mhz", facts.bundle.hardware().clock_mhz}};
  for (const ClockFigures& clock : clock_figures(facts)) json[clock.key] = clock_json(clock);
  if (facts.on_card) add_card(facts, json);
  if (facts.on_endpoint) add_endpoint(facts, json);
  json["resident_card_bytes"] = facts.bundle.resident_bytes();
  json["process_resident_bytes"] = memory.resident_bytes;
  json["process_peak_bytes"] = memory.peak_bytes;
  json["model_file_bytes"] = file_bytes == 0 ? Json(nullptr) : Json(file_bytes);
  return json;
}

}  // namespace lpu::cli
