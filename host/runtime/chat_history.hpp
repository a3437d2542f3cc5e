// A conversation that always fits the context: when it grows too long, its oldest turns are dropped.
// Relies on text_model.hpp. A turn is a question and its answer; the system message is never dropped.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "host/runtime/text_model.hpp"

namespace lpu::runtime {

class ChatHistory {
 public:
  struct Prompt {
    std::vector<std::int32_t> tokens;
    std::size_t dropped_turns = 0;
  };

  /// Keeps a reference to `text`. system: empty for the template's own default.
  ChatHistory(const TextModel& text, model::ChatTemplate which, std::string system);

  /// The prompt that asks `question`, at most `limit_tokens` long. Error(kDoesNotFit) when the question alone is
  /// longer; the history is then as before.
  Prompt ask(std::string question, std::size_t limit_tokens);
  /// Notes what was answered to the last question.
  void answer(std::string text);
  /// Forgets the last question, which got no answer.
  void take_back();
  void reset();
  /// Questions in the history, the unanswered one included.
  [[nodiscard]] std::size_t turns() const;

 private:
  [[nodiscard]] std::vector<std::int32_t> encode() const;

  const TextModel& text_;
  model::ChatTemplate which_;
  std::string system_;
  std::vector<model::ChatMessage> messages_;  ///< without the system message
};

}  // namespace lpu::runtime
