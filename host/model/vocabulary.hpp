// What a file says about its tokenizer, read and checked, before a tokenizer is built from it. Why apart from the file:
// tests and the fuzzer build vocabularies of a few tokens by hand. Relies on tokenizer.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/model/tokenizer.hpp"

namespace lpu::model {

/// The numbers of `tokenizer.ggml.token_type`.
enum class TokenKind : std::uint8_t {
  kUndefined = 0,
  kNormal = 1,
  kUnknown = 2,      ///< what a SentencePiece vocabulary answers to what it can't spell
  kControl = 3,      ///< has no text: <|im_end|>, </s>
  kUserDefined = 4,  ///< found in a text before anything else is, and written as it's spelt
  kUnused = 5,
  kByte = 6  ///< "<0x0A>": one byte
};

struct Vocabulary {
  std::string source;  ///< the file, for error messages
  std::string model;   ///< "gpt2" (byte-level BPE) or "llama" (SentencePiece style)
  std::string pre;     ///< pre-tokenizer of "gpt2"; empty for "llama"
  std::vector<std::string> texts;
  std::vector<TokenKind> kinds;     ///< as long as texts
  std::vector<float> scores;        ///< as long as texts for "llama", else empty
  std::vector<std::string> merges;  ///< "left right", the first is merged first; empty for "llama"
  std::optional<TokenId> start, end, end_of_turn, end_of_message, unknown;
  bool add_start = false;
  bool add_space_prefix = false;  ///< "llama" only: a space before the text and after each special token
};

/// Reads the keys `tokenizer.ggml.*`; Error(kBadInput) names the key that is missing, has another type, another length
/// than the tokens, or a value out of range.
Vocabulary read_vocabulary(const GgufFile& file);

/// Checks what a file could still get wrong (duplicate tokens, ids, merges, byte tokens) and builds the tokenizer.
std::unique_ptr<Tokenizer> make_tokenizer(Vocabulary vocabulary);

}  // namespace lpu::model
