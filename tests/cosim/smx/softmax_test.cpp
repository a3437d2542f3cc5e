// The softmax unit against hls/engine, bits and cycles, at four sizes: fewer lanes than a block (with one segment and
// with several growing side by side), a whole block and two blocks a cycle.
#include "Vsmx_16x2x8.h"
#include "Vsmx_4x2x2.h"
#include "Vsmx_64x6x64.h"
#include "Vsmx_8x1x1.h"
#include "hls/contract/hardware_config.hpp"
#include "tests/cosim/smx/softmax_bench.hpp"

namespace lpu {
namespace cosim {
namespace {

template <typename Module, int LanesOf, int SegmentsOf, int SoftmaxLanesOf>
struct Size {
  static constexpr int kLanes = LanesOf, kSegments = SegmentsOf, kSoftmaxLanes = SoftmaxLanesOf;
  using Bench = SoftmaxBench<Module, LanesOf, SegmentsOf, SoftmaxLanesOf>;
};

template <typename SizeOf>
class Softmax : public ::testing::Test {
 protected:
  /// Scores a cycle with so many segments: contract::softmax_rate().
  static int rate(int segments) {
    return SizeOf::kSoftmaxLanes > 32 && SizeOf::kSegments / segments < 2 ? 32 : SizeOf::kSoftmaxLanes;
  }
  static std::vector<int> segment_counts() {
    std::vector<int> counts;
    for (int s = 1; s <= SizeOf::kSegments; ++s)
      if (SizeOf::kSegments % s == 0) counts.push_back(s);
    return counts;
  }
  template <typename Work>
  void with_seeds(Work work) {
    for (const std::uint64_t seed : {kFixedSeed, fresh_seed()}) {
      SCOPED_TRACE("OPENLPU_SEED=" + std::to_string(seed));
      typename SizeOf::Bench bench(seed);
      work(bench);
      if (this->HasFailure()) return;
    }
  }
};

using Sizes = ::testing::Types<Size<Vsmx_4x2x2, 4, 2, 2>, Size<Vsmx_8x1x1, 8, 1, 1>, Size<Vsmx_16x2x8, 16, 2, 8>,
                               Size<Vsmx_64x6x64, 64, 6, 64>>;
struct SizeNames {
  template <typename SizeOf>
  static std::string GetName(int) {
    return "Lanes" + std::to_string(SizeOf::kLanes) + "Segments" + std::to_string(SizeOf::kSegments) + "Softmax" +
           std::to_string(SizeOf::kSoftmaxLanes);
  }
};
TYPED_TEST_SUITE(Softmax, Sizes, SizeNames);

TYPED_TEST(Softmax, PositionsAtBlockBordersGiveBlocksRowAndInverseInTheirCycles) {
  this->with_seeds([this](auto& bench) {
    for (const int segments : this->segment_counts())
      for (const int position : {0, 1, 30, 31, 32, 33, 62, 63, 64, 65, 95, 96, 127, 128, 200, 700})
        for (const int extra : {0, 3}) {
          bench.softmax(segments, position, this->rate(segments), extra, Scores{0, 0, 0, 20 << 16, false, 16});
          bench.run();
        }
  });
}

TYPED_TEST(Softmax, ScoresOfEverySpreadAndSlopeKeepTheDenominatorExact) {
  constexpr std::int64_t kOne = 1 << 16;
  this->with_seeds([this](auto& bench) {
    for (const std::int64_t spread : {std::int64_t{0}, std::int64_t{3}, kOne, 40 * kOne, 300 * kOne, 20000 * kOne})
      for (const std::int64_t step : {std::int64_t{0}, kOne, -kOne, 31 * kOne, 32 * kOne, 33 * kOne, -31 * kOne,
                                      -32 * kOne, -33 * kOne, 1000 * kOne})
        for (const int value_bits : {0, 16}) {
          // Slopes inside a block and steps between blocks: N grows by less, exactly and more than the window.
          const Scores scores{-50 * kOne, step == 0 ? kOne / 8 : 0, step, spread, false, value_bits};
          const int segments = this->segment_counts().back();
          bench.softmax(segments, bench.random().between(96, 400), this->rate(segments), 0, scores);
          bench.run();
        }
  });
}

TYPED_TEST(Softmax, SumsThatSaturateAreReported) {
  this->with_seeds([this](auto& bench) {
    for (int i = 0; i < 60; ++i) {
      const int segments = this->segment_counts()[static_cast<std::size_t>(i) % this->segment_counts().size()];
      bench.softmax(segments, bench.random().between(0, 140), this->rate(segments), 0, Scores{0, 0, 0, 1, true, 16});
      bench.run();
    }
    EXPECT_TRUE(bench.any_saturated());
  });
}

TYPED_TEST(Softmax, ScoresAtTheEndsOfFixedPointRoundAndSaturate) {
  constexpr std::int64_t kEnd = std::int64_t{1} << 32;  // 2t of 2^31
  for (const std::int64_t half : {kEnd - 3, kEnd - 2, kEnd - 1, kEnd, kEnd + 1, -kEnd + 1, -kEnd, -kEnd - 1, -kEnd - 2,
                                  std::int64_t{1}, std::int64_t{3}, std::int64_t{-1}, std::int64_t{-3}}) {
    this->with_seeds([this, half](auto& bench) {
      Scores scores;
      scores.halves = {half};
      bench.softmax(1, 0, this->rate(1), 0, scores);
      bench.run();
    });
  }
}

TYPED_TEST(Softmax, ScoreAtItsBlocksWindowsEndDecidesATieOfTheDenominator) {
  // The first two scores sum to a tie of the conversion; the third, exactly 31 below the first, lifts it over, 32 below
  // it doesn't count. In units of 2t: 2^17 is one.
  constexpr std::int64_t kOne = std::int64_t{1} << 17;
  for (const std::int64_t depth : {30, 31, 32}) {
    this->with_seeds([this, depth](auto& bench) {
      Scores scores;
      scores.halves.assign(32, -2000 * kOne);
      scores.halves[0] = 5 * kOne;
      scores.halves[1] = (5 - 24) * kOne;
      scores.halves[2] = (5 - depth) * kOne;
      bench.softmax(1, 31, this->rate(1), 0, scores);
      bench.run();
    });
  }
}

TYPED_TEST(Softmax, BlockAtTheWindowsEndDecidesATieOfTheDenominator) {
  // Block 0 sums to a tie of the conversion; block 1, exactly 31 below it, lifts it over, 32 below it doesn't count;
  // block 2 comes later and must not empty block 1's bucket. In units of 2t: 2^17 is one.
  constexpr std::int64_t kOne = std::int64_t{1} << 17;
  for (const std::int64_t depth : {30, 31, 32}) {
    this->with_seeds([this, depth](auto& bench) {
      Scores scores;
      scores.halves.assign(96, -2000 * kOne);
      scores.halves[0] = 5 * kOne;
      scores.halves[1] = (5 - 24) * kOne;
      scores.halves[32] = (5 - depth) * kOne;
      scores.halves[64] = (5 - 45) * kOne;
      bench.softmax(1, 95, this->rate(1), 0, scores);
      bench.run();
    });
  }
}

TYPED_TEST(Softmax, InstructionsWithoutGapsDontTouchEachOther) {
  this->with_seeds([this](auto& bench) {
    for (int script = 0; script < 10; ++script) {
      for (int i = 0; i < 12; ++i) {
        const std::vector<int> counts = this->segment_counts();
        const int segments =
            counts[static_cast<std::size_t>(bench.random().between(0, static_cast<int>(counts.size()) - 1))];
        const std::int64_t base = static_cast<std::int64_t>(bench.random().between(-120, 120)) << 16;
        bench.softmax(segments, bench.random().between(0, 140), this->rate(segments), bench.random().between(0, 2),
                      Scores{base, 0, 0, 30 << 16, false, 16});
      }
      bench.run();
    }
  });
}

TYPED_TEST(Softmax, ResetInTheMiddleOfARowLeavesNothingBehind) {
  this->with_seeds([this](auto& bench) {
    const int segments = this->segment_counts().back();
    for (const Cycle cut : {1, 5, 12, 20, 30}) {
      bench.softmax(segments, 100, this->rate(segments), 0, Scores());
      bench.run_cut(cut);
      bench.softmax(segments, 40, this->rate(segments), 0, Scores());
      bench.run();
    }
  });
}

}  // namespace
}  // namespace cosim
}  // namespace lpu
