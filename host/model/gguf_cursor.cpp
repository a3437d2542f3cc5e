// Reading strings and flags, and wording errors; see gguf_cursor.hpp.
#include "host/model/gguf_cursor.hpp"

namespace lpu::model {

std::string printable(std::string_view text) {
  constexpr std::size_t kLimit = 64;
  std::string result;
  for (const char character : text.substr(0, kLimit)) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte >= 0x20 && byte < 0x7F) {
      result += character;
    } else {
      result += fmt::format("\\x{:02x}", byte);
    }
  }
  if (text.size() > kLimit) result += "...";
  return result;
}

std::string Field::text() const {
  std::string result(what);
  if (!name.empty()) result += fmt::format(" '{}'", printable(name));
  if (index) result += fmt::format("{}{}", name.empty() ? " " : ", item ", *index);
  return result;
}

std::string Cursor::read_string(const Field& field, std::uint64_t limit_bytes) {
  const std::uint64_t start = offset_;
  const auto length = read<std::uint64_t>(field);
  if (length > remaining()) {
    refuse(field, start, fmt::format("claims a text of {} bytes, but only {} bytes are left", length, remaining()));
  }
  if (length > limit_bytes) {
    refuse(field, start, fmt::format("claims a text of {} bytes, but {} is the most accepted", length, limit_bytes));
  }
  std::string text(reinterpret_cast<const char*>(bytes_.data()) + offset_, static_cast<std::size_t>(length));
  offset_ += length;
  return text;
}

bool Cursor::read_bool(const Field& field) {
  const std::uint64_t start = offset_;
  const auto value = read<std::uint8_t>(field);
  if (value > 1) refuse(field, start, fmt::format("is a bool but holds {}, not 0 or 1", value));
  return value == 1;
}

}  // namespace lpu::model
