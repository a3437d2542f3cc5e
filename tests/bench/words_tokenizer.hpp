// A tokenizer of one token per four bytes begun, so that lengths can be worked out by hand. Relies on host/model.
#pragma once

#include "host/model/tokenizer.hpp"

namespace lpu::test {

class WordsTokenizer final : public model::Tokenizer {
 public:
  std::vector<model::TokenId> encode(std::string_view text, bool, bool add_start) const override {
    std::vector<model::TokenId> ids(add_start ? 1 : 0, 299);
    for (std::size_t i = 0; i < text.size(); i += 4) ids.push_back(static_cast<unsigned char>(text[i]));
    return ids;
  }
  std::vector<model::TokenId> encode_prompt(std::span<const model::PromptPiece>, bool) const override { return {}; }
  std::string token_bytes(model::TokenId) const override { return "word"; }
  std::string decode(std::span<const model::TokenId>) const override { return {}; }
  std::size_t vocabulary() const override { return 300; }
  bool is_end(model::TokenId) const override { return false; }
  bool adds_start() const override { return true; }
  std::string kind() const override { return "words"; }
  std::string token_text(model::TokenId) const override { return {}; }
};

}  // namespace lpu::test
