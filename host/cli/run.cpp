// `lpu run`: one prompt in, text out as it comes, then what it took. Relies on host/runtime.
#include <cstdio>
#include <memory>
#include <optional>

#include "host/base/atomic_file.hpp"
#include "host/base/progress.hpp"
#include "host/cli/card_options.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/console.hpp"
#include "host/cli/generation_report.hpp"
#include "host/runtime/chat_history.hpp"
#include "host/runtime/session.hpp"
#include "host/runtime/text_model.hpp"

namespace lpu::cli {
namespace {

struct Options {
  CardChoice card;
  TextChoice text;
  std::optional<std::string> prompt;
  std::string prompt_file;
  std::string tokens;
  std::string logits;
  bool chat = false;
  bool ignore_end = false;
  bool json = false;
};

std::vector<std::int32_t> prompt_tokens(const Options& options, const runtime::TextModel& text,
                                        std::size_t context_tokens) {
  if (!options.tokens.empty()) return parse_ids("--tokens", options.tokens);
  const std::string prompt = options.prompt ? *options.prompt : read_text(options.prompt_file);
  if (prompt.empty()) fail(ExitCode::kUsage, "The prompt is empty; write some text between the quotes.");
  if (!options.chat) return text.tokenizer().encode(prompt, true, true);
  runtime::ChatHistory history(text, text.chat_template(options.text.chat_template), options.text.system);
  return history.ask(prompt, context_tokens).tokens;
}

void check_conflicts(const Options& options) {
  const int prompts =
      (options.prompt ? 1 : 0) + (options.prompt_file.empty() ? 0 : 1) + (options.tokens.empty() ? 0 : 1);
  if (prompts != 1)
    fail(ExitCode::kUsage, "Give the prompt in exactly one way: --prompt TEXT, --prompt-file FILE or --tokens IDS.");
  if (options.chat && !options.tokens.empty())
    fail(ExitCode::kUsage, "--chat puts text into a chat template, and --tokens are no text; leave one of them out.");
  if (!options.chat && (!options.text.chat_template.empty() || !options.text.system.empty()))
    fail(ExitCode::kUsage, "--template and --system belong to a conversation; add --chat, or leave them out.");
  check(options.text.sampling);
}

ExitCode run(const Options& options) {
  check_conflicts(options);
  catch_interrupts();
  CardChoice choice = options.card;
  choice.quiet = choice.quiet || options.json;
  const bundle::Bundle bundle = open_bundle(choice);
  const runtime::TextModel text(bundle);
  RunFacts facts{bundle, choice.card, prompt_tokens(options, text, bundle.shape().context_tokens), {}, {}};
  std::optional<AtomicFile> logits;
  if (!options.logits.empty()) logits.emplace(options.logits);
  const std::unique_ptr<card::Card> card = open_card(choice, bundle);
  runtime::Session session(*card, bundle);
  Progress progress(!choice.quiet);
  model::Utf8Stream stream;
  const auto show = [&](const std::string& piece) {
    if (piece.empty()) return;
    facts.text += piece;
    if (!options.json) put_out(piece);
  };

  runtime::GenerateOptions generate;
  generate.max_tokens = options.text.max_tokens;
  generate.sampling = options.text.sampling;
  generate.is_interrupted = was_interrupted;
  generate.on_prompt = [&](double share) { progress.update("reading the prompt", share); };
  if (!options.ignore_end) generate.is_end = [&](std::int32_t id) { return text.tokenizer().is_end(id); };
  if (logits) generate.on_logits = [&](std::span<const float> row) { logits->write(std::as_bytes(row)); };
  generate.on_token = [&](std::int32_t id) {
    progress.clear();
    show(stream.push(text.tokenizer().token_bytes(id)));
  };
  facts.generation = session.generate(facts.prompt, generate);
  progress.clear();
  show(stream.finish());
  if (logits) logits->publish();

  if (options.json) {
    put_json(generation_json(facts));
  } else {
    put_out("\n");
    if (!choice.quiet) std::fputs(fmt::format("\n{}", generation_text(facts)).c_str(), stderr);
  }
  return facts.generation.end == runtime::EndReason::kInterrupted ? ExitCode::kInterrupted : ExitCode::kSuccess;
}

}  // namespace

void add_run(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("run", "Answer one prompt, and tell how long every token took");
  const auto options = std::make_shared<Options>();
  add_card_options(*command, options->card);
  command->add_option("--prompt", options->prompt, "The text to go on from; control tokens in it count, unless --chat");
  command->add_option("--prompt-file", options->prompt_file, "A file with that text");
  command->add_option("--tokens", options->tokens, "Token ids instead of text, like 1,2,3; no start token is added");
  command->add_flag("--chat", options->chat, "Put the prompt into the model's chat template, as a user's message");
  add_text_options(*command, options->text);
  command->add_flag("--ignore-end", options->ignore_end, "Go on past the model's end tokens (for measuring)");
  command->add_option("--logits", options->logits,
                      "Write the logits to this file: little-endian float32, a vocabulary row per generated token");
  command->add_flag("--json", options->json, "Print JSON instead of the text (keys: docs/json.md)");
  command->footer(
      "The text comes on standard output, token by token; afterwards a table on standard error, in which card time "
      "(cycles / clock of\n"
      "the machine) and wall time (of this process) stand apart. Ctrl-C ends the text, and the table still comes.\n"
      "top-p is taken of the model's own distribution, before the temperature; without either limit the card samples "
      "by itself.\n"
      "A prompt that begins with a dash: --prompt=-text\n\n"
      "Examples:\n"
      "  lpu run model.bundle --chat --prompt \"What is the capital of France?\" --max-tokens 64\n"
      "  lpu run model.bundle --prompt-file story.txt --temperature 0.8 --top-p 0.95 --seed 7\n"
      "  lpu run model.bundle --tokens 504,3575,282 --max-tokens 8 --json\n");
  command->callback([options, &chosen] { chosen = [options] { return run(*options); }; });
}

}  // namespace lpu::cli
