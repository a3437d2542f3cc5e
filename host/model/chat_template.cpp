// The chat templates of the supported models' families, written out as C++. Why: a template in a file is a program of
// the file's author; here its text is only searched for literals (a default system message, the spaces around [INST]),
// never run. Relies on chat_template.hpp; marks are spelt as the models' vocabularies spell them.
#include "host/model/chat_template.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "host/base/error.hpp"
#include "host/model/jinja_literals.hpp"

namespace lpu::model {
namespace {

constexpr std::array<std::pair<std::string_view, ChatTemplate>, 6> kNames = {{{"chatml", ChatTemplate::kChatMl},
                                                                              {"llama2", ChatTemplate::kLlama2},
                                                                              {"llama3", ChatTemplate::kLlama3},
                                                                              {"mistral", ChatTemplate::kMistral},
                                                                              {"zephyr", ChatTemplate::kZephyr},
                                                                              {"gemma", ChatTemplate::kGemma}}};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Collects pieces, neighbours of one kind joined.
class Prompt {
 public:
  void mark(std::string_view text) { append(text, true); }
  void content(std::string_view text) { append(text, false); }
  std::vector<PromptPiece> take() { return std::move(pieces_); }

 private:
  void append(std::string_view text, bool is_template) {
    if (text.empty()) return;
    if (pieces_.empty() || pieces_.back().is_template != is_template) pieces_.push_back({"", is_template});
    pieces_.back().text += text;
  }
  std::vector<PromptPiece> pieces_;
};

using Messages = std::vector<ChatMessage>;

void check_roles(const Messages& messages) {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string& role = messages[i].role;
    if (role == "system" || role == "user" || role == "assistant") continue;
    fail(ExitCode::kBadInput, "Message {} has the role \"{}\"; use system, user or assistant.", i, role);
  }
}

/// The system message at the beginning, where there is one, and whether the rest alternates user, assistant, user …
struct Conversation {
  const std::string* system = nullptr;
  std::size_t first = 0;  ///< of the rest
};
Conversation alternating(ChatTemplate which, const Messages& messages) {
  Conversation result;
  if (!messages.empty() && messages[0].role == "system") {
    result = {&messages[0].text, 1};
    if (messages.size() == 1) {
      fail(ExitCode::kBadInput, "The chat template {} has no place for a system message alone; add a user message.",
           name_of(which));
    }
  }
  for (std::size_t i = result.first; i < messages.size(); ++i) {
    const std::string_view expected = (i - result.first) % 2 == 0 ? "user" : "assistant";
    if (messages[i].role == expected) continue;
    fail(ExitCode::kBadInput,
         "Message {} is from \"{}\", but the chat template {} needs user and assistant in turn (after at most one "
         "system message): \"{}\" is due.",
         i, messages[i].role, name_of(which), expected);
  }
  return result;
}

std::vector<PromptPiece> chat_ml(const Messages& messages, std::string_view jinja) {
  Prompt prompt;
  const auto say = [&](std::string_view role, std::string_view text, bool is_default) {
    prompt.mark("<|im_start|>");
    prompt.mark(role);
    prompt.mark("\n");
    is_default ? prompt.mark(text) : prompt.content(text);
    prompt.mark("<|im_end|>\n");
  };
  if (!messages.empty() && messages[0].role != "system") {
    const auto system = literal_between(jinja, "<|im_start|>system\n", "<|im_end|>");
    if (system) say("system", *system, true);
  }
  for (const ChatMessage& message : messages) say(message.role, message.text, false);
  prompt.mark("<|im_start|>assistant\n");
  return prompt.take();
}

std::vector<PromptPiece> llama3(const Messages& messages, std::string_view jinja) {
  Prompt prompt;
  const auto header = [&](std::string_view role) {
    prompt.mark("<|start_header_id|>");
    prompt.mark(role);
    prompt.mark("<|end_header_id|>\n\n");
  };
  // Llama 3.1 and later always have a system message that begins with two dates. Today's is kept at the templates' own
  // default, so that the same conversation gives the same tokens tomorrow.
  const bool has_dates = contains(jinja, "Cutting Knowledge Date: December 2023") && contains(jinja, "26 Jul 2024");
  std::size_t first = 0;
  if (has_dates) {
    header("system");
    prompt.mark("Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n");
    if (!messages.empty() && messages[0].role == "system") prompt.content(trim(messages[first++].text));
    prompt.mark("<|eot_id|>");
  }
  for (std::size_t i = first; i < messages.size(); ++i) {
    header(messages[i].role);
    prompt.content(trim(messages[i].text));
    prompt.mark("<|eot_id|>");
  }
  header("assistant");
  return prompt.take();
}

std::vector<PromptPiece> llama2(const Messages& messages) {
  const Conversation conversation = alternating(ChatTemplate::kLlama2, messages);
  Prompt prompt;
  for (std::size_t i = conversation.first; i < messages.size(); ++i) {
    const std::string& text = messages[i].text;
    if (messages[i].role == "assistant") {
      prompt.mark(" ");
      prompt.content(trim(text));
      prompt.mark(" </s>");
      continue;
    }
    prompt.mark(i == conversation.first ? "[INST] " : "<s>[INST] ");
    if (i == conversation.first && conversation.system != nullptr) {
      prompt.mark("<<SYS>>\n");
      prompt.content(*conversation.system);
      // The template trims all this as one: white space before the text stays, unless the text is nothing else.
      const std::string_view kept = trim_end(text);
      prompt.mark(kept.empty() ? "\n<</SYS>>" : "\n<</SYS>>\n\n");
      prompt.content(kept);
    } else {
      prompt.content(trim(text));
    }
    prompt.mark(" [/INST]");
  }
  return prompt.take();
}

/// How a Mistral template spells things; they differ in spaces, and spaces are tokens.
struct MistralStyle {
  std::string open = "[INST] ";
  std::string close = " [/INST]";
  bool space_before_answer = false;
  bool trim_answer = false;
  bool space_after_answer = false;
  bool system_in_last = false;  ///< the system message stands before the last user message, not before the first
};
MistralStyle mistral_style(std::string_view jinja) {
  MistralStyle style;
  if (const auto open = literal_with(jinja, "[INST]")) style.open = *open;
  if (const auto close = literal_with(jinja, "[/INST]")) style.close = *close;
  style.space_before_answer =
      contains(jinja, "\" \" + message[\"content\"]") || contains(jinja, "' ' + message['content']");
  style.trim_answer = contains(jinja, "message[\"content\"]|trim") || contains(jinja, "message['content']|trim");
  style.space_after_answer = contains(jinja, "eos_token + ' '") || contains(jinja, "eos_token + \" \"");
  style.system_in_last = contains(jinja, "loop.last and system_message");
  return style;
}

std::vector<PromptPiece> mistral(const Messages& messages, std::string_view jinja) {
  const Conversation conversation = alternating(ChatTemplate::kMistral, messages);
  const MistralStyle style = mistral_style(jinja);
  const std::size_t with_system = style.system_in_last ? messages.size() - 1 : conversation.first;
  Prompt prompt;
  for (std::size_t i = conversation.first; i < messages.size(); ++i) {
    if (messages[i].role == "user") {
      prompt.mark(style.open);
      if (i == with_system && conversation.system != nullptr) {
        prompt.content(*conversation.system);
        prompt.mark("\n\n");
      }
      prompt.content(messages[i].text);
      prompt.mark(style.close);
    } else {
      if (style.space_before_answer) prompt.mark(" ");
      prompt.content(style.trim_answer ? trim(messages[i].text) : std::string_view(messages[i].text));
      prompt.mark(style.space_after_answer ? "</s> " : "</s>");
    }
  }
  return prompt.take();
}

std::vector<PromptPiece> zephyr(const Messages& messages) {
  Prompt prompt;
  for (const ChatMessage& message : messages) {
    prompt.mark("<|");
    prompt.mark(message.role);
    prompt.mark("|>\n");
    prompt.content(message.text);
    prompt.mark("</s>\n");
  }
  prompt.mark("<|assistant|>\n");
  return prompt.take();
}

std::vector<PromptPiece> gemma(const Messages& messages) {
  const Conversation conversation = alternating(ChatTemplate::kGemma, messages);
  Prompt prompt;
  for (std::size_t i = conversation.first; i < messages.size(); ++i) {
    prompt.mark(messages[i].role == "user" ? "<start_of_turn>user\n" : "<start_of_turn>model\n");
    if (i == conversation.first && conversation.system != nullptr) {
      prompt.content(*conversation.system);
      prompt.mark("\n\n");
    }
    prompt.content(trim(messages[i].text));
    prompt.mark("<end_of_turn>\n");
  }
  prompt.mark("<start_of_turn>model\n");
  return prompt.take();
}

}  // namespace

