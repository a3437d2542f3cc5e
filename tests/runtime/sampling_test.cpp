// top-k and top-p on the host: which tokens are candidates, that each comes as often as it should, and that a seed
// gives the same choice on every machine.
#include "host/runtime/sampling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "hls/engine/best_logits.hpp"
#include "hls/engine/log_sum.hpp"
#include "host/base/error.hpp"

namespace lpu::test {
namespace {

using runtime::SamplingOptions;

/// Logits of a small vocabulary and what a card would return for them.
struct Distribution {
  explicit Distribution(const std::vector<float>& values) : logits(values) {
    engine::BestLogits kept;
    engine::LogSum sum;
    engine::Status status;
    for (std::size_t id = 0; id < logits.size(); ++id) {
      kept.insert(logits[id], static_cast<std::uint32_t>(id));
      sum.insert(logits[id], status);
    }
    for (int i = 0; i < kept.count; ++i) best.push_back({static_cast<std::int32_t>(kept.ids[i]), kept.logits[i]});
    std::copy(std::begin(sum.buckets), std::end(sum.buckets), log_sum.begin());
  }
  [[nodiscard]] std::int32_t draw(const SamplingOptions& options, std::uint32_t position) const {
    return runtime::sample(options, position, best, log_sum);
  }
  [[nodiscard]] std::set<std::int32_t> candidates(SamplingOptions options) const {
    options.temperature = 100;  // all of them nearly alike
    std::set<std::int32_t> seen;
    for (std::uint32_t position = 0; position < 3000; ++position) seen.insert(draw(options, position));
    return seen;
  }

  std::vector<float> logits;
  std::vector<card::Candidate> best;
  std::array<std::uint64_t, contract::kLogSumBuckets> log_sum{};
};

const std::vector<float> kFive = {1.0F, 3.0F, 2.5F, -1.0F,
                                  2.0F};  // probabilities 0.062 0.460 0.279 0.008 0.169… (of 1)

TEST(Sampling, EveryCandidateComesAsOftenAsItShould) {
  constexpr std::uint32_t kDraws = 100000;
  const Distribution five(kFive);
  SamplingOptions options;
  options.temperature = 0.8F;
  options.top_k = 4;
  options.seed = 12345;
  std::vector<int> counts(kFive.size());
  for (std::uint32_t position = 0; position < kDraws; ++position)
    ++counts[static_cast<std::size_t>(five.draw(options, position))];
  double sum = 0;
  for (const std::size_t id : {0, 1, 2, 4}) sum += std::exp(double{kFive[id]} / 0.8);
  double chi_square = 0;
  for (const std::size_t id : {0, 1, 2, 4}) {
    const double expected = kDraws * std::exp(double{kFive[id]} / 0.8) / sum;
    chi_square += (counts[id] - expected) * (counts[id] - expected) / expected;
  }
  EXPECT_EQ(counts[3], 0);
  EXPECT_LT(chi_square, 16.27);  // three degrees of freedom: one honest seed in a thousand is above
}

TEST(Sampling, TopKKeepsTheLikeliest) {
  SamplingOptions options;
  options.top_k = 2;
  EXPECT_THAT(Distribution(kFive).candidates(options), testing::ElementsAre(1, 2));
}

TEST(Sampling, TopPKeepsAsManyAsReachTheShare) {
  const Distribution five(kFive);
  double sum = 0;
  for (const float logit : kFive) sum += std::exp(double{logit});
  const double first = std::exp(3.0) / sum;
  const double two = (std::exp(3.0) + std::exp(2.5)) / sum;
  const auto count = [&](double top_p) {
    SamplingOptions options;
    options.top_p = top_p;
    return five.candidates(options).size();
  };
  EXPECT_EQ(count(1e-6), 1u);
  EXPECT_EQ(count(first - 0.001), 1u);
  EXPECT_EQ(count(first + 0.001), 2u);
  EXPECT_EQ(count(two - 0.001), 2u);
  EXPECT_EQ(count(two + 0.001), 3u);
  EXPECT_EQ(count(0.9999), 5u);
}

TEST(Sampling, TopPCountsTheTailThatIsNotReturned) {
  // 1,000 equal logits: the 64 best hold 6.4 %, so half of everything can't be reached and all 64 stay.
  const Distribution flat(std::vector<float>(1000, 0.25F));
  SamplingOptions options;
  options.top_p = 0.5;
  EXPECT_EQ(flat.candidates(options).size(), 64u);
  options.top_p = 0.0499;  // 50 of them
  EXPECT_EQ(flat.candidates(options).size(), 50u);
}

TEST(Sampling, SmallerOfBothLimitsCounts) {
  SamplingOptions options;
  options.top_k = 3;
  options.top_p = 0.5;
  EXPECT_EQ(Distribution(kFive).candidates(options).size(), 2u);
  options.top_k = 1;
  EXPECT_EQ(Distribution(kFive).candidates(options).size(), 1u);
}

TEST(Sampling, SameSeedGivesTheSameTokensOnEveryMachine) {
  SamplingOptions options;
  options.temperature = 1.3F;
  options.top_p = 0.99;
  options.seed = 0xDEADBEEFCAFE;
  const Distribution five(kFive);
  std::vector<std::int32_t> drawn;
  for (std::uint32_t position = 0; position < 16; ++position) drawn.push_back(five.draw(options, position));
  EXPECT_THAT(drawn, testing::ElementsAre(2, 0, 2, 4, 1, 2, 1, 2, 4, 2, 1, 1, 2, 0, 2, 1));
  options.seed ^= std::uint64_t{1} << 40;
  std::vector<std::int32_t> others;
  for (std::uint32_t position = 0; position < 16; ++position) others.push_back(five.draw(options, position));
  EXPECT_NE(drawn, others);
}

TEST(Sampling, HugeLogitsAreDrawnFrom) {
  const Distribution huge({3e38F, -3e38F, 2.9e38F, 100.0F});
  SamplingOptions options;
  options.temperature = 0.01F;
  options.top_p = 0.5;
  for (std::uint32_t position = 0; position < 100; ++position)
    EXPECT_THAT(huge.draw(options, position), testing::AnyOf(0, 2));
}

TEST(Sampling, OptionsOutOfRangeAreRefused) {
  const auto refused = [](SamplingOptions options) {
    try {
      check(options);
      return false;
    } catch (const Error& error) {
      return error.code() == ExitCode::kUsage;
    }
  };
  const float not_a_number = std::nanf("");
  EXPECT_FALSE(refused({0, 0, 1, 5}));
  EXPECT_FALSE(refused({0.7F, 64, 0.9, 5}));
  EXPECT_TRUE(refused({-1, 0, 1, 0}));
  EXPECT_TRUE(refused({0.001F, 0, 1, 0}));
  EXPECT_TRUE(refused({not_a_number, 0, 1, 0}));
  EXPECT_TRUE(refused({1, 65, 1, 0}));
  EXPECT_TRUE(refused({1, 0, 0, 0}));
  EXPECT_TRUE(refused({1, 0, 1.5, 0}));
  EXPECT_TRUE(refused({1, 0, std::nan(""), 0}));
  EXPECT_TRUE(refused({0, 5, 1, 0}));
  EXPECT_TRUE(refused({0, 0, 0.5, 0}));
}

}  // namespace
}  // namespace lpu::test
