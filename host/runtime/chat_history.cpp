// See chat_history.hpp.
#include "host/runtime/chat_history.hpp"

#include <algorithm>
#include <utility>

#include "host/base/error.hpp"

namespace lpu::runtime {

ChatHistory::ChatHistory(const TextModel& text, model::ChatTemplate which, std::string system)
    : text_(text), which_(which), system_(std::move(system)) {}

std::vector<std::int32_t> ChatHistory::encode() const {
  std::vector<model::ChatMessage> messages;
  if (!system_.empty()) messages.push_back({"system", system_});
  messages.insert(messages.end(), messages_.begin(), messages_.end());
  const std::vector<model::PromptPiece> pieces = model::apply_chat_template(which_, messages, text_.jinja());
  return text_.tokenizer().encode_prompt(pieces, true);
}

ChatHistory::Prompt ChatHistory::ask(std::string question, std::size_t limit_tokens) {
  const std::vector<model::ChatMessage> before = messages_;
  messages_.push_back({"user", std::move(question)});
  try {
    Prompt prompt;
    prompt.tokens = encode();
    while (prompt.tokens.size() > limit_tokens && messages_.size() > 1) {
      messages_.erase(messages_.begin(), messages_.begin() + 2);
      ++prompt.dropped_turns;
      prompt.tokens = encode();
    }
    if (prompt.tokens.size() > limit_tokens)
      fail(ExitCode::kDoesNotFit,
           "The message has {} tokens with its template, but only {} fit the context beside an answer; shorten it, or "
           "compile "
           "with a larger --context.",
           prompt.tokens.size(), limit_tokens);
    return prompt;
  } catch (...) {
    messages_ = before;
    throw;
  }
}

void ChatHistory::answer(std::string text) { messages_.push_back({"assistant", std::move(text)}); }

void ChatHistory::take_back() {
  if (!messages_.empty() && messages_.back().role == "user") messages_.pop_back();
}

void ChatHistory::reset() { messages_.clear(); }

std::size_t ChatHistory::turns() const {
  return static_cast<std::size_t>(
      std::count_if(messages_.begin(), messages_.end(), [](const auto& message) { return message.role == "user"; }));
}

}  // namespace lpu::runtime
