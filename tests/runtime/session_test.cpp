// What a session asks of its card, when it ends, and what it says about time.
#include "host/runtime/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/error.hpp"
#include "host/runtime/metrics.hpp"
#include "tests/bundle/small_bundle.hpp"
#include "tests/runtime/fake_card.hpp"

namespace lpu::test {
namespace {

using runtime::EndReason;
using runtime::GenerateOptions;
using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<std::int32_t>;

class SessionTest : public testing::Test {
 protected:
  static bundle::Bundle make(const std::filesystem::path& folder) {
    bundle::write(folder, small_contents());
    return bundle::Bundle::open(folder);
  }
  void expect_error(ExitCode code, const Ids& prompt, const std::string& part) {
    try {
      session_.generate(prompt, options_);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      EXPECT_THAT(error.what(), HasSubstr(part));
    }
  }

  TemporaryPlace place_;
  bundle::Bundle bundle_ = make(place_.path() / "b");  // context 64, vocabulary 300
  FakeCard card_{bundle_};
  runtime::Session session_{card_, bundle_};
  GenerateOptions options_;
};

TEST_F(SessionTest, OnlyTheLastPromptTokenAsksForTheHead) {
  options_.max_tokens = 3;
  const runtime::Generation run = session_.generate(Ids{10, 20, 30}, options_);
  EXPECT_THAT(run.tokens, ElementsAre(31, 32, 33));
  EXPECT_EQ(run.end, EndReason::kMaxTokens);
  ASSERT_EQ(card_.requests.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(card_.requests[i].position, i);
    EXPECT_EQ(card_.requests[i].want_next, i >= 2);
    EXPECT_EQ(card_.requests[i].logits, nullptr);
  }
  EXPECT_EQ(card_.requests[3].token, 31);
  EXPECT_EQ(run.prompt_tokens, 3u);
  EXPECT_EQ(run.reused_tokens, 0u);
  EXPECT_EQ(run.busy_beats, 50u);
}

TEST_F(SessionTest, CyclesAndTimesArePerStepAndPerToken) {
  options_.max_tokens = 3;
  card_.extra_cycles = 5;
  const runtime::Generation run = session_.generate(Ids{1, 2}, options_);
  EXPECT_THAT(run.predicted_cycles, ElementsAre(700, 1000, 1000, 1000));
  EXPECT_THAT(run.measured_cycles, ElementsAre(705, 1005, 1005, 1005));
  EXPECT_THAT(run.positions, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(runtime::jitter_cycles(run.predicted_cycles, run.measured_cycles), 5u);
  ASSERT_EQ(run.card_times_s.size(), 3u);  // tiny runs at 100 MHz
  EXPECT_DOUBLE_EQ(run.card_times_s[0], 1710 / 100e6);
  EXPECT_DOUBLE_EQ(run.card_times_s[2], 3720 / 100e6);
  ASSERT_EQ(run.wall_times_s.size(), 3u);
  EXPECT_LE(run.wall_times_s[0], run.wall_times_s[2]);
}

TEST_F(SessionTest, PredictedCyclesFollowTheBlocksOfPositions) {
  EXPECT_EQ(runtime::predicted_cycles(bundle_.program(), 31, true), 1000u);
  EXPECT_EQ(runtime::predicted_cycles(bundle_.program(), 32, true), 1100u);
  EXPECT_EQ(runtime::predicted_cycles(bundle_.program(), 31, false), 700u);
  EXPECT_EQ(runtime::predicted_cycles(bundle_.program(), 63, false), 800u);
}

TEST_F(SessionTest, EndTokenStopsAndIsKept) {
  options_.is_end = [](std::int32_t id) { return id == 32; };
  const runtime::Generation run = session_.generate(Ids{30}, options_);
  EXPECT_THAT(run.tokens, ElementsAre(31, 32));
  EXPECT_EQ(run.end, EndReason::kStop);
}

TEST_F(SessionTest, FullContextEndsWithLength) {
  const runtime::Generation run = session_.generate(Ids(60, 1), options_);
  EXPECT_EQ(run.end, EndReason::kLength);
  EXPECT_EQ(run.tokens.size(), 5u);  // positions 59 … 63 each give one
  EXPECT_EQ(card_.requests.back().position, 63u);
}

TEST_F(SessionTest, PromptThatFillsTheContextGivesOneToken) {
  EXPECT_EQ(session_.generate(Ids(64, 1), options_).tokens.size(), 1u);
}

TEST_F(SessionTest, InterruptionEndsBetweenSteps) {
  options_.is_interrupted = [this] { return card_.requests.size() == 4; };
  const runtime::Generation run = session_.generate(Ids{1, 2, 3}, options_);
  EXPECT_EQ(run.end, EndReason::kInterrupted);
  EXPECT_THAT(run.tokens, ElementsAre(4, 5));
  EXPECT_EQ(session_.held_tokens(), 4u);
}

TEST_F(SessionTest, PromptThatGoesOnIsNotReadAgain) {
  options_.max_tokens = 2;
  session_.generate(Ids{1, 2, 3}, options_);  // the card holds 1 2 3 4
  const int resets = card_.resets;
  card_.requests.clear();
  const runtime::Generation run = session_.generate(Ids{1, 2, 3, 4, 50, 60}, options_);
  EXPECT_EQ(run.reused_tokens, 4u);
  EXPECT_EQ(card_.resets, resets);
  EXPECT_EQ(card_.requests.front().position, 4u);
  EXPECT_EQ(card_.requests.front().token, 50);
  EXPECT_EQ(run.predicted_cycles.size(), 3u);
}

TEST_F(SessionTest, OtherPromptStartsAnew) {
  options_.max_tokens = 2;
  session_.generate(Ids{1, 2, 3}, options_);
  for (const Ids& prompt : {Ids{1, 2, 9, 4, 5}, Ids{1, 2}, Ids{1, 2, 3, 4}}) {
    const int resets = card_.resets;
    card_.requests.clear();
    EXPECT_EQ(session_.generate(prompt, options_).reused_tokens, 0u);
    EXPECT_EQ(card_.resets, resets + 1);
    EXPECT_EQ(card_.requests.front().position, 0u);
    session_.reset();
    session_.generate(Ids{1, 2, 3}, options_);
  }
}

TEST_F(SessionTest, LogitsComeOncePerToken) {
  options_.max_tokens = 2;
  std::vector<std::size_t> sizes;
  options_.on_logits = [&](std::span<const float> row) {
    sizes.push_back(row.size());
    EXPECT_EQ(row[6 + sizes.size()], 1.0F);
  };
  session_.generate(Ids{5, 6}, options_);
  EXPECT_THAT(sizes, ElementsAre(300, 300));
}

TEST_F(SessionTest, TemperatureAloneIsTheCardsWork) {
  options_.max_tokens = 1;
  options_.sampling.temperature = 0.5F;
  options_.sampling.seed = 99;
  session_.generate(Ids{5}, options_);
  EXPECT_EQ(card_.requests.back().temperature, 0.5F);
  EXPECT_EQ(card_.requests.back().seed, 99u);
}

TEST_F(SessionTest, TopOneOfManyIsTheBest) {
  options_.max_tokens = 4;
  options_.sampling.temperature = 5;
  options_.sampling.top_k = 1;
  const runtime::Generation run = session_.generate(Ids{5}, options_);
  EXPECT_THAT(run.tokens, ElementsAre(6, 7, 8, 9));
  EXPECT_EQ(card_.requests.back().temperature, 0.0F);
}

TEST_F(SessionTest, PromptThatCannotBeRunIsRefused) {
  expect_error(ExitCode::kUsage, {}, "prompt is empty");
  expect_error(ExitCode::kDoesNotFit, Ids(65, 1), "has 65 tokens, but the bundle's context holds 64");
  expect_error(ExitCode::kUsage, {1, 300}, "Token 1 of the prompt has the id 300");
  expect_error(ExitCode::kUsage, {-1}, "id -1");
  EXPECT_TRUE(card_.requests.empty());
}

TEST(Metrics, FiguresAreThoseOfTheDefinitions) {
  const auto figures = runtime::latency_figures({2.0, 2.5, 3.0, 4.0});
  ASSERT_TRUE(figures);
  EXPECT_DOUBLE_EQ(figures->ttft_s, 2.0);
  EXPECT_DOUBLE_EQ(figures->tpot_s.value(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(figures->decode_tokens_per_s.value(), 1.5);
  EXPECT_DOUBLE_EQ(figures->e2e_tokens_per_s, 1.0);
}

TEST(Metrics, OneTokenHasNoTimePerOutputToken) {
  const auto figures = runtime::latency_figures({0.5});
  ASSERT_TRUE(figures);
  EXPECT_FALSE(figures->tpot_s);
  EXPECT_FALSE(figures->decode_tokens_per_s);
  EXPECT_FALSE(runtime::latency_figures({}));
}

}  // namespace
}  // namespace lpu::test
