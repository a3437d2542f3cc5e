// The header and the keys of a GGUF file; see gguf_reader.hpp.
// Why arrays become 64-bit items: the reader uses each element type's real width once, here, so that nobody later can
// take bytes for words. Keys whose element type matters to the tokenizer are held to it here as well.
#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>
#include <limits>
#include <utility>

#include "host/model/gguf_reader.hpp"
#include "host/model/gguf_value_type.hpp"

namespace lpu::model {
namespace {

constexpr std::array<std::string_view, 13> kTypeNames = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                                         "bool", "string", "array", "u64", "i64", "f64"};
constexpr std::array<std::uint64_t, 13> kLeastBytes = {1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8};

constexpr std::uint64_t kKeyLimitBytes = 65535;
constexpr std::uint64_t kTextLimitBytes = 64ULL << 20;
constexpr std::uint64_t kItemLimit = 1ULL << 24;
/// Name length, one letter, type, one byte of value.
constexpr std::uint64_t kLeastKeyBytes = 8 + 1 + 4 + 1;
/// Name length, one letter, dimension count, one extent, type, offset.
constexpr std::uint64_t kLeastTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;

std::string name_of(std::uint32_t type) {
  return type < kTypeNames.size() ? std::string(kTypeNames[type]) : fmt::format("unknown type {}", type);
}

/// The key's value must have this type; for an array (`is_array`) its items must.
struct FixedType {
  std::string_view key;
  ValueType type;
  bool is_array;
};

constexpr std::array kFixedTypes = {
    FixedType{"general.alignment", ValueType::kU32, false},
    FixedType{"general.architecture", ValueType::kString, false},
    FixedType{"tokenizer.ggml.tokens", ValueType::kString, true},
    FixedType{"tokenizer.ggml.merges", ValueType::kString, true},
    FixedType{"tokenizer.ggml.scores", ValueType::kF32, true},
    FixedType{"tokenizer.ggml.token_type", ValueType::kI32, true},
};

void check_fixed_type(const Cursor& cursor, const Field& field, std::uint64_t at, std::uint32_t type, bool is_array) {
  for (const FixedType& fixed : kFixedTypes) {
    if (fixed.key != field.name) continue;
    if (is_array == fixed.is_array && type == static_cast<std::uint32_t>(fixed.type)) return;
    cursor.refuse(field, at,
                  fmt::format("is {}{}, but must be {}{}", is_array ? "an array of " : "", name_of(type),
                              fixed.is_array ? "an array of " : "", kTypeNames[static_cast<std::size_t>(fixed.type)]),
                  "convert the model again with a current converter");
  }
}

/// Reads the items of an array into one vector; Stored is what is in the file, Item what is kept.
template <typename Stored, typename Item>
std::vector<Item> read_numbers(Cursor& cursor, Field field, std::uint64_t count) {
  std::vector<Item> items(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i) {
    field.index = i;
    const std::uint64_t at = cursor.offset();
    const Stored value = cursor.read<Stored>(field);
    if constexpr (std::is_same_v<Stored, std::uint64_t>) {
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        cursor.refuse(field, at, fmt::format("{} is beyond what is accepted in an array", value));
      }
    }
    items[i] = static_cast<Item>(value);
  }
  return items;
}

GgufFile::Value read_array(Cursor& cursor, const Field& field) {
  const std::uint64_t start = cursor.offset();
  const auto raw_type = cursor.read<std::uint32_t>(field);
  if (raw_type >= kTypeNames.size()) {
    cursor.refuse(field, start, fmt::format("array element type {} does not exist", raw_type));
  }
  const auto type = static_cast<ValueType>(raw_type);
  if (type == ValueType::kArray) {
    cursor.refuse(field, start, "array element type 9 (array): nested arrays are not supported", "remove this key");
  }
  check_fixed_type(cursor, field, start, raw_type, true);
  const auto count = cursor.read<std::uint64_t>(field);
  if (count > cursor.remaining() / kLeastBytes[raw_type]) {
    cursor.refuse(field, start,
                  fmt::format("claims an array of {} {} items, but only {} bytes are left", count, kTypeNames[raw_type],
                              cursor.remaining()));
  }
  if (count > kItemLimit) {
    cursor.refuse(field, start,
                  fmt::format("claims an array of {} items, but {} is the most accepted", count, kItemLimit));
  }
  switch (type) {
    case ValueType::kU8:
      return read_numbers<std::uint8_t, std::int64_t>(cursor, field, count);
    case ValueType::kI8:
      return read_numbers<std::int8_t, std::int64_t>(cursor, field, count);
    case ValueType::kU16:
      return read_numbers<std::uint16_t, std::int64_t>(cursor, field, count);
    case ValueType::kI16:
      return read_numbers<std::int16_t, std::int64_t>(cursor, field, count);
    case ValueType::kU32:
      return read_numbers<std::uint32_t, std::int64_t>(cursor, field, count);
    case ValueType::kI32:
      return read_numbers<std::int32_t, std::int64_t>(cursor, field, count);
    case ValueType::kU64:
      return read_numbers<std::uint64_t, std::int64_t>(cursor, field, count);
    case ValueType::kI64:
      return read_numbers<std::int64_t, std::int64_t>(cursor, field, count);
    case ValueType::kF32:
      return read_numbers<float, double>(cursor, field, count);
    case ValueType::kF64:
      return read_numbers<double, double>(cursor, field, count);
    case ValueType::kBool: {
      std::vector<std::int64_t> flags(static_cast<std::size_t>(count));
      for (std::uint64_t i = 0; i < count; ++i) flags[i] = cursor.read_bool({field.what, field.name, i}) ? 1 : 0;
      return flags;
    }
    case ValueType::kString: {
      std::vector<std::string> texts(static_cast<std::size_t>(count));
      for (std::uint64_t i = 0; i < count; ++i) {
        texts[i] = cursor.read_string({field.what, field.name, i}, kTextLimitBytes);
      }
      return texts;
    }
    case ValueType::kArray:
      break;
  }
  fail(ExitCode::kInternal, "array element type {} passed its check but is not read", raw_type);
}

