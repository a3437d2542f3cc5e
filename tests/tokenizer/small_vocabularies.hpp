// Vocabularies of a few hundred tokens, built by hand, and random text: for tests that must know every token.
// Relies on host/model/vocabulary.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "host/model/vocabulary.hpp"

namespace lpu::test {

/// A byte as byte-level BPE spells it.
inline std::string spelling_of_byte(unsigned byte) {
  unsigned code = byte;
  const auto is_printable = [](unsigned b) { return (b > 0x20 && b < 0x7F) || (b > 0xA0 && b != 0xAD); };
  if (!is_printable(byte)) {
    code = 256;
    for (unsigned b = 0; b < byte; ++b) code += is_printable(b) ? 0 : 1;
  }
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xC0U | code >> 6U), static_cast<char>(0x80U | (code & 0x3FU))};
}

/// Tokens 0 to 255 are the bytes, then one token per merge ("l l" → "ll"), then the special ones.
/// merges: as in a file.
inline model::Vocabulary bpe_vocabulary(const std::vector<std::string>& merges,
                                        const std::vector<std::pair<std::string, model::TokenKind>>& more = {},
                                        const std::string& pre = "gpt-2") {
  model::Vocabulary vocabulary;
  vocabulary.source = "constructed.gguf";
  vocabulary.model = "gpt2";
  vocabulary.pre = pre;
  vocabulary.merges = merges;
  for (unsigned byte = 0; byte < 256; ++byte) vocabulary.texts.push_back(spelling_of_byte(byte));
  for (std::string merge : merges) {
    if (merge.find(' ') != std::string::npos) merge.erase(merge.find(' '), 1);
    if (std::find(vocabulary.texts.begin(), vocabulary.texts.end(), merge) == vocabulary.texts.end()) {
      vocabulary.texts.push_back(merge);
    }
  }
  vocabulary.kinds.assign(vocabulary.texts.size(), model::TokenKind::kNormal);
  for (const auto& [text, kind] : more) {
    vocabulary.texts.push_back(text);
    vocabulary.kinds.push_back(kind);
  }
  return vocabulary;
}

struct SpmToken {
  std::string text;
  float score;
  model::TokenKind kind = model::TokenKind::kNormal;
};

/// Tokens 0 to 2 are <unk>, <s>, </s>; 3 to 258 the bytes; then the given ones.
inline model::Vocabulary spm_vocabulary(const std::vector<SpmToken>& more) {
  model::Vocabulary vocabulary;
  vocabulary.source = "constructed.gguf";
  vocabulary.model = "llama";
  vocabulary.unknown = 0;
  vocabulary.start = 1;
  vocabulary.end = 2;
  vocabulary.add_start = true;
  vocabulary.add_space_prefix = true;
  const auto add = [&](const SpmToken& token) {
    vocabulary.texts.push_back(token.text);
    vocabulary.scores.push_back(token.score);
    vocabulary.kinds.push_back(token.kind);
  };
  add({"<unk>", 0, model::TokenKind::kUnknown});
  add({"<s>", 0, model::TokenKind::kControl});
  add({"</s>", 0, model::TokenKind::kControl});
  for (unsigned byte = 0; byte < 256; ++byte) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    add({std::string("<0x") + kDigits[byte / 16] + kDigits[byte % 16] + ">", 0, model::TokenKind::kByte});
  }
  for (const SpmToken& token : more) add(token);
  return vocabulary;
}

inline void append_utf8(std::string& text, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0U | code >> 6U);
  } else {
    if (code < 0x10000) {
      put(0xE0U | code >> 12U);
    } else {
      put(0xF0U | code >> 18U);
      put(0x80U | (code >> 12U & 0x3FU));
    }
    put(0x80U | (code >> 6U & 0x3FU));
  }
  put(0x80U | (code & 0x3FU));
}

/// Well-formed text of characters from all planes, white space and ASCII more often than others.
inline std::string random_text(std::mt19937_64& random, std::size_t characters, std::uint32_t highest = 0x10FFFF) {
  constexpr std::string_view kFrequent = "  \t\n\r'sStTrREeMmLlDd0123456789.,!?-_<|>";
  std::string text;
  for (std::size_t i = 0; i < characters; ++i) {
    std::uint32_t code = 0;
    switch (random() % 5) {
      case 0:
      case 1:
        code = static_cast<std::uint8_t>(kFrequent[random() % kFrequent.size()]);
        break;
      case 2:
        code = static_cast<std::uint32_t>(random() % 0x800);
        break;
      case 3:
        code = static_cast<std::uint32_t>(random() % 0x10000);
        break;
      default:
        code = static_cast<std::uint32_t>(random() % (std::uint64_t{0x10FFFF} + 1));
    }
    if ((code >= 0xD800 && code < 0xE000) || code > highest) code = 'x';
    append_utf8(text, code);
  }
  return text;
}

}  // namespace lpu::test
