// Builds GGUF files in memory, valid ones and, by overriding single fields, damaged ones.
// Why beside scripts/make_test_model.py: tests of the reader need control over every field and no file on disk.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lpu::test {

/// Bytes that grow at the end; numbers little-endian.
class ByteWriter {
 public:
  template <typename T>
  ByteWriter& put(T value) {
    for (const std::byte byte : std::bit_cast<std::array<std::byte, sizeof(T)>>(value)) bytes.push_back(byte);
    return *this;
  }
  ByteWriter& put_text(std::string_view text) {
    put(static_cast<std::uint64_t>(text.size()));
    for (const char character : text) bytes.push_back(static_cast<std::byte>(character));
    return *this;
  }
  ByteWriter& put_bytes(const std::vector<std::byte>& more) {
    for (const std::byte byte : more) bytes.push_back(byte);
    return *this;
  }
  ByteWriter& pad(std::size_t multiple) {
    bytes.resize((bytes.size() + multiple - 1) / multiple * multiple);
    return *this;
  }

  std::vector<std::byte> bytes;
};

struct BuilderKey {
  std::string name;
  std::uint32_t type;
  std::vector<std::byte> value;
};

struct BuilderTensor {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::uint32_t type;
  std::vector<std::byte> data;
  std::optional<std::uint64_t> offset = {};  ///< instead of the right one
};

class GgufBuilder {
 public:
  // ggml's value types.
  static constexpr std::uint32_t kU8 = 0, kI8 = 1, kU16 = 2, kI16 = 3, kU32 = 4, kI32 = 5, kF32 = 6, kBool = 7,
                                 kString = 8, kArray = 9, kU64 = 10, kI64 = 11, kF64 = 12;

  /// A key of any type, valid or not. `set` replaces the key of that name; `add` puts another one beside it.
  GgufBuilder& add(std::string name, std::uint32_t type, std::vector<std::byte> value) {
    keys.push_back({std::move(name), type, std::move(value)});
    return *this;
  }
  GgufBuilder& set(const std::string& name, std::uint32_t type, std::vector<std::byte> value) {
    const auto found = std::find_if(keys.begin(), keys.end(), [&](const BuilderKey& key) { return key.name == name; });
    if (found == keys.end()) return add(name, type, std::move(value));
    *found = {name, type, std::move(value)};
    return *this;
  }
  GgufBuilder& set_u32(const std::string& name, std::uint32_t value) { return set_number(name, kU32, value); }
  GgufBuilder& set_f32(const std::string& name, float value) { return set_number(name, kF32, value); }
  GgufBuilder& set_bool(const std::string& name, bool value) { return set_number(name, kBool, std::uint8_t{value}); }
  template <typename T>
  GgufBuilder& set_number(const std::string& name, std::uint32_t type, T value) {
    return set(name, type, ByteWriter().put(value).bytes);
  }
  GgufBuilder& set_string(const std::string& name, std::string_view value) {
    return set(name, kString, ByteWriter().put_text(value).bytes);
  }
  GgufBuilder& set_strings(const std::string& name, const std::vector<std::string>& values) {
    ByteWriter writer;
    writer.put(kString).put(static_cast<std::uint64_t>(values.size()));
    for (const std::string& value : values) writer.put_text(value);
    return set(name, kArray, writer.bytes);
  }
  template <typename T>
  GgufBuilder& set_array(const std::string& name, std::uint32_t item_type, const std::vector<T>& values) {
    ByteWriter writer;
    writer.put(item_type).put(static_cast<std::uint64_t>(values.size()));
    for (const T value : values) writer.put(value);
    return set(name, kArray, writer.bytes);
  }
  GgufBuilder& remove(std::string_view key_or_tensor) {
    std::erase_if(keys, [&](const BuilderKey& key) { return key.name == key_or_tensor; });
    std::erase_if(tensors, [&](const BuilderTensor& tensor) { return tensor.name == key_or_tensor; });
    return *this;
  }

