// Block dots and exact sums against codes that are kept as plain integers, at every width and sign; and their limits.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "hls/engine/accumulate.hpp"
#include "hls/engine/block_dot.hpp"
#include "tests/engine/random_values.hpp"

namespace lpu::engine {
namespace {

constexpr int kColumns = contract::kBlockValues;
using Codes = std::array<int, kColumns>;
using Mantissas = std::array<std::int16_t, kColumns>;

class BlockDot : public SeededTest {};
class Accumulate : public SeededTest {};

/// [nibbles × 16] bytes, by bit position instead of by byte.
std::vector<std::uint8_t> words_of(const Codes& codes, int nibbles) {
  std::vector<std::uint8_t> words(static_cast<std::size_t>(nibbles) * 16);
  for (int column = 0; column < kColumns; ++column) {
    for (int bit = 0; bit < 4 * nibbles; ++bit) {
      const int at = 128 * (bit / 4) + 4 * column + bit % 4;
      if (((codes[column] >> bit) & 1) != 0) words[at / 8] |= static_cast<std::uint8_t>(1 << (at % 8));
    }
  }
  return words;
}

int plain_dot(const Codes& codes, const Mantissas& mantissas) {
  int sum = 0;
  for (int column = 0; column < kColumns; ++column) sum += codes[column] * mantissas[column];
  return sum;
}

TEST_F(BlockDot, RandomCodesOfEveryWidthAndSignGiveThePlainDotProduct) {
  for (int nibbles = 1; nibbles <= 3; ++nibbles) {
    for (const bool is_signed : {false, true}) {
      const int span = 1 << (4 * nibbles);
      for (int round = 0; round < 3000; ++round) {
        Codes codes;
        Mantissas mantissas;
        for (int column = 0; column < kColumns; ++column) {
          codes[column] = is_signed ? integer(-span / 2, span / 2 - 1) : integer(0, span - 1);
          mantissas[column] = static_cast<std::int16_t>(integer(-511, 511));
        }
        const auto words = words_of(codes, nibbles);
        EXPECT_EQ(block_dot(words.data(), nibbles, is_signed, mantissas.data()), plain_dot(codes, mantissas));
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(BlockDot, EveryCodeMeetsEveryColumn) {
  for (int nibbles = 1; nibbles <= 3; ++nibbles) {
    const int span = 1 << (4 * nibbles);
    for (const bool is_signed : {false, true}) {
      for (int code = is_signed ? -span / 2 : 0; code < (is_signed ? span / 2 : span); ++code) {
        Codes codes{};
        Mantissas mantissas{};
        const int column = (code + span) % kColumns;
        codes[column] = code;
        mantissas[column] = 511;
        const auto words = words_of(codes, nibbles);
        EXPECT_EQ(block_dot(words.data(), nibbles, is_signed, mantissas.data()), 511 * code);
      }
    }
  }
}

TEST_F(BlockDot, LargestMagnitudesDontOverflow) {
  Codes codes;
  Mantissas mantissas;
  codes.fill(-2048);
  mantissas.fill(-511);
  const auto words = words_of(codes, 3);
  EXPECT_EQ(block_dot(words.data(), 3, true, mantissas.data()), 32 * 2048 * 511);
  EXPECT_EQ(block_sum(mantissas.data()), -32 * 511);
}

TEST_F(BlockDot, ZeroMantissasGiveZero) {
  Codes codes;
  codes.fill(15);
  const Mantissas mantissas{};
  EXPECT_EQ(block_dot(words_of(codes, 1).data(), 1, false, mantissas.data()), 0);
  EXPECT_EQ(block_sum(mantissas.data()), 0);
}

TEST_F(Accumulate, SideBitsAreReadWithAndWithoutSign) {
  for (int side = 0; side < 65536; ++side) {
    const auto word = static_cast<std::uint16_t>(side);
    EXPECT_EQ(scale_value(word, false), side);
    EXPECT_EQ(scale_value(word, true), static_cast<std::int16_t>(word));
    const int low = side % 4096;
    EXPECT_EQ(minimum_mantissa(word), low < 2048 ? low : low - 4096);
    EXPECT_EQ(minimum_shift(word), side / 4096);
  }
}

TEST_F(Accumulate, TermsFollowTheFormula) {
  for (int i = 0; i < 100000; ++i) {
    const int dot = integer(-(1 << 25), 1 << 25);
    const int scale = integer(-32768, 65535);
    const int sum = integer(-16352, 16352);
    const int minimum = integer(-2048, 2047);
    const int shift = integer(0, 15);
    const int offset = integer(0, 31);
    const Int128 before = wide(80);
    const Int128 factor = static_cast<Int128>(1) << offset;
    const Int128 wanted =
        before + (static_cast<Int128>(dot) * scale * 16 + static_cast<Int128>(sum) * minimum * (1 << shift)) * factor;
    EXPECT_TRUE(accumulate(before, block_term(dot, scale, sum, minimum, shift), offset) == wanted);
    if (HasFailure()) return;
  }
}

TEST_F(Accumulate, OrderOfTheBlocksDoesntMatter) {
  std::vector<std::pair<Int128, int>> terms;
  for (int i = 0; i < 500; ++i) terms.emplace_back(wide(46), integer(0, 31));
  Int128 forwards = 0;
  for (const auto& [term, offset] : terms) forwards = accumulate(forwards, term, offset);
  std::reverse(terms.begin(), terms.end());
  Int128 backwards = 0;
  for (const auto& [term, offset] : terms) backwards = accumulate(backwards, term, offset);
  EXPECT_TRUE(forwards == backwards);
}

TEST_F(Accumulate, WidestVectorSupportedFitsTheAccumulator) {
  const Int128 limit = static_cast<Int128>(1) << (contract::kAccumulatorBits - 1);
  const int blocks = contract::kMaxColumns / contract::kBlockValues;
  // 8-bit weights, unsigned codes and scales, the largest minimum, every block at the window's top.
  const Int128 term = block_term(32 * 255 * 511, 65535, 32 * 511, 2047, 15);
  EXPECT_TRUE(accumulate(0, term, 31) * blocks < limit);
  EXPECT_TRUE(accumulate(0, block_term(32 * 255 * 511, -32768, 32 * 511, -2048, 15), 31) * blocks > -limit);
  // 12-bit K over the largest head, 256 values.
  EXPECT_TRUE(accumulate(0, block_term(32 * 2048 * 511, 65535, 0, 0, 0), 31) * 8 < limit);
}

}  // namespace
}  // namespace lpu::engine
