// A position in the bytes of a GGUF file. Nothing is read, and nothing is allocated, before it is known to be there:
// every length is compared with what remains of the file first. Relies on host/base/error.hpp.
#pragma once

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "host/base/error.hpp"

namespace lpu::model {

/// What is being read, for the error sentence; made into text only when there is an error.
struct Field {
  std::string_view what;                    ///< "value of key", "offset of tensor" …
  std::string_view name = {};               ///< the key's or tensor's name; may hold any byte
  std::optional<std::uint64_t> index = {};  ///< the item of an array, or the key's number while it has no name yet

  [[nodiscard]] std::string text() const;
};

/// The text with control characters and bytes that aren't ASCII escaped, at most about 64 characters: safe to print.
std::string printable(std::string_view text);

inline constexpr std::string_view kDamaged = "the file is damaged or cut short, download or convert it again";

class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, std::string path) : bytes_(bytes), path_(std::move(path)) {}

  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] std::uint64_t remaining() const { return bytes_.size() - offset_; }
  [[nodiscard]] std::uint64_t size() const { return bytes_.size(); }

  /// Throws: "PATH: FIELD at byte OFFSET: PROBLEM; REMEDY".
  [[noreturn]] void refuse(const Field& field, std::uint64_t at, std::string_view problem,
                           std::string_view remedy = kDamaged) const {
    fail(ExitCode::kBadInput, "{}: {} at byte {}: {}; {}", path_, field.text(), at, problem, remedy);
  }

  /// One little-endian number.
  template <typename T>
  T read(const Field& field) {
    static_assert(std::endian::native == std::endian::little, "a big-endian host would have to swap bytes here");
    if (remaining() < sizeof(T)) {
      refuse(field, offset_, fmt::format("needs {} bytes, but the file ends after {}", sizeof(T), remaining()));
    }
    T value;
    std::memcpy(&value, bytes_.data() + offset_, sizeof(T));
    offset_ += sizeof(T);
    return value;
  }

  /// A string: u64 length, then that many bytes.
  std::string read_string(const Field& field, std::uint64_t limit_bytes);
  /// A byte that must be 0 or 1.
  bool read_bool(const Field& field);

 private:
  std::span<const std::byte> bytes_;
  std::string path_;
  std::uint64_t offset_ = 0;
};

}  // namespace lpu::model
