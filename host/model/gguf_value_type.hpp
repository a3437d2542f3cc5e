// GGUF's numbers for the types of values, for the reader and for whoever writes such a file. Relies on nothing.
#pragma once

#include <cstdint>

namespace lpu::model {

enum class ValueType : std::uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12
};

}  // namespace lpu::model
