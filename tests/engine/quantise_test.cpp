// Activation blocks: every mantissa against binary64, and the window's two ends.
#include "hls/engine/quantise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/engine/random_values.hpp"

namespace lpu::engine {
namespace {

constexpr int kValues = contract::kBlockValues;
using Values = std::array<float, kValues>;

class Quantise : public SeededTest {};

/// Compares a block with numbers.md §3 written in binary64; returns the offset before it was clamped.
int expect_block(const Values& values, const Block& block) {
  double largest = 0;
  for (const float value : values) {
    if (std::fabs(value) >= 0x1p-126) largest = std::max(largest, static_cast<double>(std::fabs(value)));
  }
  const int wanted = largest == 0 ? 0 : static_cast<int>(std::floor(std::log2(largest))) - 8 + 24;
  const int offset = std::clamp(wanted, 0, 31);
  EXPECT_EQ(block.offset, offset);
  for (int j = 0; j < kValues; ++j) {
    const double scaled = std::fabs(values[j]) < 0x1p-126 ? 0 : std::ldexp(static_cast<double>(values[j]), 24 - offset);
    EXPECT_EQ(block.mantissas[j], std::clamp(std::nearbyint(scaled), -511.0, 511.0))
        << "value " << j << ": " << values[j];
  }
  return wanted;
}

TEST_F(Quantise, RandomBlocksFollowTheFormula) {
  for (int round = 0; round < 20000; ++round) {
    const int top = integer(-45, 30);
    Values values;
    // log2() near a power of two could be wrong in the reference: keep the largest value's fraction away from the ends.
    for (float& value : values) value = finite(top - 14, top - 1);
    values[static_cast<std::size_t>(integer(0, 31))] = std::ldexp(integer(0, 1) == 0 ? 1.37f : -1.91f, top);
    Status status;
    const Block block = quantise(values.data(), status);
    const int wanted = expect_block(values, block);
    EXPECT_EQ(status.saturations, wanted > 31 ? 1u : 0u);
    if (HasFailure()) return;
  }
}

TEST_F(Quantise, ZeroVectorHasOffsetZero) {
  Values values{};
  values[3] = -0.0f;
  values[7] = float_from_bits(0x807fffffu);
  Status status;
  const Block block = quantise(values.data(), status);
  EXPECT_EQ(block.offset, 0);
  EXPECT_TRUE(std::all_of(block.mantissas, block.mantissas + kValues, [](int a) { return a == 0; }));
  EXPECT_EQ(status.saturations, 0u);
}

TEST_F(Quantise, EqualValuesHaveEqualMantissas) {
  Values values;
  values.fill(-3.0f);
  Status status;
  const Block block = quantise(values.data(), status);
  EXPECT_EQ(block.offset, 1 - 8 + 24);
  EXPECT_TRUE(std::all_of(block.mantissas, block.mantissas + kValues, [](int a) { return a == -384; }));
}

TEST_F(Quantise, MantissaThatRoundsTo512BecomesTheLargestWithoutBeingCounted) {
  Values values{};
  values[0] = 511.5f;  // a tie: to even, 512
  values[1] = -511.75f;
  values[2] = 511.25f;
  values[3] = 510.5f;  // a tie: to even, 510
  Status status;
  const Block block = quantise(values.data(), status);
  EXPECT_EQ(block.offset, 24);
  EXPECT_EQ(block.mantissas[0], 511);
  EXPECT_EQ(block.mantissas[1], -511);
  EXPECT_EQ(block.mantissas[2], 511);
  EXPECT_EQ(block.mantissas[3], 510);
  EXPECT_EQ(status.saturations, 0u);
}

TEST_F(Quantise, LowEndOfTheWindowUnderflowsGradually) {
  Values values{};
  Status status;
  values[0] = std::ldexp(256.0f, -24);  // the smallest value with a full mantissa at offset 0
  EXPECT_EQ(quantise(values.data(), status).offset, 0);
  EXPECT_EQ(quantise(values.data(), status).mantissas[0], 256);
  values[0] = std::ldexp(3.0f, -24);
  EXPECT_EQ(quantise(values.data(), status).offset, 0);
  EXPECT_EQ(quantise(values.data(), status).mantissas[0], 3);
  values[0] = std::ldexp(0.5f, -24);
  EXPECT_EQ(quantise(values.data(), status).mantissas[0], 0);
  values[0] = std::ldexp(512.0f, -24);
  EXPECT_EQ(quantise(values.data(), status).offset, 1);
  EXPECT_EQ(status.saturations, 0u);
}

TEST_F(Quantise, HighEndOfTheWindowSaturatesAndIsCountedOnce) {
  Values values{};
  Status status;
  values[0] = std::ldexp(511.0f, 7);
  EXPECT_EQ(quantise(values.data(), status).offset, 31);
  EXPECT_EQ(quantise(values.data(), status).mantissas[0], 511);
  EXPECT_EQ(status.saturations, 0u);
  values[0] = std::ldexp(-512.0f, 7);
  values[1] = std::ldexp(600.0f, 7);
  values[2] = std::ldexp(100.0f, 7);
  const Block block = quantise(values.data(), status);
  EXPECT_EQ(block.offset, 31);
  EXPECT_EQ(block.mantissas[0], -511);
  EXPECT_EQ(block.mantissas[1], 511);
  EXPECT_EQ(block.mantissas[2], 100);
  EXPECT_EQ(status.saturations, 1u);
  values[0] = float_from_bits(0x7f7fffffu);
  EXPECT_EQ(quantise(values.data(), status).mantissas[0], 511);
  EXPECT_EQ(status.saturations, 2u);
}

}  // namespace
}  // namespace lpu::engine
