// What lpu_smx must show in every cycle, from instructions and accumulators: docs/isa.md's rules as hls/golden's
// scoreboard writes them down, numbers by hls/engine/softmax.hpp. Relies on hls/contract and random_numbers.hpp.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "hls/contract/hardware_config.hpp"
#include "hls/contract/instructions.hpp"
#include "hls/contract/latencies.hpp"
#include "hls/contract/memory_map.hpp"
#include "hls/engine/softmax.hpp"
#include "tests/cosim/random_numbers.hpp"

namespace lpu {
namespace cosim {

using Cycle = std::int64_t;
using engine::Int128;

struct SmxShape {
  int lanes, groups, softmax_lanes, entries;
};

/// How scores are drawn: t (16 fraction bits) around base, `spread` to both sides, at one grid exponent or a near one.
struct Scores {
  std::int64_t base = 0, spread = 20 << 16;
  bool wild = false;  ///< any sum at any grid exponent: saturations, shifts beyond the width
};

/// A run of one instruction. Numbers of instructions.hpp's fields, and the loop's iteration.
struct SmxRun {
  Cycle issue;  ///< from the token's start
  contract::SoftmaxFields fields;
  std::uint32_t iteration;
};

struct BlockOut {
  std::uint32_t address;
  std::int32_t exponent;
  std::int16_t mantissas[contract::kBlockValues];
};
struct ScoreRequest {
  int segment, entry, slice;
};
struct RoundOut {
  std::uint32_t round;
  std::vector<std::int32_t> exponents, differences;  ///< [segments]
  std::vector<std::uint32_t> inverses;               ///< [segments] binary32
};

class SmxModel {
 public:
  SmxModel(const SmxShape& shape, std::uint64_t seed) : random(seed), shape_(shape) {
    config_.lanes = shape.lanes;
    config_.column_groups = shape.groups;
    config_.softmax_lanes = shape.softmax_lanes;
    const std::size_t count = static_cast<std::size_t>(shape.entries * shape.groups * shape.lanes);
    sums_.resize(count);
    scales_.resize(count);
  }

  /// A new token: nothing is expected any more, accumulators and grids are drawn anew.
  void token(int position, const Scores& scores) {
    position_ = position;
    wild_ = scores.wild;
    grids_.clear();
    grid_requests.clear();
    score_requests.clear();
    blocks.clear();
    rounds.clear();
    inverses.clear();
    errors.clear();
    first_saturation = kNever;
    end_ = 0;
    near_grid_ = random.between(-40, 8);
    const int noise_bits = 12 - near_grid_;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const std::int64_t t =
          scores.base +
          (scores.spread == 0 ? 0 : static_cast<std::int64_t>(random.bits(40)) % (2 * scores.spread) - scores.spread);
      sums_[i] = wild_ ? random.sum(88)
                       : engine::shift_left(static_cast<Int128>(t), noise_bits) +
                             static_cast<Int128>(random.one_in(4) ? 0 : random.bits(noise_bits));
      scales_[i] = static_cast<std::uint16_t>(std::max<std::uint64_t>(1, random.bits(random.between(0, 16))));
    }
  }

  int rate(int segments) const { return contract::softmax_rate(config_, segments); }
  int segment_cycles(int segments) const { return shape_.lanes / rate(segments); }
  int context_blocks() const { return position_ / 32 + 1; }
  int row_groups() const { return (32 * context_blocks() + shape_.lanes - 1) / shape_.lanes; }
  Cycle last_entry(const SmxRun& run) const {
    const int segments = static_cast<int>(run.fields.segments);
    return run.issue + Cycle{row_groups() - 1} * run.fields.pitch_cycles + segments * segment_cycles(segments) - 1;
  }
  /// Whether a bank would be given two blocks in a cycle.
  bool collides(const SmxRun& run) const {
    bool meets = false;
    for_blocks(run, [&](int, int, int bank, std::uint32_t, Cycle shown) {
      const auto found = blocks.find(shown);
      meets = meets || (found != blocks.end() && found->second.count(bank) != 0);
    });
    return meets;
  }

  /// Expects all that the run makes. Where a bank is given two blocks, the later run's is shown, and an error follows.
  void expect(const SmxRun& run) {
    const contract::SoftmaxFields& f = run.fields;
    const int segments = static_cast<int>(f.segments), cycles = segment_cycles(segments);
    for (int r = 0; r < row_groups(); ++r)
      for (int j = 0; j < segments; ++j)
        for (int k = 0; k < cycles; ++k) {
          const Cycle cycle = run.issue + Cycle{r} * f.pitch_cycles + j * cycles + k;
          grid_requests[cycle - 3] = grid_word(run, j);
          score_requests[cycle - 2] = {j, entry_of(run, r), k * rate(segments) / shape_.softmax_lanes};
        }
    RoundOut round{f.round, {}, {}, {}};
    std::vector<std::vector<engine::SoftmaxBlock>> made;
    for (int j = 0; j < segments; ++j) {
      made.push_back(row(run, j));
      const engine::SoftmaxRow result = engine::combine(made.back().data(), context_blocks());
      engine::Status status;
      round.exponents.push_back(result.exponent);
      round.differences.push_back(result.exponent - result.whole);
      round.inverses.push_back(engine::bits_from_float(engine::softmax_inverse(result, status)));
    }
    for_blocks(run, [&](int j, int b, int bank, std::uint32_t address, Cycle shown) {
      BlockOut out{address, -65536, {}};
      if (b < context_blocks()) {
        const engine::SoftmaxBlock& block = made[static_cast<std::size_t>(j)][static_cast<std::size_t>(b)];
        out.exponent = block.exponent;
        std::copy(block.mantissas, block.mantissas + contract::kBlockValues, out.mantissas);
      }
      if (!blocks[shown].emplace(bank, out).second) {
        blocks[shown][bank] = out;
        errors[shown + 1] = static_cast<int>(contract::CardError::kPort);
      }
    });
    const Cycle last = last_entry(run);
    rounds[last + contract::kSoftmaxRowCycles - contract::kWriteCycles] = round;
    inverses[last + contract::kReciprocalCycles] = round;
    end_ = std::max(end_, last + contract::kReciprocalCycles + 1);
  }

