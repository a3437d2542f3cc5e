// Drives a Verilated lpu_smx beside SmxModel: instructions at their lead, the accumulators' and the exponent memory's
// answers after their cycles and anything else in between; compares every output in every cycle. A run's cycles count
// from its token's start. Relies on smx_model.hpp and wires.hpp.
#pragma once

#include <gtest/gtest.h>

#include <deque>

#include "tests/cosim/smx_whole/smx_model.hpp"
#include "tests/cosim/wires.hpp"

namespace lpu {
namespace cosim {

constexpr int kBlockBits = 337;

template <typename Module>
class SmxBench {
 public:
  SmxBench(const SmxShape& shape, std::uint64_t seed) : model(shape, seed), shape_(shape) { reset(); }

  void reset() {
    module_.smx_valid_i = 0;
    module_.token_start_i = 0;
    module_.rst_ni = 0;
    tick(module_);
    module_.rst_ni = 1;
    runs_.clear();
    grid_asked_.clear();
    scores_asked_.clear();
    saturated_ = false;
  }

  /// Fields with any legal numbers: what an instruction of so many segments may look like.
  SmxRun draw(int segments, Cycle issue, int extra_pitch) {
    Random& random = model.random;
    contract::SoftmaxFields f;
    f.accumulator = static_cast<std::uint32_t>(random.between(0, shape_.entries - 1));
    f.segments = static_cast<std::uint32_t>(segments);
    f.pitch_cycles = static_cast<std::uint32_t>(segments * model.segment_cycles(segments) + extra_pitch);
    f.slot = static_cast<std::uint32_t>(random.between(0, 511));
    f.destination = static_cast<std::uint32_t>(random.bits(15));
    f.round = static_cast<std::uint32_t>(random.bits(6));
    f.grid_address = static_cast<std::uint32_t>(random.bits(24));
    f.grid_stride = static_cast<std::uint32_t>(random.bits(24));
    return SmxRun{issue, f, static_cast<std::uint32_t>(random.bits(16))};
  }
  /// In order of issue, all of the model's token.
  void add(const SmxRun& run) {
    model.expect(run);
    runs_.push_back(run);
  }
  /// Handed over, nothing expected of it.
  void add_unexpected(const SmxRun& run) { runs_.push_back(run); }

  /// The whole token, every output compared; or so many cycles of it.
  void run(Cycle stop = SmxModel::kNever) {
    for (Cycle cycle = 0; cycle < std::min(stop, model.end() + 30) && !::testing::Test::HasFatalFailure(); ++cycle) {
      step(cycle);
      check(cycle);
      tick(module_);
    }
    saturated_ = model.first_saturation < SmxModel::kNever;
    ASSERT_TRUE(stop < SmxModel::kNever || runs_.empty());
  }
  /// The first error and its cycle, 0 if there is none; nothing else is compared.
  std::pair<int, Cycle> first_error(Cycle stop) {
    std::pair<int, Cycle> found{0, 0};
    for (Cycle cycle = 0; cycle < stop; ++cycle) {
      step(cycle);
      if (found.first == 0 && module_.error_o != 0) found = {module_.error_o, cycle};
      tick(module_);
    }
    return found;
  }

  SmxModel model;

 private:
  void step(Cycle cycle) {
    module_.token_start_i = cycle == 0;
    module_.position_i = static_cast<std::uint16_t>(model.position());
    module_.blocks_i = static_cast<std::uint16_t>(model.context_blocks());
    hand_over(cycle);
    answer_grid(cycle);
    answer_scores(cycle);
    module_.eval();
    if (module_.grid_read_o != 0) grid_asked_[cycle] = module_.grid_address_o;
    const std::uint64_t read = get(module_.softmax_read_o, 0, shape_.groups);
    if (read != 0)
      scores_asked_[cycle] = {highest(read), static_cast<int>(module_.softmax_entry_o),
                              static_cast<int>(module_.softmax_slice_o)};
  }
  static int highest(std::uint64_t bits) {
    int place = -1;
    for (; bits != 0; bits >>= 1) ++place;
    return place;
  }

