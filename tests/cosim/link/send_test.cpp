// The send unit alone: its beats are the wire format's, bit for bit, in their cycles, whatever the stream does; what
// the vector unit mustn't do stops it with a named error and without a trailer.
#include <algorithm>

#include "tests/cosim/link/link_bench.hpp"

namespace lpu {
namespace cosim {
namespace {

template <typename Size>
class LinkSend : public ::testing::Test {
 protected:
  /// The beats of the next cycles, stopping after `quiet` cycles without one.
  std::vector<Beat> drain(int quiet = 100) {
    std::vector<Beat> beats;
    for (int silent = 0; silent < quiet; ++silent)
      if (auto beat = unit_.step(true)) {
        beats.push_back(*beat);
        silent = 0;
      }
    return beats;
  }
  void expect_stopped_without_trailer(LinkError error) {
    const std::vector<Beat> beats = drain();
    EXPECT_EQ(unit_.error(), error);
    EXPECT_TRUE(std::none_of(beats.begin(), beats.end(), [](const Beat& beat) { return beat.last; }));
    unit_.offer(vector_, 0);
    EXPECT_TRUE(drain().empty());
    EXPECT_EQ(unit_.error(), error);
  }

  Random random_{kFixedSeed};
  Vector vector_ = random_vector(random_, 3);
  SendBench<Size> unit_;
};
TYPED_TEST_SUITE(LinkSend, LinkSizes, LinkSizeNames);

TYPED_TEST(LinkSend, BeatsOfVectorComeInTheirCyclesWithoutGaps) {
  for (const int blocks : {1, 2, 5, 16}) {
    SCOPED_TRACE(blocks);
    SendBench<TypeParam> unit;
    const Vector vector = random_vector(this->random_, blocks);
    const std::vector<Beat> wanted = encode(vector, 0, TypeParam::kStreamBits);
    ASSERT_EQ(static_cast<int>(wanted.size()), contract::link_vector_beats(TypeParam::kStreamBits, blocks));
    const int start = unit.cycle();
    for (int cycle = 0; cycle < static_cast<int>(wanted.size()) + 20; ++cycle) {
      if (cycle < blocks) unit.offer(vector, cycle);
      const auto beat = unit.step(true);
      const int place = cycle - contract::kLinkSendCycles;
      ASSERT_EQ(beat.has_value(), place >= 0 && place < static_cast<int>(wanted.size())) << "cycle " << cycle - start;
      if (beat) {
        EXPECT_TRUE(*beat == wanted[static_cast<std::size_t>(place)]) << "beat " << place;
      }
    }
    EXPECT_EQ(unit.error(), LinkError::kNone);
  }
}

TYPED_TEST(LinkSend, LaterBlockIsOnTheStreamAsSoonAfterItCameAsTheFirst) {
  const int apart = TypeParam::kBlockBeats + 10;
  const std::vector<Beat> wanted = encode(this->vector_, 0, TypeParam::kStreamBits);
  std::vector<int> cycles;  // of each beat
  for (int cycle = 0; cycle < 4 * apart; ++cycle) {
    if (cycle % apart == 0 && cycle / apart < 3) this->unit_.offer(this->vector_, cycle / apart);
    if (this->unit_.step(true)) cycles.push_back(cycle);
  }
  ASSERT_EQ(cycles.size(), wanted.size());
  for (int block = 1; block < 3; ++block)
    EXPECT_EQ(cycles[static_cast<std::size_t>(TypeParam::kHeaderBeats + block * TypeParam::kBlockBeats)],
              block * apart + contract::kLinkSendCycles + 1);
}

TYPED_TEST(LinkSend, StalledStreamChangesNoBeatAndVectorsFollowAtOnce) {
  for (const std::uint64_t seed : {kFixedSeed, fresh_seed()}) {
    SCOPED_TRACE(seed);
    for (const int stall_one_in : {0, 2, 5}) {
      Random random(seed);
      SendBench<TypeParam> unit;
      std::vector<Beat> wanted, got;
      std::vector<int> blocks_out, vectors_out;  // [beats that are out]: blocks and vectors with a beat among them
      std::deque<Vector> waiting;
      int blocks = 0, vectors = 0;
      for (; vectors < 40; ++vectors) {
        waiting.push_back(random_vector(random, random.between(1, 9)));
        const auto beats = encode(waiting.back(), vectors, TypeParam::kStreamBits);
        wanted.insert(wanted.end(), beats.begin(), beats.end());
        for (int beat = 0; beat < static_cast<int>(beats.size()); ++beat) {
          const int data = std::max(0, beat - TypeParam::kHeaderBeats);
          blocks_out.push_back(blocks + std::min(data / TypeParam::kBlockBeats, waiting.back().length()));
          vectors_out.push_back(vectors);
        }
        blocks += waiting.back().length();
      }
      int place = 0, blocks_in = 0, vectors_in = 0, first = -1, last = 0;
      while (got.size() < wanted.size() && unit.cycle() < 100000) {
        if (!waiting.empty() && blocks_in - blocks_out[got.size()] < kQueuedBlocks &&
            (place != 0 || vectors_in - vectors_out[got.size()] < kQueuedVectors)) {
          unit.offer(waiting.front(), place);
          ++blocks_in;
          vectors_in += place == 0 ? 1 : 0;
          if (++place == waiting.front().length()) {
            waiting.pop_front();
            place = 0;
          }
        }
        const int cycle = unit.cycle();
        if (auto beat = unit.step(stall_one_in == 0 || !random.one_in(stall_one_in))) {
          got.push_back(*beat);
          if (first < 0) first = cycle;
          last = cycle;
        }
      }
      EXPECT_EQ(unit.error(), LinkError::kNone);
      EXPECT_TRUE(got == wanted);
      if (stall_one_in == 0) {
        EXPECT_EQ(last - first + 1, static_cast<int>(wanted.size())) << "vectors aren't back to back";
      }
    }
  }
}

TYPED_TEST(LinkSend, BlockOutOfPlaceIsFormat) {
  const Block& block = this->vector_.blocks[0];
  const struct {
    const char* what;
    std::vector<std::array<int, 3>> offers;  // first, last, blocks
  } cases[] = {{"no first", {{0, 0, 3}}},
               {"first twice", {{1, 0, 3}, {1, 0, 3}}},
               {"last too early", {{1, 0, 3}, {0, 1, 3}}},
               {"last too late", {{1, 0, 2}, {0, 0, 2}}},
               {"no blocks", {{1, 1, 0}}},
               {"too many blocks", {{1, 0, contract::kMaxLinkBlocks + 1}}}};
  for (const auto& test : cases) {
    SCOPED_TRACE(test.what);
    this->unit_.reset();
    for (const auto& offer : test.offers) {
      EXPECT_EQ(this->unit_.error(), LinkError::kNone);
      this->unit_.offer(block, offer[0] != 0, offer[1] != 0, 5, offer[2]);
      this->unit_.step(true);
    }
    EXPECT_EQ(this->unit_.error(), LinkError::kFormat);
    this->expect_stopped_without_trailer(LinkError::kFormat);
  }
}

TYPED_TEST(LinkSend, MoreBlocksThanTheQueueHoldsIsOverflow) {
  const Vector vector = random_vector(this->random_, 40);
  // One block has left the queue, to be cut into beats.
  for (int i = 0; i < kQueuedBlocks + 1; ++i) {
    this->unit_.offer(vector, i);
    this->unit_.step(false);
    EXPECT_EQ(this->unit_.error(), LinkError::kNone) << i;
  }
  this->unit_.offer(vector, kQueuedBlocks + 1);
  this->unit_.step(false);
  EXPECT_EQ(this->unit_.error(), LinkError::kOverflow);
  this->expect_stopped_without_trailer(LinkError::kOverflow);
}

TYPED_TEST(LinkSend, MoreVectorsThanHaveRoomForTheirHeadersIsOverflow) {
  const Vector vector = random_vector(this->random_, 1);
  for (int i = 0; i < kQueuedVectors; ++i) {
    this->unit_.offer(vector, 0);
    this->unit_.step(false);
    EXPECT_EQ(this->unit_.error(), LinkError::kNone) << i;
  }
  this->unit_.offer(vector, 0);
  this->unit_.step(false);
  EXPECT_EQ(this->unit_.error(), LinkError::kOverflow);
  this->expect_stopped_without_trailer(LinkError::kOverflow);
}

}  // namespace
}  // namespace cosim
}  // namespace lpu