  int grid_byte(std::uint32_t address, int lane) {
    std::vector<int>& word = grids_[address];
    while (static_cast<int>(word.size()) < shape_.lanes)
      word.push_back(wild_ ? random.between(-128, 127) : near_grid_ + random.between(-2, 2));
    return word[static_cast<std::size_t>(lane)];
  }
  Int128 sum(int entry, int segment, int lane) const { return sums_[at(entry, segment, lane)]; }
  std::uint16_t scale(int entry, int segment, int lane) const { return scales_[at(entry, segment, lane)]; }
  Cycle end() const { return end_; }
  int position() const { return position_; }

  static constexpr Cycle kNever = Cycle{1} << 60;
  Random random;
  // What comes in which cycle.
  std::map<Cycle, std::uint32_t> grid_requests;  ///< address
  std::map<Cycle, ScoreRequest> score_requests;
  std::map<Cycle, std::map<int, BlockOut>> blocks;  ///< by bank
  std::map<Cycle, RoundOut> rounds, inverses;
  std::map<Cycle, int> errors;
  Cycle first_saturation = kNever;  ///< entry of the first score that saturates

 private:
  std::size_t at(int entry, int segment, int lane) const {
    return static_cast<std::size_t>((entry * shape_.groups + segment) * shape_.lanes + lane);
  }
  int entry_of(const SmxRun& run, int row_group) const {
    return (static_cast<int>(run.fields.accumulator) + row_group) % shape_.entries;
  }
  std::uint32_t head(const SmxRun& run, int j) const {
    return run.fields.slot * run.fields.segments + static_cast<std::uint32_t>(j);
  }
  std::uint32_t grid_word(const SmxRun& run, int j) const {
    const std::uint32_t lanes = static_cast<std::uint32_t>(shape_.lanes);
    return (run.fields.grid_address + run.iteration * run.fields.grid_stride + head(run, j) / lanes) & 0xffffffu;
  }
  Cycle entry_cycle(const SmxRun& run, int j, int position) const {
    const int segments = static_cast<int>(run.fields.segments);
    return run.issue + j * segment_cycles(segments) + Cycle{position / shape_.lanes} * run.fields.pitch_cycles +
           position % shape_.lanes / rate(segments);
  }
  /// visit(segment, block, bank, address, cycle in which it is shown), zero blocks too.
  template <typename Visit>
  void for_blocks(const SmxRun& run, Visit visit) const {
    const contract::SoftmaxFields& f = run.fields;
    const int segments = static_cast<int>(f.segments), part = shape_.groups / segments;
    const int padded = (context_blocks() + part - 1) / part * part;
    for (int j = 0; j < segments; ++j)
      for (int b = 0; b < padded; ++b) {
        const Cycle ready = b < context_blocks() ? entry_cycle(run, j, 32 * b + 31) + contract::kSoftmaxBlockCycles
                                                 : last_entry(run) + contract::kSoftmaxRowCycles;
        visit(j, b, j * part + b % part, f.destination + static_cast<std::uint32_t>(b / part),
              ready - contract::kWriteCycles);
      }
  }
  /// The blocks of a segment's row.
  std::vector<engine::SoftmaxBlock> row(const SmxRun& run, int j) {
    const int exponent =
        engine::sum_exponent(grid_byte(grid_word(run, j), static_cast<int>(head(run, j)) % shape_.lanes));
    std::vector<engine::SoftmaxBlock> made;
    for (int b = 0; b < context_blocks(); ++b) {
      engine::Weight weights[contract::kBlockValues];
      const int unmasked = std::min(32, position_ + 1 - 32 * b);
      for (int i = 0; i < unmasked; ++i) {
        const int position = 32 * b + i, entry = entry_of(run, position / shape_.lanes);
        const int lane = position % shape_.lanes;
        engine::Status status;
        weights[i] = engine::softmax_weight(engine::score_to_fixed(sum(entry, j, lane), exponent, status),
                                            scale(entry, j, lane));
        if (status.saturations != 0) first_saturation = std::min(first_saturation, entry_cycle(run, j, position));
      }
      made.push_back(engine::softmax_block(weights, unmasked));
    }
    return made;
  }

  SmxShape shape_;
  contract::HardwareConfig config_{};
  int position_ = 0, near_grid_ = 0;
  bool wild_ = false;
  Cycle end_ = 0;
  std::vector<Int128> sums_;                         ///< [entries][groups][lanes]
  std::vector<std::uint16_t> scales_;                ///< [entries][groups][lanes]
  std::map<std::uint32_t, std::vector<int>> grids_;  ///< [word][lanes], drawn when asked for
};

}  // namespace cosim
}  // namespace lpu
