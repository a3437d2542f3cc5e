// binary32 of the machine against binary64: add, multiply and powers of two, their flush and their saturation.
#include "hls/engine/binary32.hpp"

#include <gtest/gtest.h>

#include "tests/engine/random_values.hpp"
#include "tests/engine/reference.hpp"

namespace lpu::engine {
namespace {

class Binary32 : public SeededTest {};

const float kSmallestNormal = float_from_bits(0x00800000u);
const float kLargest = float_from_bits(0x7f7fffffu);
const float kSubnormal = float_from_bits(0x007fffffu);

void expect_same(float got, float wanted, const char* what, float a, float b) {
  EXPECT_EQ(bits_from_float(got), bits_from_float(wanted)) << what << " of " << a << " and " << b;
}

TEST_F(Binary32, AddOfRandomOperandsIsTheRoundedSum) {
  for (int i = 0; i < 400000; ++i) {
    const float a = finite(-127, 127);
    const int near = floor_log2(a) + integer(-30, 30);
    const float b = finite(near < -127 ? -127 : near > 127 ? 127 : near, near < -127 ? -127 : near > 127 ? 127 : near);
    Status status;
    std::uint32_t saturations = 0;
    const float got = add(a, b, status);
    // The sum of two binary32 in binary64 needs no more bits than a second rounding forgives (53 ≥ 2·24 + 2).
    expect_same(got, reference::machine_float(reference::flushed(a) + reference::flushed(b), saturations), "sum", a, b);
    EXPECT_EQ(status.saturations, saturations);
    if (HasFailure()) return;
  }
}

TEST_F(Binary32, MultiplyOfRandomOperandsIsTheRoundedProduct) {
  for (int i = 0; i < 400000; ++i) {
    const float a = finite(-127, 127);
    // Half of the products lie around one of the ends.
    const int wanted =
        i % 2 == 0 ? integer(-127, 127) : (i % 4 == 1 ? integer(-129, -124) : integer(124, 129)) - floor_log2(a);
    const int exponent = wanted < -127 ? -127 : wanted > 127 ? 127 : wanted;
    const float b = finite(exponent, exponent);
    Status status;
    std::uint32_t saturations = 0;
    const float got = multiply(a, b, status);
    expect_same(got, reference::machine_float(reference::flushed(a) * reference::flushed(b), saturations), "product", a,
                b);
    EXPECT_EQ(status.saturations, saturations);
    if (HasFailure()) return;
  }
}

TEST_F(Binary32, SubnormalOperandCountsAsZeroOfItsSign) {
  Status status;
  EXPECT_EQ(bits_from_float(flush(-kSubnormal)), 0x80000000u);
  EXPECT_EQ(bits_from_float(add(kSubnormal, kSmallestNormal, status)), 0x00800000u);
  EXPECT_EQ(bits_from_float(add(-kSubnormal, -kSubnormal, status)), 0x80000000u);
  EXPECT_EQ(bits_from_float(multiply(-kSubnormal, 1e30f, status)), 0x80000000u);
  EXPECT_EQ(bits_from_float(times_power_of_two(kSubnormal, 100, status)), 0u);
  EXPECT_EQ(status.saturations, 0u);
}

TEST_F(Binary32, SubnormalResultBecomesZeroOfItsSign) {
  Status status;
  EXPECT_EQ(bits_from_float(add(kSmallestNormal, -1.5f * kSmallestNormal, status)), 0x80000000u);
  EXPECT_EQ(bits_from_float(multiply(-kSmallestNormal, 0.5f, status)), 0x80000000u);
  EXPECT_EQ(bits_from_float(times_power_of_two(-kSmallestNormal, -1, status)), 0x80000000u);
  EXPECT_EQ(status.saturations, 0u);
}

TEST_F(Binary32, ProductJustBelowTheSmallestNormalIsRoundedTo24Bits) {
  Status status;
  // (2 − 2^−23)/2 · 2^−126 = 2^−126 − 2^−150: 24 bits hold it, so it is below the smallest normal. IEEE 754 lifts it.
  const float below_two = float_from_bits(0x3fffffffu);
  EXPECT_EQ(bits_from_float(multiply(below_two, 0.5f * 2 * float_from_bits(0x00800000u) * 0.5f, status)), 0u);
  const float half_smallest = float_from_bits(0x20000000u);  // 2^−63
  const float other = float_from_bits(0x1fffffffu);          // just below 2^−63
  EXPECT_EQ(bits_from_float(multiply(half_smallest, other, status)), 0u);
  EXPECT_EQ(bits_from_float(multiply(-half_smallest, other, status)), 0x80000000u);
  EXPECT_EQ(bits_from_float(multiply(half_smallest, half_smallest, status)), 0x00800000u);
  // (1 + 2^−23)·(1 − 2^−24) = 1 + 2^−24 − 2^−47: above.
  EXPECT_EQ(bits_from_float(multiply(float_from_bits(0x20000001u), other, status)), 0x00800000u);
  // (1 + 2^−23)·(1 − 2^−23) = 1 − 2^−46: its 24 bits round up to 1.
  EXPECT_EQ(bits_from_float(multiply(float_from_bits(0x20000001u), float_from_bits(0x1ffffffeu), status)), 0x00800000u);
  EXPECT_EQ(status.saturations, 0u);
}

TEST_F(Binary32, OverflowGivesTheLargestFiniteNumberAndIsCounted) {
  Status status;
  EXPECT_EQ(bits_from_float(add(kLargest, kLargest, status)), 0x7f7fffffu);
  EXPECT_EQ(bits_from_float(multiply(-kLargest, 2.0f, status)), 0xff7fffffu);
  EXPECT_EQ(bits_from_float(times_power_of_two(-1.0f, 128, status)), 0xff7fffffu);
  EXPECT_EQ(status.saturations, 3u);
  EXPECT_EQ(bits_from_float(add(kLargest, -kLargest, status)), 0u);
  EXPECT_EQ(bits_from_float(multiply(kLargest, 1.0f, status)), 0x7f7fffffu);
  EXPECT_EQ(bits_from_float(times_power_of_two(1.0f, 127, status)), 0x7f000000u);
  EXPECT_EQ(status.saturations, 3u);
}

TEST_F(Binary32, TimesPowerOfTwoIsExact) {
  for (int i = 0; i < 200000; ++i) {
    const float x = finite(-127, 127);
    const int power = integer(-300, 300);
    Status status;
    std::uint32_t saturations = 0;
    const float got = times_power_of_two(x, power, status);
    expect_same(got, reference::machine_float(std::ldexp(reference::flushed(x), power), saturations), "scaled", x,
                static_cast<float>(power));
    EXPECT_EQ(status.saturations, saturations);
    if (HasFailure()) return;
  }
}

TEST_F(Binary32, FloorLog2IsTheExponent) {
  for (int exponent = -126; exponent <= 127; ++exponent) {
    EXPECT_EQ(floor_log2(std::ldexp(1.0f, exponent)), exponent);
    EXPECT_EQ(floor_log2(-std::ldexp(1.9999f, exponent)), exponent);
  }
}

}  // namespace
}  // namespace lpu::engine