GgufFile::Value read_value(Cursor& cursor, const Field& field, std::uint32_t type) {
  switch (static_cast<ValueType>(type)) {
    case ValueType::kU8:
      return std::uint64_t{cursor.read<std::uint8_t>(field)};
    case ValueType::kU16:
      return std::uint64_t{cursor.read<std::uint16_t>(field)};
    case ValueType::kU32:
      return std::uint64_t{cursor.read<std::uint32_t>(field)};
    case ValueType::kU64:
      return std::uint64_t{cursor.read<std::uint64_t>(field)};
    case ValueType::kI8:
      return std::int64_t{cursor.read<std::int8_t>(field)};
    case ValueType::kI16:
      return std::int64_t{cursor.read<std::int16_t>(field)};
    case ValueType::kI32:
      return std::int64_t{cursor.read<std::int32_t>(field)};
    case ValueType::kI64:
      return std::int64_t{cursor.read<std::int64_t>(field)};
    case ValueType::kF32:
      return double{cursor.read<float>(field)};
    case ValueType::kF64:
      return double{cursor.read<double>(field)};
    case ValueType::kBool:
      return cursor.read_bool(field);
    case ValueType::kString:
      return cursor.read_string(field, kTextLimitBytes);
    case ValueType::kArray:
      return read_array(cursor, field);
  }
  fail(ExitCode::kInternal, "value type {} passed its check but is not read", type);
}

}  // namespace

GgufHeader read_header(Cursor& cursor) {
  constexpr std::uint32_t kMagic = 0x46554747;  // "GGUF", little-endian
  constexpr std::uint64_t kHeaderBytes = 24;
  if (cursor.size() < kHeaderBytes) {
    cursor.refuse({"header"}, 0, fmt::format("has {} of {} bytes", cursor.size(), kHeaderBytes));
  }
  const auto magic = cursor.read<std::uint32_t>({"magic"});
  if (magic != kMagic) {
    const auto letters = std::bit_cast<std::array<char, 4>>(magic);
    cursor.refuse({"magic"}, 0, fmt::format("is '{}', not 'GGUF'", printable({letters.data(), letters.size()})),
                  "give a GGUF model file");
  }
  GgufHeader header;
  header.version = cursor.read<std::uint32_t>({"version"});
  if (header.version != 0 && (header.version & 0xFFFF) == 0) {
    cursor.refuse({"version"}, 4, fmt::format("is {:#x}: the file is big-endian", header.version),
                  "convert it to little-endian");
  }
  if (header.version != 2 && header.version != 3) {
    cursor.refuse({"version"}, 4, fmt::format("is {}, but only 2 and 3 are supported", header.version),
                  "convert the model again with a current converter");
  }
  header.tensors = cursor.read<std::uint64_t>({"tensor count"});
  header.keys = cursor.read<std::uint64_t>({"key count"});
  if (header.tensors > cursor.remaining() / kLeastTensorBytes) {
    cursor.refuse({"tensor count"}, 8,
                  fmt::format("is {}, more than the {} bytes left can hold", header.tensors, cursor.remaining()));
  }
  if (header.keys > cursor.remaining() / kLeastKeyBytes) {
    cursor.refuse({"key count"}, 16,
                  fmt::format("is {}, more than the {} bytes left can hold", header.keys, cursor.remaining()));
  }
  return header;
}

GgufKeys read_keys(Cursor& cursor, std::uint64_t count) {
  GgufKeys keys;
  for (std::uint64_t number = 0; number < count; ++number) {
    const std::uint64_t start = cursor.offset();
    const Field name_field{"name of key", {}, number};
    std::string key = cursor.read_string(name_field, kKeyLimitBytes);
    if (key.empty()) cursor.refuse(name_field, start, "is empty");
    const Field field{"value of key", key, {}};
    const std::uint64_t type_at = cursor.offset();
    const auto type = cursor.read<std::uint32_t>({"type of key", key, {}});
    if (type >= kTypeNames.size()) {
      cursor.refuse({"type of key", key, {}}, type_at, fmt::format("value type {} does not exist", type));
    }
    if (type != static_cast<std::uint32_t>(ValueType::kArray)) check_fixed_type(cursor, field, type_at, type, false);
    if (keys.values.contains(key)) cursor.refuse({"key", key, {}}, start, "appears twice");
    const std::uint64_t value_at = cursor.offset();
    GgufFile::Value value = read_value(cursor, field, type);
    keys.offsets.emplace(key, value_at);
    keys.values.emplace(std::move(key), std::move(value));
  }
  return keys;
}

}  // namespace lpu::model
