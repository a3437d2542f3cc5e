// Percentiles against values worked out by hand.
#include "host/runtime/percentiles.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace lpu::test {
namespace {

using runtime::percentiles;
using runtime::speed_percentiles;

std::vector<double> one_to(int last) {
  std::vector<double> values(static_cast<std::size_t>(last));
  std::iota(values.rbegin(), values.rend(), 1.0);  // descending: the order must not matter
  return values;
}

TEST(Percentiles, FiveValuesGiveTheirNearestRanks) {
  // ranks ⌈2.5⌉ = 3, ⌈4.5⌉ = 5, ⌈4.95⌉ = 5, ⌈4.995⌉ = 5
  const auto p = percentiles({15, 50, 20, 40, 35}).value();
  EXPECT_EQ(p.p50, 35);
  EXPECT_EQ(p.p90, 50);
  EXPECT_EQ(p.p99, 50);
  EXPECT_EQ(p.p99_9, 50);
  EXPECT_EQ(p.worst, 50);
  EXPECT_EQ(p.mean, 32);
  EXPECT_EQ(p.count, 5u);
}

TEST(Percentiles, TwoValuesHaveTheSmallerAsMedian) {
  const auto p = percentiles({2, 1}).value();
  EXPECT_EQ(p.p50, 1);
  EXPECT_EQ(p.p90, 2);
}

TEST(Percentiles, WholeRanksAreNotRoundedUp) {
  const auto p = percentiles(one_to(1000)).value();
  EXPECT_EQ(p.p50, 500);
  EXPECT_EQ(p.p90, 900);
  EXPECT_EQ(p.p99, 990);
  EXPECT_EQ(p.p99_9, 999);
  EXPECT_EQ(p.worst, 1000);
}

TEST(Percentiles, ThousandAndOneValuesMoveEachRankUpByOne) {
  const auto p = percentiles(one_to(1001)).value();
  EXPECT_EQ(p.p50, 501);
  EXPECT_EQ(p.p90, 901);
  EXPECT_EQ(p.p99, 991);
  EXPECT_EQ(p.p99_9, 1000);
}

TEST(Percentiles, SpeedsRunTowardsTheSlowEnd) {
  const auto p = speed_percentiles(one_to(1000)).value();
  EXPECT_EQ(p.p50, 501);
  EXPECT_EQ(p.p90, 101);
  EXPECT_EQ(p.p99, 11);
  EXPECT_EQ(p.p99_9, 2);
  EXPECT_EQ(p.worst, 1);
}

TEST(Percentiles, OneValueIsEveryPercentileAndNoneHasNone) {
  const auto p = percentiles({7}).value();
  EXPECT_EQ(p.p50, 7);
  EXPECT_EQ(p.worst, 7);
  EXPECT_FALSE(percentiles({}));
  EXPECT_FALSE(speed_percentiles({}));
}

}  // namespace
}  // namespace lpu::test
