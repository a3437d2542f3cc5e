// Integers wider than 64 bits: the exact sums of docs/numbers.md §4, §6 and §9 need up to 95 bits.
// Plain compilers have a 128-bit integer of their own; under a vendor's HLS tool the same names are its
// arbitrary-precision type (OPENLPU_AP_INT asks for it elsewhere). Relies on nothing but that. Only +, −, *, shifts,
// comparisons and casts are used on them.
#pragma once

#include <cstdint>

#if defined(__VITIS_HLS__) || defined(OPENLPU_AP_INT)
#include <ap_int.h>
#endif

namespace lpu {
namespace engine {

#if defined(__VITIS_HLS__) || defined(OPENLPU_AP_INT)
using Int128 = ap_int<128>;
using UInt128 = ap_uint<128>;
#else
__extension__ typedef __int128 Int128;            // NOLINT(modernize-use-using): only a typedef takes __extension__
__extension__ typedef unsigned __int128 UInt128;  // NOLINT(modernize-use-using)
#endif

/// value · 2^shift, shift 0…127, for either sign (C++14 leaves the shift of a negative number undefined).
inline Int128 shift_left(Int128 value, int shift) {
  return static_cast<Int128>(static_cast<UInt128>(static_cast<UInt128>(value) << shift));
}

/// Position of the highest one bit of a number that isn't zero, 0…127: a leading-zero counter of seven steps, which
/// plain compilers have as an instruction.
inline int highest_bit(UInt128 value) {
#if defined(__VITIS_HLS__) || defined(OPENLPU_AP_INT)
  int position = 0;
  for (int step = 64; step > 0; step /= 2) {
    const bool above = (value >> step) != 0;
    position += above ? step : 0;
    value = above ? static_cast<UInt128>(value >> step) : value;
  }
  return position;
#else
  const std::uint64_t high = static_cast<std::uint64_t>(value >> 64);
  const std::uint64_t low = static_cast<std::uint64_t>(value);
  return high != 0 ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll(low | 1);
#endif
}

}  // namespace engine
}  // namespace lpu
