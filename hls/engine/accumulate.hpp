// From block dots to a row's exact sum (docs/numbers.md §4): sum = Σ_b ((d_b·s_b)·2^F + (t_b·m_b)·2^h_b) · 2^o_b.
// Nothing is rounded, so any order gives the same bits. A part of kMatvecCycles. Relies on integers.hpp,
// number_formats.hpp.
#pragma once

#include <cstdint>

#include "hls/contract/number_formats.hpp"
#include "hls/engine/integers.hpp"

namespace lpu {
namespace engine {

/// s_b: a word's 16 side bits, unsigned or two's complement.
inline std::int32_t scale_value(std::uint16_t side, bool signed_scale) {
  const std::int32_t value = side;
  return (signed_scale && value >= 32768) ? value - 65536 : value;
}
/// m_b: the low 12 bits of a minimum word, two's complement.
inline std::int32_t minimum_mantissa(std::uint16_t word) {
  const std::int32_t value = word & ((1 << contract::kMinimumMantissaBits) - 1);
  const std::int32_t limit = 1 << (contract::kMinimumMantissaBits - 1);
  return value >= limit ? value - 2 * limit : value;
}
/// h_b: the high 4 bits of a minimum word.
inline int minimum_shift(std::uint16_t word) { return word >> contract::kMinimumMantissaBits; }

/// (d·s)·2^F + (t·m)·2^h, below 2^46 in magnitude. Without a minimum: minimum 0, shift 0. With a unit scale: scale 1.
inline Int128 block_term(std::int32_t dot, std::int32_t scale, std::int32_t sum, std::int32_t minimum, int shift) {
  const std::int64_t scaled = static_cast<std::int64_t>(dot) * scale;
  const std::int64_t lowered = static_cast<std::int64_t>(sum) * minimum;
  const std::int64_t term =
      scaled * (1 << contract::kMinimumFractionBits) + lowered * (static_cast<std::int64_t>(1) << shift);
  return term;
}

/// sum + term · 2^offset, offset 0…31. The contract's limits keep it within kAccumulatorBits.
inline Int128 accumulate(Int128 sum, Int128 term, int offset) { return sum + shift_left(term, offset); }

/// Exponent of a sum's unit for a row (or K grid) of this exponent and activations with the fixed window: convert()'s.
constexpr int sum_exponent(int row_exponent) {
  return row_exponent - contract::kMinimumFractionBits + contract::kWindowLow;
}

}  // namespace engine
}  // namespace lpu
