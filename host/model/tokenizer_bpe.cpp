// Byte-level BPE: words of bytes, merged pair by pair in the order of the file's list. The vocabulary spells bytes as
// printable characters ("Ġ" is a space); here everything is turned back into bytes once, when the file is read.
// Relies on pre_tokenizer.hpp for the words and on merge_queue.hpp for the merging.
#include <array>
#include <limits>
#include <optional>
#include <unordered_map>

#include "host/base/error.hpp"
#include "host/model/merge_queue.hpp"
#include "host/model/pre_tokenizer.hpp"
#include "host/model/tokenizer_base.hpp"

namespace lpu::model {
namespace {

/// The alphabet of byte-level BPE: printable bytes of Latin-1 stand for themselves, the others for the characters from
/// U+0100 on, in order.
class ByteAlphabet {
 public:
  ByteAlphabet() {
    byte_of_.fill(-1);
    std::size_t next_free = 256;
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const bool is_printable = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
      byte_of_[is_printable ? byte : next_free++] = static_cast<std::int16_t>(byte);
    }
  }

  /// The bytes that a spelling stands for; nullopt when it has a character outside the alphabet.
  [[nodiscard]] std::optional<std::string> bytes(std::string_view spelling) const {
    std::string result;
    result.reserve(spelling.size());
    for (std::size_t i = 0; i < spelling.size(); ++i) {
      std::size_t code = static_cast<std::uint8_t>(spelling[i]);
      if (code >= 0x80) {
        // All characters of the alphabet beyond ASCII have two bytes.
        if (code < 0xC2 || code >= 0xE0 || i + 1 == spelling.size()) return std::nullopt;
        const auto second = static_cast<std::uint8_t>(spelling[++i]);
        if ((second & 0xC0U) != 0x80U) return std::nullopt;
        code = (code & 0x1FU) << 6U | (second & 0x3FU);
      }
      if (code >= byte_of_.size() || byte_of_[code] < 0) return std::nullopt;
      result.push_back(static_cast<char>(byte_of_[code]));
    }
    return result;
  }

 private:
  std::array<std::int16_t, 256 + 68> byte_of_{};  ///< 68 bytes aren't printable
};

class BpeTokenizer final : public TokenizerBase {
 public:
  explicit BpeTokenizer(Vocabulary vocabulary)
      : TokenizerBase(std::move(vocabulary)), pre_tokenizer_(PreTokenizer::by_name(vocabulary_.pre)) {
    if (!pre_tokenizer_) {
      fail(ExitCode::kBadInput, "{}: key tokenizer.ggml.pre is \"{}\"; supported are {}.", vocabulary_.source,
           vocabulary_.pre, PreTokenizer::supported());
    }
    read_tokens();
    read_merges();
  }

  [[nodiscard]] std::string kind() const override { return "gpt2/" + vocabulary_.pre; }

 private:
  using Queue = MergeQueue<std::uint32_t>;

  void read_tokens() {
    bytes_.resize(vocabulary_.texts.size());
    symbols_.reserve(vocabulary_.texts.size());
    for (std::size_t i = 0; i < vocabulary_.texts.size(); ++i) {
      const std::string& text = vocabulary_.texts[i];
      switch (vocabulary_.kinds[i]) {
        case TokenKind::kControl:
        case TokenKind::kUnknown:
          break;  // no bytes, and never made by merging
        case TokenKind::kUserDefined:
          bytes_[i] = text;
          break;
        case TokenKind::kByte: {
          const int byte = byte_of_text(text);
          if (byte < 0) {
            fail(ExitCode::kBadInput, "{}: key tokenizer.ggml.tokens calls token {} \"{}\", which is not a byte.",
                 vocabulary_.source, i, text);
          }
          bytes_[i] = static_cast<char>(byte);
          break;
        }
        default: {
          const std::optional<std::string> bytes = alphabet_.bytes(text);
          bytes_[i] = bytes.value_or(text);
          if (bytes && !text.empty()) symbols_.emplace(*bytes, static_cast<TokenId>(i));
        }
      }
    }
    for (std::size_t byte = 0; byte < 256; ++byte)
      byte_symbols_[byte] = symbol_of(std::string(1, static_cast<char>(byte)));
  }

