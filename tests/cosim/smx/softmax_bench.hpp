// Rows of scores through a Verilated lpu_softmax: entries in the order and cycles of docs/isa.md ("SMX: softmax"),
// every port compared in every cycle with what hls/engine/softmax.hpp makes of the same scores. Relies on wires.hpp,
// random_numbers.hpp; latencies are hls/contract/latencies.hpp's (a block and a row: less the write).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "hls/contract/latencies.hpp"
#include "hls/engine/softmax.hpp"
#include "tests/cosim/random_numbers.hpp"
#include "tests/cosim/wires.hpp"

namespace lpu {
namespace cosim {

using Cycle = std::uint64_t;
using engine::Int128;

/// How scores are drawn: t (16 fraction bits) = base + slope·position + noise.
struct Scores {
  std::int64_t base = 0, slope = 0, block_step = 0, spread = 1 << 16;
  bool wild = false;                      ///< any sum at any grid exponent: saturations, shifts beyond the width
  int value_scale_bits = 16;              ///< s_V below 2^this; 0: always 1
  std::vector<std::int64_t> halves = {};  ///< if given: 2t of each position, exactly
};

template <typename Module, int Lanes, int Segments, int SoftmaxLanes>
class SoftmaxBench {
 public:
  static constexpr int kBlocks = SoftmaxLanes > 32 ? SoftmaxLanes / 32 : 1;

  explicit SoftmaxBench(std::uint64_t seed) : random_(seed) { reset(); }

  Random& random() { return random_; }
  void reset() {
    module_.entry_valid_i = 0;
    module_.rst_ni = 0;
    tick(module_);
    module_.rst_ni = 1;
  }

  /// One instruction, from the next free cycle on. rate: scores a cycle; extra: cycles more than the least pitch.
  void softmax(int segments, int position, int rate, int extra, const Scores& scores) {
    const int blocks = position / 32 + 1, row_groups = (32 * blocks + Lanes - 1) / Lanes;
    const int segment_cycles = Lanes / rate, pitch = segments * segment_cycles + extra;
    Row expected;
    Cycle last = 0;
    for (int j = 0; j < segments; ++j) {
      const Drawn drawn = draw(row_groups * Lanes, scores);
      for (int r = 0; r < row_groups; ++r) {
        for (int k = 0; k < segment_cycles; ++k) {
          const Cycle cycle = now_ + static_cast<Cycle>(r * pitch + j * segment_cycles + k);
          const int first = r * Lanes + k * rate;
          Entry entry{drawn.grid, {}, {}, 0, 0, j, first % 32 / rate, false, false, false, false};
          for (int i = 0; i < rate; ++i) {
            entry.sums.push_back(drawn.sums[static_cast<std::size_t>(first + i)]);
            entry.value_scales.push_back(drawn.value_scales[static_cast<std::size_t>(first + i)]);
            if (first + i <= position) entry.unmasked |= std::uint64_t{1} << i;
          }
          for (int b = 0; b < std::max(1, rate / 32); ++b)
            if (first / 32 + b < blocks) entry.blocks |= 1u << b;
          entry.block_end = (first + rate) % 32 == 0;
          entry.starts = first < 32;
          entry.row_end = r == row_groups - 1 && k == segment_cycles - 1;
          entry.end = entry.row_end && j == segments - 1;
          entries_[cycle] = entry;
          last = std::max(last, cycle);
        }
      }
      expect_row(j, blocks, position, rate, pitch, drawn, expected);
    }
    rows_[last + contract::kSoftmaxRowCycles - contract::kWriteCycles] = expected;
    inverses_[last + contract::kReciprocalCycles] = expected;
    now_ = last + 1;
  }

