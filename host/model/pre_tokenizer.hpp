// Cuts a text into the words inside which byte-level BPE merges. Relies on PCRE2 (UTF, Unicode properties, JIT).
#pragma once

#include <memory>
#include <string_view>
#include <vector>

namespace lpu::model {

class PreTokenizer {
 public:
  /// The names that tokenizer.ggml.pre may have, separated by commas.
  static std::string_view supported();
  /// nullptr for an unknown name.
  static std::unique_ptr<PreTokenizer> by_name(std::string_view name);
  ~PreTokenizer();

  /// The words of well-formed text, in order and without gaps. Error(kBadInput) where PCRE2 gives up.
  [[nodiscard]] std::vector<std::string_view> split(std::string_view text) const;
  /// Whether a word that is a token as a whole is taken at once, whatever the merges say.
  [[nodiscard]] bool whole_words_first() const { return whole_words_first_; }

 private:
  class Pattern;
  PreTokenizer();
  std::vector<Pattern> passes_;  ///< each cuts what the one before left
  bool whole_words_first_ = false;
};

}  // namespace lpu::model
