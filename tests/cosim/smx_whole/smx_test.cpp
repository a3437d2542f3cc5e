// The softmax unit with its instructions against hls/engine and the scoreboard's cycles, at six sizes: lanes fewer and
// more than a block, one and several banks a segment, one and two blocks a cycle, 64 lanes by halves.
#include "Vsmx_whole_16x2x8.h"
#include "Vsmx_whole_32x6x16.h"
#include "Vsmx_whole_4x2x2.h"
#include "Vsmx_whole_64x2x64.h"
#include "Vsmx_whole_64x6x64.h"
#include "Vsmx_whole_8x1x1.h"
#include "tests/cosim/smx_whole/smx_bench.hpp"

namespace lpu {
namespace cosim {
namespace {

constexpr Cycle kFirstIssue = contract::kIssueLeadCycles;

template <typename ModuleOf, int Lanes, int Groups, int SoftmaxLanes, int Entries>
struct Size {
  using Module = ModuleOf;
  static constexpr SmxShape kShape{Lanes, Groups, SoftmaxLanes, Entries};
};

template <typename SizeOf>
class Smx : public ::testing::Test {
 protected:
  static constexpr SmxShape kShape = SizeOf::kShape;
  /// The last position whose scores fit the accumulators.
  static constexpr int kLast = kShape.lanes * kShape.entries / 32 * 32 - 1;

