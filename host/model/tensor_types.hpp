// The block layouts of ggml's tensor types, as sizes: what is needed to find a tensor's bytes, read or not.
// Why a table of its own: the reader must step over tensors of types that the compiler can't decode, so that
// `lpu inspect` can list them. Relies on gguf.hpp for the numbers of the types that are decoded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lpu::model {

struct TypeLayout {
  std::uint32_t raw_type;  ///< ggml's number
  std::string_view name;
  std::uint32_t block_values;
  std::uint32_t block_bytes;
  bool supported;  ///< dequantise_row decodes it
};

/// nullptr when ggml never had this number, or removed it.
const TypeLayout* find_type_layout(std::uint32_t raw_type);
/// "F32, F16, Q4_0 …": what an error tells the user to convert to.
std::string supported_type_names();

}  // namespace lpu::model
