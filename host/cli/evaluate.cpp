// `lpu evaluate`: how good the card's arithmetic is on a text, alone (perplexity) and against the fp32 reference.
// Relies on host/runtime/scoring.hpp for which positions count, on host/reference for the yardstick.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>

#include "host/base/number_text.hpp"
#include "host/base/progress.hpp"
#include "host/cli/card_options.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/console.hpp"
#include "host/model/model.hpp"
#include "host/reference/decoder.hpp"
#include "host/reference/divergence.hpp"
#include "host/runtime/scoring.hpp"
#include "host/runtime/text_model.hpp"

namespace lpu::cli {
namespace {

struct Options {
  CardChoice card;
  std::string text;
  std::string reference;
  std::size_t window_tokens = 512;
  std::size_t most_windows = 0;
  bool json = false;
};

struct Result {
  std::size_t tokens = 0;
  std::size_t windows = 0;
  std::size_t positions = 0;
  double nats = 0;  ///< sum of negative log-likelihoods
  std::optional<reference::DivergenceSummary> divergence;
  double seconds = 0;
};

std::optional<reference::Decoder> open_reference(const Options& options, const bundle::Bundle& bundle) {
  if (options.reference.empty()) return std::nullopt;
  std::shared_ptr<const model::Model> model = model::Model::open(options.reference);
  if (model->shape().vocabulary != bundle.shape().vocabulary || model->shape().layers != bundle.shape().layers ||
      model->shape().width != bundle.shape().width)
    fail(ExitCode::kUsage,
         "{}: has another shape than the bundle's model {}; give the file that the bundle was compiled from, or its "
         "original",
         options.reference, bundle.model_name());
  const unsigned threads =
      options.card.threads != 0 ? options.card.threads : std::max(1U, std::thread::hardware_concurrency());
  return reference::Decoder(std::move(model), threads);
}

std::vector<std::vector<std::int32_t>> windows_of(const Options& options, const bundle::Bundle& bundle,
                                                  std::size_t& tokens) {
  const runtime::TextModel text(bundle);
  std::string content = read_text(options.text);
  if (content.ends_with('\n')) content.pop_back();  // as llama-perplexity does, so that the windows are the same
  const std::vector<std::int32_t> ids = text.tokenizer().encode(content, false, true);
  tokens = ids.size();
  if (ids.size() < options.window_tokens)
    fail(ExitCode::kUsage, "{}: has {} tokens, but one window needs {}; give a longer text or a smaller --window",
         options.text, ids.size(), options.window_tokens);
  std::optional<std::int32_t> start;
  if (text.tokenizer().adds_start()) start = ids.front();
  return runtime::cut_windows(ids, options.window_tokens, start, options.most_windows);
}

Result evaluate(const Options& options, const bundle::Bundle& bundle, Progress& progress) {
  const auto begin = std::chrono::steady_clock::now();
  Result result;
  const std::vector<std::vector<std::int32_t>> windows = windows_of(options, bundle, result.tokens);
  result.windows = windows.size();
  std::optional<reference::Decoder> decoder = open_reference(options, bundle);
  const std::unique_ptr<card::Card> card = open_card(options.card, bundle);
  reference::DivergenceTotals divergence;
  const std::size_t vocabulary = bundle.shape().vocabulary;
  const std::size_t steps = windows.size() * (options.window_tokens - 1);
  std::size_t done = 0;
  for (const std::vector<std::int32_t>& window : windows) {
    const std::size_t first = runtime::first_scored_position(window.size());
    std::vector<float> expected;  // [positions scored × vocabulary]
    if (decoder) expected = decoder->logits(std::span(window).first(window.size() - 1), first);
    const auto scored = [&](std::size_t position, std::span<const float> logits, std::int32_t target) {
      ++result.positions;
      result.nats += reference::negative_log_likelihood(logits, static_cast<std::size_t>(target));
      if (!decoder) return;
      const auto row = std::span<const float>(expected).subspan((position - first) * vocabulary, vocabulary);
      divergence.add(row, logits, static_cast<std::size_t>(target));
    };
    runtime::score_window(*card, window, scored, [&] {
      throw_if_interrupted();
      progress.update("evaluating", static_cast<double>(++done) / static_cast<double>(steps));
    });
  }
  if (decoder) result.divergence = divergence.summary();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

Json json_of(const Options& options, const bundle::Bundle& bundle, const Result& result) {
  const auto pick = [&](auto member) { return result.divergence ? Json((*result.divergence).*member) : Json(nullptr); };
  using Summary = reference::DivergenceSummary;
  return {{"perplexity", std::exp(result.nats / static_cast<double>(result.positions))},
          {"reference_perplexity", pick(&Summary::reference_perplexity)},
          {"kl_mean", pick(&Summary::mean_kl_nats)},
          {"kl_median", pick(&Summary::median_kl_nats)},
          {"kl_p99", pick(&Summary::p99_kl_nats)},
          {"same_top", pick(&Summary::same_top_share)},
          {"model", bundle.model_name()},
          {"hardware", bundle.hardware_name()},
          {"kv_bits", bundle.shape().kv_bits},
          {"text", options.text},
          {"text_tokens", result.tokens},
          {"window_tokens", options.window_tokens},
          {"windows", result.windows},
          {"positions", result.positions},
          {"seconds", result.seconds}};
}

void print(const Options& options, const Result& result) {
  Table table({fmt::format("{} windows of {} tokens, {} positions scored", result.windows, options.window_tokens,
                           grouped_text(result.positions)),
               ""});
  table.add({"perplexity", fmt::format("{:.4f}", std::exp(result.nats / static_cast<double>(result.positions)))});
  if (const auto& divergence = result.divergence) {
    table.add({"perplexity of the fp32 reference", fmt::format("{:.4f}", divergence->reference_perplexity)});
    table.add({"KL(reference || card), nats: mean", fmt::format("{:.6f}", divergence->mean_kl_nats)});
    table.add({"                             median", fmt::format("{:.6f}", divergence->median_kl_nats)});
    table.add({"                             p99", fmt::format("{:.6f}", divergence->p99_kl_nats)});
    table.add({"same top token", percent_text(divergence->same_top_share)});
  }
  put_out(table.text());
}

ExitCode run(const Options& options) {
  catch_interrupts();
  CardChoice choice = options.card;
  choice.quiet = choice.quiet || options.json;
  const bundle::Bundle bundle = open_bundle(choice);
  if (options.window_tokens > bundle.shape().context_tokens)
    fail(ExitCode::kDoesNotFit,
         "A window of {} tokens is longer than the bundle's context of {}; compile with --context {}, or take a "
         "smaller --window.",
         options.window_tokens, bundle.shape().context_tokens, options.window_tokens);
  Progress progress(!choice.quiet);
  const Result result = evaluate(options, bundle, progress);
  progress.clear();
  if (options.json) {
    put_json(json_of(options, bundle, result));
  } else {
    print(options, result);
    if (!choice.quiet) std::fputs(fmt::format("took {}\n", seconds_text(result.seconds)).c_str(), stderr);
  }
  return ExitCode::kSuccess;
}

}  // namespace

void add_evaluate(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("evaluate", "Measure on a text how well the card's arithmetic keeps the model");
  const auto options = std::make_shared<Options>();
  add_card_options(*command, options->card);
  command->add_option("--text", options->text, "The text, a UTF-8 file")->required();
  command->add_option("--reference", options->reference, "The model, a GGUF file: compare with its fp32 arithmetic");
  command->add_option("--window", options->window_tokens, "Tokens of a window, of which the second half is scored")
      ->check(whole_number())
      ->check(CLI::Range(std::size_t{4}, std::size_t{1} << 20))
      ->capture_default_str();
  command->add_option("--windows", options->most_windows, "Take only the first so many windows; 0: all")
      ->check(whole_number())
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON (keys: docs/json.md)");
  command->footer(
      "Windows and positions are those of llama-perplexity: the text's whole windows one after another; in a window of "
      "512 tokens the\n"
      "logits at positions 256 to 510, each against the token that follows. KL is in nats.\n\n"
      "Example:\n"
      "  lpu evaluate model.bundle --text prose.txt --reference model.gguf --window 512\n");
  command->callback([options, &chosen] { chosen = [options] { return run(*options); }; });
}

}  // namespace lpu::cli
