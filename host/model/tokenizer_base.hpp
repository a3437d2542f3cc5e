// What both kinds of tokenizer have in common: special tokens, the start mark, end marks, texts and bytes of tokens.
// Relies on special_tokens.hpp. Immutable after construction, so any number of threads may use one.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/model/special_tokens.hpp"
#include "host/model/tokenizer.hpp"

namespace lpu::model {

class TokenizerBase : public Tokenizer {
 public:
  [[nodiscard]] std::vector<TokenId> encode(std::string_view text, bool parse_special, bool add_start) const final;
  [[nodiscard]] std::vector<TokenId> encode_prompt(std::span<const PromptPiece> pieces, bool add_start) const final;
  [[nodiscard]] std::string token_bytes(TokenId id) const final { return bytes_[checked(id)]; }
  [[nodiscard]] std::string decode(std::span<const TokenId> ids) const override;
  [[nodiscard]] std::size_t vocabulary() const final { return vocabulary_.texts.size(); }
  [[nodiscard]] bool is_end(TokenId id) const final { return is_end_[checked(id)]; }
  [[nodiscard]] bool adds_start() const final { return vocabulary_.add_start; }
  [[nodiscard]] std::string token_text(TokenId id) const final { return vocabulary_.texts[checked(id)]; }

 protected:
  explicit TokenizerBase(Vocabulary vocabulary);

  /// Appends the tokens of well-formed text without special tokens. follows_special: at the text's start, or right
  /// after a special token.
  virtual void encode_plain(std::string_view text, bool follows_special, std::vector<TokenId>& ids) const = 0;

  [[nodiscard]] std::size_t checked(TokenId id) const;

  const Vocabulary vocabulary_;
  std::vector<std::string> bytes_;  ///< of each token, as token_bytes() returns them; filled by the derived class

 private:
  [[nodiscard]] std::vector<TokenId> encode_ranges(std::string_view text, std::span<const TextRange> ranges,
                                                   bool add_start) const;

  SpecialTokens special_;
  std::vector<bool> is_end_;
};

std::unique_ptr<Tokenizer> make_bpe_tokenizer(Vocabulary vocabulary);
std::unique_ptr<Tokenizer> make_spm_tokenizer(Vocabulary vocabulary);
/// The byte that a text like "<0x0A>" stands for; -1 for other texts.
int byte_of_text(std::string_view text);

}  // namespace lpu::model
