// Fitted scales of K and V against binary64, with the grid's two ends.
#include "hls/engine/kv_quantise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/engine/random_values.hpp"
#include "tests/engine/reference.hpp"

namespace lpu::engine {
namespace {

class KvQuantise : public SeededTest {};

TEST_F(KvQuantise, RandomFitsFollowTheFormula) {
  for (int i = 0; i < 200000; ++i) {
    const int limit = i % 2 == 0 ? 127 : 2047;
    const float largest = std::fabs(finite(-20, 20));
    const int grid = floor_log2(largest) - integer(-4, 30);
    Status status;
    const Fit fitted = fit(largest, limit, grid, status);
    const auto step = static_cast<float>(static_cast<double>(largest) * static_cast<float>(1.0 / limit));
    const double wanted = std::ceil(std::ldexp(static_cast<double>(step), -grid));
    EXPECT_EQ(fitted.scale, std::clamp(wanted, 1.0, 65535.0)) << largest << " on 2^" << grid;
    EXPECT_EQ(status.saturations, wanted > 65535 ? 1u : 0u);
    EXPECT_EQ(fitted.inverse, reciprocal(std::ldexp(static_cast<float>(fitted.scale), grid)));
    if (HasFailure()) return;
  }
}

TEST_F(KvQuantise, CodesAreNearTheRealQuotientAndWithinTheLimit) {
  for (int i = 0; i < 200000; ++i) {
    const int limit = i % 2 == 0 ? 127 : 2047;
    const float largest = std::fabs(finite(-6, 6));
    const int grid = floor_log2(largest) - 20;
    const float value = static_cast<float>(integer(-1000, 1000)) / 1000.0f * largest;
    Status status;
    const Fit fitted = fit(largest, limit, grid, status);
    const std::int32_t code = kv_code(value, fitted, limit, status);
    const float ratio = static_cast<float>(static_cast<double>(value) * fitted.inverse);
    EXPECT_EQ(code, std::clamp(std::nearbyint(ratio), -1.0f * static_cast<float>(limit), static_cast<float>(limit)));
    const double quotient = value / std::ldexp(static_cast<double>(fitted.scale), grid);
    EXPECT_LE(std::fabs(code - quotient), 0.5 + limit * 0x1p-19) << "the scale was rounded up: nothing is cut off";
    EXPECT_EQ(status.saturations, 0u);
    if (HasFailure()) return;
  }
}

TEST_F(KvQuantise, ScaleIsRoundedUpToTheGrid) {
  Status status;
  // 1/127 as binary32 is a little more or less than 1/127: multiples are found by asking for the product itself.
  const float step = multiply(127.0f, inverse_limit(127), status);
  EXPECT_EQ(step, 1.0f);
  EXPECT_EQ(fit(127.0f, 127, 0, status).scale, 1);
  EXPECT_EQ(fit(127.001f, 127, 0, status).scale, 2);
  EXPECT_EQ(fit(127.0f, 127, -15, status).scale, 32768);
  EXPECT_EQ(status.saturations, 0u);
}

TEST_F(KvQuantise, SmallAndZeroVectorsGetTheSmallestScale) {
  Status status;
  EXPECT_EQ(fit(0.0f, 127, -10, status).scale, 1);
  EXPECT_EQ(fit(float_from_bits(1), 127, -120, status).scale, 1);
  EXPECT_EQ(fit(1e-20f, 127, -10, status).scale, 1);
  EXPECT_EQ(kv_code(0.0f, fit(0.0f, 127, -10, status), 127, status), 0);
  EXPECT_EQ(status.saturations, 0u);
}

TEST_F(KvQuantise, LargestScaleIsClampedAndCountedOnce) {
  Status status;
  EXPECT_EQ(fit(127.0f * 65535.0f, 127, 0, status).scale, 65535);
  EXPECT_EQ(status.saturations, 0u);
  const Fit clamped = fit(127.0f * 65536.0f, 127, 0, status);
  EXPECT_EQ(clamped.scale, 65535);
  EXPECT_EQ(status.saturations, 1u);
  EXPECT_EQ(kv_code(127.0f * 65536.0f * 3, clamped, 127, status), 127);
  EXPECT_EQ(kv_code(-127.0f * 65536.0f * 3, clamped, 127, status), -127);
  EXPECT_EQ(status.saturations, 1u) << "the codes of a saturated fit aren't counted again";
  EXPECT_EQ(fit(3e38f, 127, -100, status).scale, 65535);
  EXPECT_EQ(status.saturations, 2u);
}

TEST_F(KvQuantise, LargestValueGetsTheLargestCode) {
  for (const int limit : {127, 2047}) {
    Status status;
    const Fit fitted = fit(1.0f, limit, limit == 127 ? -20 : -24, status);
    EXPECT_EQ(status.saturations, 0u);
    EXPECT_EQ(kv_code(1.0f, fitted, limit, status), limit);
    EXPECT_EQ(kv_code(-1.0f, fitted, limit, status), -limit);
  }
}

}  // namespace
}  // namespace lpu::engine
