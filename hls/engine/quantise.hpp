// 32 binary32 values to a block of activations (docs/numbers.md §3): signed 10-bit mantissas with one shared offset
// 0…31. Latency: kQuantiseCycles (largest of 32 exponents, shift, round). Relies on rounding.hpp, number_formats.hpp.
#pragma once

#include <cstdint>

#include "hls/contract/number_formats.hpp"
#include "hls/engine/rounding.hpp"

namespace lpu {
namespace engine {

/// Value j is mantissas[j] · 2^(offset + kWindowLow).
struct Block {
  std::int16_t mantissas[contract::kBlockValues];  ///< [32] −511…511
  std::uint8_t offset;                             ///< 0…31
};

/// The offset that the largest exponent asks for, before it is clamped to the window.
constexpr int wanted_offset(int largest_exponent) {
  return largest_exponent - (contract::kMantissaBits - 2) - contract::kWindowLow;
}

/// RNE(x · 2^−(offset + kWindowLow)), clamped to ±511.
inline std::int16_t quantise_value(float x, int offset) {
  const std::int32_t rounded = magnitude_to_fixed(x, -(offset + contract::kWindowLow));
  const std::int32_t clamped = rounded > contract::kMantissaMax ? contract::kMantissaMax : rounded;
  return static_cast<std::int16_t>((bits_from_float(x) & kSignBit) != 0 ? -clamped : clamped);
}

/// values: [32]. A block whose largest value lies above the window counts as one saturation.
inline Block quantise(const float* values, Status& status) {
  int largest_field = 0;  // of the exponents as they are stored: 0 is zero or subnormal
  for (int j = 0; j < contract::kBlockValues; ++j) {
    const int field = exponent_field(values[j]);
    largest_field = field > largest_field ? field : largest_field;
  }
  const int wanted = wanted_offset(largest_field - kFloatBias);
  const int highest = contract::kWindowBinades - 1;
  if (wanted > highest) status.saturations += 1;
  const int offset = wanted < 0 ? 0 : (wanted > highest ? highest : wanted);
  Block block;
  block.offset = static_cast<std::uint8_t>(offset);
  for (int j = 0; j < contract::kBlockValues; ++j) {
    block.mantissas[j] = quantise_value(values[j], offset);
  }
  return block;
}

}  // namespace engine
}  // namespace lpu
