// See tokenizer_section.hpp.
#include "host/compiler/tokenizer_section.hpp"

#include <bit>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "host/model/gguf_value_type.hpp"

namespace lpu::compiler {

namespace {

using model::ValueType;

class Writer {
 public:
  template <typename T>
  void put(T value) {
    static_assert(std::endian::native == std::endian::little, "files are little-endian");
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    out.insert(out.end(), bytes, bytes + sizeof value);
  }
  void put_type(ValueType type) { put(static_cast<std::uint32_t>(type)); }
  void put_text(std::string_view text) {
    put(static_cast<std::uint64_t>(text.size()));
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    out.insert(out.end(), bytes, bytes + text.size());
  }
  void put_array(ValueType type, std::size_t count) {
    put_type(ValueType::kArray);
    put_type(type);
    put(static_cast<std::uint64_t>(count));
  }

  void put_value(bool value) {
    put_type(ValueType::kBool);
    put(static_cast<std::uint8_t>(value));
  }
  void put_value(std::int64_t value) {
    put_type(ValueType::kI64);
    put(value);
  }
  void put_value(std::uint64_t value) {
    put_type(ValueType::kU64);
    put(value);
  }
  void put_value(double value) {
    put_type(ValueType::kF32);
    put(static_cast<float>(value));
  }
  void put_value(const std::string& value) {
    put_type(ValueType::kString);
    put_text(value);
  }
  void put_value(const std::vector<std::string>& values) {
    put_array(ValueType::kString, values.size());
    for (const std::string& value : values) put_text(value);
  }
  void put_value(const std::vector<double>& values) {
    put_array(ValueType::kF32, values.size());
    for (const double value : values) put(static_cast<float>(value));
  }
  void put_value(const std::vector<std::int64_t>& values) {
    put_array(ValueType::kI32, values.size());
    for (const std::int64_t value : values) put(static_cast<std::int32_t>(value));
  }

  std::vector<std::byte> out;
};

}  // namespace

std::vector<std::byte> tokenizer_section(const model::GgufFile& file) {
  const auto wanted = [](const std::string& key) {
    return key.starts_with("tokenizer.") || key == "general.architecture" || key == "general.name";
  };
  std::uint64_t count = 0;
  for (const auto& [key, value] : file.values()) count += wanted(key) ? 1 : 0;
  Writer writer;
  for (const char c : std::string_view("GGUF")) writer.put(c);
  writer.put(std::uint32_t{3});
  writer.put(std::uint64_t{0});
  writer.put(count);
  for (const auto& [key, value] : file.values()) {
    if (!wanted(key)) continue;
    writer.put_text(key);
    std::visit([&](const auto& held) { writer.put_value(held); }, value);
  }
  return std::move(writer.out);
}

}  // namespace lpu::compiler
