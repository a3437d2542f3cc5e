// What lpu_mvu must do, cycle by cycle, recomputed from docs/isa.md ("MVU: matvec") with the engine's functions: its
// memories as plain arrays, each burst as the list of its beats, each sum with the cycle from which it can be read.
// It shares no code with hls/golden (which has no cycles inside a burst) and none with the RTL.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "hls/contract/instructions.hpp"
#include "hls/contract/latencies.hpp"
#include "hls/engine/align.hpp"
#include "tests/cosim/mvu/mvu_values.hpp"

namespace lpu {
namespace cosim {

struct MvuShape {
  int lanes, groups, vector_lanes, softmax_lanes, lane_words, minimum_words, entries, blocks;
};

/// One matvec as it is handed over.
struct Burst {
  contract::MatvecFields fields;
  std::uint32_t iteration = 0;
  int context_blocks = 1;
  int issue = 0;  ///< t
  int row_groups = 1, column_sets = 1;

  int beats() const { return row_groups * column_sets * static_cast<int>(fields.nibbles); }
  std::uint32_t weights() const { return (fields.weight_address + fields.weight_stride * iteration) & 0xffffffu; }
  std::uint32_t minimums() const { return (fields.minimum_address + fields.minimum_stride * iteration) & 0xffffffu; }
  std::uint32_t exponents() const { return (fields.exponent_address + fields.exponent_stride * iteration) & 0xffffffu; }
};

struct Beat {
  int r = 0, c = 0, n = 0;
};
inline Beat beat_of(const Burst& burst, int k) {
  const int nibbles = static_cast<int>(burst.fields.nibbles), block = k / nibbles;
  Beat beat;
  beat.n = k % nibbles;
  beat.r = burst.fields.row_major != 0 ? block / burst.column_sets : block % burst.row_groups;
  beat.c = burst.fields.row_major != 0 ? block % burst.column_sets : block / burst.row_groups;
  return beat;
}

struct Sum {
  bool known = false;
  std::vector<engine::Int128> lanes;  ///< [lanes]
  bool has_scales = false;
  std::vector<std::uint16_t> scales;  ///< [lanes]
};

class MvuModel {
 public:
  explicit MvuModel(const MvuShape& shape)
      : shape_(shape),
        words(index(shape.lane_words, 0, 0)),
        minimums(index(shape.minimum_words, 0, 0)),
        blocks(static_cast<std::size_t>(shape.groups * shape.blocks)),
        sums_(static_cast<std::size_t>(shape.entries * shape.groups)) {}

  std::size_t index(int address, int group, int lane) const {
    return static_cast<std::size_t>((address * shape_.groups + group) * shape_.lanes + lane);
  }
  Block& block(int bank, int address) { return blocks[static_cast<std::size_t>(bank * shape_.blocks + address)]; }
  const Sum& sum(int entry, int segment) const {
    return sums_[static_cast<std::size_t>(entry * shape_.groups + segment)];
  }
  int word_address(const Burst& burst, const Beat& beat) const {
    return static_cast<int>(burst.weights()) + beat.r * static_cast<int>(burst.fields.row_group_words) +
           beat.c * static_cast<int>(burst.fields.column_set_words) + beat.n;
  }

  /// Beat k of a burst, in its own cycle: reads the memories as they are now, plans the sum's change.
  void beat(const Burst& burst, int k, const std::vector<std::int32_t>& round_exponents) {
    const contract::MatvecFields& f = burst.fields;
    const Beat beat = beat_of(burst, k);
    const int address = word_address(burst, beat), nibbles = static_cast<int>(f.nibbles);
    const std::size_t array = index(1, 0, 0);
    if (beat.n == 0) planes_.assign(array * engine::kMaxNibbles, Word());
    for (std::size_t i = 0; i < array; ++i)
      planes_[i * engine::kMaxNibbles + static_cast<std::size_t>(beat.n)] = words[index(address, 0, 0) + i];
    if (beat.n == 0 && f.has_minimum != 0) {
      const int minimum = static_cast<int>(burst.minimums()) +
                          beat.r * (static_cast<int>(f.row_group_words) / nibbles) +
                          beat.c * (static_cast<int>(f.column_set_words) / nibbles);
      const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(index(minimum, 0, 0));
      held_minimums_.assign(minimums.begin() + first, minimums.begin() + first + static_cast<std::ptrdiff_t>(array));
    }
    if (f.start != 0 && f.adds_residual != 0 && beat.c == 0 && beat.n == 0) read_residual(burst, beat.r);
    if (beat.n == nibbles - 1) end_block(burst, beat, burst.issue + k, round_exponents);
  }

