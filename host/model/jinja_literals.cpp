// A scanner that knows no more of Jinja than text outside of tags, and quoted strings inside of them.
// Relies on jinja_literals.hpp.
#include "host/model/jinja_literals.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace lpu::model {
namespace {

/// All literals of the template in order: quoted strings of tags (is_quoted), and text between tags.
struct Literal {
  std::string text;
  bool is_quoted;
};

std::vector<Literal> literals(std::string_view jinja) {
  std::vector<Literal> found;
  std::size_t i = 0;
  while (i < jinja.size()) {
    const std::size_t tag = std::min(jinja.find("{{", i), jinja.find("{%", i));
    const std::string_view outside = jinja.substr(i, tag == std::string_view::npos ? tag : tag - i);
    if (!outside.empty()) found.push_back({std::string(outside), false});
    if (tag == std::string_view::npos) break;
    const char closing = jinja[tag + 1] == '{' ? '}' : '%';
    for (i = tag + 2; i < jinja.size(); ++i) {
      const char c = jinja[i];
      if (c == closing && i + 1 < jinja.size() && jinja[i + 1] == '}') break;
      if (c != '\'' && c != '"') continue;
      Literal quoted{"", true};
      for (++i; i < jinja.size() && jinja[i] != c; ++i) {
        if (jinja[i] == '\\' && i + 1 < jinja.size()) {
          const char escape = jinja[++i];
          quoted.text += escape == 'n' ? '\n' : escape == 't' ? '\t' : escape == 'r' ? '\r' : escape;
        } else {
          quoted.text += jinja[i];
        }
      }
      found.push_back(std::move(quoted));
    }
    i = std::min(i + 2, jinja.size());
  }
  return found;
}

/// Bytes of the white-space character that ends (at_end) or begins the text; 0 when there is none.
std::size_t space_bytes(std::string_view text, bool at_end) {
  // The characters that Python's str.isspace() accepts, U+001C to U+001F among them.
  static constexpr std::array<std::string_view, 19> kWide = {
      "\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\x80", "\xE2\x80\x81", "\xE2\x80\x82", "\xE2\x80\x83",
      "\xE2\x80\x84", "\xE2\x80\x85", "\xE2\x80\x86", "\xE2\x80\x87", "\xE2\x80\x88", "\xE2\x80\x89", "\xE2\x80\x8A",
      "\xE2\x80\xA8", "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80"};
  if (text.empty()) return 0;
  const auto byte = static_cast<std::uint8_t>(at_end ? text.back() : text.front());
  if (byte == ' ' || (byte >= 0x09 && byte <= 0x0D) || (byte >= 0x1C && byte <= 0x1F)) return 1;
  if (byte < 0x80) return 0;
  for (const std::string_view space : kWide) {
    if (at_end ? text.ends_with(space) : text.starts_with(space)) return space.size();
  }
  return 0;
}

}  // namespace

std::optional<std::string> literal_between(std::string_view jinja, std::string_view before, std::string_view after) {
  for (const Literal& literal : literals(jinja)) {
    const std::size_t begin = literal.text.find(before);
    if (begin == std::string::npos) continue;
    const std::size_t end = literal.text.find(after, begin + before.size());
    if (end == std::string::npos) continue;
    return literal.text.substr(begin + before.size(), end - begin - before.size());
  }
  return std::nullopt;
}

std::optional<std::string> literal_with(std::string_view jinja, std::string_view mark) {
  for (Literal& literal : literals(jinja)) {
    if (literal.is_quoted && literal.text.find(mark) != std::string::npos) return std::move(literal.text);
  }
  return std::nullopt;
}

std::string_view trim_end(std::string_view text) {
  while (const std::size_t bytes = space_bytes(text, true)) text.remove_suffix(bytes);
  return text;
}

std::string_view trim(std::string_view text) {
  while (const std::size_t bytes = space_bytes(text, false)) text.remove_prefix(bytes);
  return trim_end(text);
}

}  // namespace lpu::model