  GgufBuilder& add_tensor(std::string name, std::vector<std::uint64_t> shape, std::uint32_t type,
                          std::vector<std::byte> data) {
    tensors.push_back({std::move(name), std::move(shape), type, std::move(data)});
    return *this;
  }
  /// An F32 tensor whose values are all `value`.
  GgufBuilder& add_f32(std::string name, std::vector<std::uint64_t> shape, float value = 0) {
    std::uint64_t count = 1;
    for (const std::uint64_t extent : shape) count *= extent;
    ByteWriter writer;
    for (std::uint64_t i = 0; i < count; ++i) writer.put(value);
    return add_tensor(std::move(name), std::move(shape), 0, writer.bytes);
  }
  BuilderTensor& tensor(std::string_view name) {
    return *std::find_if(tensors.begin(), tensors.end(), [&](const BuilderTensor& one) { return one.name == name; });
  }

  [[nodiscard]] std::vector<std::byte> build() const {
    ByteWriter table;
    ByteWriter data;
    for (const BuilderTensor& one : tensors) {
      table.put_text(one.name).put(static_cast<std::uint32_t>(one.shape.size()));
      for (const std::uint64_t extent : one.shape) table.put(extent);
      table.put(one.type).put(one.offset.value_or(data.bytes.size()));
      data.put_bytes(one.data);
      if (&one != &tensors.back()) data.pad(alignment);
    }
    ByteWriter file;
    file.put(magic).put(version).put(tensor_count.value_or(tensors.size())).put(key_count.value_or(keys.size()));
    for (const BuilderKey& key : keys) file.put_text(key.name).put(key.type).put_bytes(key.value);
    file.put_bytes(table.bytes);
    if (!tensors.empty()) file.pad(alignment).put_bytes(data.bytes);
    return file.bytes;
  }

  std::uint32_t magic = 0x46554747;
  std::uint32_t version = 3;
  std::optional<std::uint64_t> tensor_count;  ///< instead of the right one
  std::optional<std::uint64_t> key_count;     ///< instead of the right one
  std::size_t alignment = 32;                 ///< where the builder puts things; the key is the test's business
  std::vector<BuilderKey> keys;
  std::vector<BuilderTensor> tensors;
};

/// The smallest model that Model accepts: one layer, width 32, one head, four tokens, F32, untied.
inline GgufBuilder smallest_model(const std::string& architecture = "llama") {
  constexpr std::uint32_t kWidth = 32;
  constexpr std::uint32_t kTokens = 4;
  GgufBuilder builder;
  builder.set_string("general.architecture", architecture);
  const std::string prefix = architecture + ".";
  builder.set_u32(prefix + "context_length", 64).set_u32(prefix + "embedding_length", kWidth);
  builder.set_u32(prefix + "block_count", 1).set_u32(prefix + "feed_forward_length", kWidth);
  builder.set_u32(prefix + "attention.head_count", 1).set_u32(prefix + "attention.head_count_kv", 1);
  builder.set_f32(prefix + "attention.layer_norm_rms_epsilon", 1e-5F);
  builder.add_f32("token_embd.weight", {kWidth, kTokens}, 0.5F);
  builder.add_f32("output_norm.weight", {kWidth}, 1).add_f32("output.weight", {kWidth, kTokens}, 0.25F);
  for (const char* role : {"attn_norm", "ffn_norm"})
    builder.add_f32(std::string("blk.0.") + role + ".weight", {kWidth}, 1);
  for (const char* role : {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"}) {
    builder.add_f32(std::string("blk.0.") + role + ".weight", {kWidth, kWidth}, 0.125F);
  }
  if (architecture == "qwen2") {
    for (const char* role : {"attn_q", "attn_k", "attn_v"})
      builder.add_f32(std::string("blk.0.") + role + ".bias", {kWidth});
  }
  return builder;
}

}  // namespace lpu::test