  /// Makes what becomes readable in this cycle readable.
  void readable(int cycle) {
    while (!changes_.empty() && changes_.front().cycle <= cycle) {
      const Change& change = changes_.front();
      const int segments = static_cast<int>(change.terms.size()) / shape_.lanes;
      for (int segment = 0; segment < segments; ++segment) {
        Sum& sum = sums_[static_cast<std::size_t>(change.entry * shape_.groups + segment)];
        if (change.starts) sum.lanes.assign(static_cast<std::size_t>(shape_.lanes), 0);
        sum.known = true;
        for (int lane = 0; lane < shape_.lanes; ++lane)
          sum.lanes[static_cast<std::size_t>(lane)] +=
              change.terms[static_cast<std::size_t>(segment * shape_.lanes + lane)];
        if (change.scales.empty()) continue;
        const auto from = change.scales.begin() + segment * shape_.lanes;
        sum.scales.assign(from, from + shape_.lanes);
        sum.has_scales = true;
      }
      changes_.pop_front();
    }
  }

  /// A reset: sums on their way never come, those that are there mean nothing any more.
  void forget() {
    changes_.clear();
    for (Sum& sum : sums_) sum = Sum();
  }

  std::uint64_t saturations = 0;

 private:
  const MvuShape shape_;

 public:
  std::vector<Word> words;                          ///< [lane_words][groups][lanes]
  std::vector<std::uint16_t> minimums;              ///< [minimum_words][groups][lanes]
  std::vector<Block> blocks;                        ///< [groups][blocks]
  std::map<std::uint32_t, std::uint32_t> residual;  ///< binary32 by value's index
  std::map<std::uint32_t, std::int8_t> exponents;   ///< by word · lanes + lane

 private:
  struct Change {
    int cycle;
    int entry;
    bool starts;
    std::vector<engine::Int128> terms;  ///< [segments][lanes]
    std::vector<std::uint16_t> scales;  ///< [segments][lanes], or empty
  };

  void read_residual(const Burst& burst, int r) {
    engine::Status status;
    const std::uint32_t lanes = static_cast<std::uint32_t>(shape_.lanes);
    aligned_.clear();
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      const std::uint32_t row = burst.fields.residual_row + static_cast<std::uint32_t>(r) * lanes + lane;
      const std::uint32_t word = burst.exponents() + static_cast<std::uint32_t>(r);
      aligned_.push_back(engine::align(engine::float_from_bits(residual[row]),
                                       engine::sum_exponent(exponents[word * lanes + lane]), status));
    }
    saturations += status.saturations;
  }

  void end_block(const Burst& burst, const Beat& beat, int cycle, const std::vector<std::int32_t>& round_exponents) {
    const contract::MatvecFields& f = burst.fields;
    const int segments = static_cast<int>(f.segments), part = shape_.groups / segments;
    Format format;
    format.nibbles = static_cast<int>(f.nibbles);
    format.signed_code = f.signed_code != 0;
    format.signed_scale = f.signed_scale != 0;
    format.has_minimum = f.has_minimum != 0;
    format.unit_scale = f.unit_scale != 0;
    format.relative = f.relative_exponents != 0;
    Change change{cycle + contract::kMatvecCycles,
                  (static_cast<int>(f.accumulator) + beat.r) % shape_.entries,
                  f.start != 0 && beat.c == 0,
                  std::vector<engine::Int128>(static_cast<std::size_t>(segments * shape_.lanes)),
                  {}};
    const bool keeps = f.keeps_value_scale != 0 && beat.c == 0;
    if (keeps) change.scales.resize(change.terms.size());
    for (int group = 0; group < shape_.groups; ++group) {
      const int segment = group / part;
      Block view = block(group, static_cast<int>(f.activation_address) + beat.c);
      if (!format.relative) view.exponent &= 31;
      for (int lane = 0; lane < shape_.lanes; ++lane) {
        const std::size_t at = index(0, group, lane), sum = static_cast<std::size_t>(segment * shape_.lanes + lane);
        const Word* planes = planes_.data() + at * engine::kMaxNibbles;
        const std::uint16_t minimum = format.has_minimum ? held_minimums_[at] : std::uint16_t{0};
        change.terms[sum] +=
            shifted_term(format, planes, minimum, view, round_exponents[static_cast<std::size_t>(segment)]);
        if (keeps && group % part == 0) change.scales[sum] = planes[1].side;
      }
    }
    if (change.starts && f.adds_residual != 0)
      for (std::size_t lane = 0; lane < aligned_.size(); ++lane) change.terms[lane] += aligned_[lane];
    changes_.push_back(change);
  }

  std::vector<Sum> sums_;                     ///< [entries][groups]
  std::vector<Word> planes_;                  ///< [groups][lanes][kMaxNibbles]: the block at work
  std::vector<std::uint16_t> held_minimums_;  ///< [groups][lanes]
  std::vector<engine::Int128> aligned_;       ///< [lanes]
  std::deque<Change> changes_;
};

}  // namespace cosim
}  // namespace lpu