  /// Runs everything; compares the report of saturations too.
  void run() {
    bool saturated = false;
    for (Cycle cycle = 0; cycle < now_ + 60 && !::testing::Test::HasFailure(); ++cycle) {
      drive(cycle);
      module_.eval();
      check(cycle);
      tick(module_);
      saturated = saturated || module_.saturated_o != 0;
    }
    EXPECT_EQ(saturated, status_.saturations != 0);
    any_saturated_ = any_saturated_ || saturated;
    forget();
  }
  /// Half of an instruction, then nothing: what reset has to clean up.
  void run_cut(Cycle cycles) {
    for (Cycle cycle = 0; cycle < cycles; ++cycle) {
      drive(cycle);
      tick(module_);
    }
    forget();
    reset();
  }
  bool any_saturated() const { return any_saturated_; }

 private:
  struct Entry {
    int grid;
    std::vector<Int128> sums;
    std::vector<std::uint16_t> value_scales;
    std::uint64_t unmasked;
    unsigned blocks;
    int segment, slot;
    bool block_end, starts, row_end, end;
  };
  struct Drawn {
    int grid;
    std::vector<Int128> sums;                 ///< [positions]
    std::vector<std::uint16_t> value_scales;  ///< [positions]
  };
  struct BlockOut {
    int segment;
    engine::SoftmaxBlock block;
  };
  struct Row {
    std::vector<int> exponents, differences;  ///< [segments]
    std::vector<float> inverses;              ///< [segments]
  };

  void forget() {
    entries_.clear();
    blocks_.clear();
    rows_.clear();
    inverses_.clear();
    status_ = engine::Status();
    now_ = 1;
  }

  Drawn draw(int positions, const Scores& scores) {
    Drawn drawn{scores.wild ? random_.between(-128, 127) : random_.between(-40, 11), {}, {}};
    for (int p = 0; p < positions; ++p) {
      const int noise_bits = 12 - drawn.grid;
      Int128 sum = random_.sum(88);
      if (static_cast<std::size_t>(p) < scores.halves.size()) {
        sum = engine::shift_left(static_cast<Int128>(scores.halves[static_cast<std::size_t>(p)]), noise_bits - 1);
      } else if (!scores.wild) {
        const std::int64_t t =
            scores.base + scores.slope * p + scores.block_step * (p / 32) +
            (scores.spread == 0 ? 0
                                : static_cast<std::int64_t>(random_.bits(40)) % (2 * scores.spread) - scores.spread);
        sum = engine::shift_left(static_cast<Int128>(t), noise_bits);
        if (!random_.one_in(4))
          sum += static_cast<Int128>(random_.bits(noise_bits));  // else exact; ties come by the bits
      }
      drawn.sums.push_back(sum);
      const std::uint64_t scale = random_.bits(random_.between(0, scores.value_scale_bits));
      drawn.value_scales.push_back(static_cast<std::uint16_t>(std::max<std::uint64_t>(1, scale)));
    }
    return drawn;
  }

  void expect_row(int j, int blocks, int position, int rate, int pitch, const Drawn& drawn, Row& row) {
    const int segment_cycles = Lanes / rate;
    std::vector<engine::SoftmaxBlock> made;
    for (int b = 0; b < blocks; ++b) {
      engine::Weight weights[32];
      const int unmasked = std::min(32, position + 1 - 32 * b);
      for (int i = 0; i < unmasked; ++i) {
        const std::size_t at = static_cast<std::size_t>(32 * b + i);
        const std::int32_t t = engine::score_to_fixed(drawn.sums[at], engine::sum_exponent(drawn.grid), status_);
        weights[i] = engine::softmax_weight(t, drawn.value_scales[at]);
      }
      made.push_back(engine::softmax_block(weights, unmasked));
      const int end = 32 * b + 31;
      const Cycle enters = now_ + static_cast<Cycle>(end / Lanes * pitch + j * segment_cycles + end % Lanes / rate);
      blocks_[{enters + contract::kSoftmaxBlockCycles - contract::kWriteCycles, rate > 32 ? b % kBlocks : 0}] = {
          j, made.back()};
    }
    const engine::SoftmaxRow result = engine::combine(made.data(), blocks);
    row.exponents.push_back(result.exponent);
    row.differences.push_back(result.exponent - result.whole);
    row.inverses.push_back(engine::softmax_inverse(result, status_));
  }

