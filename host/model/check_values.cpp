// Finds NaN and infinity in a tensor before anything is computed from it.
// Quantised blocks can hold them only in their binary16 scale and minimum: the integers are finite by nature, and a
// finite scale times a small integer stays far inside binary32.
#include <array>
#include <cstring>

#include "host/base/error.hpp"
#include "host/model/gguf_cursor.hpp"
#include "host/model/model.hpp"

namespace lpu::model {
namespace {

/// Where the binary16 numbers of a block lie, and what they are called.
struct HalfFields {
  std::size_t count;
  std::array<std::size_t, 2> offsets;
};

HalfFields half_fields(TensorType type) {
  switch (type) {
    case TensorType::kF32:
    case TensorType::kBF16:
      return {0, {}};
    case TensorType::kF16:
    case TensorType::kQ4_0:
    case TensorType::kQ5_0:
    case TensorType::kQ8_0:
      return {1, {0}};
    case TensorType::kQ4_1:
    case TensorType::kQ5_1:
    case TensorType::kQ4_K:
    case TensorType::kQ5_K:
      return {2, {0, 2}};
    case TensorType::kQ6_K:
      return {1, {208}};
  }
  fail(ExitCode::kInternal, "no value check for tensor {}", type_name(static_cast<std::uint32_t>(type)));
}

template <typename Bits>
bool has_all_ones_exponent(const std::byte* at, Bits mask) {
  Bits bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  return (bits & mask) == mask;
}

/// The offset in the block of its first number that isn't finite, or -1.
std::ptrdiff_t find_trouble(TensorType type, const HalfFields& halves, const std::byte* block) {
  if (type == TensorType::kF32) return has_all_ones_exponent<std::uint32_t>(block, 0x7F800000U) ? 0 : -1;
  if (type == TensorType::kBF16) return has_all_ones_exponent<std::uint16_t>(block, 0x7F80U) ? 0 : -1;
  for (std::size_t i = 0; i < halves.count; ++i) {
    if (has_all_ones_exponent<std::uint16_t>(block + halves.offsets[i], 0x7C00U)) {
      return static_cast<std::ptrdiff_t>(halves.offsets[i]);
    }
  }
  return -1;
}

}  // namespace

void check_values(const Tensor& tensor) {
  const HalfFields halves = half_fields(tensor.type);
  const std::size_t bytes = block_bytes(tensor.type);
  const std::size_t row_blocks = static_cast<std::size_t>(tensor.columns()) / block_values(tensor.type);
  const std::size_t blocks = tensor.data.size() / bytes;
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::ptrdiff_t trouble = find_trouble(tensor.type, halves, tensor.data.data() + i * bytes);
    if (trouble < 0) continue;
    fail(ExitCode::kBadInput, "tensor '{}' ({}), row {}, block {}, at byte {} of the file: {} is NaN or infinite; {}",
         printable(tensor.name), type_name(tensor.raw_type), i / row_blocks, i % row_blocks,
         tensor.file_offset + i * bytes + static_cast<std::uint64_t>(trouble),
         block_values(tensor.type) == 1 ? "the value"
         : trouble == 2                 ? "the minimum"
                                        : "the scale",
         kDamaged);
  }
}

}  // namespace lpu::model
