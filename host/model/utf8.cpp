// UTF-8 made well-formed: whole texts, and streams that arrive in arbitrary pieces. Why: a model's tokens may end in
// the middle of a character, and clients send what they like. Follows the Unicode Standard's table of well-formed byte
// sequences; a maximal part that could have begun a character becomes one U+FFFD. Relies on nothing.
#include <cstdint>
#include <string>
#include <string_view>

#include "host/model/tokenizer.hpp"

namespace lpu::model {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// What may follow a lead byte: how many bytes in all, and the range of the second one (the others: 80…BF).
struct Lead {
  std::size_t length;  ///< 0: can't begin a character
  std::uint8_t second_low;
  std::uint8_t second_high;
};

Lead lead_of(std::uint8_t byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2 || byte > 0xF4) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};  // below: overlong
  if (byte == 0xED) return {3, 0x80, 0x9F};  // above: surrogates
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};  // below: overlong
  if (byte == 0xF4) return {4, 0x80, 0x8F};  // above: past U+10FFFF
  return {4, 0x80, 0xBF};
}

/// Appends the repaired text to out; returns how many bytes it took, fewer than all where the text ends in the middle
/// of a character that more bytes could complete.
std::size_t repair_into(std::string_view text, std::string& out) {
  std::size_t position = 0;
  while (position < text.size()) {
    const Lead lead = lead_of(static_cast<std::uint8_t>(text[position]));
    std::size_t good = lead.length == 0 ? 0 : 1;
    while (good != 0 && good < lead.length && position + good < text.size()) {
      const auto byte = static_cast<std::uint8_t>(text[position + good]);
      const std::uint8_t low = good == 1 ? lead.second_low : std::uint8_t{0x80};
      const std::uint8_t high = good == 1 ? lead.second_high : std::uint8_t{0xBF};
      if (byte < low || byte > high) break;
      ++good;
    }
    if (lead.length != 0 && good == lead.length) {
      out.append(text, position, good);
      position += good;
    } else if (good != 0 && position + good == text.size()) {
      return position;
    } else {
      out += kReplacement;
      position += good == 0 ? 1 : good;
    }
  }
  return position;
}

}  // namespace

std::string repair_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  if (repair_into(text, out) < text.size()) out += kReplacement;
  return out;
}

std::string Utf8Stream::push(std::string_view bytes) {
  pending_ += bytes;
  std::string out;
  pending_.erase(0, repair_into(pending_, out));
  return out;
}

std::string Utf8Stream::finish() {
  std::string out(pending_.empty() ? std::string_view() : kReplacement);
  pending_.clear();
  return out;
}

}  // namespace lpu::model
