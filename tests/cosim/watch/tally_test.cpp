// The tally alone: a token's measured length, its beats and saturations, and lengths that aren't the declared ones.
#include <gtest/gtest.h>

#include <set>

#include "Vwatch_tally.h"
#include "hls/contract/latencies.hpp"
#include "hls/contract/memory_map.hpp"
#include "tests/cosim/wires.hpp"

namespace lpu {
namespace cosim {
namespace {

constexpr auto kLength = static_cast<int>(contract::CardError::kLength);
/// Before this cycle of a token nothing of it can have landed.
constexpr int kEarliest = contract::kEmbedFetchCycles + contract::kResidualCycles - contract::kWriteCycles;

constexpr int kEarliestBeat = contract::kIssueLeadCycles;

/// What happens in which cycles of a token.
struct Token {
  int length;
  std::set<int> landings, beats, saturations;
};

class Tally : public ::testing::Test {
 protected:
  void SetUp() override {
    module_.rst_ni = 0;
    tick(module_);
    module_.rst_ni = 1;
    tick(module_);
  }

  /// Runs the token's cycles; the first is also the end of the one before, if there is one. Errors are counted.
  void run(const Token& token, bool ends_another) {
    for (int cycle = 0; cycle < token.length; ++cycle) {
      module_.token_start_i = cycle == 0 ? 1 : 0;
      module_.token_end_i = cycle == 0 && ends_another ? 1 : 0;
      module_.landed_i = token.landings.count(cycle) != 0 ? 1 : 0;
      module_.beat_i = token.beats.count(cycle) != 0 ? 1 : 0;
      module_.saturated_i = token.saturations.count(cycle) != 0 ? 1 : 0;
      module_.eval();
      look();
      tick(module_);
    }
    module_.token_start_i = module_.token_end_i = module_.landed_i = module_.beat_i = module_.saturated_i = 0;
  }
  /// The first cycle after a token behind which nothing follows.
  void end() {
    module_.token_end_i = 1;
    module_.eval();
    look();
    tick(module_);
    module_.token_end_i = 0;
    module_.eval();
    EXPECT_EQ(module_.result_push_o, 0);
  }

  int results_ = 0, errors_ = 0;
  std::uint32_t cycles_ = 0, beats_ = 0;
  bool saturated_ = false;
  Vwatch_tally module_;

 private:
  void look() {
    if (module_.error_o != 0) {
      EXPECT_EQ(module_.error_o, kLength);
      ++errors_;
    }
    if (module_.result_push_o == 0) return;
    ++results_;
    cycles_ = module_.result_cycles_o;
    beats_ = module_.result_busy_beats_o;
    saturated_ = module_.result_saturated_o != 0;
  }
};

TEST_F(Tally, LengthIsThatOfTheLastLandingAndBeatsCountFromTheFirstCycle) {
  run({40, {20, 39}, {8, 9, 10, 17, 39}, {}}, false);
  EXPECT_EQ(results_, 0);
  end();
  EXPECT_EQ(results_, 1);
  EXPECT_EQ(errors_, 0);
  EXPECT_EQ(cycles_, 40u);
  EXPECT_EQ(beats_, 5u);
  EXPECT_FALSE(saturated_);
}

TEST_F(Tally, TokensThatFollowAtOnceAreCountedApart) {
  run({30, {29}, {kEarliestBeat, 29}, {}}, false);
  run({50, {kEarliest, 49}, {8, 9, 10}, {}}, true);
  EXPECT_EQ(cycles_, 30u);
  EXPECT_EQ(beats_, 2u);
  end();
  EXPECT_EQ(results_, 2);
  EXPECT_EQ(errors_, 0);
  EXPECT_EQ(cycles_, 50u);
  EXPECT_EQ(beats_, 3u);
}

TEST_F(Tally, SaturationInAnyCycleIsToldWithItsTokenOnly) {
  for (const int cycle : {1, 20, 39}) {
    SCOPED_TRACE(cycle);
    run({40, {39}, {}, {cycle}}, false);
    end();
    EXPECT_TRUE(saturated_);
    run({40, {39}, {}, {}}, false);
    end();
    EXPECT_FALSE(saturated_);
  }
  // What saturated in a token's last cycle may be told in the next one's first: it is the older one's.
  run({40, {39}, {}, {}}, false);
  run({40, {39}, {}, {0}}, true);
  EXPECT_TRUE(saturated_);
  end();
  EXPECT_FALSE(saturated_);
  EXPECT_EQ(errors_, 0);
}

TEST_F(Tally, LengthOfAnotherCycleIsAnErrorWithoutAResult) {
  for (const int last : {38, 25}) {
    SCOPED_TRACE(last);
    errors_ = 0;
    run({40, {20, last}, {}, {}}, false);
    end();
    EXPECT_EQ(results_, 0);
    EXPECT_EQ(errors_, 1);
  }
}

TEST_F(Tally, LandingTooEarlyForItsTokenIsTheOneBeforesError) {
  run({40, {39}, {}, {}}, false);
  run({40, {kEarliest - 1, 39}, {}, {}}, true);
  EXPECT_EQ(results_, 1);
  EXPECT_EQ(errors_, 1);
}

TEST_F(Tally, BeatTooEarlyForItsTokenIsTheOneBeforesError) {
  run({40, {39}, {}, {}}, false);
  run({40, {39}, {kEarliestBeat - 1}, {}}, true);
  EXPECT_EQ(errors_, 1);
}

TEST_F(Tally, WhatHappensWhileNoTokenRunsIsAnError) {
  for (const bool lands : {false, true}) {
    run({40, {39}, {}, {}}, false);
    end();
    module_.landed_i = lands;
    module_.beat_i = !lands;
    module_.eval();
    EXPECT_EQ(module_.error_o, kLength);
    tick(module_);
    module_.landed_i = module_.beat_i = 0;
    module_.eval();
    EXPECT_EQ(module_.error_o, 0);
  }
}

TEST_F(Tally, ResetForgetsTheToken) {
  run({20, {19}, {}, {}}, false);
  module_.rst_ni = 0;
  tick(module_);
  module_.rst_ni = 1;
  end();
  EXPECT_EQ(results_, 0);
  EXPECT_EQ(errors_, 0);
}

}  // namespace
}  // namespace cosim
}  // namespace lpu
