// Drives a Verilated lpu_vector_issue by a script and compares every output in every cycle with what issue_model.hpp
// expects: a request or an entry a cycle early, late or unasked fails as a wrong address does. In cycles without an
// instruction the bus holds nonsense. Relies on wires.hpp.
#pragma once

#include <gtest/gtest.h>

#include "tests/cosim/random_numbers.hpp"
#include "tests/cosim/vector_issue/issue_model.hpp"
#include "tests/cosim/wires.hpp"

namespace lpu {
namespace cosim {

template <typename Module>
class IssueBench {
 public:
  explicit IssueBench(const Machine& machine) : machine_(machine) {
    module_.vpu_valid_i = 0;
    module_.logits_start_i = 0;
    module_.rst_ni = 0;
    tick(module_);
    module_.rst_ni = 1;
  }

  /// Runs the script and compares; there must be no error.
  void run(const Script& script, const Expected& expected) { run(script, expected, script.end, false); }
  /// Runs the script's first cycles, then a cycle of reset, then as many cycles as the rest has, in which nothing
  /// comes.
  void run_and_reset(const Script& script, const Expected& expected, Cycle reset) {
    run(script, expected, reset, false);
    module_.vpu_valid_i = 0;
    module_.rst_ni = 0;
    tick(module_);
    module_.rst_ni = 1;
    run(Script{{Token{}}, {}, 0}, Expected{}, script.end - reset, true);
  }

  /// Whether an error is shown in the cycle after the last one that ran.
  bool error() const { return module_.error_o != 0; }

 private:
  void run(const Script& script, const Expected& expected, Cycle end, bool quiet) {
    std::size_t next = 0, token = 0;
    for (Cycle cycle = 0; cycle < end && !::testing::Test::HasFailure(); ++cycle) {
      module_.logits_start_i = 0;
      while (token < script.tokens.size() && script.tokens[token].start == cycle && !quiet) {
        module_.logits_start_i = 1;
        module_.position_i = static_cast<std::uint16_t>(script.tokens[token++].position);
      }
      const bool hands_over = next < script.steps.size() && script.steps[next].issue == cycle + kLead;
      module_.vpu_valid_i = hands_over;
      for (int i = 0; i < contract::kInstructionWords; ++i)
        module_.vpu_instruction_i[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(nonsense_.bits(32));
      module_.vpu_iteration_i = static_cast<std::uint16_t>(nonsense_.bits(16));
      if (hands_over) hand_over(script.steps[next++]);
      module_.eval();
      check(expected, cycle);
      tick(module_);
    }
  }

  void hand_over(const Step& step) {
    contract::Instruction instruction;
    instruction.common.opcode = static_cast<std::uint32_t>(step.opcode);
    instruction.common.delay = static_cast<std::uint32_t>(nonsense_.bits(24));
    instruction.vector = step.fields;
    std::uint32_t words[contract::kInstructionWords];
    contract::pack(instruction, words);
    for (int i = 0; i < contract::kInstructionWords; ++i)
      module_.vpu_instruction_i[static_cast<std::size_t>(i)] = words[i];
    module_.vpu_iteration_i = static_cast<std::uint16_t>(step.iteration);
  }

  template <typename Map>
  static bool due(const Map& map, Cycle cycle, bool valid, const char* what) {
    const bool wanted = map.count(cycle) != 0;
    EXPECT_EQ(valid, wanted) << what << (valid ? " came unasked" : " didn't come") << " in cycle " << cycle;
    return wanted && valid;
  }
  static void check_request(const std::map<Cycle, std::uint64_t>& map, Cycle cycle, bool read, std::uint64_t address,
                            const char* what) {
    if (due(map, cycle, read, what)) {
      EXPECT_EQ(address, map.at(cycle)) << what << ", cycle " << cycle;
    }
  }

  void check(const Expected& expected, Cycle cycle) {
    Module& m = module_;
    EXPECT_EQ(m.error_o, 0) << "cycle " << cycle;
    check_request(expected.exponents, cycle, m.exponent_read_o, m.exponent_address_o, "the exponents' request");
    check_request(expected.grids, cycle, m.grid_read_o, m.grid_address_o, "the grid's request");
    check_request(expected.gains, cycle, m.gain_read_o, m.gain_address_o, "the gains' request");
    check_request(expected.biases, cycle, m.bias_read_o, m.bias_address_o, "the biases' request");
    check_request(expected.ropes, cycle, m.rope_read_o, m.rope_pair_o, "the angles' request");
    if (due(expected.accumulators, cycle, m.accumulator_read_o != 0, "the accumulators' request")) {
      const AccumulatorRead& want = expected.accumulators.at(cycle);
      EXPECT_EQ(m.accumulator_read_o, 1u << want.segment) << "cycle " << cycle;
      EXPECT_EQ(m.accumulator_entry_o, want.entry) << "cycle " << cycle;
      EXPECT_EQ(m.accumulator_slice_o, want.slice) << "cycle " << cycle;
    }
    if (due(expected.entries, cycle, m.entry_valid_o, "an entry")) check_entry(expected.entries.at(cycle), cycle);
  }

  void check_entry(const ExpectedEntry& want, Cycle cycle) {
    Module& m = module_;
    const ::testing::ScopedTrace trace(
        __FILE__, __LINE__,
        "opcode " + std::to_string(static_cast<unsigned>(want.opcode)) + ", cycle " + std::to_string(cycle));
    EXPECT_EQ(m.entry_kind_o, static_cast<unsigned>(want.opcode));
    EXPECT_EQ(m.entry_lanes_o, want.lanes);
    EXPECT_EQ(m.entry_slot_o, want.slot);
    EXPECT_EQ(m.entry_block_end_o, want.block_end);
    EXPECT_EQ(m.entry_start_o, want.start);
    EXPECT_EQ(m.entry_end_o, want.end);
    EXPECT_EQ(m.entry_has_bias_o, want.has_bias);
    EXPECT_EQ(m.entry_wide_o, want.wide);
    EXPECT_EQ(m.entry_row_o, want.row);
    EXPECT_EQ(m.tag_residual_row_o, want.row);
    EXPECT_EQ(m.embed_select_o, want.opcode == Opcode::kEmbed);
    EXPECT_EQ(m.segment_o, want.segment);
    EXPECT_EQ(m.scale_register_o, want.scale_register);
    EXPECT_EQ(m.round_o, want.round);
    EXPECT_EQ(m.tag_nibbles_o, want.nibbles);
    EXPECT_EQ(m.tag_row_step_o, want.row_step);
    EXPECT_EQ(m.tag_head_blocks_o, want.head_blocks);
    if (want.opcode != Opcode::kEmbed) {
      EXPECT_EQ(m.exponent_slice_o, want.slice);
    }
    if (want.has_grid) {
      EXPECT_EQ(m.grid_lane_o, want.grid_lane);
    }
    if (want.has_block) {
      EXPECT_EQ(m.tag_bank_o, want.bank);
      EXPECT_EQ(m.tag_address_o, want.address);
    }
    if (want.has_key) {
      EXPECT_EQ(m.tag_key_group_o, want.key_group);
      EXPECT_EQ(m.tag_key_address_o, want.key_address);
    }
  }

  const Machine machine_;
  Module module_;
  Random nonsense_{kFixedSeed};
};

}  // namespace cosim
}  // namespace lpu
