// Softmax: scores, blocks and rows against plain integers, whole rows against binary64.
#include "hls/engine/softmax.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "hls/engine/block_dot.hpp"
#include "tests/engine/random_values.hpp"
#include "tests/engine/reference.hpp"

namespace lpu::engine {
namespace {

constexpr int kPositions = contract::kBlockValues;

class Softmax : public SeededTest {
 protected:
  std::vector<Weight> random_weights(int count, int low_score, int high_score) {
    std::vector<Weight> weights;
    for (int i = 0; i < count; ++i) {
      weights.push_back(softmax_weight(integer(low_score, high_score), static_cast<std::uint16_t>(integer(1, 65535))));
    }
    return weights;
  }
};

/// Blocks of a row of `weights`, the last one partly masked.
std::vector<SoftmaxBlock> blocks_of(std::vector<Weight> weights) {
  const int positions = static_cast<int>(weights.size());
  weights.resize((weights.size() + kPositions - 1) / kPositions * kPositions, Weight{-1, 1 << 20, -1, 1 << 20});
  std::vector<SoftmaxBlock> blocks;
  for (int first = 0; first < static_cast<int>(weights.size()); first += kPositions) {
    blocks.push_back(softmax_block(&weights[first], std::min(positions - first, kPositions)));
  }
  return blocks;
}

TEST_F(Softmax, ScoreIsTheRoundedSumWith16FractionBits) {
  for (int i = 0; i < 200000; ++i) {
    const Int128 sum = wide(84);
    const int exponent = integer(-90, 5);
    Status status;
    const std::int32_t got = score_to_fixed(sum, exponent, status);
    const double scaled = std::nearbyint(std::ldexp(reference::rounded_to_odd(sum), exponent + 16));
    const double wanted = std::clamp(scaled, -2147483648.0, 2147483647.0);
    EXPECT_EQ(got, wanted) << exponent;
    EXPECT_EQ(status.saturations, wanted == scaled ? 0u : 1u);
    if (HasFailure()) return;
  }
}

TEST_F(Softmax, ScoreOfHugeExponentsSaturatesWithItsSign) {
  Status status;
  EXPECT_EQ(score_to_fixed(1, 127, status), 2147483647);
  EXPECT_EQ(score_to_fixed(-1, 127, status), INT32_MIN);
  EXPECT_EQ(status.saturations, 2u);
  EXPECT_EQ(score_to_fixed(0, 127, status), 0);
  EXPECT_EQ(score_to_fixed(1, -16, status), 1);
  EXPECT_EQ(score_to_fixed(static_cast<Int128>(-1) << 83, -200, status), 0);
  EXPECT_EQ(status.saturations, 2u);
}

TEST_F(Softmax, WeightSplitsTheScoreByFloor) {
  const Weight negative = softmax_weight(-1, 3);
  EXPECT_EQ(negative.whole, -1);
  EXPECT_EQ(negative.power, power_of_two_fraction(65535));
  EXPECT_EQ(negative.product, 3 * static_cast<std::int64_t>(negative.power));
  EXPECT_EQ(negative.exponent, -1 + 18);
  const Weight one = softmax_weight(5 << 16, 1);
  EXPECT_EQ(one.whole, 5);
  EXPECT_EQ(one.product, 65536);
  EXPECT_EQ(one.exponent, 5 + 16);
  EXPECT_EQ(softmax_weight(0, 65535).exponent, 31);
  EXPECT_EQ(softmax_weight(65535, 65535).exponent, 32);
}

TEST_F(Softmax, BlockFollowsTheFormula) {
  for (int round = 0; round < 20000; ++round) {
    const int unmasked = integer(1, 32);
    auto weights = random_weights(unmasked, -40 * 65536, 20 * 65536);
    const SoftmaxBlock block = blocks_of(weights)[0];
    int exponent = -1000;
    int whole = -1000;
    for (const Weight& weight : weights) {
      exponent = std::max(exponent, weight.whole + std::ilogb(static_cast<double>(weight.product)));
      whole = std::max(whole, weight.whole);
    }
    EXPECT_EQ(block.exponent, exponent);
    EXPECT_EQ(block.whole, whole);
    EXPECT_FALSE(block.empty);
    double denominator = 0;
    for (int j = 0; j < kPositions; ++j) {
      if (j >= unmasked) {
        EXPECT_EQ(block.mantissas[j], 0);
        continue;
      }
      const Weight& weight = weights[j];
      const double scaled = std::ldexp(static_cast<double>(weight.product), weight.whole - exponent + 8);
      EXPECT_EQ(block.mantissas[j], std::min(std::nearbyint(scaled), 511.0));
      const int depth = whole - weight.whole;
      if (depth <= 31) denominator += std::ldexp(weight.power, 31 - depth);
    }
    EXPECT_EQ(static_cast<double>(block.denominator), denominator);
    if (HasFailure()) return;
  }
}

TEST_F(Softmax, LargestMantissaLiesBetween256And511) {
  for (int scale = 1; scale < 65536; scale += 7) {
    const Weight weight = softmax_weight(integer(-65536 * 9, 65536 * 9), static_cast<std::uint16_t>(scale));
    std::vector<Weight> weights{weight};
    const SoftmaxBlock block = blocks_of(weights)[0];
    ASSERT_GE(block.mantissas[0], 256);
    ASSERT_LE(block.mantissas[0], 511);
  }
  // w = 2^33 − …: the top of a binade rounds to 512 and is clamped.
  EXPECT_EQ(blocks_of({softmax_weight(65535, 65535)})[0].mantissas[0], 511);
}

TEST_F(Softmax, WhollyMaskedBlockIsEmptyAndContributesNothing) {
  const std::vector<Weight> unread(kPositions, Weight{-1, 1 << 20, -1, 1 << 20});
  const SoftmaxBlock block = softmax_block(unread.data(), 0);
  EXPECT_TRUE(block.empty);
  EXPECT_EQ(block.denominator, 0);
  EXPECT_TRUE(std::all_of(block.mantissas, block.mantissas + kPositions, [](int a) { return a == 0; }));
  auto blocks = blocks_of({softmax_weight(-200 * 65536, 1)});
  const SoftmaxRow alone = combine(blocks.data(), 1);
  blocks.push_back(block);
  const SoftmaxRow row = combine(blocks.data(), 2);
  EXPECT_EQ(row.exponent, alone.exponent);
  EXPECT_EQ(row.whole, alone.whole);
  EXPECT_TRUE(row.denominator == alone.denominator);
  EXPECT_LT(relative_offset(block.exponent, row.exponent), 0);
}

TEST_F(Softmax, OnePositionIsTheWholeRow) {
  const Weight weight = softmax_weight(-37 * 65536 + 12345, 777);
  const auto blocks = blocks_of({weight});
  const SoftmaxRow row = combine(blocks.data(), 1);
  EXPECT_EQ(row.exponent, weight.exponent);
  EXPECT_EQ(row.whole, -38 + 1);
  EXPECT_TRUE(row.denominator == static_cast<Int128>(weight.power) << 62);
  EXPECT_EQ(relative_offset(blocks[0].exponent, row.exponent), 31);
}

TEST_F(Softmax, BlocksMoreThan31BinadesBelowContributeNothing) {
  for (int depth = 29; depth <= 34; ++depth) {
    const auto high = blocks_of({softmax_weight(0, 1)});
    const auto low = blocks_of({softmax_weight(-depth * 65536, 1)});
    const SoftmaxBlock blocks[2] = {low[0], high[0]};
    const SoftmaxRow row = combine(blocks, 2);
    EXPECT_EQ(relative_offset(low[0].exponent, row.exponent), 31 - depth);
    const Int128 one = static_cast<Int128>(65536) << 62;
    EXPECT_TRUE(row.denominator == (depth <= 31 ? one + (one >> depth) : one)) << depth;
  }
}

TEST_F(Softmax, DenominatorDoesntDependOnTheOrderOfBlocks) {
  auto blocks = blocks_of(random_weights(500, -45 * 65536, 10 * 65536));
  const SoftmaxRow forwards = combine(blocks.data(), static_cast<int>(blocks.size()));
  for (int turn = 0; turn < 16; ++turn) {
    std::rotate(blocks.begin(), blocks.begin() + 1, blocks.end());
    std::swap(blocks[1], blocks[static_cast<std::size_t>(integer(2, 15))]);
    const SoftmaxRow row = combine(blocks.data(), static_cast<int>(blocks.size()));
    EXPECT_TRUE(row.denominator == forwards.denominator);
    EXPECT_EQ(row.exponent, forwards.exponent);
    EXPECT_EQ(row.whole, forwards.whole);
  }
}

TEST_F(Softmax, LongestRowFitsTheDenominator) {
  const std::vector<Weight> weights(65536, softmax_weight(65535, 65535));
  const auto blocks = blocks_of(weights);
  const SoftmaxRow row = combine(blocks.data(), static_cast<int>(blocks.size()));
  EXPECT_TRUE(row.denominator == static_cast<Int128>(power_of_two_fraction(65535)) << (62 + 16));
  Status status;
  EXPECT_GT(softmax_inverse(row, status), 0.0f);
  EXPECT_EQ(status.saturations, 0u);
}

/// The whole of §9 for one output value against Σ 2^t·v / Σ 2^t in binary64.
TEST_F(Softmax, WholeRowIsNearTheTrueSoftmax) {
  for (const int positions : {1, 2, 31, 32, 33, 64, 100, 300}) {
    for (const int value_exponent : {-20, -12}) {
      std::vector<Weight> weights;
      std::vector<int> codes;
      double numerator = 0;
      double denominator = 0;
      double magnitude = 0;
      for (int p = 0; p < positions; ++p) {
        const int score = integer(-20 * 65536, 6 * 65536);
        const int scale = integer(2000, 9000);
        const int code = integer(-127, 127);
        weights.push_back(softmax_weight(score, static_cast<std::uint16_t>(scale)));
        codes.push_back(code);
        const double power = std::exp2(score / 65536.0);
        numerator += power * std::ldexp(static_cast<double>(code) * scale, value_exponent);
        magnitude += power * std::ldexp(127.0 * scale, value_exponent);
        denominator += power;
      }
      const auto blocks = blocks_of(weights);
      const SoftmaxRow row = combine(blocks.data(), static_cast<int>(blocks.size()));
      Int128 sum = 0;
      for (std::size_t b = 0; b < blocks.size(); ++b) {
        std::int32_t dot = 0;
        for (int j = 0; j < kPositions; ++j) {
          const std::size_t p = b * kPositions + static_cast<std::size_t>(j);
          if (p < codes.size()) dot += codes[p] * blocks[b].mantissas[j];
        }
        const int offset = relative_offset(blocks[b].exponent, row.exponent);
        if (offset >= 0) sum = accumulate(sum, block_term(dot, 1, 0, 0, 0), offset);
      }
      Status status;
      const float inverse = softmax_inverse(row, status);
      const double got = mix_value(sum, value_exponent, row.exponent - row.whole, inverse, status);
      // Mantissas of 9 bits: half a unit of 256.
      EXPECT_LE(std::fabs(got - numerator / denominator), magnitude / denominator / 400) << positions;
      EXPECT_EQ(status.saturations, 0u);
    }
  }
}

}  // namespace
}  // namespace lpu::engine
