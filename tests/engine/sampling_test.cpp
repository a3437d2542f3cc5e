// The head's end: best 64, log-sum buckets, Philox, Gumbel noise and the distribution that sampling keys draw from.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "hls/engine/best_logits.hpp"
#include "hls/engine/gumbel.hpp"
#include "hls/engine/log_sum.hpp"
#include "hls/engine/log_sum_host.hpp"
#include "hls/engine/random.hpp"
#include "tests/engine/random_values.hpp"

namespace lpu::engine {
namespace {

class Best : public SeededTest {};
class LogSums : public SeededTest {};
class Gumbel : public SeededTest {};

using Entry = std::pair<float, std::uint32_t>;

bool canonical(const Entry& a, const Entry& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; }

void expect_best(const BestLogits& best, std::vector<Entry> all) {
  std::sort(all.begin(), all.end(), canonical);
  const std::size_t wanted = std::min<std::size_t>(all.size(), contract::kBestLogits);
  ASSERT_EQ(best.count, static_cast<int>(wanted));
  for (std::size_t i = 0; i < wanted; ++i) {
    EXPECT_EQ(best.logits[i], all[i].first) << "place " << i;
    EXPECT_EQ(best.ids[i], all[i].second) << "place " << i;
  }
}

TEST_F(Best, RandomLogitsWithManyTiesAreInCanonicalOrder) {
  for (const int count : {0, 1, 2, 63, 64, 65, 1000}) {
    for (int round = 0; round < 20; ++round) {
      std::vector<Entry> all;
      for (int id = 0; id < count; ++id) all.emplace_back(static_cast<float>(integer(-12, 12)), id);
      for (int i = count - 1; i > 0; --i) std::swap(all[i], all[integer(0, i)]);
      BestLogits best;
      for (const auto& [logit, id] : all) best.insert(logit, id);
      expect_best(best, all);
    }
  }
}

TEST_F(Best, AllEqualLogitsKeepTheLowestIds) {
  BestLogits best;
  for (std::uint32_t id = 1000; id > 0; --id) best.insert(1.0f, id);
  EXPECT_EQ(best.ids[0], 1u);
  EXPECT_EQ(best.ids[63], 64u);
}

TEST_F(Best, MinusZeroEqualsZero) {
  BestLogits best;
  best.insert(0.0f, 7);
  best.insert(-0.0f, 3);
  best.insert(0.0f, 1);
  EXPECT_EQ(best.ids[0], 1u);
  EXPECT_EQ(best.ids[1], 3u);
  EXPECT_EQ(best.ids[2], 7u);
}

TEST_F(LogSums, LogarithmIsNearTheTrueOne) {
  LogSum sum;
  Status status;
  double wanted = 0;
  for (int i = 0; i < 50000; ++i) {
    const float logit = static_cast<float>(integer(-20000, 30000)) / 1000.0f;
    sum.insert(logit, status);
    wanted += std::exp(static_cast<double>(logit));
  }
  EXPECT_LE(std::fabs(natural_log_of_sum(sum) - std::log(wanted)), 3e-5);
  EXPECT_EQ(status.saturations, 0u);
}

TEST_F(LogSums, PartsOfSeveralCardsMergeToTheSameBuckets) {
  LogSum whole;
  LogSum parts[3];
  Status status;
  for (int i = 0; i < 3000; ++i) {
    const float logit = finite(-3, 4);
    whole.insert(logit, status);
    parts[integer(0, 2)].insert(logit, status);
  }
  parts[2].merge(parts[0]);
  parts[2].merge(parts[1]);
  EXPECT_TRUE(std::equal(whole.buckets, whole.buckets + contract::kLogSumBuckets, parts[2].buckets));
}

TEST_F(LogSums, EndsOfTheBuckets) {
  LogSum sum;
  Status status;
  sum.insert(0.0f, status);
  EXPECT_EQ(sum.buckets[128], 65536u);
  sum.insert(-89.0f, status);  // 2^−128.4: nothing is added
  sum.insert(-88.7f, status);  // 2^−127.97
  EXPECT_GT(sum.buckets[0], 0u);
  sum.insert(1000.0f, status);  // 2^1442: counted in the last bucket
  EXPECT_GT(sum.buckets[255], 0u);
  const std::uint64_t entries = std::count_if(sum.buckets, sum.buckets + 256, [](std::uint64_t b) { return b != 0; });
  EXPECT_EQ(entries, 3u);
  EXPECT_EQ(status.saturations, 0u);
  sum.insert(1e6f, status);
  EXPECT_EQ(status.saturations, 1u);
  EXPECT_TRUE(std::isinf(natural_log_of_sum(LogSum())));
}

TEST(Philox, PublishedVectors) {
  const auto expect = [](PhiloxWords counter, std::uint32_t low, std::uint32_t high, PhiloxWords wanted) {
    const PhiloxWords got = philox4x32(counter, low, high);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(got.word[i], wanted.word[i]) << "word " << i;
  };
  expect({{0, 0, 0, 0}}, 0, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
  expect({{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}}, 0xffffffff, 0xffffffff,
         {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
  expect({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0,
         {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
}

TEST(Philox, NumberOfAnIdIsItsWordOfItsGroup) {
  const std::uint64_t seed = 0x123456789abcdef0u;
  const PhiloxWords words = philox4x32({{25, 17, 0, 0}}, 0x9abcdef0u, 0x12345678u);
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(random_number(seed, 17, 100 + i), words.word[i]);
}

TEST_F(Gumbel, NoiseIsNearTheTrueOneEverywhere) {
  double worst = 0;
  const auto check = [&](std::uint32_t random) {
    const long double u = std::ldexp(static_cast<long double>(random | 1u), -32);
    const long double exponential = std::max(-std::log2(u), std::ldexp(1.0L, -26));  // one unit is the least
    const long double wanted = -std::log(exponential * std::log(2.0L));
    const double error =
        std::fabs(static_cast<double>(std::ldexp(static_cast<long double>(gumbel(random)), -16) - wanted));
    // A logarithm of a few units has their rounding.
    const double bound = 1.5e-3 + 0.6 / std::ldexp(static_cast<double>(exponential), 26);
    EXPECT_LE(error, bound) << random;
    if (exponential > 0x1p-12L) worst = std::max(worst, error);
  };
  for (std::uint64_t random = 0; random < (std::uint64_t{1} << 32); random += 65521)
    check(static_cast<std::uint32_t>(random));
  for (std::uint32_t distance = 1; distance < 200000; ++distance) check(0u - distance);
  for (std::uint32_t random = 0; random < 1000; ++random) check(random);
  EXPECT_LE(worst, 1.5e-3);
}

TEST_F(Gumbel, NoiseGrowsWithTheNumberAndStaysInItsRange) {
  std::int32_t previous = gumbel(0);
  EXPECT_GT(previous, static_cast<std::int32_t>(-3.2 * 65536));
  for (std::uint64_t random = 0; random < (std::uint64_t{1} << 32); random += 300007) {
    const std::int32_t now = gumbel(static_cast<std::uint32_t>(random));
    ASSERT_GE(now, previous) << random;
    previous = now;
  }
  EXPECT_LE(gumbel(0xffffffffu), static_cast<std::int32_t>(18.5 * 65536));
  EXPECT_GE(gumbel(0xffffffffu), previous);
}

TEST_F(Gumbel, KeyIsTheScaledLogitPlusNoise) {
  Status status;
  EXPECT_EQ(sampling_key(1.5f, 2.0f, -7, status), 3 * 65536 - 7);
  EXPECT_EQ(sampling_key(-1.0f, 0.5f, 0, status), -32768);
  EXPECT_EQ(status.saturations, 0u);
  EXPECT_EQ(sampling_key(1e6f, 1.0f, 5, status), std::int64_t{2147483647} + 5);
  EXPECT_EQ(status.saturations, 1u);
}

/// The value that a χ² variable exceeds once in a thousand times (Wilson and Hilferty's cube, good to 1 %).
double critical_value(int degrees) {
  const double normal_quantile = 3.0902;
  const double ninth = 2.0 / (9.0 * degrees);
  return degrees * std::pow(1 - ninth + normal_quantile * std::sqrt(ninth), 3);
}

TEST_F(Gumbel, LargestKeyDrawsFromTheSoftmaxOfTheLogits) {
  const int draws = 100000;
  for (const float temperature : {0.7f, 1.0f, 1.6f}) {
    std::vector<float> logits;
    std::vector<double> probabilities;
    double total = 0;
    const int ids = 24;
    for (int id = 0; id < ids; ++id) {
      logits.push_back(2.5f * std::sin(static_cast<float>(3 * id + 1)));
      probabilities.push_back(std::exp(static_cast<double>(logits.back()) / temperature));
      total += probabilities.back();
    }
    std::vector<int> counts(ids);
    Status status;
    for (int position = 0; position < draws; ++position) {
      int winner = 0;
      std::int64_t largest = INT64_MIN;
      for (int id = 0; id < ids; ++id) {
        const std::uint32_t random =
            random_number(kSeed, static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(id));
        const std::int64_t key = sampling_key(logits[id], 1.0f / temperature, gumbel(random), status);
        if (key > largest) {
          largest = key;
          winner = id;
        }
      }
      ++counts[winner];
    }
    double chi_square = 0;
    for (int id = 0; id < ids; ++id) {
      const double expected = draws * probabilities[id] / total;
      ASSERT_GE(expected, 5) << "too few for a chi-square test";
      chi_square += (counts[id] - expected) * (counts[id] - expected) / expected;
    }
    EXPECT_LE(chi_square, critical_value(ids - 1)) << "temperature " << temperature;
    EXPECT_EQ(status.saturations, 0u);
  }
}

/// The tail matters: with a vocabulary of 50,000 the winner's noise is usually above 9.
TEST_F(Gumbel, MaximumOverALargeUniformVocabularyHasTheRightMean) {
  const int ids = 50000;
  const int rounds = 200;
  double mean = 0;
  for (int position = 0; position < rounds; ++position) {
    std::int32_t largest = INT32_MIN;
    for (int id = 0; id < ids; ++id) {
      largest = std::max(
          largest, gumbel(random_number(kSeed, static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(id))));
    }
    mean += largest / 65536.0 / rounds;
  }
  // Gumbel with location ln(ids): mean ln(ids) + 0.5772, deviation 1.28/√200 = 0.091; four of them.
  EXPECT_LE(std::fabs(mean - (std::log(ids) + 0.57722)), 0.37);
}

}  // namespace
}  // namespace lpu::engine
