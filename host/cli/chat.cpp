// `lpu chat`: a conversation. Relies on host/runtime for history and session, on line_reader.hpp for the keyboard.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "host/base/progress.hpp"
#include "host/cli/card_options.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/console.hpp"
#include "host/cli/line_reader.hpp"
#include "host/runtime/chat_history.hpp"
#include "host/runtime/metrics.hpp"
#include "host/runtime/session.hpp"
#include "host/runtime/text_model.hpp"

namespace lpu::cli {
namespace {

struct Options {
  CardChoice card;
  TextChoice text;
};

constexpr const char* kCommands =
    "/reset  forget the conversation\n/quit   leave (or Ctrl-D)\n/help   this list\nCtrl-C ends an answer.\n";

/// A quarter of the context is kept for the answer, or less where less was asked for.
std::size_t room_for_answer(std::size_t context_tokens, std::size_t max_tokens) {
  const std::size_t quarter = std::max<std::size_t>(context_tokens / 4, 1);
  return max_tokens == 0 ? quarter : std::min(max_tokens, quarter);
}

class Conversation {
 public:
  Conversation(const Options& options, const runtime::TextModel& text, const bundle::Bundle& bundle, card::Card& card)
      : options_(options),
        text_(text),
        history_(text_, text_.chat_template(options.text.chat_template), options.text.system),
        session_(card, bundle) {}

  /// One question and its answer.
  void take_turn(const std::string& question) {
    const std::size_t context = session_.context_tokens();
    const std::size_t room = std::min(room_for_answer(context, options_.text.max_tokens), context - 1);
    const runtime::ChatHistory::Prompt prompt = history_.ask(question, context - room);
    if (prompt.dropped_turns != 0)
      note(fmt::format("The context of {} tokens is full: the oldest {} forgotten.", context,
                       prompt.dropped_turns == 1 ? "turn is" : fmt::format("{} turns are", prompt.dropped_turns)));
    std::string answer;
    const runtime::Generation run = generate(prompt.tokens, answer);
    if (run.end == runtime::EndReason::kLength)
      note(fmt::format("The context of {} tokens is full: the answer is cut off.", context));
    if (run.tokens.empty()) {
      history_.take_back();
    } else {
      history_.answer(answer);
    }
    if (!options_.card.quiet) note(speed_text(run));
  }

  void reset() {
    history_.reset();
    session_.reset();
    note("The conversation is forgotten.");
  }

 private:
  static void note(const std::string& sentence) { std::fputs(fmt::format("[{}]\n", sentence).c_str(), stderr); }

  runtime::Generation generate(const std::vector<std::int32_t>& prompt, std::string& answer) {
    Progress progress(!options_.card.quiet);
    model::Utf8Stream stream;
    const auto show = [&](const std::string& piece) {
      answer += piece;
      put_out(piece);
    };
    runtime::GenerateOptions generate;
    generate.max_tokens = options_.text.max_tokens;
    generate.sampling = options_.text.sampling;
    generate.is_interrupted = was_interrupted;
    generate.is_end = [&](std::int32_t id) { return text_.tokenizer().is_end(id); };
    generate.on_prompt = [&](double share) { progress.update("reading", share); };
    generate.on_token = [&](std::int32_t id) {
      progress.clear();
      show(stream.push(text_.tokenizer().token_bytes(id)));
    };
    runtime::Generation run = session_.generate(prompt, generate);
    progress.clear();
    show(stream.finish());
    put_out("\n");
    return run;
  }

  static std::string speed_text(const runtime::Generation& run) {
    const auto card = runtime::latency_figures(run.card_times_s);
    const auto wall = runtime::latency_figures(run.wall_times_s);
    const auto rate = [](const auto& figures) {
      return figures && figures->decode_tokens_per_s ? fmt::format("{:.1f} tokens/s", *figures->decode_tokens_per_s)
                                                     : std::string("-");
    };
    return fmt::format("{} tokens; card time {}, wall time {}", run.tokens.size(), rate(card), rate(wall));
  }

  const Options& options_;
  const runtime::TextModel& text_;
  runtime::ChatHistory history_;
  runtime::Session session_;
};

ExitCode run(const Options& options) {
  check(options.text.sampling);
  catch_interrupts();
  const bundle::Bundle bundle = open_bundle(options.card);
  const runtime::TextModel text(bundle);
  const std::unique_ptr<card::Card> card = open_card(options.card, bundle);
  Conversation conversation(options, text, bundle, *card);
  LineReader reader;
  if (reader.is_terminal())
    std::fputs(fmt::format("{} on {} ({}). /help lists the commands.\n", bundle.model_name(), bundle.hardware_name(),
                           options.card.card)
                   .c_str(),
               stderr);
  while (true) {
    const std::optional<std::string> line = reader.next("> ");
    if (!line && reader.is_terminal()) put_out("\n");
    if (!line || *line == "/quit") break;
    if (*line == "/reset") {
      conversation.reset();
    } else if (*line == "/help") {
      std::fputs(fmt::format("{}", kCommands).c_str(), stderr);
    } else if (line->starts_with('/')) {
      std::fputs(fmt::format("[There is no command {}; /help lists them.]\n", *line).c_str(), stderr);
    } else if (!line->empty()) {
      try {
        conversation.take_turn(*line);
      } catch (const Error& error) {
        // A message that is too long is the user's to shorten; a card that stopped is the end.
        if (error.code() != ExitCode::kDoesNotFit) throw;
        std::fputs(fmt::format("[{}]\n", error.what()).c_str(), stderr);
      }
      if (was_interrupted() && !reader.is_terminal()) return ExitCode::kInterrupted;
      forget_interrupt();
    }
  }
  return was_interrupted() ? ExitCode::kInterrupted : ExitCode::kSuccess;
}

}  // namespace

void add_chat(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("chat", "Hold a conversation with a model");
  const auto options = std::make_shared<Options>();
  add_card_options(*command, options->card);
  add_text_options(*command, options->text);
  command->footer(
      "Type a message and Enter; /reset forgets the conversation, /quit leaves, /help lists the commands. Ctrl-C ends "
      "an answer.\n"
      "When the context is full, the oldest turns are forgotten, which is said. Messages may also come from a pipe, "
      "one a line.\n\n"
      "Examples:\n"
      "  lpu chat model.bundle --temperature 0.7 --top-p 0.9\n"
      "  printf 'Hello!\\nAnd in French?\\n' | lpu chat model.bundle --system \"You are brief.\"\n");
  command->callback([options, &chosen] { chosen = [options] { return run(*options); }; });
}

}  // namespace lpu::cli
