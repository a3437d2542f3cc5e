// What a matvec does besides its dots (fast_dot_test.cpp): sums that start at the residual or go on, softmax weights'
// relative exponents, V's scale that scores keep. Relies on values_fixture.hpp.
#include "tests/golden/values_fixture.hpp"

namespace lpu::golden::testing {
namespace {

class GoldenMatvecTest : public GoldenValuesTest {
 protected:
  contract::MatvecFields f = instruction(Opcode::kMatvec).matvec;

  void SetUp() override {
    GoldenValuesTest::SetUp();
    std::mt19937 random(4);
    for (ActivationBlock& block : state.activations)
      for (std::int16_t& mantissa : block.mantissas) mantissa = static_cast<std::int16_t>(random() % 512);
    f.weight_address = 20;
    f.row_groups = 3;
    f.column_sets = f.nibbles = f.column_set_words = 2;
    f.row_group_words = 4;
    f.segments = f.start = f.finish = 1;
  }
  std::vector<engine::Int128> run() {
    execute_matvec(state, f, 0);
    return state.sums;
  }
};

TEST_F(GoldenMatvecTest, SumsStartAtTheResidualInTheirRowsUnits) {
  const std::vector<engine::Int128> without = run();
  f.adds_residual = 1;
  f.residual_row = 88;  // the third row group lies beyond the width of 96
  f.exponent_address = 9;
  const std::vector<engine::Int128> with = run();
  for (std::uint32_t i = 0; i < 12; ++i) {
    const std::size_t at = i / kLanes * kGroups * kLanes + i % kLanes;
    const int exponent = engine::sum_exponent(state.exponents[9 * kLanes + i]);
    const engine::Int128 start = i < 8 ? engine::align(state.residual[88 + i], exponent, status) : engine::Int128{0};
    EXPECT_TRUE(with[at] == without[at] + start) << i;
  }
}

TEST_F(GoldenMatvecTest, BurstWithoutStartAddsToTheSums) {
  const std::vector<engine::Int128> once = run();
  f.start = 0;
  const std::vector<engine::Int128> twice = run();
  for (std::size_t lane = 0; lane < kLanes; ++lane) EXPECT_TRUE(twice[lane] == 2 * once[lane]);
}

TEST_F(GoldenMatvecTest, SoftmaxBlocksCountBelowTheirRowsLargestExponent) {
  f.segments = 2;
  for (std::size_t i = 0; i < state.activations.size(); ++i) {
    state.activations[i].offset = static_cast<std::uint8_t>(i % 7 + 20);
    state.activations[i].exponent = 100 - 31 + state.activations[i].offset;
  }
  state.rounds[5 * kGroups].exponent = 100;
  state.rounds[5 * kGroups + 1].exponent = 100;
  ActivationBlock& faint = state.activation(3, 1);
  const ActivationBlock kept = faint;
  faint = ActivationBlock();
  const std::vector<engine::Int128> expected = run();
  faint = kept;
  faint.exponent = 100 - 32;  // contributes nothing
  f.relative_exponents = 1;
  f.round = 5;
  EXPECT_TRUE(run() == expected);
  state.token.fast = false;
  EXPECT_TRUE(run() == expected);
}

TEST_F(GoldenMatvecTest, ScoresKeepTheScaleInTheSecondWordOfTheSegmentsFirstGroup) {
  f.segments = 2;
  f.keeps_value_scale = 1;
  run();
  for (std::uint32_t r = 0; r < 3; ++r)
    for (std::uint32_t j = 0; j < 2; ++j)
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        const std::uint8_t* word =
            image.lane_words.data() + (((20 + r * 4 + 1) * kGroups + j * 2) * kLanes + lane) * 18;
        EXPECT_EQ(state.entry_scales(r, j)[lane], word[16] | word[17] << 8);
      }
}

}  // namespace
}  // namespace lpu::golden::testing
