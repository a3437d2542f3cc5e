// lpu_mvu_sum against exact integers: blocks of every segment count, on few entries, back to back and apart, starting
// at zero, at the residual, or added; both readers in every cycle, so that each sum shows in exactly its cycle.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <vector>

#include "Vmvu_sum_32.h"
#include "Vmvu_sum_4.h"
#include "hls/contract/hardware_config.hpp"
#include "tests/cosim/mvu/mvu_values.hpp"
#include "tests/cosim/wires.hpp"

namespace lpu {
namespace cosim {
namespace {

constexpr int kReadableCycles = 20 - 14;  ///< the beat's record comes in stage 14
constexpr int kReadCycles = 2;
constexpr int kTermHighBits = 35, kSumBits = 88;

struct Shape {
  int lanes, groups, entries, vector_lanes, softmax_lanes;
};

using Sums = std::vector<engine::Int128>;  ///< [segments][lanes]

struct Change {
  int cycle;  ///< first cycle in which it can be read
  int entry;
  Sums sums;
  std::vector<std::uint16_t> scales;  ///< [segments][lanes], or empty: not kept
  bool starts;
};

struct Entry {
  Sums sums;
  std::vector<std::uint16_t> scales;
};

struct Request {
  bool valid = false;
  int segment = 0, entry = 0, slice = 0;
};

template <typename Module>
class Bench {
 public:
  Bench(const Shape& shape, std::uint64_t seed) : shape_(shape), random_(seed) {
    module_.rst_ni = 0;
    module_.beat_i = 0;
    module_.vector_read_i = 0;
    module_.softmax_read_i = 0;
    for (int i = 0; i < 8; ++i) tick(module_);
    module_.rst_ni = 1;
    for (int count = 1; count <= shape.groups; ++count)
      if (contract::may_have_segments(shape.groups, static_cast<std::uint64_t>(count))) segments_.push_back(count);
  }

  void run(int cycles) {
    for (; cycle_ < cycles && !::testing::Test::HasFatalFailure(); ++cycle_) step();
  }

 private:
  std::size_t at(int first, int lane) const { return static_cast<std::size_t>(first * shape_.lanes + lane); }

  void step() {
    module_.beat_i = 0;
    if (pending_.empty() ? random_() % 4 != 0 : random_() % 3 == 0) block();
    drive_later_stages();
    requests_.push_back(request(module_.vector_read_i, module_.vector_entry_i, module_.vector_slice_i,
                                shape_.lanes / shape_.vector_lanes));
    requests_.push_back(request(module_.softmax_read_i, module_.softmax_entry_i, module_.softmax_slice_i,
                                shape_.lanes / shape_.softmax_lanes));
    tick(module_);
    apply(cycle_ + 1);
    if (cycle_ + 1 < kReadCycles) return;
    check(requests_.front(), module_.vector_sums_o, shape_.vector_lanes, false);
    requests_.pop_front();
    check(requests_.front(), module_.softmax_sums_o, shape_.softmax_lanes, true);
    requests_.pop_front();
  }

  /// A block's end in stage 14 of this cycle.
  void block() {
    const int count = segments_[random_() % segments_.size()], part = shape_.groups / count;
    // Few entries, often the one just used: every distance between two sums of one entry.
    const int entry = random_() % 2 != 0 ? last_entry_ : pick(random_, 0, shape_.entries - 1);
    last_entry_ = entry;
    const bool starts = !entries_known_.count({entry, count}) || random_() % 4 == 0;
    const bool residual = starts && count == 1 && random_() % 2 != 0;
    Change change{cycle_ + kReadableCycles, entry, Sums(at(count, 0)), {}, starts};
    std::vector<std::uint64_t> lows(at(shape_.groups, 0));
    std::vector<std::int64_t> highs(at(shape_.groups, 0));
    for (int group = 0; group < shape_.groups; ++group)
      for (int lane = 0; lane < shape_.lanes; ++lane) {
        const engine::Int128 term = random_term();
        lows[at(group, lane)] = low_half(term);
        highs[at(group, lane)] = high_half(term);
        change.sums[at(group / part, lane)] += term;
      }
    Sums aligned(at(1, 0));
    for (engine::Int128& value : aligned) value = random_term() * (1 << 7);
    if (residual)
      for (int lane = 0; lane < shape_.lanes; ++lane) change.sums[at(0, lane)] += aligned[at(0, lane)];
    const bool keeps = starts || random_() % 3 == 0;
    if (keeps)
      for (std::size_t i = 0; i < at(count, 0); ++i) change.scales.push_back(static_cast<std::uint16_t>(random_()));
    std::uint64_t beat = 0;
    put_field(&beat, kBeatValid, 1);
    put_field(&beat, kBeatLastNibble, random_() % 8 != 0);
    put_field(&beat, kBeatSegments, static_cast<std::uint64_t>(count));
    put_field(&beat, kBeatEntry, static_cast<std::uint64_t>(entry));
    put_field(&beat, kBeatStarts, starts);
    put_field(&beat, kBeatAddsResidual, residual);
    put_field(&beat, kBeatKeepsValueScale, keeps);
    module_.beat_i = beat;
    if ((beat >> kBeatLastNibble.lsb & 1) == 0) return;  // inside a block: nothing happens
    if (starts)                                          // an entry belongs to one count of segments at a time
      for (const int other : segments_) entries_known_.erase({entry, other});
    entries_known_.insert({{entry, count}, true});
    terms_.push_back({cycle_ + 1, lows, highs});
    aligned_.push_back({cycle_ + 3, aligned});
    scales_.push_back({cycle_ + 5, change.scales});
    pending_.push_back(change);
  }
  engine::Int128 random_term() {
    const int kind = pick(random_, 0, 4);
    const engine::Int128 one = 1;
    if (kind == 0) return (one << 78) - 1;
    if (kind == 1) return -(one << 78);
    if (kind == 2) return pick(random_, -2, 2);
    return ((static_cast<engine::Int128>(static_cast<std::int64_t>(random_())) << 15) >> pick(random_, 0, 60)) +
           pick(random_, -1, 1);
  }

