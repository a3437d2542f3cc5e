// Chat templates, recognised by their text and written out here: a template from a file is never interpreted.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lpu::model {

struct ChatMessage {
  std::string role;  ///< "system", "user" or "assistant"
  std::string text;
};

enum class ChatTemplate { kChatMl, kLlama2, kLlama3, kMistral, kZephyr, kGemma };

/// The template that this Jinja text is; nullopt when it isn't one of ours.
std::optional<ChatTemplate> recognise_chat_template(std::string_view jinja);
/// By name ("chatml", "llama2", "llama3", "mistral", "zephyr", "gemma"); Error(kUsage) listing the names otherwise.
ChatTemplate chat_template_by_name(std::string_view name);
std::string_view name_of(ChatTemplate which);
/// The conversation as prompt text, ending where the assistant begins to speak. jinja: the file's template text, from
/// which a default system message is taken where the template has one (SmolLM2's); may be empty.
/// Contents are taken literally: special tokens in a message's text must not become control tokens, so the result is
/// pieces, each marked as template (parse special tokens) or content (don't). Tokenizer::encode_prompt() takes them;
/// the start mark (<s>, <|begin_of_text|>, <bos>) at the very beginning isn't among them, its add_start puts it there.
/// Error(kBadInput) where the template refuses: an unknown role, or roles that don't alternate.
struct PromptPiece {
  std::string text;
  bool is_template;
};
std::vector<PromptPiece> apply_chat_template(ChatTemplate which, const std::vector<ChatMessage>& messages,
                                             std::string_view jinja);

}  // namespace lpu::model