  static std::vector<int> segment_counts() {
    std::vector<int> counts;
    for (int s = 1; s <= kShape.groups; ++s)
      if (contract::may_have_segments(kShape.groups, static_cast<std::uint64_t>(s))) counts.push_back(s);
    return counts;
  }
  static int any_segments(Random& random) {
    const std::vector<int> counts = segment_counts();
    return counts[static_cast<std::size_t>(random.between(0, static_cast<int>(counts.size()) - 1))];
  }
  template <typename Work>
  void with_seeds(Work work) {
    for (const std::uint64_t seed : {kFixedSeed, fresh_seed()}) {
      SCOPED_TRACE("OPENLPU_SEED=" + std::to_string(seed));
      SmxBench<typename SizeOf::Module> bench(kShape, seed);
      work(bench);
      if (this->HasFailure()) return;
    }
  }
  /// Instructions of any shape, each as early as unit and banks allow.
  template <typename Bench>
  static void add_many(Bench& bench, int count) {
    Cycle issue = kFirstIssue;
    for (int i = 0; i < count; ++i) {
      Random& random = bench.model.random;
      SmxRun run = bench.draw(any_segments(random), issue, random.one_in(2) ? 0 : random.between(1, 5));
      while (bench.model.collides(run)) ++run.issue;
      bench.add(run);
      issue = bench.model.last_entry(run) + 1 + (random.one_in(3) ? random.between(0, 12) : 0);
    }
  }
};

using Sizes = ::testing::Types<Size<Vsmx_whole_4x2x2, 4, 2, 2, 77>, Size<Vsmx_whole_8x1x1, 8, 1, 1, 70>,
                               Size<Vsmx_whole_16x2x8, 16, 2, 8, 40>, Size<Vsmx_whole_32x6x16, 32, 6, 16, 33>,
                               Size<Vsmx_whole_64x2x64, 64, 2, 64, 40>, Size<Vsmx_whole_64x6x64, 64, 6, 64, 40>>;
struct SizeNames {
  template <typename SizeOf>
  static std::string GetName(int) {
    const SmxShape shape = SizeOf::kShape;
    return "Lanes" + std::to_string(shape.lanes) + "Groups" + std::to_string(shape.groups) + "Softmax" +
           std::to_string(shape.softmax_lanes);
  }
};
TYPED_TEST_SUITE(Smx, Sizes, SizeNames);

TYPED_TEST(Smx, PositionsAtBordersGiveRequestsAndResultsInTheirCycles) {
  this->with_seeds([this](auto& bench) {
    for (const int segments : this->segment_counts())
      for (const int position : {0, 1, 30, 31, 32, 33, 63, 64, 65, 95, 96, 100, 128, 191, 192, this->kLast})
        for (const int extra : {0, 3}) {
          SCOPED_TRACE(std::to_string(segments) + " segments, position " + std::to_string(position));
          bench.model.token(position, Scores{});
          bench.add(bench.draw(segments, kFirstIssue + extra, extra));
          bench.run();
          if (this->HasFailure()) return;
        }
  });
}

TYPED_TEST(Smx, HeadsOfOneInstructionInTwoGridWordsTakeTheirOwnBytes) {
  const int segments = this->segment_counts().back(), lanes = this->kShape.lanes;
  this->with_seeds([&](auto& bench) {
    for (int slot = 0; slot < 512; ++slot) {
      const int first = slot * segments % lanes;
      // Across a word's border where the segments don't divide the lanes, else up to it and from it on.
      if (first + segments < lanes && first != 0) continue;
      if (slot > 3 * lanes && slot < 500) continue;
      bench.model.token(40, Scores{});
      SmxRun run = bench.draw(segments, kFirstIssue, 0);
      run.fields.slot = static_cast<std::uint32_t>(slot);
      bench.add(run);
      bench.run();
      if (this->HasFailure()) return;
    }
  });
}

TYPED_TEST(Smx, InstructionsWithoutGapsDontTouchEachOther) {
  this->with_seeds([this](auto& bench) {
    for (int token = 0; token < 12; ++token) {
      const std::int64_t base = static_cast<std::int64_t>(bench.model.random.between(-120, 120)) << 16;
      const int limit = token % 3 == 0 ? 40 : 300;
      bench.model.token(bench.model.random.between(0, std::min(this->kLast, limit)), Scores{base, 30 << 16, false});
      this->add_many(bench, 10);
      bench.run();
      if (this->HasFailure()) return;
    }
  });
}

TYPED_TEST(Smx, TheLongestContextOfTheCardFitsTheCounters) {
  SmxBench<typename TypeParam::Module> bench(this->kShape, kFixedSeed);
  bench.model.token(65535, Scores{});
  bench.add(bench.draw(this->segment_counts().back(), kFirstIssue, 0));
  bench.run();
}

TYPED_TEST(Smx, SaturatedScoresStayReportedUntilTheNextToken) {
  bool any = false, none = false;
  this->with_seeds([&](auto& bench) {
    for (int token = 0; token < 12; ++token) {
      bench.model.token(bench.model.random.between(0, 70), Scores{0, 20 << 16, token % 3 != 2});
      this->add_many(bench, 2);
      any = any || bench.model.first_saturation < SmxModel::kNever;
      none = none || bench.model.first_saturation == SmxModel::kNever;
      bench.run();
      if (this->HasFailure()) return;
    }
  });
  EXPECT_TRUE(any && none);
}

TYPED_TEST(Smx, ResetInTheMiddleLeavesNothingBehind) {
  this->with_seeds([this](auto& bench) {
    for (const Cycle cut : {1, 4, 7, 9, 15, 22, 30, 40, 55}) {
      bench.model.token(100, Scores{0, 20 << 16, true});
      this->add_many(bench, 3);
      bench.run(cut);
      bench.reset();
      bench.model.token(40, Scores{});
      this->add_many(bench, 2);
      bench.run();
      if (this->HasFailure()) return;
    }
  });
}

TYPED_TEST(Smx, AnInstructionThatBeginsInsideAnotherIsAnErrorThreeCyclesBeforeItsIssue) {
  for (const Cycle early : {1, 2}) {
    SmxBench<typename TypeParam::Module> bench(this->kShape, kFixedSeed);
    bench.model.token(100, Scores{});
    const SmxRun first = bench.draw(this->segment_counts().back(), kFirstIssue, 1);
    const Cycle issue = bench.model.last_entry(first) + 1 - early;
    bench.add_unexpected(first);
    bench.add_unexpected(bench.draw(1, issue, 0));
    const std::pair<int, Cycle> found = bench.first_error(issue + 5);
    EXPECT_EQ(found.first, static_cast<int>(contract::CardError::kBusy));
    EXPECT_EQ(found.second, issue - 3);
  }
}

/// Contexts of one block more than a multiple of a segment's banks: bank 1 gets a zero block when the next
/// instruction's blocks 0 and 1 come.
TEST(SmxTwoBlocksACycle, ZeroBlocksThatMeetTheNextInstructionsAreAPortError) {
  for (const auto& [segments, position] : {std::pair{1, 200}, std::pair{2, 100}, std::pair{3, 70}})
    for (const Cycle gap : {0, 1}) {
      SCOPED_TRACE(std::to_string(segments) + " segments, gap " + std::to_string(gap));
      SmxBench<Vsmx_whole_64x6x64> bench(SmxShape{64, 6, 64, 40}, kFixedSeed);
      bench.model.token(position, Scores{});
      const SmxRun first = bench.draw(segments, kFirstIssue, 0);
      const SmxRun second = bench.draw(segments, bench.model.last_entry(first) + 1 + gap, 0);
      bench.add(first);
      EXPECT_EQ(bench.model.collides(second), gap == 0);
      bench.add(second);
      EXPECT_EQ(bench.model.errors.size(), gap == 0 ? 1 : 0);
      bench.run();
    }
}

}  // namespace
}  // namespace cosim
}  // namespace lpu
