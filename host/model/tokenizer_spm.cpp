// SentencePiece style: the whole text is one word of characters, "▁" is a space, and of all neighbours that together
// are a token, those with the highest score merge first. What no token spells becomes bytes. Relies on merge_queue.hpp.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <unordered_map>

#include "host/base/error.hpp"
#include "host/model/merge_queue.hpp"
#include "host/model/tokenizer_base.hpp"

namespace lpu::model {
namespace {

constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  result.reserve(text.size());
  std::size_t position = 0;
  for (std::size_t hit = text.find(from); hit != std::string_view::npos; hit = text.find(from, position)) {
    result.append(text, position, hit - position).append(to);
    position = hit + from.size();
  }
  return result.append(text, position);
}

class SpmTokenizer final : public TokenizerBase {
 public:
  explicit SpmTokenizer(Vocabulary vocabulary) : TokenizerBase(std::move(vocabulary)) {
    byte_tokens_.fill(-1);
    bytes_.resize(vocabulary_.texts.size());
    tokens_.reserve(vocabulary_.texts.size());
    for (std::size_t i = 0; i < vocabulary_.texts.size(); ++i) read_token(i);
    for (std::size_t byte = 0; byte < byte_tokens_.size(); ++byte) {
      if (byte_tokens_[byte] >= 0) continue;
      if (!vocabulary_.unknown) {
        fail(ExitCode::kBadInput,
             "{}: key tokenizer.ggml.tokens lacks the byte token <0x{:02X}>, and there is no "
             "tokenizer.ggml.unknown_token_id to stand for it.",
             vocabulary_.source, byte);
      }
      byte_tokens_[byte] = *vocabulary_.unknown;
    }
  }

  [[nodiscard]] std::string kind() const override { return "llama"; }

  /// The inverse of encode: the space that was added before the text and after each special token is left out.
  [[nodiscard]] std::string decode(std::span<const TokenId> ids) const override {
    std::string text;
    bool follows_special = true;
    for (const TokenId id : ids) {
      const std::size_t index = checked(id);
      const TokenKind kind = vocabulary_.kinds[index];
      const bool is_special =
          kind == TokenKind::kControl || kind == TokenKind::kUnknown || kind == TokenKind::kUserDefined;
      const bool skip_space = follows_special && !is_special && vocabulary_.add_space_prefix &&
                              kind != TokenKind::kByte && bytes_[index].starts_with(' ');
      text.append(bytes_[index], skip_space ? 1 : 0);
      follows_special = is_special;
    }
    return text;
  }

 private:
  using Queue = MergeQueue<float>;

  void read_token(std::size_t index) {
    const std::string& text = vocabulary_.texts[index];
    switch (vocabulary_.kinds[index]) {
      case TokenKind::kControl:
      case TokenKind::kUnknown:
        return;  // no bytes, and never made by merging
      case TokenKind::kByte: {
        const int byte = byte_of_text(text);
        if (byte < 0) {
          fail(ExitCode::kBadInput, "{}: key tokenizer.ggml.tokens calls token {} \"{}\", which is not a byte.",
               vocabulary_.source, index, text);
        }
        bytes_[index] = static_cast<char>(byte);
        byte_tokens_[static_cast<std::size_t>(byte)] = static_cast<TokenId>(index);
        return;
      }
      case TokenKind::kUserDefined:
        bytes_[index] = text;
        break;
      default:
        bytes_[index] = replace_all(text, kSpaceMark, " ");
    }
    if (text.empty()) return;
    tokens_.emplace(text, static_cast<TokenId>(index));
    longest_bytes_ = std::max(longest_bytes_, text.size());
  }

  void encode_plain(std::string_view text, bool follows_special, std::vector<TokenId>& ids) const override {
    if (text.size() > std::numeric_limits<std::uint32_t>::max() / 4) {
      fail(ExitCode::kBadInput, "A text of {} bytes is too long for one piece; 1 GiB is the limit.", text.size());
    }
    std::string marked(vocabulary_.add_space_prefix && follows_special ? kSpaceMark : std::string_view());
    marked += replace_all(text, " ", kSpaceMark);

    Queue queue;
    for (std::size_t begin = 0; begin < marked.size();) {
      std::size_t end = begin + 1;
      while (end < marked.size() && (static_cast<std::uint8_t>(marked[end]) & 0xC0U) == 0x80U) ++end;
      const std::string_view character(marked.data() + begin, end - begin);
      const auto found = tokens_.find(character);
      queue.append(found == tokens_.end() ? -1 : found->second, static_cast<std::uint32_t>(begin),
                   static_cast<std::uint32_t>(end - begin));
      begin = end;
    }
    queue.run([&](const Queue::Symbol& left, const Queue::Symbol& right) -> std::optional<Queue::Merge> {
      const std::size_t size = std::size_t{left.size} + right.size;
      if (size > longest_bytes_) return std::nullopt;
      const auto found = tokens_.find(std::string_view(marked).substr(left.begin, size));
      if (found == tokens_.end()) return std::nullopt;
      return Queue::Merge{-vocabulary_.scores[static_cast<std::size_t>(found->second)], found->second};
    });
    queue.for_each([&](const Queue::Symbol& symbol) {
      if (symbol.id >= 0) {
        ids.push_back(symbol.id);
        return;
      }
      for (const char byte : std::string_view(marked).substr(symbol.begin, symbol.size)) {
        ids.push_back(byte_tokens_[static_cast<std::uint8_t>(byte)]);
      }
    });
  }

  std::unordered_map<std::string_view, TokenId> tokens_;  ///< what merging may make; views of the vocabulary's texts
  std::array<TokenId, 256> byte_tokens_{};
  std::size_t longest_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Tokenizer> make_spm_tokenizer(Vocabulary vocabulary) {
  return std::make_unique<SpmTokenizer>(std::move(vocabulary));
}

}  // namespace lpu::model
