// Builds the tokenizer that a file asks for, and does what both kinds have in common.
// Relies on vocabulary.cpp for the keys and on special_tokens.cpp for the tokens that have no plain spelling.
#include "host/model/tokenizer.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "host/base/error.hpp"
#include "host/model/tokenizer_base.hpp"

namespace lpu::model {
namespace {

/// End marks of the known chat templates: a file may name only one of them in its keys.
constexpr std::array<std::string_view, 8> kEndMarks = {
    "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<end_of_turn>", "<|endoftext|>", "<|end|>", "</s>"};

void check_common(const Vocabulary& vocabulary) {
  std::unordered_map<std::string_view, std::size_t> seen;
  seen.reserve(vocabulary.texts.size());
  for (std::size_t i = 0; i < vocabulary.texts.size(); ++i) {
    if (vocabulary.texts[i].empty()) continue;  // a hole in the vocabulary: no text ever becomes this token
    const auto [place, is_new] = seen.emplace(vocabulary.texts[i], i);
    if (!is_new) {
      fail(ExitCode::kBadInput, "{}: key tokenizer.ggml.tokens has \"{}\" twice, as tokens {} and {}.",
           vocabulary.source, vocabulary.texts[i], place->second, i);
    }
  }
  if (vocabulary.add_start && !vocabulary.start) {
    fail(ExitCode::kBadInput,
         "{}: key tokenizer.ggml.bos_token_id is missing, but texts are to begin with it; "
         "set tokenizer.ggml.add_bos_token to false or name the token.",
         vocabulary.source);
  }
}

}  // namespace

std::unique_ptr<Tokenizer> Tokenizer::from(const GgufFile& file) { return make_tokenizer(read_vocabulary(file)); }

std::unique_ptr<Tokenizer> make_tokenizer(Vocabulary vocabulary) {
  check_common(vocabulary);
  return vocabulary.model == "gpt2" ? make_bpe_tokenizer(std::move(vocabulary))
                                    : make_spm_tokenizer(std::move(vocabulary));
}

int byte_of_text(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return -1;
  int byte = 0;
  for (const char digit : text.substr(3, 2)) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    const std::size_t value = kDigits.find(digit);
    if (value == std::string_view::npos) return -1;
    byte = byte * 16 + static_cast<int>(value);
  }
  return byte;
}

TokenizerBase::TokenizerBase(Vocabulary vocabulary)
    : vocabulary_(std::move(vocabulary)), special_(vocabulary_), is_end_(vocabulary_.texts.size(), false) {
  for (const auto& id : {vocabulary_.end, vocabulary_.end_of_turn, vocabulary_.end_of_message}) {
    if (id) is_end_[static_cast<std::size_t>(*id)] = true;
  }
  for (std::size_t i = 0; i < is_end_.size(); ++i) {
    if (vocabulary_.kinds[i] != TokenKind::kControl) continue;
    if (std::find(kEndMarks.begin(), kEndMarks.end(), vocabulary_.texts[i]) != kEndMarks.end()) is_end_[i] = true;
  }
}

std::size_t TokenizerBase::checked(TokenId id) const {
  if (id < 0 || static_cast<std::size_t>(id) >= vocabulary_.texts.size()) {
    fail(ExitCode::kInternal, "Token {} is outside the vocabulary of {} tokens of {}.", id, vocabulary_.texts.size(),
         vocabulary_.source);
  }
  return static_cast<std::size_t>(id);
}

std::vector<TokenId> TokenizerBase::encode(std::string_view text, bool parse_special, bool add_start) const {
  const std::string repaired = repair_utf8(text);
  const TextRange range{0, repaired.size(), parse_special};
  return encode_ranges(repaired, {&range, 1}, add_start);
}

std::vector<TokenId> TokenizerBase::encode_prompt(std::span<const PromptPiece> pieces, bool add_start) const {
  std::string text;
  std::vector<TextRange> ranges;
  for (const PromptPiece& piece : pieces) {
    const std::size_t begin = text.size();
    text += repair_utf8(piece.text);  // one by one: half a character must not take bytes from the next piece
    if (text.size() > begin) ranges.push_back({begin, text.size(), piece.is_template});
  }
  return encode_ranges(text, ranges, add_start);
}

std::vector<TokenId> TokenizerBase::encode_ranges(std::string_view text, std::span<const TextRange> ranges,
                                                  bool add_start) const {
  std::vector<TokenId> ids;
  if (add_start && vocabulary_.add_start) ids.push_back(*vocabulary_.start);
  bool follows_special = true;
  for (const SpecialTokens::Part& part : special_.split(text, ranges)) {
    if (part.id >= 0) {
      ids.push_back(part.id);
    } else {
      encode_plain(part.text, follows_special, ids);
    }
    follows_special = part.id >= 0;
  }
  return ids;
}

std::string TokenizerBase::decode(std::span<const TokenId> ids) const {
  std::string text;
  for (const TokenId id : ids) text += bytes_[checked(id)];
  return text;
}

}  // namespace lpu::model
