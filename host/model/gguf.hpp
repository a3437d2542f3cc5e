// A GGUF file (versions 2 and 3, little-endian), mapped and checked before anything is believed.
//
// Byte layout (all integers little-endian):
//   1. "GGUF"  2. u32 version  3. u64 tensor count  4. u64 key count
//   5. per key: string name, u32 value type, value    (string = u64 length + bytes; array = u32 type, u64 count, items)
//   6. per tensor: string name, u32 dimensions, u64 extent[dimensions] (extent[0] is the contiguous one), u32 type,
//      u64 offset from the data's start
//   7. padding to `general.alignment`  8. the tensors' data
// Relies on host/base. Every damaged or unsupported file ends in one Error(kBadInput) that names file, field, offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "host/base/mapped_file.hpp"

namespace lpu::model {

/// ggml's type numbers, those that the compiler reads.
enum class TensorType : std::uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ5_0 = 6,
  kQ5_1 = 7,
  kQ8_0 = 8,
  kQ4_K = 12,
  kQ5_K = 13,
  kQ6_K = 14,
  kBF16 = 30
};

/// One tensor of the file. `data` holds shape[1]·shape[2]·shape[3] rows of shape[0] values each.
struct Tensor {
  std::string name;
  TensorType type{};
  std::vector<std::uint64_t> shape;  ///< shape[0] = values of a contiguous row (columns), shape[1] = rows
  std::span<const std::byte> data;   ///< empty for a tensor of a type that isn't supported here
  std::uint64_t file_offset = 0;     ///< of data, from the file's start
  std::uint32_t raw_type = 0;        ///< ggml's number, also when unsupported
  [[nodiscard]] std::uint64_t columns() const { return shape.at(0); }
  [[nodiscard]] std::uint64_t rows() const { return shape.size() > 1 ? shape[1] : 1; }
  [[nodiscard]] bool is_supported() const;  ///< whether the compiler reads this type; data is empty where it doesn't
  [[nodiscard]] std::size_t row_bytes() const;
  [[nodiscard]] std::span<const std::byte> row(std::uint64_t index) const;
};

/// Name of a ggml type ("Q4_1"); "type 99" when unknown.
std::string type_name(std::uint32_t raw_type);

class GgufFile {
 public:
  /// Scalars keep their kind; arrays of strings, of floats and of integers are kept whole.
  using Value = std::variant<bool, std::int64_t, std::uint64_t, double, std::string, std::vector<std::string>,
                             std::vector<double>, std::vector<std::int64_t>>;

  explicit GgufFile(const std::filesystem::path& path);
  /// A file that is already in memory (tests, fuzzing); name is what errors call it.
  static GgufFile from_bytes(std::vector<std::byte> bytes, const std::filesystem::path& name);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::uint64_t size_bytes() const { return bytes().size(); }
  [[nodiscard]] std::uint32_t version() const { return version_; }
  /// Tells the system that this tensor's bytes won't be read again soon, so that they stop counting as resident.
  void forget(const Tensor& tensor) const;
  [[nodiscard]] const std::map<std::string, Value>& values() const { return values_; }
  [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }
  [[nodiscard]] const Tensor* find_tensor(std::string_view name) const;
  /// Where the key's value starts in the file; 0 for a key that isn't there.
  [[nodiscard]] std::uint64_t offset_of(std::string_view key) const;

  /// Typed look-ups; `std::nullopt`/`nullptr` when absent; Error(kBadInput) when the key has another type.
  [[nodiscard]] std::optional<std::uint64_t> find_unsigned(std::string_view key) const;
  [[nodiscard]] std::optional<double> find_float(std::string_view key) const;
  [[nodiscard]] std::optional<bool> find_bool(std::string_view key) const;
  [[nodiscard]] const std::string* find_string(std::string_view key) const;
  [[nodiscard]] const std::vector<std::string>* find_strings(std::string_view key) const;
  [[nodiscard]] const std::vector<double>* find_floats(std::string_view key) const;
  [[nodiscard]] const std::vector<std::int64_t>* find_integers(std::string_view key) const;

 private:
  GgufFile() = default;
  void read();
  [[nodiscard]] std::span<const std::byte> bytes() const { return mapped_ ? mapped_->bytes() : std::span(owned_); }
  template <typename T>
  [[nodiscard]] const T* find_as(std::string_view key, std::string_view wanted) const;

  std::filesystem::path path_;
  std::optional<MappedFile> mapped_;
  std::vector<std::byte> owned_;
  std::uint32_t version_ = 0;
  std::map<std::string, Value> values_;
  std::map<std::string, std::uint64_t, std::less<>> value_offsets_;
  std::vector<Tensor> tensors_;
  std::map<std::string, std::size_t, std::less<>> tensor_index_;
};

}  // namespace lpu::model
