// Integer rounding, saturation and the conversions between integers and binary32.
#include "hls/engine/rounding.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "hls/engine/align.hpp"
#include "hls/engine/convert.hpp"
#include "tests/engine/random_values.hpp"
#include "tests/engine/reference.hpp"

namespace lpu::engine {
namespace {

class Rounding : public SeededTest {};
class Convert : public SeededTest {};
class Align : public SeededTest {};

/// RNE by quotient and remainder instead of shift and mask.
Int128 divide_round_even(Int128 value, int shift) {
  const Int128 divisor = static_cast<Int128>(1) << shift;
  Int128 quotient = value / divisor;
  Int128 rest = value % divisor;
  if (rest < 0) {
    rest += divisor;
    quotient -= 1;
  }
  const Int128 other = divisor - rest;
  if (rest > other || (rest == other && quotient % 2 != 0)) quotient += 1;
  return quotient;
}

TEST_F(Rounding, HighestBitIsTheLastOneThatIsSet) {
  for (int position = 0; position < 128; ++position) {
    const UInt128 power = static_cast<UInt128>(1) << position;
    EXPECT_EQ(highest_bit(power), position);
    EXPECT_EQ(highest_bit(power | (power - 1)), position);
  }
}

TEST_F(Rounding, ShiftOfRandomIntegersRoundsToNearestEven) {
  for (int i = 0; i < 200000; ++i) {
    const Int128 value = wide(120);
    const int shift = integer(1, 125);
    EXPECT_TRUE(shift_right_round_even(value, shift) == divide_round_even(value, shift)) << "shift " << shift;
    if (HasFailure()) return;
  }
}

TEST_F(Rounding, ShiftOfTiesGoesToTheEvenNeighbour) {
  for (int quotient = -9; quotient <= 9; ++quotient) {
    for (int shift = 1; shift < 100; ++shift) {
      const Int128 tie = shift_left(quotient, shift) + (static_cast<Int128>(1) << (shift - 1));
      const Int128 even = quotient % 2 == 0 ? quotient : quotient + 1;
      EXPECT_TRUE(shift_right_round_even(tie, shift) == even) << quotient << " + 1/2, shift " << shift;
      if (shift > 1) {
        EXPECT_TRUE(shift_right_round_even(tie - 1, shift) == quotient) << quotient;
        EXPECT_TRUE(shift_right_round_even(tie + 1, shift) == quotient + 1) << quotient;
      }
    }
  }
}

TEST_F(Rounding, ShiftBeyondTheWidthGivesZeroAndNegativeShiftIsALeftShift) {
  const Int128 largest = (static_cast<Int128>(1) << 126) - 1;
  EXPECT_TRUE(shift_right_round_even(largest, 127) == 0);
  EXPECT_TRUE(shift_right_round_even(largest, 128) == 0);
  EXPECT_TRUE(shift_right_round_even(-largest, 400) == 0);
  EXPECT_TRUE(shift_right_round_even(-5, 0) == -5);
  EXPECT_TRUE(shift_right_round_even(-5, -3) == -40);
}

TEST_F(Rounding, Saturate32CountsOnlyWhatItChanges) {
  Status status;
  EXPECT_EQ(saturate32(2147483647, status), 2147483647);
  EXPECT_EQ(saturate32(-static_cast<Int128>(2147483648), status), INT32_MIN);
  EXPECT_EQ(status.saturations, 0u);
  EXPECT_EQ(saturate32(2147483648, status), 2147483647);
  EXPECT_EQ(saturate32(-static_cast<Int128>(2147483649), status), INT32_MIN);
  EXPECT_EQ(saturate32(static_cast<Int128>(1) << 100, status), 2147483647);
  EXPECT_EQ(status.saturations, 3u);
}

TEST_F(Rounding, FloatToFixedIsTheRoundedProduct) {
  for (int i = 0; i < 300000; ++i) {
    const float x = finite(-60, 40);
    const int fraction_bits = integer(-30, 20);
    const double wanted = std::nearbyint(std::ldexp(static_cast<double>(x), fraction_bits));
    const auto got = static_cast<double>(float_to_fixed(x, fraction_bits));  // 24 significant bits: exact
    EXPECT_EQ(got, wanted) << x << " with " << fraction_bits;
    if (HasFailure()) return;
  }
}

TEST_F(Rounding, FloatToFixedOfEdges) {
  EXPECT_TRUE(float_to_fixed(0.5f, 0) == 0);
  EXPECT_TRUE(float_to_fixed(1.5f, 0) == 2);
  EXPECT_TRUE(float_to_fixed(-2.5f, 0) == -2);
  EXPECT_TRUE(float_to_fixed(-0.0f, 16) == 0);
  EXPECT_TRUE(float_to_fixed(float_from_bits(1), 200) == 0) << "a subnormal is zero";
  EXPECT_TRUE(float_to_fixed(3.0e38f, 16) == static_cast<Int128>(1) << 64);
  EXPECT_TRUE(float_to_fixed(-3.0e38f, 0) == -(static_cast<Int128>(1) << 64));
}

TEST_F(Convert, RandomSumsRoundOnce) {
  for (int i = 0; i < 400000; ++i) {
    const Int128 sum = wide(i % 2 == 0 ? 95 : 126);
    const int exponent = integer(-260, 140);
    Status status;
    std::uint32_t saturations = 0;
    const float got = convert(sum, exponent, status);
    const float wanted = reference::machine_float(std::ldexp(reference::rounded_to_odd(sum), exponent), saturations);
    EXPECT_EQ(bits_from_float(got), bits_from_float(wanted)) << "exponent " << exponent;
    EXPECT_EQ(status.saturations, saturations);
    if (HasFailure()) return;
  }
}

TEST_F(Convert, TiesGoToTheEvenSignificandAndCarryIntoTheExponent) {
  Status status;
  EXPECT_EQ(convert((1 << 24) + 1, 0, status), 16777216.0f);
  EXPECT_EQ(convert((1 << 24) + 3, 0, status), 16777220.0f);
  EXPECT_EQ(convert(-((1 << 24) + 1), 0, status), -16777216.0f);
  EXPECT_EQ(convert((1 << 25) - 1, 0, status), 33554432.0f) << "all ones: the carry makes the next power of two";
  EXPECT_EQ(convert(1, 0, status), 1.0f);
  EXPECT_EQ(status.saturations, 0u);
}

TEST_F(Convert, ZeroIsPlusZeroAndSmallSumsAreFlushedWithTheirSign) {
  Status status;
  EXPECT_EQ(bits_from_float(convert(0, 500, status)), 0u);
  EXPECT_EQ(bits_from_float(convert(1, -127, status)), 0u);
  EXPECT_EQ(bits_from_float(convert(-1, -127, status)), 0x80000000u);
  EXPECT_EQ(bits_from_float(convert(1, -126, status)), 0x00800000u);
  // 24 ones at 2^−127 stay below the smallest normal, 25 ones round up to it.
  EXPECT_EQ(bits_from_float(convert((1 << 24) - 1, -150, status)), 0u);
  EXPECT_EQ(bits_from_float(convert((1 << 25) - 1, -151, status)), 0x00800000u);
  EXPECT_EQ(status.saturations, 0u);
}

TEST_F(Convert, OverflowSaturatesWithSignAndIsCounted) {
  Status status;
  EXPECT_EQ(bits_from_float(convert((1 << 24) - 1, 104, status)), 0x7f7fffffu);
  EXPECT_EQ(status.saturations, 0u);
  EXPECT_EQ(bits_from_float(convert((1 << 25) - 1, 103, status)), 0x7f7fffffu) << "rounds up to 2^128";
  EXPECT_EQ(bits_from_float(convert(-1, 128, status)), 0xff7fffffu);
  EXPECT_EQ(status.saturations, 2u);
}

TEST_F(Align, RandomValuesAreRoundedToTheSumsUnit) {
  for (int i = 0; i < 300000; ++i) {
    const float x = finite(-127, 30);
    const int exponent = integer(-50, 20);
    const double scaled = std::nearbyint(std::ldexp(reference::flushed(x), -exponent));
    const double wanted = std::clamp(scaled, -0x1p86, 0x1p86);
    Status status;
    EXPECT_EQ(static_cast<double>(align(x, exponent, status)), wanted) << x << " in units of 2^" << exponent;
    EXPECT_EQ(status.saturations, std::fabs(scaled) >= 0x1p86 ? 1u : 0u);
    if (HasFailure()) return;
  }
}

TEST_F(Align, ConvertGivesBackWhatFitsTheUnit) {
  for (int i = 0; i < 100000; ++i) {
    const float x = finite(-20, 20);
    Status status;
    const int exponent = floor_log2(x) - integer(23, 60);
    EXPECT_EQ(convert(align(x, exponent, status), exponent, status), x);
    EXPECT_EQ(status.saturations, 0u);
    if (HasFailure()) return;
  }
}

TEST_F(Align, ClampedValuesAreCountedWithTheirSign) {
  const Int128 limit = static_cast<Int128>(1) << (contract::kAccumulatorBits - 2);
  Status status;
  EXPECT_TRUE(align(std::ldexp(1.0f, 40), 40 - 85, status) == limit / 2);
  EXPECT_EQ(status.saturations, 0u);
  EXPECT_TRUE(align(std::ldexp(1.0f, 40), 40 - 86, status) == limit);
  EXPECT_TRUE(align(-3e38f, -150, status) == -limit);
  EXPECT_EQ(status.saturations, 2u);
  EXPECT_TRUE(align(float_from_bits(0x807fffffu), -200, status) == 0) << "a subnormal is zero";
  EXPECT_TRUE(align(-0.0f, -200, status) == 0);
  EXPECT_EQ(status.saturations, 2u);
}

}  // namespace
}  // namespace lpu::engine
