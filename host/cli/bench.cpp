// `lpu bench`: the same task on a card and, if wished, on another server; what every user gets and what the whole does.
// Relies on host/bench.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include "host/base/atomic_file.hpp"
#include "host/base/progress.hpp"
#include "host/cli/bench_report.hpp"
#include "host/cli/card_options.hpp"
#include "host/cli/commands.hpp"
#include "host/runtime/text_model.hpp"

namespace lpu::cli {
namespace {

struct Options {
  CardChoice card;
  std::string task = "llmperf";
  std::size_t sessions = 1;
  std::size_t requests = 0;  ///< 0: one per session
  std::uint64_t seed = 1;
  std::optional<std::size_t> prompt_tokens;
  std::optional<std::size_t> prompt_deviation;
  std::optional<std::size_t> output_tokens;
  double interval_s = 0;
  float temperature = 0;
  bench::EndpointOptions endpoint;
  std::string endpoint_api = "completions";
  std::string api_key_variable;
  bool endpoint_only = false;
  bool no_usage = false;
  std::string plot;
  bool json = false;
};

bench::Task task_of(const Options& options) {
  bench::Task task = bench::find_task(options.task);
  if (options.prompt_tokens) {
    task.prompt_tokens = *options.prompt_tokens;
    task.prompt_deviation_tokens = 0;
  }
  task.prompt_deviation_tokens = options.prompt_deviation.value_or(task.prompt_deviation_tokens);
  task.output_tokens = options.output_tokens.value_or(task.output_tokens);
  return task;
}

bench::EndpointOptions endpoint_of(const Options& options, const bundle::Bundle& bundle) {
  bench::EndpointOptions endpoint = options.endpoint;
  if (endpoint.model.empty()) endpoint.model = bundle.model_name();
  endpoint.is_chat = options.endpoint_api == "chat";
  endpoint.asks_for_usage = !options.no_usage;
  endpoint.temperature = static_cast<double>(options.temperature);
  endpoint.seed = options.seed;
  endpoint.sessions = options.sessions;
  endpoint.interval_s = options.interval_s;
  endpoint.is_interrupted = was_interrupted;
  if (!options.api_key_variable.empty()) {
    const char* key = std::getenv(options.api_key_variable.c_str());
    if (key == nullptr || *key == '\0')
      fail(ExitCode::kUsage, "--api-key-env: the environment has no variable {}, or it is empty.",
           options.api_key_variable);
    endpoint.api_key = key;
  }
  return endpoint;
}

void check(const Options& options) {
  if (options.endpoint.url.empty()) {
    if (options.endpoint_only || options.no_usage || !options.api_key_variable.empty() ||
        !options.endpoint.model.empty() || options.endpoint.ignores_end)
      fail(ExitCode::kUsage, "Options for another server mean nothing without its address; add --endpoint URL.");
  } else {
    bench::parse_address(options.endpoint.url);
  }
  runtime::SamplingOptions sampling;
  sampling.temperature = options.temperature;
  runtime::check(sampling);
  if (!options.plot.empty()) bench::require_gnuplot();
}

void run_card(const Options& options, const CardChoice& choice, BenchFacts& facts) {
  const std::unique_ptr<card::Card> card = open_card(choice, facts.bundle);
  Progress progress(!choice.quiet);
  bench::CardBenchOptions run;
  run.sessions = options.sessions;
  run.interval_s = options.interval_s;
  run.sampling.temperature = options.temperature;
  run.sampling.seed = options.seed;
  run.is_interrupted = was_interrupted;
  run.on_progress = [&](double share) { progress.update("running on the card", share); };
  facts.on_card = bench::run_on_card(*card, facts.bundle, facts.admission.admitted, run);
  progress.clear();
}

void run_endpoint(const Options& options, const CardChoice& choice, const model::Tokenizer& tokenizer,
                  BenchFacts& facts) {
  bench::EndpointOptions endpoint = endpoint_of(options, facts.bundle);
  Progress progress(!choice.quiet);
  endpoint.on_progress = [&](double share) { progress.update("asking the server", share); };
  facts.endpoint = endpoint.url;
  facts.endpoint_model = endpoint.model;
  facts.on_endpoint = bench::run_on_endpoint(facts.admission.admitted, tokenizer, endpoint);
  progress.clear();
}

ExitCode run(const Options& options) {
  check(options);
  catch_interrupts();
  CardChoice choice = options.card;
  choice.quiet = choice.quiet || options.json;
  const bundle::Bundle bundle = open_bundle(choice);
  const runtime::TextModel text(bundle);
  BenchFacts facts{bundle, choice.card, task_of(options), options.sessions, {}, options.seed, {}, {}, {}, {}, {}};
  facts.requests = options.requests != 0 ? options.requests : options.sessions;
  facts.admission = bench::admit(bench::draw_requests(facts.task, facts.requests, options.seed, text.tokenizer()),
                                 bundle.shape().context_tokens);
  if (facts.admission.admitted.empty())
    fail(ExitCode::kDoesNotFit,
         "No request of {} fits: {} Compile with a larger --context, or ask for less with --prompt-tokens and "
         "--output-tokens.",
         facts.requests, facts.admission.refused.front().why);
  std::optional<AtomicFile> plot;
  if (!options.plot.empty()) plot.emplace(options.plot);
  // First what can fail at once: a server that is absent shouldn't cost a run of the card.
  if (!options.endpoint.url.empty()) run_endpoint(options, choice, text.tokenizer(), facts);
  if (!options.endpoint_only) run_card(options, choice, facts);
  if (plot) {
    plot->write(bytes_of(bench::draw_svg(bench_plot(facts))));
    plot->publish();
  }
  if (options.json) {
    put_json(bench_json(facts));
  } else {
    put_out(bench_text(facts));
  }
  return ExitCode::kSuccess;
}

void add_task_options(CLI::App& command, Options& options) {
  command.add_option("--task", options.task, "llmperf: 550 +- 150 tokens in, 150 out; long: 24 in, 1,000 out")
      ->capture_default_str();
  command.add_option("--sessions", options.sessions, "Users at once, each asking again when its answer has ended")
      ->check(whole_number())
      ->check(CLI::Range(std::size_t{1}, std::size_t{10}))
      ->capture_default_str();
  command.add_option("--requests", options.requests, "Requests in all (default: one per session)")
      ->check(whole_number())
      ->check(CLI::Range(std::size_t{1}, std::size_t{100'000}));
  command.add_option("--seed", options.seed, "Same seed, same prompts, on any machine")
      ->check(whole_number())
      ->capture_default_str();
  constexpr std::size_t kMostTokens = std::size_t{1} << 20;
  command.add_option("--prompt-tokens", options.prompt_tokens, "Mean length of a prompt; all alike, unless:")
      ->check(whole_number())
      ->check(CLI::Range(std::size_t{1}, kMostTokens));
  command.add_option("--prompt-deviation", options.prompt_deviation, "Standard deviation of a prompt's length")
      ->check(whole_number())
      ->check(CLI::Range(std::size_t{0}, kMostTokens));
  command.add_option("--output-tokens", options.output_tokens, "Tokens of every answer, end tokens or not")
      ->check(whole_number())
      ->check(CLI::Range(std::size_t{1}, kMostTokens));
  command
      .add_option("--interval-s", options.interval_s,
                  "Seconds (of card time, or of the server's wall time) between the first requests of two sessions")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  command.add_option("--temperature", options.temperature, "0: always the likeliest token; above: sample")
      ->capture_default_str();
}

void add_endpoint_options(CLI::App& command, Options& options) {
  command.add_option("--endpoint", options.endpoint.url,
                     "Also send the prompts to this OpenAI-compatible server, like http://localhost:8000/v1");
  command.add_option("--endpoint-model", options.endpoint.model, "The model as the server calls it (default: ours)");
  command.add_option("--endpoint-api", options.endpoint_api, "completions, or chat (a prompt is the user's message)")
      ->check(CLI::IsMember({"completions", "chat"}))
      ->capture_default_str();
  command.add_option("--api-key-env", options.api_key_variable, "The environment variable that holds the server's key");
  command.add_flag("--endpoint-only", options.endpoint_only, "Leave the card out");
  command.add_flag("--endpoint-ignore-end", options.endpoint.ignores_end,
                   "Ask it to go on past end tokens (\"ignore_eos\", which vLLM and llama.cpp know)");
  command.add_flag("--endpoint-no-usage", options.no_usage,
                   "Don't ask it to count tokens (for servers that refuse stream_options)");
  command.add_option("--endpoint-warm-up", options.endpoint.warm_up, "Requests before the clock starts")
      ->check(whole_number())
      ->check(CLI::Range(std::size_t{0}, std::size_t{1000}))
      ->capture_default_str();
  command.add_option("--timeout-s", options.endpoint.timeout_s, "Seconds that the server may take for one request")
      ->check(CLI::Range(0.1, 86'400.0))
      ->capture_default_str();
}

}  // namespace

void add_bench(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("bench", "Measure latency and speed for one to ten users");
  const auto options = std::make_shared<Options>();
  add_card_options(*command, options->card);
  add_task_options(*command, *options);
  add_endpoint_options(*command, *options);
  command->add_option("--plot", options->plot,
                      "Draw speed over position and the latencies to this SVG file (by gnuplot)");
  command->add_flag("--json", options->json, "Print JSON instead of the tables (keys: docs/json.md)");
  command->footer(
      "A card serves one session at a time today; the others wait in the order of arrival, and TTFT and e2e count from "
      "the "
      "arrival.\n"
      "Requests that don't fit the context are refused and told of, never shortened; exit code 4 when none fits.\n"
      "Card time is one clock of cycles for the whole benchmark, the same in every run; wall time is this process's.\n"
      "Percentiles are nearest ranks: values that were measured; of speeds they run towards the slow end.\n\n"
      "Examples:\n"
      "  lpu bench model.bundle --sessions 3 --requests 12\n"
      "  lpu bench model.bundle --task long --plot speed.svg\n"
      "  lpu bench model.bundle --prompt-tokens 40 --output-tokens 60 --sessions 10 --json\n"
      "  lpu bench model.bundle --sessions 4 --endpoint http://localhost:8000/v1 --endpoint-model smollm2 "
      "--endpoint-ignore-end\n");
  command->callback([options, &chosen] { chosen = [options] { return run(*options); }; });
}

}  // namespace lpu::cli
