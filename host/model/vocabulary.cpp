// Reads a file's tokenizer keys. Every value is checked here, so that the tokenizers may index by what they find.
// Relies on gguf.hpp, which has already checked that strings and arrays lie inside the file.
#include "host/model/vocabulary.hpp"

#include <cmath>
#include <limits>

#include "host/base/error.hpp"

namespace lpu::model {
namespace {

constexpr std::string_view kTokens = "tokenizer.ggml.tokens";

class KeyReader {
 public:
  explicit KeyReader(const GgufFile& file) : file_(file) {}

  [[nodiscard]] std::string source() const { return file_.path().string(); }

  [[nodiscard]] std::string text(std::string_view key) const {
    const std::string* value = file_.find_string(key);
    if (value == nullptr) missing(key);
    return *value;
  }

  [[nodiscard]] std::vector<std::string> tokens() const {
    const auto* value = file_.find_strings(kTokens);
    if (value == nullptr) missing(kTokens);
    if (value->empty() || value->size() > static_cast<std::size_t>(std::numeric_limits<TokenId>::max())) {
      fail(ExitCode::kBadInput, "{}: key {} holds {} tokens; use a file with 1 to {}.", source(), kTokens,
           value->size(), std::numeric_limits<TokenId>::max());
    }
    return *value;
  }

  /// Kinds of all tokens; a file without the key has only normal ones.
  [[nodiscard]] std::vector<TokenKind> kinds(std::size_t count, bool required) const {
    constexpr std::string_view kKey = "tokenizer.ggml.token_type";
    const auto* value = file_.find_integers(kKey);
    if (value == nullptr) {
      if (required) missing(kKey);
      return std::vector<TokenKind>(count, TokenKind::kNormal);
    }
    check_length(kKey, value->size(), count);
    std::vector<TokenKind> kinds(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t number = (*value)[i];
      if (number < 0 || number > static_cast<std::int64_t>(TokenKind::kByte)) {
        fail(ExitCode::kBadInput, "{}: key {} gives token {} the type {}; 0 to 6 are known.", source(), kKey, i,
             number);
      }
      kinds[i] = static_cast<TokenKind>(number);
    }
    return kinds;
  }

  [[nodiscard]] std::vector<float> scores(std::size_t count) const {
    constexpr std::string_view kKey = "tokenizer.ggml.scores";
    const auto* value = file_.find_floats(kKey);
    if (value == nullptr) missing(kKey);
    check_length(kKey, value->size(), count);
    std::vector<float> scores(count);
    for (std::size_t i = 0; i < count; ++i) {
      scores[i] = static_cast<float>((*value)[i]);
      if (std::isnan(scores[i])) {
        fail(ExitCode::kBadInput, "{}: key {} gives token {} a score that is not a number.", source(), kKey, i);
      }
    }
    return scores;
  }

  [[nodiscard]] std::vector<std::string> merges() const {
    constexpr std::string_view kKey = "tokenizer.ggml.merges";
    const auto* value = file_.find_strings(kKey);
    if (value == nullptr) missing(kKey);
    return *value;
  }

  [[nodiscard]] std::optional<TokenId> id(std::string_view key, std::size_t count) const {
    const auto value = file_.find_unsigned(key);
    if (!value) return std::nullopt;
    if (*value >= count) {
      fail(ExitCode::kBadInput, "{}: key {} is {}, but {} holds only {} tokens.", source(), key, *value, kTokens,
           count);
    }
    return static_cast<TokenId>(*value);
  }

  [[nodiscard]] bool flag(std::string_view key, bool otherwise) const {
    return file_.find_bool(key).value_or(otherwise);
  }

 private:
  [[noreturn]] void missing(std::string_view key) const {
    fail(ExitCode::kBadInput, "{}: the key {} is missing, so text can't be turned into tokens; use a complete file.",
         source(), key);
  }

  void check_length(std::string_view key, std::size_t length, std::size_t count) const {
    if (length == count) return;
    fail(ExitCode::kBadInput, "{}: key {} has {} entries, but {} has {}.", source(), key, length, kTokens, count);
  }

  const GgufFile& file_;
};

}  // namespace

Vocabulary read_vocabulary(const GgufFile& file) {
  const KeyReader keys(file);
  Vocabulary vocabulary;
  vocabulary.source = keys.source();
  vocabulary.model = keys.text("tokenizer.ggml.model");
  const bool is_bpe = vocabulary.model == "gpt2";
  if (!is_bpe && vocabulary.model != "llama") {
    fail(ExitCode::kBadInput, "{}: key tokenizer.ggml.model is \"{}\"; supported are gpt2 and llama.",
         vocabulary.source, vocabulary.model);
  }
  vocabulary.texts = keys.tokens();
  const std::size_t count = vocabulary.texts.size();
  vocabulary.kinds = keys.kinds(count, !is_bpe);
  if (is_bpe) {
    vocabulary.pre = keys.text("tokenizer.ggml.pre");
    vocabulary.merges = keys.merges();
  } else {
    vocabulary.scores = keys.scores(count);
  }
  vocabulary.start = keys.id("tokenizer.ggml.bos_token_id", count);
  vocabulary.end = keys.id("tokenizer.ggml.eos_token_id", count);
  vocabulary.end_of_turn = keys.id("tokenizer.ggml.eot_token_id", count);
  vocabulary.end_of_message = keys.id("tokenizer.ggml.eom_token_id", count);
  vocabulary.unknown = keys.id("tokenizer.ggml.unknown_token_id", count);
  // Checked although nothing here uses them: a bad one shows that the file is damaged.
  for (const std::string_view key :
       {"tokenizer.ggml.padding_token_id", "tokenizer.ggml.seperator_token_id", "tokenizer.ggml.mask_token_id"}) {
    static_cast<void>(keys.id(key, count));
  }
  // Without the key, SentencePiece models and Llama 3 begin with their start mark.
  vocabulary.add_start = keys.flag("tokenizer.ggml.add_bos_token", !is_bpe || vocabulary.pre == "llama-bpe");
  vocabulary.add_space_prefix = keys.flag("tokenizer.ggml.add_space_prefix", true) && !is_bpe;
  static_cast<void>(keys.flag("tokenizer.ggml.add_eos_token", false));
  static_cast<void>(keys.flag("tokenizer.ggml.remove_extra_whitespaces", false));
  return vocabulary;
}

}  // namespace lpu::model
