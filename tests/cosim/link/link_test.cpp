// Both units with a wire between them: what is sent is received, bit for bit, at any length, under stalls, and while
// the two cards' clocks drift apart over a token.
#include "tests/cosim/link/wire.hpp"

namespace lpu {
namespace cosim {
namespace {

template <typename Size>
class Link : public ::testing::Test {
 protected:
  /// The schedule's pace: a bit slower than the stream, so that a stalled stream catches up.
  static constexpr int kPace = Size::kBlockBeats + Size::kBlockBeats / 4 + 2;

  /// Both units at once, each with its own clock, whose periods are a millionth part longer than nominal by so many.
  /// Returns the receiver's error; `vectors` are all there without one.
  LinkError run(const std::vector<Vector>& vectors, int pace_cycles, int sender_ppm, int receiver_ppm, int stall_one_in,
                std::uint64_t seed) {
    constexpr std::int64_t kPeriod = 1'000'000, kLatency = 50 * kPeriod;
    Random random(seed);
    SendBench<Size> sender;
    ReceiveBench<Size> receiver;
    Schedule<Size> schedule(vectors, pace_cycles, 0, 1 << 20);
    std::deque<std::pair<std::int64_t, Beat>> wire;  // when it arrives, and what
    std::size_t sent = 0;
    int place = 0, next = 0;
    std::int64_t sender_time = 0, receiver_time = 0;
    while (!schedule.done() && receiver.error() == LinkError::kNone && receiver_time < 3'000'000 * kPeriod) {
      if (sender_time <= receiver_time) {
        if (sent < vectors.size() && sender.cycle() >= next) {
          sender.offer(vectors[sent], place);
          next = sender.cycle() + pace_cycles;
          if (++place == vectors[sent].length()) {
            ++sent;
            place = 0;
            next += 4 * kMarginCycles;
          }
        }
        if (auto beat = sender.step(stall_one_in == 0 || !random.one_in(stall_one_in)))
          wire.emplace_back(sender_time + kLatency, *beat);
        sender_time += kPeriod + sender_ppm;
      } else {
        schedule.act(receiver);
        if (!wire.empty() && wire.front().first <= receiver_time) {
          receiver.beat(wire.front().second);
          wire.pop_front();
        }
        receiver.step();
        receiver_time += kPeriod + receiver_ppm;
      }
    }
    schedule.act(receiver);  // the last block
    EXPECT_EQ(sender.error(), LinkError::kNone);
    if (receiver.error() == LinkError::kNone) schedule.expect_all();
    return receiver.error();
  }
  std::vector<Vector> vectors(Random& random, int count, int longest) {
    std::vector<Vector> made;
    for (int i = 0; i < count; ++i) made.push_back(random_vector(random, random.between(1, longest)));
    return made;
  }
};
TYPED_TEST_SUITE(Link, LinkSizes, LinkSizeNames);

TYPED_TEST(Link, FirstBlockCanBeTakenAfterTheSumOfTheLatencies) {
  Random random(kFixedSeed);
  const Vector vector = random_vector(random, 1);
  SendBench<TypeParam> sender;
  ReceiveBench<TypeParam> receiver;
  receiver.expect(vector);
  sender.offer(vector, 0);
  const int start = receiver.cycle();
  while (!receiver.ready() && receiver.cycle() < start + 1000) {
    if (auto beat = sender.step(true)) receiver.beat(*beat);
    receiver.step();
  }
  EXPECT_EQ(receiver.cycle() - start, contract::kLinkSendCycles + TypeParam::kHeaderBeats + TypeParam::kBlockBeats - 1 +
                                          contract::kLinkReceiveCycles + kMarginCycles);
}

TYPED_TEST(Link, RandomVectorsUnderStallsComeBitForBit) {
  for (const std::uint64_t seed : {kFixedSeed, fresh_seed()})
    for (const int stall_one_in : {0, 20, 9}) {
      SCOPED_TRACE(std::to_string(seed) + ", " + std::to_string(stall_one_in));
      Random random(seed);
      EXPECT_EQ(this->run(this->vectors(random, 40, 12), this->kPace, 0, 0, stall_one_in, seed), LinkError::kNone);
    }
}

TYPED_TEST(Link, LongestVectorAndOneBlockComeBitForBit) {
  Random random(kFixedSeed);
  const std::vector<Vector> vectors = {random_vector(random, 1), random_vector(random, contract::kMaxLinkBlocks),
                                       random_vector(random, 1)};
  EXPECT_EQ(this->run(vectors, this->kPace, 0, 0, 20, kFixedSeed), LinkError::kNone);
  EXPECT_EQ(this->run(vectors, TypeParam::kBlockBeats, 0, 0, 0, kFixedSeed), LinkError::kNone);
}

TYPED_TEST(Link, ClocksAHundredMillionthsOffOverATokenAreAbsorbed) {
  Random random(kFixedSeed);
  // A token of 20,000 cycles: one vector whose blocks come all along it, at each cards' own pace.
  const int pace = std::max(20, this->kPace);
  const std::vector<Vector> vectors = {random_vector(random, 20'000 / pace), random_vector(random, 20'000 / pace)};
  for (const int sender : {-100, 0, 100})
    for (const int receiver : {-100, 0, 100}) {
      SCOPED_TRACE(std::to_string(sender) + ", " + std::to_string(receiver));
      EXPECT_EQ(this->run(vectors, pace, sender, receiver, 0, kFixedSeed), LinkError::kNone);
    }
}

TYPED_TEST(Link, ClocksFurtherOffThanTheMarginAreLate) {
  Random random(kFixedSeed);
  const int pace = std::max(20, this->kPace);
  const std::vector<Vector> vectors = {random_vector(random, 20'000 / pace)};
  EXPECT_EQ(this->run(vectors, pace, 1000, -1000, 0, kFixedSeed), LinkError::kLate);
}

}  // namespace
}  // namespace cosim
}  // namespace lpu