std::optional<ChatTemplate> recognise_chat_template(std::string_view jinja) {
  if (contains(jinja, "<|im_start|>") && contains(jinja, "<|im_end|>") && !contains(jinja, "<|im_sep|>")) {
    return ChatTemplate::kChatMl;
  }
  if (contains(jinja, "<|start_header_id|>") && contains(jinja, "<|eot_id|>")) return ChatTemplate::kLlama3;
  if (contains(jinja, "<start_of_turn>") && contains(jinja, "<end_of_turn>")) return ChatTemplate::kGemma;
  if (contains(jinja, "[INST]") && contains(jinja, "[/INST]")) {
    if (contains(jinja, "<<SYS>>")) return ChatTemplate::kLlama2;
    if (contains(jinja, "[SYSTEM_PROMPT]")) return std::nullopt;
    return ChatTemplate::kMistral;
  }
  if (contains(jinja, "<|user|>") && contains(jinja, "<|assistant|>") && contains(jinja, "eos_token") &&
      !contains(jinja, "<|end|>")) {
    return ChatTemplate::kZephyr;
  }
  return std::nullopt;
}

ChatTemplate chat_template_by_name(std::string_view name) {
  std::string known;
  for (const auto& [one, which] : kNames) {
    if (one == name) return which;
    known += known.empty() ? "" : ", ";
    known += one;
  }
  fail(ExitCode::kUsage, "There is no chat template \"{}\"; the names are {}.", name, known);
}

std::string_view name_of(ChatTemplate which) {
  return std::find_if(kNames.begin(), kNames.end(), [which](const auto& entry) { return entry.second == which; })
      ->first;
}

std::vector<PromptPiece> apply_chat_template(ChatTemplate which, const std::vector<ChatMessage>& messages,
                                             std::string_view jinja) {
  check_roles(messages);
  switch (which) {
    case ChatTemplate::kChatMl:
      return chat_ml(messages, jinja);
    case ChatTemplate::kLlama2:
      return llama2(messages);
    case ChatTemplate::kLlama3:
      return llama3(messages, jinja);
    case ChatTemplate::kMistral:
      return mistral(messages, jinja);
    case ChatTemplate::kZephyr:
      return zephyr(messages);
    case ChatTemplate::kGemma:
      return gemma(messages);
  }
  fail(ExitCode::kInternal, "Chat template {} is not handled.", static_cast<int>(which));
}

}  // namespace lpu::model