  void drive(Cycle cycle) {
    const auto found = entries_.find(cycle);
    module_.entry_valid_i = found != entries_.end();
    if (found == entries_.end()) return;  // the other ports keep what must not be taken again
    const Entry& entry = found->second;
    module_.entry_blocks_i = static_cast<unsigned char>(entry.blocks);
    module_.entry_segment_i = static_cast<unsigned char>(entry.segment);
    module_.entry_slot_i = static_cast<unsigned char>(entry.slot);
    module_.entry_block_end_i = entry.block_end;
    module_.entry_starts_i = entry.starts;
    module_.entry_row_end_i = entry.row_end;
    module_.entry_end_i = entry.end;
    module_.entry_grid_i = static_cast<unsigned char>(entry.grid & 0xff);
    put(module_.unmasked_i, 0, SoftmaxLanes, entry.unmasked);
    for (std::size_t i = 0; i < entry.sums.size(); ++i) {
      const int lane = static_cast<int>(i);
      put(module_.sum_i, 88 * lane, 64, static_cast<std::uint64_t>(entry.sums[i]));
      put(module_.sum_i, 88 * lane + 64, 24, static_cast<std::uint64_t>(entry.sums[i] >> 64));
      put(module_.value_scale_i, 16 * lane, 16, entry.value_scales[i]);
    }
  }

  void check(Cycle cycle) {
    for (int half = 0; half < kBlocks; ++half) {
      const auto found = blocks_.find({cycle, half});
      ASSERT_EQ(get(module_.block_valid_o, half, 1), found != blocks_.end()) << "block, cycle " << cycle;
      if (found == blocks_.end()) continue;
      const BlockOut& want = found->second;
      ASSERT_EQ(module_.block_segment_o, want.segment) << "cycle " << cycle;
      ASSERT_EQ(get_signed(module_.block_exponent_o, 17 * half, 17), want.block.exponent) << "cycle " << cycle;
      for (int j = 0; j < 32; ++j)
        ASSERT_EQ(get_signed(module_.mantissas_o, 320 * half + 10 * j, 10), want.block.mantissas[j])
            << "position " << j << ", cycle " << cycle;
    }
    const auto row = rows_.find(cycle);
    ASSERT_EQ(module_.row_valid_o, row != rows_.end()) << "row, cycle " << cycle;
    for (std::size_t j = 0; row != rows_.end() && j < row->second.exponents.size(); ++j) {
      const int segment = static_cast<int>(j);
      ASSERT_EQ(get_signed(module_.exponent_o, 17 * segment, 17), row->second.exponents[j]) << "cycle " << cycle;
      ASSERT_EQ(get(module_.difference_o, 6 * segment, 6), static_cast<std::uint64_t>(row->second.differences[j]))
          << "cycle " << cycle;
    }
    const auto inverse = inverses_.find(cycle);
    ASSERT_EQ(module_.inverse_valid_o, inverse != inverses_.end()) << "1/z, cycle " << cycle;
    for (std::size_t j = 0; inverse != inverses_.end() && j < inverse->second.inverses.size(); ++j)
      ASSERT_EQ(get(module_.inverse_o, 32 * static_cast<int>(j), 32),
                engine::bits_from_float(inverse->second.inverses[j]))
          << "segment " << j << ", cycle " << cycle;
  }

  Module module_;
  Random random_;
  engine::Status status_;
  Cycle now_ = 1;
  bool any_saturated_ = false;
  std::map<Cycle, Entry> entries_;
  std::map<std::pair<Cycle, int>, BlockOut> blocks_;  ///< by cycle and place among the blocks of a cycle
  std::map<Cycle, Row> rows_, inverses_;
};

}  // namespace cosim
}  // namespace lpu