  void read_merges() {
    if (vocabulary_.merges.size() > std::numeric_limits<std::int32_t>::max() / 4) {
      fail(ExitCode::kBadInput, "{}: key tokenizer.ggml.merges holds {} merges, too many.", vocabulary_.source,
           vocabulary_.merges.size());
    }
    merges_.reserve(vocabulary_.merges.size());
    for (std::size_t rank = 0; rank < vocabulary_.merges.size(); ++rank) {
      const std::string& merge = vocabulary_.merges[rank];
      const std::size_t space = merge.find(' ', 1);
      if (space == std::string::npos || space + 1 == merge.size()) bad_merge(rank);
      const auto left = alphabet_.bytes(std::string_view(merge).substr(0, space));
      const auto right = alphabet_.bytes(std::string_view(merge).substr(space + 1));
      if (!left || !right) bad_merge(rank);
      const std::int32_t result = symbol_of(*left + *right);
      // Of two equal merges the first counts.
      merges_.emplace(pair_key(symbol_of(*left), symbol_of(*right)),
                      Queue::Merge{static_cast<std::uint32_t>(rank), result});
    }
  }

  [[noreturn]] void bad_merge(std::size_t rank) const {
    fail(ExitCode::kBadInput, "{}: key tokenizer.ggml.merges, entry {}: \"{}\" is not two byte strings and a space.",
         vocabulary_.source, rank, vocabulary_.merges[rank]);
  }

  /// The number of a byte string while merging: its token, or one past the vocabulary for steps that aren't tokens.
  std::int32_t symbol_of(const std::string& bytes) {
    const std::size_t next = vocabulary_.texts.size() + steps_;
    const auto [place, is_new] = symbols_.emplace(bytes, static_cast<std::int32_t>(next));
    if (is_new) ++steps_;
    return place->second;
  }

  static std::uint64_t pair_key(std::int32_t left, std::int32_t right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32U | static_cast<std::uint32_t>(right);
  }

  [[nodiscard]] bool is_token(std::int32_t symbol) const {
    return static_cast<std::size_t>(symbol) < vocabulary_.texts.size();
  }

  void encode_plain(std::string_view text, bool /*follows_special*/, std::vector<TokenId>& ids) const override {
    if (text.size() > std::numeric_limits<std::uint32_t>::max() / 2) {
      fail(ExitCode::kBadInput, "A text of {} bytes is too long for one piece; 2 GiB are the limit.", text.size());
    }
    Queue queue;
    for (const std::string_view word : pre_tokenizer_->split(text)) encode_word(word, queue, ids);
  }

  void encode_word(std::string_view word, Queue& queue, std::vector<TokenId>& ids) const {
    if (pre_tokenizer_->whole_words_first()) {
      const auto whole = symbols_.find(std::string(word));
      if (whole != symbols_.end() && is_token(whole->second)) {
        ids.push_back(whole->second);
        return;
      }
    }
    queue.clear();
    for (std::uint32_t i = 0; i < word.size(); ++i)
      queue.append(byte_symbols_[static_cast<std::uint8_t>(word[i])], i, 1);
    queue.run([this](const Queue::Symbol& left, const Queue::Symbol& right) -> std::optional<Queue::Merge> {
      const auto found = merges_.find(pair_key(left.id, right.id));
      if (found == merges_.end()) return std::nullopt;
      return found->second;
    });
    queue.for_each([&](const Queue::Symbol& symbol) {
      if (is_token(symbol.id)) {
        ids.push_back(symbol.id);
        return;
      }
      // A step that isn't a token falls back to its bytes. Some vocabularies (SmolLM2's) lack rare control characters:
      // those vanish, as they do elsewhere, because no token could stand for them.
      for (const char byte : word.substr(symbol.begin, symbol.size)) {
        const std::int32_t single = byte_symbols_[static_cast<std::uint8_t>(byte)];
        if (is_token(single)) ids.push_back(single);
      }
    });
  }

  const ByteAlphabet alphabet_;
  std::unique_ptr<PreTokenizer> pre_tokenizer_;
  std::unordered_map<std::string, std::int32_t> symbols_;  ///< by bytes
  std::size_t steps_ = 0;                                  ///< symbols that aren't tokens
  std::array<std::int32_t, 256> byte_symbols_{};
  std::unordered_map<std::uint64_t, Queue::Merge> merges_;  ///< by pair of symbols
};

}  // namespace

std::unique_ptr<Tokenizer> make_bpe_tokenizer(Vocabulary vocabulary) {
  return std::make_unique<BpeTokenizer>(std::move(vocabulary));
}

}  // namespace lpu::model
