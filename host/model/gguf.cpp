// Opening a GGUF file and looking things up in it; the reading itself is in gguf_keys.cpp and gguf_tensors.cpp.
#include "host/model/gguf.hpp"

#include <type_traits>
#include <utility>

#include "host/model/gguf_reader.hpp"

namespace lpu::model {
namespace {

std::string_view kind_of(const GgufFile::Value& value) {
  return std::visit(
      [](const auto& held) -> std::string_view {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, bool>) return "a bool";
        if constexpr (std::is_same_v<T, std::int64_t>) return "a signed integer";
        if constexpr (std::is_same_v<T, std::uint64_t>) return "an unsigned integer";
        if constexpr (std::is_same_v<T, double>) return "a floating-point number";
        if constexpr (std::is_same_v<T, std::string>) return "a text";
        if constexpr (std::is_same_v<T, std::vector<std::string>>) return "an array of texts";
        if constexpr (std::is_same_v<T, std::vector<double>>) return "an array of floating-point numbers";
        if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) return "an array of integers";
      },
      value);
}

}  // namespace

GgufFile::GgufFile(const std::filesystem::path& path) : path_(path), mapped_(std::in_place, path) { read(); }

GgufFile GgufFile::from_bytes(std::vector<std::byte> bytes, const std::filesystem::path& name) {
  GgufFile file;
  file.path_ = name;
  file.owned_ = std::move(bytes);
  file.read();
  return file;
}

void GgufFile::read() {
  Cursor cursor(bytes(), path_.string());
  const GgufHeader header = read_header(cursor);
  GgufKeys keys = read_keys(cursor, header.keys);
  tensors_ = read_tensors(cursor, header.tensors, keys, bytes());
  version_ = header.version;
  values_ = std::move(keys.values);
  value_offsets_ = std::move(keys.offsets);
  for (std::size_t i = 0; i < tensors_.size(); ++i) tensor_index_.emplace(tensors_[i].name, i);
}

void GgufFile::forget(const Tensor& tensor) const {
  if (mapped_) mapped_->forget(static_cast<std::size_t>(tensor.file_offset), tensor.data.size());
}

const Tensor* GgufFile::find_tensor(std::string_view name) const {
  const auto found = tensor_index_.find(name);
  return found == tensor_index_.end() ? nullptr : &tensors_[found->second];
}

std::uint64_t GgufFile::offset_of(std::string_view key) const {
  const auto found = value_offsets_.find(key);
  return found == value_offsets_.end() ? 0 : found->second;
}

template <typename T>
const T* GgufFile::find_as(std::string_view key, std::string_view wanted) const {
  const auto found = values_.find(std::string(key));
  if (found == values_.end()) return nullptr;
  if (const T* value = std::get_if<T>(&found->second)) return value;
  fail(ExitCode::kBadInput, "{}: value of key '{}' at byte {}: is {}, but must be {}; convert the model again",
       path_.string(), printable(key), offset_of(key), kind_of(found->second), wanted);
}

std::optional<std::uint64_t> GgufFile::find_unsigned(std::string_view key) const {
  const auto found = values_.find(std::string(key));
  if (found != values_.end()) {
    const auto* value = std::get_if<std::int64_t>(&found->second);
    if (value != nullptr && *value >= 0) return static_cast<std::uint64_t>(*value);
  }
  const auto* value = find_as<std::uint64_t>(key, "a non-negative integer");
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::optional<double> GgufFile::find_float(std::string_view key) const {
  const auto* value = find_as<double>(key, "a floating-point number");
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::optional<bool> GgufFile::find_bool(std::string_view key) const {
  const auto* value = find_as<bool>(key, "a bool");
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

const std::string* GgufFile::find_string(std::string_view key) const { return find_as<std::string>(key, "a text"); }

const std::vector<std::string>* GgufFile::find_strings(std::string_view key) const {
  return find_as<std::vector<std::string>>(key, "an array of texts");
}

const std::vector<double>* GgufFile::find_floats(std::string_view key) const {
  return find_as<std::vector<double>>(key, "an array of floating-point numbers");
}

const std::vector<std::int64_t>* GgufFile::find_integers(std::string_view key) const {
  return find_as<std::vector<std::int64_t>>(key, "an array of integers");
}

}  // namespace lpu::model
