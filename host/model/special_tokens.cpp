// The matcher: every occurrence of every special token is found by narrowing a sorted list byte by byte, then the
// occurrences claim their bytes, the longest first. Time grows with the text and the matches, not with the number of
// special tokens. Relies on special_tokens.hpp.
#include "host/model/special_tokens.hpp"

#include <algorithm>
#include <cstdint>

namespace lpu::model {

SpecialTokens::SpecialTokens(const Vocabulary& vocabulary) {
  for (std::size_t i = 0; i < vocabulary.texts.size(); ++i) {
    const TokenKind kind = vocabulary.kinds[i];
    const bool anywhere = kind == TokenKind::kUserDefined;
    if (!anywhere && kind != TokenKind::kControl && kind != TokenKind::kUnknown) continue;
    if (vocabulary.texts[i].empty()) continue;
    entries_.push_back({vocabulary.texts[i], static_cast<TokenId>(i), anywhere});
    begins_[static_cast<std::uint8_t>(vocabulary.texts[i][0])] = true;
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.text < b.text; });
}

std::vector<SpecialTokens::Occurrence> SpecialTokens::occurrences(std::string_view text,
                                                                  std::span<const TextRange> ranges) const {
  std::vector<Occurrence> found;
  auto range = ranges.begin();
  for (std::size_t position = 0; position < text.size(); ++position) {
    while (position >= range->end) ++range;
    if (!begins_[static_cast<std::uint8_t>(text[position])]) continue;
    auto low = entries_.begin();
    auto high = entries_.end();
    for (std::size_t depth = 0; position + depth < text.size(); ++depth) {
      // Among the entries that agree so far, those as long as depth come first: they have been reported already.
      const auto byte = static_cast<unsigned char>(text[position + depth]);
      low = std::partition_point(low, high, [depth, byte](const Entry& entry) {
        return entry.text.size() <= depth || static_cast<unsigned char>(entry.text[depth]) < byte;
      });
      high = std::partition_point(low, high, [depth, byte](const Entry& entry) {
        return static_cast<unsigned char>(entry.text[depth]) == byte;
      });
      if (low == high) break;
      const std::size_t end = position + depth + 1;
      if (low->text.size() == depth + 1 && (low->anywhere || (range->parse_special && end <= range->end))) {
        found.push_back({position, &*low});
      }
    }
  }
  return found;
}

std::vector<SpecialTokens::Part> SpecialTokens::split(std::string_view text, std::span<const TextRange> ranges) const {
  std::vector<Occurrence> found = occurrences(text, ranges);
  std::sort(found.begin(), found.end(), [](const Occurrence& a, const Occurrence& b) {
    if (a.entry->text.size() != b.entry->text.size()) return a.entry->text.size() > b.entry->text.size();
    return a.entry->id != b.entry->id ? a.entry->id < b.entry->id : a.position < b.position;
  });
  // What was claimed before is at least as long, so an overlap shows at one of the two ends.
  std::vector<bool> claimed(found.empty() ? 0 : text.size(), false);
  std::vector<Occurrence> taken;
  for (const Occurrence& one : found) {
    const std::size_t end = one.position + one.entry->text.size();
    if (claimed[one.position] || claimed[end - 1]) continue;
    std::fill(claimed.begin() + static_cast<std::ptrdiff_t>(one.position),
              claimed.begin() + static_cast<std::ptrdiff_t>(end), true);
    taken.push_back(one);
  }
  std::sort(taken.begin(), taken.end(),
            [](const Occurrence& a, const Occurrence& b) { return a.position < b.position; });

  std::vector<Part> parts;
  std::size_t position = 0;
  for (const Occurrence& one : taken) {
    if (one.position > position) parts.push_back({-1, text.substr(position, one.position - position)});
    parts.push_back({one.entry->id, one.entry->text});
    position = one.position + one.entry->text.size();
  }
  if (position < text.size()) parts.push_back({-1, text.substr(position)});
  return parts;
}

}  // namespace lpu::model
