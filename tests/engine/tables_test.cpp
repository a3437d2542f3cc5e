// Table functions against the C library: over every argument, or every fraction where exponents repeat. A comparison
// that NaN would fail, and the bounds are those printed beside the tables.
#include <gtest/gtest.h>

#include <cmath>

#include "hls/engine/gumbel.hpp"
#include "hls/engine/power.hpp"
#include "hls/engine/reciprocal.hpp"
#include "hls/engine/rsqrt.hpp"
#include "hls/engine/sigmoid.hpp"
#include "tests/engine/random_values.hpp"

namespace lpu::engine {
namespace {

constexpr std::uint32_t kFractions = 1u << 23;

TEST(Reciprocal, EveryFractionIsWithinTheBound) {
  const double bound = std::ldexp(1.0, kReciprocalErrorLog2);
  double worst = 0;
  for (std::uint32_t fraction = 0; fraction < kFractions; ++fraction) {
    const float x = float_from_bits(0x3f800000u | fraction);
    const double error = std::fabs(static_cast<double>(reciprocal(x)) * x - 1);
    worst = error <= worst ? worst : error;
    if (!(error <= bound)) FAIL() << "1/" << x;
  }
  EXPECT_GT(worst, bound / 4) << "the stated bound is loose";
}

TEST(Reciprocal, ExponentsOnlyShiftTheResult) {
  for (int exponent = -126; exponent <= 127; ++exponent) {
    for (const float significand : {1.0f, 1.5f, float_from_bits(0x3fffffffu)}) {
      Status status;
      const float wanted = times_power_of_two(reciprocal(significand), -exponent, status);
      EXPECT_EQ(bits_from_float(reciprocal(std::ldexp(significand, exponent))), bits_from_float(wanted)) << exponent;
    }
  }
}

TEST(Reciprocal, ZeroIsFiniteAndTheLargestArgumentsAreFlushed) {
  Status status;
  EXPECT_EQ(reciprocal(0.0f), times_power_of_two(reciprocal(1.0f), 127, status));
  EXPECT_EQ(reciprocal(float_from_bits(0x007fffffu)), reciprocal(0.0f));
  EXPECT_EQ(bits_from_float(reciprocal(float_from_bits(0x7f7fffffu))), 0u);
}

TEST(ReciprocalSquareRoot, EveryFractionOfTwoBinadesIsWithinTheBound) {
  const double bound = std::ldexp(1.0, kRsqrtErrorLog2);
  double worst = 0;
  for (std::uint32_t argument = 0; argument < 2 * kFractions; ++argument) {
    const float x = float_from_bits(0x3f800000u + argument);
    const double error =
        std::fabs(static_cast<double>(reciprocal_square_root(x)) * std::sqrt(static_cast<double>(x)) - 1);
    worst = error <= worst ? worst : error;
    if (!(error <= bound)) FAIL() << "1/sqrt " << x;
  }
  EXPECT_GT(worst, bound / 4) << "the stated bound is loose";
}

TEST(ReciprocalSquareRoot, PairsOfExponentsOnlyShiftTheResult) {
  for (int half = -63; half <= 63; ++half) {
    for (const float significand : {1.0f, 1.75f, 2.0f, 3.9f}) {
      Status status;
      const float wanted = times_power_of_two(reciprocal_square_root(significand), -half, status);
      const float got = reciprocal_square_root(std::ldexp(significand, 2 * half));
      EXPECT_EQ(bits_from_float(got), bits_from_float(wanted)) << significand << " * 4^" << half;
    }
  }
  EXPECT_TRUE(std::isfinite(reciprocal_square_root(0.0f)));
}

TEST(Sigmoid, EveryArgumentIsWithinTheBound) {
  const double bound = std::ldexp(1.0, kSigmoidErrorLog2);
  const double units = std::ldexp(1.0, kSigmoidFractionBits);
  double worst = 0;
  for (int x = 0; x <= kSigmoidArgumentMax; ++x) {
    const double wanted = 1 / (1 + std::exp(-x / units));
    const double error = std::fabs(std::ldexp(sigmoid_fixed(x), -23) - wanted);
    worst = error <= worst ? worst : error;
    if (!(error <= bound)) FAIL() << "sigmoid " << x;
  }
  EXPECT_GT(worst, bound / 4) << "the stated bound is loose";
}

class SigmoidOfFloats : public SeededTest {};

TEST_F(SigmoidOfFloats, RandomArgumentsAreWithinTheBound) {
  for (int i = 0; i < 300000; ++i) {
    const float g = finite(-30, 6);
    const double error = std::fabs(sigmoid(g) - 1 / (1 + std::exp(-static_cast<double>(g))));
    ASSERT_LE(error, std::ldexp(1.0, kSigmoidErrorLog2)) << g;
  }
}

TEST_F(SigmoidOfFloats, NegativeArgumentsAreTheExactComplement) {
  for (int i = 0; i < 100000; ++i) {
    const float g = std::fabs(finite(-30, 6));
    ASSERT_EQ(sigmoid(-g), 1.0f - sigmoid(g)) << g;
  }
  EXPECT_EQ(sigmoid(0.0f), sigmoid(-0.0f)) << "as far as the table's own value at zero goes";
}

TEST(Sigmoid, ArgumentsBeyondTheTableAreClamped) {
  EXPECT_EQ(sigmoid(16.0f), sigmoid(15.99999f));
  EXPECT_EQ(sigmoid(3.0e38f), sigmoid(16.0f));
  EXPECT_EQ(sigmoid(-3.0e38f), 1.0f - sigmoid(16.0f));
  EXPECT_LE(sigmoid(3.0e38f), 1.0f);
}

TEST(Power, EveryArgumentIsWithinTheBoundAndNeverFalls) {
  std::int32_t previous = 0;
  for (std::uint32_t f = 0; f < 65536; ++f) {
    const std::int32_t got = power_of_two_fraction(f);
    const double error = std::fabs(got - std::exp2(f / 65536.0) * 65536.0);
    ASSERT_LE(error, kPowerErrorUnits) << f;
    ASSERT_GE(got, previous) << f;
    ASSERT_GE(got, 65536);
    ASSERT_LE(got, 131071);
    previous = got;
  }
  EXPECT_EQ(power_of_two_fraction(0), 65536);
}

TEST(Log2, DenseSweepIsCloseAndPowersOfTwoAreExact) {
  for (int p = 0; p < 32; ++p) {
    EXPECT_EQ(log2_fixed(1u << p), static_cast<std::int64_t>(p) << kGumbelLogBits);
  }
  for (std::uint64_t x = 1; x < (std::uint64_t{1} << 32); x += 1021) {
    const auto got = static_cast<double>(log2_fixed(static_cast<std::uint32_t>(x)));
    const double error = got - std::ldexp(std::log2(static_cast<double>(x)), 26);
    ASSERT_LE(std::fabs(error), std::ldexp(1.0, 26 - 18)) << x;
  }
}

}  // namespace
}  // namespace lpu::engine
