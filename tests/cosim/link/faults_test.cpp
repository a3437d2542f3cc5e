// Harm done to the wire: five kinds of faults, 200 cases each, at every width. Each is found, by a name that fits, in
// time, and no vector that the fault touched or that came behind it is ever called right.
#include <set>

#include "tests/cosim/link/wire.hpp"

namespace lpu {
namespace cosim {
namespace {

constexpr int kCases = 200;

/// One fault: what was done, which names fit, and how many vectors may be checked before it is found.
struct Fault {
  std::string what;
  std::set<LinkError> fits;
  int may_be_checked;
};

template <typename Size>
class LinkFaults : public ::testing::Test {
 protected:
  static constexpr int kPace = Size::kBlockBeats + Size::kBlockBeats / 4 + 4;
  /// Longer than any vector with the gap behind it: the one behind a lost vector is there before.
  static constexpr int kDeadline = 200 + 20 * kPace;
  static constexpr bool kTwoBeatHeader = Size::kHeaderBeats == 2;

  /// `spoil` harms the beats of vector `target`, which are [first, last] in the list.
  template <typename Spoil>
  void campaign(std::uint64_t salt, Spoil&& spoil) {
    for (const std::uint64_t seed : {kFixedSeed, fresh_seed()})
      for (int i = 0; i < kCases; ++i) {
        Random random((seed + salt) * 1000 + static_cast<std::uint64_t>(i));
        std::vector<Vector> vectors;
        for (int v = random.between(1, 5); v > 0; --v) vectors.push_back(random_vector(random, random.between(1, 10)));
        std::vector<Flight> flights = send_all<Size>(vectors, kPace, 3 * kMarginCycles, random);
        const int target = random.between(0, static_cast<int>(vectors.size()) - 1);
        const auto is_target = [&](const Flight& flight) { return flight.vector == target; };
        const auto first = std::find_if(flights.begin(), flights.end(), is_target);
        const int from = static_cast<int>(first - flights.begin());
        const int to =
            from + contract::link_vector_beats(Size::kStreamBits, vectors[static_cast<std::size_t>(target)].length()) -
            1;
        const bool is_last = target + 1 == static_cast<int>(vectors.size());
        const int latest = flights[static_cast<std::size_t>(to)].cycle;
        const Fault fault = spoil(random, flights, from, to, target, is_last);
        SCOPED_TRACE("seed " + std::to_string(seed) + ", case " + std::to_string(i) + ", vector " +
                     std::to_string(target) + ": " + fault.what);
        // In time: within the deadline of the vector behind, and the way that its own blocks take.
        const int limit = latest + 2 * kDeadline + 12 * kPace + kTrailerCycles;
        const Outcome run = play<Size>(flights, vectors, kPace, 0, kDeadline, limit);
        EXPECT_TRUE(fault.fits.count(run.error) != 0) << "error " << static_cast<int>(run.error);
        EXPECT_LE(static_cast<int>(run.checked.size()), fault.may_be_checked);
        for (std::size_t v = 0; v < run.checked.size(); ++v) {
          EXPECT_EQ(run.checked[v], static_cast<int>(v));
          // Of a vector that is called right every block that was given is; all of them, if it was taken to its end.
          const std::vector<Block>& blocks = vectors[v].blocks;
          const std::vector<Block>& taken = run.taken[v];
          ASSERT_LE(taken.size(), blocks.size());
          EXPECT_TRUE(std::equal(taken.begin(), taken.end(), blocks.begin()))
              << "a wrong vector was called right: " << v;
        }
        if (this->HasFailure()) return;
      }
  }
  static void remove(std::vector<Flight>& flights, int from, int to) {
    flights.erase(flights.begin() + from, flights.begin() + to + 1);
  }
  /// Behind the beats themselves, as a link would send them once more.
  static void repeat(std::vector<Flight>& flights, int from, int to) {
    const std::vector<Flight> again(flights.begin() + from, flights.begin() + to + 1);
    flights.insert(flights.begin() + to + 1, again.begin(), again.end());
  }
  static void delay(std::vector<Flight>& flights, int from, int cycles) {
    for (std::size_t i = static_cast<std::size_t>(from); i < flights.size(); ++i) flights[i].cycle += cycles;
  }
};
TYPED_TEST_SUITE(LinkFaults, LinkSizes, LinkSizeNames);

TYPED_TEST(LinkFaults, WithoutFaultEveryVectorIsCheckedUnderTheSameStalls) {
  for (int i = 0; i < kCases; ++i) {
    SCOPED_TRACE(i);
    Random random(static_cast<std::uint64_t>(i));
    std::vector<Vector> vectors;
    for (int v = 0; v < 4; ++v) vectors.push_back(random_vector(random, random.between(1, 10)));
    const auto flights = send_all<TypeParam>(vectors, this->kPace, 3 * kMarginCycles, random);
    const auto run = play<TypeParam>(flights, vectors, this->kPace, 0, this->kDeadline, 100'000);
    ASSERT_EQ(run.error, LinkError::kNone);
    ASSERT_EQ(run.checked.size(), vectors.size());
    for (std::size_t v = 0; v < vectors.size(); ++v) ASSERT_TRUE(run.taken[v] == vectors[v].blocks);
  }
}

TYPED_TEST(LinkFaults, LostBeatOrVectorIsFound) {
  this->campaign(1, [&](Random& random, auto& flights, int from, int to, int target, bool is_last) -> Fault {
    if (random.one_in(2)) {
      this->remove(flights, from, to);
      return {"vector lost", {is_last ? LinkError::kLate : LinkError::kSequence}, target};
    }
    const int place = random.one_in(3) ? (random.one_in(2) ? from : to) : random.between(from, to);
    this->remove(flights, place, place);
    Fault fault{"beat " + std::to_string(place - from) + " lost", {LinkError::kFormat}, target};
    // The block that misses a beat, and those behind it, may be missed before the end of the vector tells why.
    if (place != from && place != to) fault.fits.insert(LinkError::kLate);
    if (place == to) fault.fits = {is_last ? LinkError::kLate : LinkError::kFormat, LinkError::kLate};
    if (this->kTwoBeatHeader && place == from + 1) fault.fits.insert(LinkError::kCorrupt);  // half a header
    return fault;
  });
}

TYPED_TEST(LinkFaults, RepeatedBeatOrVectorIsFound) {
  this->campaign(2, [&](Random& random, auto& flights, int from, int to, int target, bool) -> Fault {
    if (random.one_in(2)) {
      this->repeat(flights, from, to);
      return {"vector twice", {LinkError::kSequence}, target + 1};
    }
    const int place = random.one_in(3) ? (random.one_in(2) ? from : to) : random.between(from, to);
    this->repeat(flights, place, place);
    Fault fault{
        "beat " + std::to_string(place - from) + " twice", {LinkError::kFormat}, place == to ? target + 1 : target};
    if (this->kTwoBeatHeader && place == from) fault.fits = {LinkError::kCorrupt};
    return fault;
  });
}

TYPED_TEST(LinkFaults, LateVectorIsFound) {
  this->campaign(3, [&](Random& random, auto& flights, int from, int to, int target, bool) -> Fault {
    const int place = random.one_in(2) ? from : random.between(from, to);
    // The first block's delay counts against the vector's deadline, a later one's against the margin, a trailer's
    // against TrailerCycles behind the last take.
    const int first_block = from + TypeParam::kHeaderBeats + TypeParam::kBlockBeats - 1;
    const int cycles = place <= first_block ? this->kDeadline
                       : place < to         ? kMarginCycles + 2 * this->kPace
                                            : kMarginCycles + kTrailerCycles + 2 * this->kPace;
    this->delay(flights, place, cycles + random.between(0, 200));
    return {"beats from " + std::to_string(place - from) + " on late", {LinkError::kLate}, target};
  });
}

TYPED_TEST(LinkFaults, FlippedBitsAreFound) {
  this->campaign(4, [&](Random& random, auto& flights, int from, int to, int target, bool) -> Fault {
    const int place = random.one_in(3) ? (random.one_in(2) ? from : to) : random.between(from, to);
    auto& words = flights[static_cast<std::size_t>(place)].beat.words;
    const int flips = random.one_in(2) ? 1 : random.between(2, 32);
    const int width = static_cast<int>(words.size()) * 32;
    const bool burst = random.one_in(2);
    const int start = random.between(0, width - 1);
    std::set<int> bits;
    while (static_cast<int>(bits.size()) < flips)
      bits.insert(burst ? (start + static_cast<int>(bits.size())) % width : random.between(0, width - 1));
    for (const int bit : bits) words[static_cast<std::size_t>(bit / 32)] ^= 1u << bit % 32;
    Fault fault{std::to_string(flips) + " bits of beat " + std::to_string(place - from), {LinkError::kCorrupt}, target};
    // Several flips in a header can look like another one, or like none.
    if (flips > 1 && place < from + TypeParam::kHeaderBeats)
      fault.fits = {LinkError::kCorrupt, LinkError::kFormat, LinkError::kSequence};
    return fault;
  });
}

TYPED_TEST(LinkFaults, CutVectorOrMisplacedTlastIsFound) {
  this->campaign(5, [&](Random& random, auto& flights, int from, int to, int target, bool) -> Fault {
    const int place = random.between(from, to);
    auto& beat = flights[static_cast<std::size_t>(place)].beat;
    if (place < to && random.one_in(2)) {
      beat.last = true;
      this->remove(flights, place + 1, to);
      return {"cut off behind beat " + std::to_string(place - from), {LinkError::kFormat}, target};
    }
    beat.last = !beat.last;
    return {"tlast of beat " + std::to_string(place - from), {LinkError::kFormat}, target};
  });
}

}  // namespace
}  // namespace cosim
}  // namespace lpu