  void drive_later_stages() {
    if (!terms_.empty() && terms_.front().cycle == cycle_) {
      for (std::size_t i = 0; i < terms_.front().lows.size(); ++i) {
        put(module_.lows_i, static_cast<int>(i) * kLowBits, kLowBits, terms_.front().lows[i]);
        put(module_.highs_i, static_cast<int>(i) * kTermHighBits, kTermHighBits,
            static_cast<std::uint64_t>(terms_.front().highs[i]));
      }
      terms_.pop_front();
    }
    if (!aligned_.empty() && aligned_.front().cycle == cycle_) {
      for (std::size_t lane = 0; lane < aligned_.front().values.size(); ++lane) {
        put(module_.aligned_low_i, static_cast<int>(lane) * kLowBits, kLowBits,
            low_half(aligned_.front().values[lane]));
        put(module_.aligned_high_i, static_cast<int>(lane) * kLowBits, kLowBits,
            static_cast<std::uint64_t>(high_half(aligned_.front().values[lane])));
      }
      aligned_.pop_front();
    }
    if (!scales_.empty() && scales_.front().cycle == cycle_) {
      for (std::size_t i = 0; i < scales_.front().values.size(); ++i)
        put(module_.value_scales_i, static_cast<int>(i) * 16, 16, scales_.front().values[i]);
      scales_.pop_front();
    }
  }

  template <typename Read, typename EntryPort, typename Slice>
  Request request(Read& read, EntryPort& entry, Slice& slice, int slices) {
    Request made;
    made.valid = random_() % 8 != 0;
    made.segment = random_() % 2 != 0 ? 0 : pick(random_, 0, segments_.back() - 1);
    made.entry = random_() % 4 != 0 ? last_entry_ : pick(random_, 0, shape_.entries - 1);
    made.slice = pick(random_, 0, slices - 1);
    put(read, 0, shape_.groups, made.valid ? std::uint64_t{1} << made.segment : 0);
    put(entry, 0, 4, static_cast<std::uint64_t>(made.entry));
    put(slice, 0, 8, static_cast<std::uint64_t>(made.slice));
    return made;
  }

  void apply(int cycle) {
    if (pending_.empty() || pending_.front().cycle != cycle) return;
    const Change& change = pending_.front();
    Entry& entry = entries_[change.entry];
    if (change.starts) entry.sums.assign(change.sums.size(), 0);
    for (std::size_t i = 0; i < change.sums.size(); ++i) entry.sums[i] += change.sums[i];
    if (!change.scales.empty()) entry.scales = change.scales;
    pending_.pop_front();
  }

  template <typename Port>
  void check(const Request& made, const Port& port, int read_lanes, bool with_scales) {
    const Entry* entry = nullptr;
    if (made.valid) {
      const auto found = entries_.find(made.entry);
      if (found == entries_.end() || found->second.sums.size() <= at(made.segment, 0)) return;  // never written
      entry = &found->second;
    }
    for (int lane = 0; lane < read_lanes; ++lane) {
      const std::size_t index = at(made.segment, made.slice * read_lanes + lane);
      const engine::Int128 sum = entry != nullptr ? entry->sums[index] : 0;
      ASSERT_EQ(get(port, lane * kSumBits, kLowBits), low_half(sum)) << "cycle " << cycle_ + 1 << " lane " << lane;
      ASSERT_EQ(get(port, lane * kSumBits + kLowBits, kLowBits), low_half(sum >> kLowBits)) << "cycle " << cycle_ + 1;
      if (with_scales) {
        const std::uint16_t scale = entry != nullptr ? entry->scales[index] : std::uint16_t{0};
        ASSERT_EQ(get(module_.softmax_scales_o, lane * 16, 16), scale) << "cycle " << cycle_ + 1;
      }
    }
    ++compared_;
  }

  struct Terms {
    int cycle;
    std::vector<std::uint64_t> lows;
    std::vector<std::int64_t> highs;
  };
  struct Aligned {
    int cycle;
    Sums values;
  };
  struct Scales {
    int cycle;
    std::vector<std::uint16_t> values;
  };

  Module module_;
  Shape shape_;
  Generator random_;
  int cycle_ = 0, last_entry_ = 0, compared_ = 0;
  std::vector<int> segments_;
  std::map<std::pair<int, int>, bool> entries_known_;  ///< (entry, segments) that have a sum to add to
  std::map<int, Entry> entries_;
  std::deque<Change> pending_;
  std::deque<Terms> terms_;
  std::deque<Aligned> aligned_;
  std::deque<Scales> scales_;
  std::deque<Request> requests_;

 public:
  int compared() const { return compared_; }
};

template <typename Module>
void run(const Shape& shape, int cycles) {
  for (const std::uint64_t seed : seeds()) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Bench<Module> bench(shape, seed);
    bench.run(cycles);
    EXPECT_GT(bench.compared(), cycles);
  }
}

TEST(MvuSum, TwoGroupsOfFourLanesShowEachSumInItsCycle) { run<Vmvu_sum_4>({4, 2, 16, 2, 2}, 8000); }
TEST(MvuSum, SixGroupsOfThirtyTwoLanesShowEachSumInItsCycle) { run<Vmvu_sum_32>({32, 6, 11, 8, 16}, 1200); }

}  // namespace
}  // namespace cosim
}  // namespace lpu
