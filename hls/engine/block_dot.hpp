// The integer dot product of one weight block and one activation block (docs/numbers.md §2, §4): d = Σ q·a over 32
// columns, and t = Σ a. One nibble plane (lane word) at a time, as the array does it: d = Σ_n 16^n · Σ_j nibble_n,j ·
// a_j, the top plane two's complement where codes are signed. A part of kMatvecCycles. Relies on number_formats.hpp.
#pragma once

#include <cstdint>

#include "hls/contract/number_formats.hpp"

namespace lpu {
namespace engine {

constexpr int kWordDataBytes = contract::kWordDataBits / 8;
constexpr int kMaxNibbles = 3;

/// Nibble of column j (0…31) in a word's 128 data bits; words: [16] bytes, low nibble first.
inline std::int32_t nibble_of(const std::uint8_t* word, int column) {
  return (word[column / 2] >> (4 * (column % 2))) & 15;
}

/// One plane: Σ nibble·a, |result| < 2^18. word: [16], mantissas: [32].
inline std::int32_t nibble_dot(const std::uint8_t* word, bool is_signed, const std::int16_t* mantissas) {
  std::int32_t sum = 0;
  for (int column = 0; column < contract::kBlockValues; ++column) {
    const std::int32_t nibble = nibble_of(word, column);
    const std::int32_t code = (is_signed && nibble >= 8) ? nibble - 16 : nibble;
    sum += code * mantissas[column];
  }
  return sum;
}

/// d_b. words: [nibbles][16], lowest nibble first; nibbles 1…3; mantissas: [32], |a| ≤ 511.
inline std::int32_t block_dot(const std::uint8_t* words, int nibbles, bool signed_code, const std::int16_t* mantissas) {
  std::int32_t dot = 0;
  for (int plane = 0; plane < kMaxNibbles; ++plane) {
    if (plane < nibbles) {
      const bool is_signed = signed_code && plane == nibbles - 1;
      dot += nibble_dot(words + kWordDataBytes * plane, is_signed, mantissas) * (1 << (4 * plane));
    }
  }
  return dot;
}

/// t_b. mantissas: [32].
inline std::int32_t block_sum(const std::int16_t* mantissas) {
  std::int32_t sum = 0;
  for (int column = 0; column < contract::kBlockValues; ++column) {
    sum += mantissas[column];
  }
  return sum;
}

}  // namespace engine
}  // namespace lpu
