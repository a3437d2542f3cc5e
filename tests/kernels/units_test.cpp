// The softmax unit and the vector chains at both sizes: equal to hls/engine, at every awkward length.
#include <gtest/gtest.h>

#include "tests/kernels/unit_cases.hpp"

namespace lpu::kernels {
namespace {

constexpr std::uint32_t kSeed = 20240607;

void expect_softmax(const Scores& scores) {
  const Results wanted = engine_softmax(scores);
  EXPECT_EQ((kernel_softmax<kTiny.softmax_lanes>(lpu_kernel_softmax_tiny, scores)), wanted) << scores.positions;
  EXPECT_EQ((kernel_softmax<kU55c.softmax_lanes>(lpu_kernel_softmax_u55c, scores)), wanted) << scores.positions;
}

TEST(SoftmaxKernel, RowsOfEveryLengthGiveTheEnginesBits) {
  RandomData random(kSeed);
  for (const int positions : {1, 2, 31, 32, 33, 63, 64, 65, 96, 97, 1000, 4096}) {
    for (const int spread : {0, 3, 50, 120}) expect_softmax(random_scores(random, positions, spread));
  }
}

TEST(SoftmaxKernel, BlockFarBelowTheOthersContributesNothing) {
  RandomData random(kSeed);
  Scores scores = random_scores(random, 96, 4);
  for (std::size_t p = 32; p < 64; ++p) scores.sums[p] = engine::shift_left(-100, 40);
  expect_softmax(scores);
}

TEST(SoftmaxKernel, SaturatedScoreIsCountedAndAMaskedOneIsNot) {
  RandomData random(kSeed);
  Scores scores = random_scores(random, 40, 4);
  EXPECT_EQ((kernel_softmax<kTiny.softmax_lanes>(lpu_kernel_softmax_tiny, scores)).back(), 0);
  scores.sums[39] = engine::shift_left(1, 70);
  expect_softmax(scores);
  EXPECT_EQ((kernel_softmax<kU55c.softmax_lanes>(lpu_kernel_softmax_u55c, scores)).back(), 1);
}

void expect_residual(const ResidualInput& in) {
  const Results wanted = engine_residual(in);
  EXPECT_EQ((kernel_residual<kTiny.vector_lanes, kTinyBeats>(lpu_kernel_residual_tiny, in)), wanted);
  EXPECT_EQ((kernel_residual<kU55c.vector_lanes, kU55cBeats>(lpu_kernel_residual_u55c, in)), wanted);
}

TEST(ResidualKernel, VectorsOfEveryLengthGiveTheEnginesBits) {
  RandomData random(kSeed);
  for (const int values : {1, 2, 31, 32, 33, 64, 95, 576, 1024}) {
    SCOPED_TRACE(values);
    expect_residual(random_residual(random, values));
  }
}

TEST(ResidualKernel, ZeroVectorGivesZeroBlocksAndEpsilonsScale) {
  RandomData random(kSeed);
  ResidualInput in = random_residual(random, 64);
  for (engine::Int128& sum : in.rows.sums) sum = 0;
  expect_residual(in);
}

TEST(ResidualKernel, ValuesAboveTheWindowAreCounted) {
  RandomData random(kSeed);
  ResidualInput in = random_residual(random, 64);
  in.rows.sums[40] = engine::shift_left(1, 86);
  in.rows.exponents[40] = 50;
  in.gains[40] = 3e38f;
  expect_residual(in);
  EXPECT_GE(engine_residual(in).back(), 3) << "square, product, block";
}

TEST(SwigluKernel, VectorsOfEveryLengthGiveTheEnginesBits) {
  RandomData random(kSeed);
  for (const int values : {1, 2, 15, 16, 17, 31, 32, 33, 48, 1536}) {
    const Rows rows = random_rows(random, 2 * values);
    const float scale = 1.37f;
    const Results wanted = engine_swiglu(rows, scale);
    EXPECT_EQ((kernel_swiglu<kTiny.vector_lanes>(lpu_kernel_swiglu_tiny, rows, scale)), wanted) << values;
    EXPECT_EQ((kernel_swiglu<kU55c.vector_lanes>(lpu_kernel_swiglu_u55c, rows, scale)), wanted) << values;
  }
}

}  // namespace
}  // namespace lpu::kernels
