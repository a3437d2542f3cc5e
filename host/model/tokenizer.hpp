// Text to token ids and back, for the tokenizers that GGUF files of supported architectures carry: byte-level BPE
// (`gpt2`, pre-tokenizers smollm, gpt-2, llama-bpe, qwen2) and the SentencePiece style (`llama`).
// Relies on gguf.hpp for the raw keys and on PCRE2 for the pre-tokenizers' patterns.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/model/chat_template.hpp"
#include "host/model/gguf.hpp"

namespace lpu::model {

using TokenId = std::int32_t;

class Tokenizer {
 public:
  /// Checks all keys (types, counts, ids, merges); Error(kBadInput) names the key. An unknown pre-tokenizer is an
  /// error.
  static std::unique_ptr<Tokenizer> from(const GgufFile& file);
  virtual ~Tokenizer() = default;

  /// Invalid UTF-8 becomes U+FFFD. With parse_special, control tokens in the text (such as <|im_start|>) become their
  /// ids; without, they are plain text. User-defined tokens are found either way. add_start: prepend BOS where the file
  /// asks for it.
  [[nodiscard]] virtual std::vector<TokenId> encode(std::string_view text, bool parse_special,
                                                    bool add_start) const = 0;
  /// A conversation that apply_chat_template() cut into pieces, tokenized as one text. Control tokens are found in
  /// template pieces only, so that no message can forge one.
  [[nodiscard]] virtual std::vector<TokenId> encode_prompt(std::span<const PromptPiece> pieces,
                                                           bool add_start) const = 0;
  /// The raw bytes of one token; empty for control tokens. May be part of a UTF-8 character.
  [[nodiscard]] virtual std::string token_bytes(TokenId id) const = 0;
  /// All tokens' bytes joined (SentencePiece style: without the added leading space).
  [[nodiscard]] virtual std::string decode(std::span<const TokenId> ids) const = 0;

  [[nodiscard]] virtual std::size_t vocabulary() const = 0;
  [[nodiscard]] virtual bool is_end(TokenId id) const = 0;  ///< eos, eot, eom and the end marks of known chat templates
  [[nodiscard]] virtual bool adds_start() const = 0;        ///< whether the file asks for BOS
  [[nodiscard]] virtual std::string kind() const = 0;       ///< "gpt2/smollm", "llama" … for people
  [[nodiscard]] virtual std::string token_text(TokenId id) const = 0;  ///< the vocabulary's own spelling, for people
};

/// Holds back the bytes of a character that isn't complete yet, so that streamed text never shows half of one.
class Utf8Stream {
 public:
  /// Adds a token's bytes; returns what is complete. Bytes that can't become valid UTF-8 come out as U+FFFD.
  std::string push(std::string_view bytes);
  /// What is left at the end: U+FFFD for an unfinished character, or nothing.
  std::string finish();

 private:
  std::string pending_;
};

/// Replaces what isn't valid UTF-8 by U+FFFD (one per maximal ill-formed part, as Unicode recommends).
std::string repair_utf8(std::string_view text);

}  // namespace lpu::model