  void hand_over(Cycle cycle) {
    module_.smx_valid_i = !runs_.empty() && runs_.front().issue - contract::kIssueLeadCycles == cycle;
    if (module_.smx_valid_i != 0) {
      contract::Instruction in;
      in.common.opcode = static_cast<std::uint32_t>(contract::Opcode::kSoftmax);
      in.common.delay = static_cast<std::uint32_t>(model.random.bits(24));
      in.softmax = runs_.front().fields;
      std::uint32_t words[contract::kInstructionWords];
      contract::pack(in, words);
      for (int i = 0; i < contract::kInstructionWords; ++i) put(module_.smx_instruction_i, 32 * i, 32, words[i]);
      module_.smx_iteration_i = static_cast<std::uint16_t>(runs_.front().iteration);
      runs_.pop_front();
    } else {
      for (int i = 0; i < contract::kInstructionWords; ++i)
        put(module_.smx_instruction_i, 32 * i, 32, model.random.bits(32));
      module_.smx_iteration_i = static_cast<std::uint16_t>(model.random.bits(16));
    }
  }
  void answer_grid(Cycle cycle) {
    const auto asked = grid_asked_.find(cycle - 3);
    for (int lane = 0; lane < shape_.lanes; ++lane)
      put(module_.grid_word_i, 8 * lane, 8,
          asked != grid_asked_.end() ? static_cast<std::uint64_t>(model.grid_byte(asked->second, lane)) & 0xff
                                     : model.random.bits(8));
    grid_asked_.erase(grid_asked_.begin(), grid_asked_.upper_bound(cycle - 3));
  }
  void answer_scores(Cycle cycle) {
    const auto asked = scores_asked_.find(cycle - 2);
    for (int i = 0; i < shape_.softmax_lanes; ++i) {
      Int128 sum = static_cast<Int128>(model.random.bits(63));
      std::uint64_t scale = model.random.bits(16);
      if (asked != scores_asked_.end()) {
        const int lane = asked->second.slice * shape_.softmax_lanes + i;
        ASSERT_LT(lane, shape_.lanes);
        sum = model.sum(asked->second.entry, asked->second.segment, lane);
        scale = model.scale(asked->second.entry, asked->second.segment, lane);
      }
      put(module_.softmax_sums_i, 88 * i, 64, static_cast<std::uint64_t>(sum));
      put(module_.softmax_sums_i, 88 * i + 64, 24, static_cast<std::uint64_t>(sum >> 64));
      put(module_.softmax_scales_i, 16 * i, 16, scale);
    }
    scores_asked_.erase(scores_asked_.begin(), scores_asked_.upper_bound(cycle - 2));
  }

  void check(Cycle cycle) {
    SCOPED_TRACE("cycle " + std::to_string(cycle));
    const auto grid = model.grid_requests.find(cycle);
    ASSERT_EQ(module_.grid_read_o, grid != model.grid_requests.end());
    if (grid != model.grid_requests.end()) {
      ASSERT_EQ(module_.grid_address_o, grid->second);
    }
    const auto scores = model.score_requests.find(cycle);
    ASSERT_EQ(get(module_.softmax_read_o, 0, shape_.groups),
              scores == model.score_requests.end() ? 0 : std::uint64_t{1} << scores->second.segment);
    if (scores != model.score_requests.end()) {
      ASSERT_EQ(module_.softmax_entry_o, scores->second.entry);
      ASSERT_EQ(module_.softmax_slice_o, scores->second.slice);
    }
    check_blocks(cycle);
    check_rounds(cycle);
    ASSERT_EQ(module_.saturated_o, cycle == 0 ? saturated_ : cycle >= model.first_saturation + 4);
    ASSERT_EQ(module_.landed_o,
              model.blocks.count(cycle) + model.rounds.count(cycle) + model.inverses.count(cycle + 1) != 0);
    const auto error = model.errors.find(cycle);
    ASSERT_EQ(module_.error_o, error == model.errors.end() ? 0 : error->second);
  }
  void check_blocks(Cycle cycle) {
    const auto found = model.blocks.find(cycle);
    for (int bank = 0; bank < shape_.groups; ++bank) {
      const bool comes = found != model.blocks.end() && found->second.count(bank) != 0;
      ASSERT_EQ(get(module_.block_write_o, bank, 1), comes) << "bank " << bank;
      if (!comes) continue;
      const BlockOut& want = found->second.at(bank);
      ASSERT_EQ(get(module_.block_address_o, 16 * bank, 16), want.address) << "bank " << bank;
      ASSERT_EQ(get_signed(module_.block_o, kBlockBits * bank + 320, 17), want.exponent) << "bank " << bank;
      for (int j = 0; j < contract::kBlockValues; ++j)
        ASSERT_EQ(get_signed(module_.block_o, kBlockBits * bank + 10 * j, 10), want.mantissas[j])
            << "bank " << bank << ", position " << j;
    }
  }
  void check_rounds(Cycle cycle) {
    const auto round = model.rounds.find(cycle);
    ASSERT_EQ(module_.round_write_o, round != model.rounds.end());
    if (round != model.rounds.end()) {
      ASSERT_EQ(module_.round_o, round->second.round);
      for (std::size_t j = 0; j < round->second.exponents.size(); ++j) {
        const int segment = static_cast<int>(j);
        ASSERT_EQ(get_signed(module_.exponents_o, 17 * segment, 17), round->second.exponents[j]);
        ASSERT_EQ(get(module_.differences_o, 6 * segment, 6), static_cast<std::uint64_t>(round->second.differences[j]));
      }
    }
    const auto inverse = model.inverses.find(cycle);
    ASSERT_EQ(module_.inverse_write_o, inverse != model.inverses.end());
    if (inverse == model.inverses.end()) return;
    ASSERT_EQ(module_.inverse_round_o, inverse->second.round);
    for (std::size_t j = 0; j < inverse->second.inverses.size(); ++j)
      ASSERT_EQ(get(module_.inverses_o, 32 * static_cast<int>(j), 32), inverse->second.inverses[j]) << "segment " << j;
  }

  SmxShape shape_;
  Module module_;
  std::deque<SmxRun> runs_;
  bool saturated_ = false;  ///< the token before
  std::map<Cycle, std::uint32_t> grid_asked_;
  std::map<Cycle, ScoreRequest> scores_asked_;
};

}  // namespace cosim
}  // namespace lpu
