// Sessions that share a card: order, waiting and times against values worked out by hand, on a card without arithmetic.
#include "host/bench/card_bench.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/error.hpp"
#include "tests/bundle/small_bundle.hpp"
#include "tests/runtime/fake_card.hpp"

namespace lpu::test {
namespace {

using testing::ElementsAre;

// The bundle's machine runs at 100 MHz: a step takes 1,000 cycles, without the head 700 (positions below 32).
class CardBenchTest : public testing::Test {
 protected:
  static bundle::Bundle make(const std::filesystem::path& folder) {
    bundle::write(folder, small_contents());
    return bundle::Bundle::open(folder);
  }
  /// Two prompt tokens and three out: 700 + 3 · 1,000 = 3,700 cycles, the first token after 1,700.
  static std::vector<bench::Request> requests(std::size_t count) {
    std::vector<bench::Request> list;
    for (std::size_t i = 0; i < count; ++i)
      list.push_back({i, "", {static_cast<std::int32_t>(10 * i + 1), static_cast<std::int32_t>(10 * i + 2)}, 3});
    return list;
  }
  bench::CardBench run(std::size_t count) { return bench::run_on_card(card_, bundle_, requests(count), options_); }

  TemporaryPlace place_;
  bundle::Bundle bundle_ = make(place_.path() / "b");
  FakeCard card_{bundle_};
  bench::CardBenchOptions options_;
};

TEST_F(CardBenchTest, OneSessionNeverWaits) {
  const bench::CardBench result = run(2);
  ASSERT_EQ(result.runs.size(), 2u);
  EXPECT_DOUBLE_EQ(result.runs[0].card.arrival_s, 0);
  ASSERT_EQ(result.runs[0].card.pieces_s.size(), 3u);
  EXPECT_DOUBLE_EQ(result.runs[0].card.pieces_s[0], 1700 / 100e6);
  EXPECT_DOUBLE_EQ(result.runs[0].card.pieces_s[1], 2700 / 100e6);
  EXPECT_DOUBLE_EQ(result.runs[0].card.pieces_s[2], 3700 / 100e6);
  EXPECT_DOUBLE_EQ(result.runs[1].card.arrival_s, 3700 / 100e6);  // when the answer before it ended
  EXPECT_EQ(result.runs[1].card.start_s, result.runs[1].card.arrival_s);
  EXPECT_DOUBLE_EQ(result.runs[1].card.pieces_s[2], 7400 / 100e6);
  EXPECT_EQ(result.most_waiting, 0u);
}

TEST_F(CardBenchTest, SessionsBeyondTheSlotWaitInOrder) {
  options_.sessions = 3;
  const bench::CardBench result = run(4);
  ASSERT_EQ(result.runs.size(), 4u);
  std::vector<std::size_t> sessions, places;
  for (const auto& run : result.runs) {
    sessions.push_back(run.session);
    places.push_back(run.place);
  }
  EXPECT_THAT(sessions, ElementsAre(0, 1, 2, 0));
  EXPECT_THAT(places, ElementsAre(0, 1, 2, 2));  // the fourth comes when the second begins: the third is before it
  EXPECT_EQ(result.most_waiting, 2u);
  EXPECT_DOUBLE_EQ(result.runs[1].card.arrival_s, 0);
  EXPECT_DOUBLE_EQ(result.runs[1].card.start_s, 3700 / 100e6);
  EXPECT_DOUBLE_EQ(result.runs[2].card.start_s, 7400 / 100e6);
  EXPECT_DOUBLE_EQ(result.runs[3].card.arrival_s, 3700 / 100e6);
  EXPECT_DOUBLE_EQ(result.runs[3].card.start_s, 11100 / 100e6);
  for (const auto& run : result.runs) {
    EXPECT_LE(run.wall.arrival_s, run.wall.start_s);
    EXPECT_LE(run.wall.start_s, run.wall.pieces_s.front());
  }
}

TEST_F(CardBenchTest, FiguresCountTheWaiting) {
  options_.sessions = 2;
  const bench::CardBench result = run(2);
  const bench::Figures figures = bench::figures_of({result.runs[0].card, result.runs[1].card});
  EXPECT_DOUBLE_EQ(figures.ttft_s->p50, 1700 / 100e6);
  EXPECT_DOUBLE_EQ(figures.ttft_s->worst, 5400 / 100e6);
  EXPECT_DOUBLE_EQ(figures.ttft_without_waiting_s->worst, 1700 / 100e6);
  EXPECT_DOUBLE_EQ(figures.waiting_s->worst, 3700 / 100e6);
  EXPECT_DOUBLE_EQ(figures.tpot_s->worst, 1000 / 100e6);
  EXPECT_DOUBLE_EQ(figures.e2e_s->worst, 7400 / 100e6);
  EXPECT_DOUBLE_EQ(figures.decode_tokens_per_s->p50, 100e3);
  EXPECT_DOUBLE_EQ(figures.total_tokens_per_s, 6 / (7400 / 100e6));
  EXPECT_DOUBLE_EQ(figures.queries_per_minute, 60 * 2 / (7400 / 100e6));
  EXPECT_EQ(figures.inter_token_s->count, 4u);
  EXPECT_NEAR(figures.inter_token_spread_s.value(), 0, 1e-15);
}

TEST_F(CardBenchTest, CardThatIdlesStartsAtTheArrival) {
  options_.sessions = 2;
  options_.interval_s = 1e-3;  // 100,000 cycles: the first session's two answers are over long before
  const bench::CardBench result = run(30);
  // Session 0 goes on without a break until session 1 arrives in the middle of an answer.
  EXPECT_EQ(result.runs[1].session, 0u);
  const auto late =
      std::find_if(result.runs.begin(), result.runs.end(), [](const auto& run) { return run.session == 1; });
  ASSERT_NE(late, result.runs.end());
  EXPECT_DOUBLE_EQ(late->card.arrival_s, 1e-3);
  EXPECT_EQ(late->place, 1u);
  EXPECT_DOUBLE_EQ(late->card.start_s, 28 * 3700 / 100e6);  // 27 answers end at 99,900, the 28th at 103,600
}

TEST_F(CardBenchTest, EveryPromptIsReadWhole) {
  options_.sessions = 2;
  run(2);
  EXPECT_EQ(card_.requests[0].position, 0u);
  EXPECT_EQ(card_.requests[4].position, 0u);
  EXPECT_EQ(card_.requests[4].token, 11);
  EXPECT_EQ(card_.requests.size(), 9u);  // and one at position 0, with the head, to compare with
}

TEST_F(CardBenchTest, SpeedIsNotedByPosition) {
  const bench::CardBench result = run(1);
  ASSERT_EQ(result.by_position.size(), 4u);  // 0 apart, then 1, 2, 3
  EXPECT_EQ(result.by_position.at(0).measured_most, 1000u);
  EXPECT_EQ(result.by_position.at(3).predicted, 1000u);
  EXPECT_EQ(result.jitter_cycles, 0u);
  EXPECT_EQ(result.spread_cycles, 0u);
}

TEST_F(CardBenchTest, CardThatIsLateByAConstantHasADifferenceButNoJitter) {
  card_.extra_cycles = 5;
  const bench::CardBench result = run(2);
  EXPECT_EQ(result.jitter_cycles, 5u);
  EXPECT_EQ(result.spread_cycles, 0u);
  EXPECT_EQ(result.by_position.at(2).measured_least, 1005u);
}

TEST_F(CardBenchTest, CardThatIsNowAndThenLateHasJitter) {
  int steps = 0;
  options_.is_interrupted = [&] {
    card_.extra_cycles = ++steps % 3 == 0 ? 9 : 2;
    return false;
  };
  const bench::CardBench result = run(2);
  EXPECT_EQ(result.jitter_cycles, 9u);
  EXPECT_EQ(result.spread_cycles, 7u);
}

TEST_F(CardBenchTest, InterruptionEndsTheBenchmark) {
  options_.is_interrupted = [this] { return card_.requests.size() == 2; };
  try {
    run(2);
    ADD_FAILURE() << "went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kInterrupted);
  }
}

TEST(Figures, TimesThatRunBackwardsAreADefect) {
  EXPECT_THROW(bench::figures_of({{1.0, 0.5, {2.0}, 1}}), Error);
  EXPECT_THROW(bench::figures_of({{0, 0, {}, 0}}), Error);
  EXPECT_THROW(bench::figures_of({{0, 0, {2.0, 1.0}, 2}}), Error);
}

TEST(Figures, OneTokenHasNoTimePerOutputToken) {
  const bench::Figures figures = bench::figures_of({{0, 0, {0.5}, 1}});
  EXPECT_FALSE(figures.tpot_s);
  EXPECT_FALSE(figures.inter_token_s);
  EXPECT_DOUBLE_EQ(figures.e2e_tokens_per_s->p50, 2);
}

TEST(Figures, PiecesOfSeveralTokensCountTheTokens) {
  // 9 tokens in 3 pieces: TPOT (2 − 1) / 8, though two pieces are half a second apart
  const bench::Figures figures = bench::figures_of({{0, 0, {1.0, 1.5, 2.0}, 9}});
  EXPECT_DOUBLE_EQ(figures.tpot_s->p50, 0.125);
  EXPECT_DOUBLE_EQ(figures.inter_token_s->p50, 0.5);
  EXPECT_DOUBLE_EQ(figures.e2e_tokens_per_s->p50, 4.5);
}

}  // namespace
}  // namespace lpu::test
