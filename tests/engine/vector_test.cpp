// The vector unit's composed operations: RMSNorm, RoPE, SwiGLU.
#include <gtest/gtest.h>

#include <cmath>

#include "hls/engine/rms_norm.hpp"
#include "hls/engine/rope.hpp"
#include "hls/engine/swiglu.hpp"
#include "tests/engine/random_values.hpp"
#include "tests/engine/reference.hpp"

namespace lpu::engine {
namespace {

class RmsNorm : public SeededTest {};
class Rope : public SeededTest {};
class Swiglu : public SeededTest {};

float rounded(double value) {
  std::uint32_t saturations = 0;
  return reference::machine_float(value, saturations);
}

TEST_F(RmsNorm, SquareTermIsTheSquareOfTheRoundedValue) {
  for (int i = 0; i < 100000; ++i) {
    const float x = finite(-20, 16);
    const double value = std::nearbyint(static_cast<double>(x) * 16384);
    Status status;
    EXPECT_TRUE(square_term(x, status) == static_cast<Int128>(value) * static_cast<Int128>(value)) << x;
    EXPECT_EQ(status.saturations, 0u);
    if (HasFailure()) return;
  }
}

TEST_F(RmsNorm, SquareTermSaturatesAt131072AndCounts) {
  Status status;
  EXPECT_TRUE(square_term(-131072.0f, status) == static_cast<Int128>(1) << 62);
  EXPECT_EQ(status.saturations, 0u);
  EXPECT_TRUE(square_term(131072.0f, status) == static_cast<Int128>(2147483647) * 2147483647);
  EXPECT_TRUE(square_term(-1e30f, status) == static_cast<Int128>(1) << 62);
  EXPECT_EQ(status.saturations, 2u);
}

TEST_F(RmsNorm, InverseWidthFactorIsRoundedOnce) {
  for (int width = 1; width <= contract::kMaxColumns; ++width) {
    ASSERT_EQ(inverse_width_factor(width), static_cast<float>(std::ldexp(1.0, -28) / width)) << width;
  }
}

TEST_F(RmsNorm, ScaleIsNearTheTrueReciprocalRootMeanSquare) {
  for (const int width : {32, 576, 4096}) {
    Status status;
    Int128 sum = 0;
    double squares = 0;
    for (int i = 0; i < width; ++i) {
      const float x = finite(-3, 4);
      sum += square_term(x, status);
      squares += static_cast<double>(x) * x;
    }
    const double wanted = 1 / std::sqrt(squares / width + 1e-5);
    const double got = norm_scale(sum, inverse_width_factor(width), 1e-5f, status);
    EXPECT_LE(std::fabs(got / wanted - 1), std::ldexp(1.0, -16)) << width;
    EXPECT_EQ(status.saturations, 0u);
  }
}

TEST_F(RmsNorm, ZeroVectorIsScaledByEpsilonAlone) {
  Status status;
  EXPECT_EQ(norm_scale(0, inverse_width_factor(576), 1e-5f, status), reciprocal_square_root(1e-5f));
}

TEST_F(RmsNorm, StepsAreRoundedInTheirOrder) {
  for (int i = 0; i < 50000; ++i) {
    Int128 sum = wide(78);
    if (sum < 0) sum = -sum;
    Status status;
    const float total = rounded(reference::rounded_to_odd(sum));
    const float mean = rounded(static_cast<double>(total) * inverse_width_factor(576));
    const float shifted = rounded(static_cast<double>(mean) + 1e-5f);
    ASSERT_EQ(norm_scale(sum, inverse_width_factor(576), 1e-5f, status), reciprocal_square_root(shifted));
  }
}

TEST_F(Rope, EveryProductAndSumIsRounded) {
  for (int i = 0; i < 100000; ++i) {
    const float x = finite(-10, 10);
    const float y = finite(-10, 10);
    const float c = finite(-8, 0);
    const float s = finite(-8, 0);
    float even = x;
    float odd = y;
    Status status;
    rotate(even, odd, c, s, status);
    const double xc = rounded(static_cast<double>(x) * c);
    const double ys = rounded(static_cast<double>(y) * s);
    const double xs = rounded(static_cast<double>(x) * s);
    const double yc = rounded(static_cast<double>(y) * c);
    EXPECT_EQ(bits_from_float(even), bits_from_float(rounded(xc - ys)));
    EXPECT_EQ(bits_from_float(odd), bits_from_float(rounded(xs + yc)));
    if (HasFailure()) return;
  }
}

TEST_F(Rope, AngleZeroOnlyScales) {
  float even = 3.0f;
  float odd = -5.0f;
  Status status;
  rotate(even, odd, 0.5f, 0.0f, status);
  EXPECT_EQ(even, 1.5f);
  EXPECT_EQ(odd, -2.5f);
}

TEST_F(Swiglu, ProductsAreRoundedInTheirOrder) {
  for (int i = 0; i < 100000; ++i) {
    const float gate = finite(-10, 6);
    const float up = finite(-10, 6);
    Status status;
    const float product = rounded(static_cast<double>(gate) * up);
    const float wanted = rounded(static_cast<double>(product) * sigmoid(gate));
    EXPECT_EQ(bits_from_float(swiglu(gate, up, status)), bits_from_float(wanted));
    if (HasFailure()) return;
  }
}

TEST_F(Swiglu, EdgesOfTheGate) {
  Status status;
  EXPECT_EQ(swiglu(0.0f, 5.0f, status), 0.0f);
  EXPECT_EQ(swiglu(100.0f, 2.0f, status), 200.0f * sigmoid(100.0f));
  EXPECT_LE(std::fabs(swiglu(-100.0f, 2.0f, status)), 200.0f * 0x1p-22f);
  EXPECT_EQ(status.saturations, 0u);
  EXPECT_TRUE(std::isfinite(swiglu(3e38f, 3e38f, status)));
  EXPECT_EQ(status.saturations, 1u);
}

}  // namespace
}  // namespace lpu::engine
