// Divergences of distributions whose figures can be worked out by hand.
#include "host/reference/divergence.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "host/base/error.hpp"

namespace lpu::reference {
namespace {

/// Logits of these probabilities, moved by a constant (which must not matter).
template <std::size_t Count>
std::array<float, Count> logits_of(const std::array<double, Count>& probabilities, double moved = 0) {
  std::array<float, Count> result{};
  for (std::size_t i = 0; i < Count; ++i) result[i] = static_cast<float>(std::log(probabilities[i]) + moved);
  return result;
}

const std::array<float, 3> kReference = logits_of<3>({0.5, 0.25, 0.25}, 3);
const std::array<float, 3> kTest = logits_of<3>({0.25, 0.5, 0.25}, -40);
const double kKl = 0.25 * std::log(2.0);  // 0.5·ln 2 − 0.25·ln 2

TEST(LogSoftmax, LargeLogitsDontOverflow) {
  const std::vector<double> logs = log_softmax(std::array<float, 2>{3e38F, 3e38F});
  EXPECT_DOUBLE_EQ(logs[0], -std::log(2.0));
}

TEST(LogSoftmax, LogitThatIsNoNumberIsRefused) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()}) {
    EXPECT_THROW((void)log_softmax(std::array<float, 2>{1.0F, bad}), Error);
  }
}

TEST(KlDivergence, KnownDistributionsGiveKnownNats) {
  EXPECT_NEAR(kl_divergence(kReference, kTest), kKl, 1e-6);
  EXPECT_NEAR(kl_divergence(kReference, kReference), 0.0, 1e-12);
}

TEST(KlDivergence, IsNotSymmetric) {
  const auto sharp = logits_of<2>({0.9, 0.1});
  const auto flat = logits_of<2>({0.5, 0.5});
  EXPECT_NEAR(kl_divergence(sharp, flat), 0.9 * std::log(1.8) + 0.1 * std::log(0.2), 1e-6);
  EXPECT_NEAR(kl_divergence(flat, sharp), 0.5 * std::log(0.5 / 0.9) + 0.5 * std::log(5.0), 1e-6);
}

TEST(KlDivergence, DifferentVocabulariesAreRefused) {
  EXPECT_THROW((void)kl_divergence(kReference, logits_of<2>({0.5, 0.5})), Error);
}

TEST(TopToken, EqualLogitsGiveTheSmallestIndex) { EXPECT_EQ(top_token(std::array<float, 4>{1, 5, 5, 2}), 1U); }

TEST(NegativeLogLikelihood, HalfIsOneBit) { EXPECT_NEAR(negative_log_likelihood(kReference, 0), std::log(2.0), 1e-6); }

TEST(NegativeLogLikelihood, TargetOutsideTheVocabularyIsRefused) {
  EXPECT_THROW((void)negative_log_likelihood(kReference, 3), Error);
}

TEST(DivergenceTotals, PositionsAreSummedUp) {
  DivergenceTotals totals;
  totals.add(kReference, kTest, 0);
  totals.add(kReference, kReference, 1);
  const DivergenceSummary summary = totals.summary();
  EXPECT_EQ(summary.positions, 2U);
  EXPECT_NEAR(summary.reference_perplexity, std::sqrt(2.0 * 4.0), 1e-5);
  EXPECT_NEAR(summary.test_perplexity, 4.0, 1e-5);
  EXPECT_NEAR(summary.mean_kl_nats, kKl / 2, 1e-6);
  EXPECT_NEAR(summary.median_kl_nats, kKl / 2, 1e-6);
  EXPECT_NEAR(summary.p99_kl_nats, kKl, 1e-6);
  EXPECT_DOUBLE_EQ(summary.same_top_share, 0.5);
}

TEST(DivergenceTotals, PercentileLeavesOutTheWorstOfAHundredAndOne) {
  DivergenceTotals totals;
  for (int position = 0; position < 100; ++position) totals.add(kReference, kReference, 0);
  totals.add(kReference, kTest, 0);
  const DivergenceSummary summary = totals.summary();
  EXPECT_NEAR(summary.median_kl_nats, 0.0, 1e-12);
  EXPECT_NEAR(summary.p99_kl_nats, 0.0, 1e-12);
  EXPECT_NEAR(summary.mean_kl_nats, kKl / 101, 1e-6);
}

TEST(DivergenceTotals, NothingAddedIsRefused) { EXPECT_THROW((void)DivergenceTotals().summary(), Error); }

}  // namespace
}  // namespace lpu::reference
