// Fuzzes everything that turns untrusted text into tokens and back: both kinds of tokenizer over small vocabularies,
// the UTF-8 repair and its streaming form, prompts of pieces, and the search in chat templates.
// The first bytes of an input choose, the rest is the text. Properties, not only crashes: any broken one aborts.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "host/base/error.hpp"
#include "host/model/chat_template.hpp"
#include "host/model/tokenizer.hpp"
#include "tests/tokenizer/small_vocabularies.hpp"

namespace {

using lpu::model::Tokenizer;
using lpu::model::TokenKind;

void require(bool holds) {
  if (!holds) std::abort();
}

std::unique_ptr<Tokenizer> bpe(const char* pre) {
  return lpu::model::make_tokenizer(
      lpu::test::bpe_vocabulary({"a a", "aa aa", "Ġ a", "Ċ Ċ", "Ġ Ġ", "< |", "| >", "' s", "0 0", "Ã ©"},
                                {{"<|a|>", TokenKind::kControl},
                                 {"<|a|>a", TokenKind::kControl},
                                 {"|><|", TokenKind::kControl},
                                 {"aa!", TokenKind::kUserDefined}},
                                pre));
}

const std::array<std::unique_ptr<Tokenizer>, 5>& tokenizers() {
  static const std::array<std::unique_ptr<Tokenizer>, 5> all = {
      bpe("smollm"), bpe("gpt-2"), bpe("llama-bpe"), bpe("qwen2"),
      lpu::model::make_tokenizer(lpu::test::spm_vocabulary({{"▁", -9},
                                                            {"a", -8},
                                                            {"aa", -1},
                                                            {"▁a", -2},
                                                            {"▁▁", -3},
                                                            {"<", -9},
                                                            {"/", -9},
                                                            {"s", -9},
                                                            {">", -9},
                                                            {"</", -1},
                                                            {"s>", -1},
                                                            {"é", -4},
                                                            {"aa!", -4, TokenKind::kUserDefined}}))};
  return all;
}

void check_utf8(std::string_view text, std::size_t step, const std::string& repaired) {
  lpu::model::Utf8Stream stream;
  std::string streamed;
  for (std::size_t i = 0; i < text.size(); i += 1 + (i + step) % 5) {
    streamed += stream.push(text.substr(i, 1 + (i + step) % 5));
  }
  streamed += stream.finish();
  require(streamed == repaired);
  require(lpu::model::repair_utf8(repaired) == repaired);
}

void check_tokenizer(const Tokenizer& tokenizer, std::string_view text, const std::string& repaired) {
  const auto plain = tokenizer.encode(text, false, false);
  const bool is_spm = tokenizer.kind() == "llama";
  // U+2581 in a text comes back as a space from the SentencePiece style.
  if (!is_spm || repaired.find("▁") == std::string::npos) require(tokenizer.decode(plain) == repaired);
  for (const auto id : plain) require(!tokenizer.is_end(id));  // no text without parsing makes a control token
  static_cast<void>(tokenizer.decode(tokenizer.encode(text, true, true)));

  const std::size_t middle = text.size() / 2;
  const std::vector<lpu::model::PromptPiece> pieces = {{std::string(text.substr(0, middle)), false},
                                                       {std::string(text.substr(middle)), true}};
  static_cast<void>(tokenizer.encode_prompt(pieces, true));
}

void check_templates(std::string_view text) {
  static_cast<void>(lpu::model::recognise_chat_template(text));
  const std::string content(text.substr(0, text.size() / 4));
  const std::vector<lpu::model::ChatMessage> messages = {
      {"system", content}, {"user", content}, {"assistant", content}, {"user", content}};
  for (const char* name : {"chatml", "llama2", "llama3", "mistral", "zephyr", "gemma"}) {
    const auto which = lpu::model::chat_template_by_name(name);
    require(!lpu::model::apply_chat_template(which, messages, text).empty());
    require(!lpu::model::apply_chat_template(which, {messages[1]}, text).empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string repaired = lpu::model::repair_utf8(text);
  check_utf8(text, data[1], repaired);
  check_tokenizer(*tokenizers()[data[0] % tokenizers().size()], text, repaired);
  check_templates(text);
  return 0;
}
