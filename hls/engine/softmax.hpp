// Softmax in base 2 and fixed point (docs/numbers.md §9): a score to 2^n·2^f, weights × V's scale in blocks of 32 with
// an exponent each, block exponents relative to the row's largest, an exact denominator. Latencies:
// kSoftmaxBlockCycles, kSoftmaxRowCycles, kReciprocalCycles. Relies on power.hpp, convert.hpp, reciprocal.hpp,
// accumulate.hpp, number_formats.hpp.
#pragma once

#include <cstdint>

#include "hls/contract/number_formats.hpp"
#include "hls/engine/accumulate.hpp"
#include "hls/engine/convert.hpp"
#include "hls/engine/power.hpp"
#include "hls/engine/reciprocal.hpp"

namespace lpu {
namespace engine {

/// Exponent and whole part of a block without an unmasked position: far below every real one.
constexpr std::int32_t kEmptyExponent = -(1 << 24);
/// 62 − 8 − 31: what the weighted sum's unit and the denominator's leave over (docs/numbers.md §9).
constexpr int kMixExponent =
    2 * contract::kSoftmaxDepth - (contract::kMantissaBits - 2) - (contract::kWindowBinades - 1);

/// A position's weight product·2^whole, without and with V's scale.
struct Weight {
  std::int64_t product;  ///< w = T·s_V, 1.16 × 16 bits
  std::int32_t whole;    ///< n
  std::int32_t power;    ///< T, 65,536…131,071
  int exponent;          ///< n + floor(log2 w)
};

/// A block of 32 positions of one head.
struct SoftmaxBlock {
  std::int16_t mantissas[contract::kBlockValues];  ///< [32] 0…511
  std::int32_t exponent;                           ///< E_b, or kEmptyExponent
  std::int32_t whole;                              ///< N_b, or kEmptyExponent
  std::int64_t denominator;                        ///< z_b, below 2^53
  bool empty;                                      ///< every position masked
};

/// A row of scores: one head at one position.
struct SoftmaxRow {
  std::int32_t exponent;  ///< E
  std::int32_t whole;     ///< N
  Int128 denominator;     ///< Z, below 2^95
};

/// t: the score with 16 fraction bits. exponent: of the sum's unit, sum_exponent(e_K).
inline std::int32_t score_to_fixed(Int128 sum, int exponent, Status& status) {
  const int left = exponent + contract::kScoreFractionBits;
  if (left > contract::kScoreBits && sum != 0) {  // even a sum of 1 saturates, and the shift might not fit
    return saturate32(sum < 0 ? shift_left(-1, 64) : shift_left(1, 64), status);
  }
  return saturate32(shift_right_round_even(sum, sum == 0 ? 0 : -left), status);
}

/// score: t; value_scale: s_V ≥ 1 of the position.
inline Weight softmax_weight(std::int32_t score, std::uint16_t value_scale) {
  Weight weight;
  weight.whole = score >> contract::kScoreFractionBits;
  weight.power = power_of_two_fraction(static_cast<std::uint32_t>(score) & 0xffffu);
  weight.product = static_cast<std::int64_t>(weight.power) * value_scale;
  weight.exponent = weight.whole + highest_bit(static_cast<UInt128>(weight.product));
  return weight;
}

/// weights: [32], of which the first `unmasked` (0…32) are positions up to the current one; the others aren't read.
inline SoftmaxBlock softmax_block(const Weight* weights, int unmasked) {
  SoftmaxBlock block;
  block.empty = unmasked <= 0;
  block.exponent = kEmptyExponent;
  block.whole = kEmptyExponent;
  block.denominator = 0;
  for (int j = 0; j < contract::kBlockValues; ++j) {
    if (j < unmasked) {
      block.exponent = weights[j].exponent > block.exponent ? weights[j].exponent : block.exponent;
      block.whole = weights[j].whole > block.whole ? weights[j].whole : block.whole;
    }
  }
  for (int j = 0; j < contract::kBlockValues; ++j) {
    block.mantissas[j] = 0;
    if (j < unmasked) {
      // E_b ≥ n + 16: always a shift to the right, by at least 8.
      const int right = block.exponent - (contract::kMantissaBits - 2) - weights[j].whole;
      const Int128 rounded = shift_right_round_even(static_cast<Int128>(weights[j].product), right);
      block.mantissas[j] = rounded > contract::kMantissaMax ? static_cast<std::int16_t>(contract::kMantissaMax)
                                                            : static_cast<std::int16_t>(rounded);
      const int depth = block.whole - weights[j].whole;
      if (depth <= contract::kSoftmaxDepth) {
        block.denominator += static_cast<std::int64_t>(weights[j].power) << (contract::kSoftmaxDepth - depth);
      }
    }
  }
  return block;
}

/// Before any block.
inline SoftmaxRow softmax_row_start() {
  SoftmaxRow row;
  row.exponent = kEmptyExponent;
  row.whole = kEmptyExponent;
  row.denominator = 0;
  return row;
}
/// First pass: E and N, in any order of the blocks.
inline void take_largest(SoftmaxRow& row, const SoftmaxBlock& block) {
  row.exponent = block.exponent > row.exponent ? block.exponent : row.exponent;
  row.whole = block.whole > row.whole ? block.whole : row.whole;
}
/// Second pass, after every block's take_largest: Z, in any order of the blocks, by what is kept of each: N_b and z_b.
inline void add_denominator(SoftmaxRow& row, std::int32_t block_whole, std::int64_t block_denominator) {
  const int depth = row.whole - block_whole;  // far beyond the limit for an empty block
  if (depth <= contract::kSoftmaxDepth) {
    row.denominator =
        row.denominator + shift_left(static_cast<Int128>(block_denominator), contract::kSoftmaxDepth - depth);
  }
}
inline void add_denominator(SoftmaxRow& row, const SoftmaxBlock& block) {
  add_denominator(row, block.whole, block.denominator);
}
/// Both passes. blocks: [count], at least one of them not empty; count is capped by the longest context.
inline SoftmaxRow combine(const SoftmaxBlock* blocks, int count) {
  SoftmaxRow row = softmax_row_start();
  for (int b = 0; b < count; ++b) {
    take_largest(row, blocks[b]);
  }
  for (int b = 0; b < count; ++b) {
    add_denominator(row, blocks[b]);
  }
  return row;
}

/// o_b: the block's offset in the row's sums. Negative (also for an empty block): the block contributes nothing.
inline int relative_offset(std::int32_t block_exponent, std::int32_t row_exponent) {
  return (contract::kWindowBinades - 1) - (row_exponent - block_exponent);
}

/// y ≈ 1/Z.
inline float softmax_inverse(const SoftmaxRow& row, Status& status) {
  return reciprocal(convert(row.denominator, 0, status));
}

/// A value of a head's output: the weighted sum of V's codes, its grid exponent e_V, E − N and y of the row.
inline float mix_value(Int128 sum, int value_exponent, std::int32_t exponent_difference, float inverse,
                       Status& status) {
  const int exponent = value_exponent - contract::kMinimumFractionBits + exponent_difference + kMixExponent;
  const float weighted = convert(sum, exponent, status);
  return multiply(weighted, inverse, status);
}

}  // namespace engine
}  // namespace lpu
