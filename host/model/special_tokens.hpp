// Finds the special tokens (control, unknown, user-defined) in a text, before the rest of it is tokenized.
// Why apart: both kinds of tokenizer need it, and it is where a message's text is kept from becoming control tokens.
// Relies on vocabulary.hpp.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "host/model/vocabulary.hpp"

namespace lpu::model {

/// Part of a text in which control tokens may be found, or not.
struct TextRange {
  std::size_t begin;
  std::size_t end;
  bool parse_special;
};

class SpecialTokens {
 public:
  /// One part of a split text: a special token, or plain text when id < 0.
  struct Part {
    TokenId id;
    std::string_view text;
  };

  /// Keeps views of the vocabulary's texts: it has to outlive this.
  explicit SpecialTokens(const Vocabulary& vocabulary);

  /// Longer tokens are found before shorter ones, then lower ids, then from left to right. User-defined tokens are
  /// found everywhere, others only inside one range with parse_special. ranges: ascending, without gaps, all of text.
  [[nodiscard]] std::vector<Part> split(std::string_view text, std::span<const TextRange> ranges) const;

 private:
  struct Entry {
    std::string_view text;
    TokenId id;
    bool anywhere;  ///< user-defined
  };
  struct Occurrence {
    std::size_t position;
    const Entry* entry;
  };
  [[nodiscard]] std::vector<Occurrence> occurrences(std::string_view text, std::span<const TextRange> ranges) const;

  std::vector<Entry> entries_;  ///< sorted by text
  std::array<bool, 256> begins_{};
};

}  // namespace lpu::model
