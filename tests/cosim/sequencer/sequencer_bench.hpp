// Drives a Verilated lpu_sequencer beside the rules of docs/units/sequencer.md, and compares every output in every
// cycle: instructions at their leads, markers in their issue cycles, tokens from their first cycle to the next one's.
// Relies on sequencer_model.hpp for the cycles within a token.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>

#include "hls/contract/memory_map.hpp"
#include "tests/cosim/random_numbers.hpp"
#include "tests/cosim/sequencer/sequencer_model.hpp"
#include "tests/cosim/wires.hpp"

namespace lpu {
namespace cosim {

struct Command {
  std::int64_t at = 0;  ///< the first cycle in which it waits
  std::uint32_t token = 0, position = 0;
  bool with_head = true, samples = false;
  std::uint32_t inverse_temperature = 0;
  std::uint64_t seed = 0;
  std::uint32_t follow = 0;
};

enum class Choice { kRegister, kPulse };  ///< next_valid_i stays, or is there once, three cycles before the end

template <typename Module>
class SequencerBench {
 public:
  SequencerBench(std::uint64_t seed, Choice choice) : random(seed), choice_(choice) { reset(3); }

  void reset(int cycles) {
    module.rst_ni = 0;
    module.command_valid_i = module.next_valid_i = module.halt_i = 0;
    module.load_instruction_i = module.load_loop_i = module.load_delay_i = 0;
    for (int i = 0; i < cycles; ++i) tick(module);
    module.rst_ni = 1;
    commands.clear();
    handed_.clear();
    issued_.clear();
    starts_.clear();
    ends_.clear();
    open_ = true;
    decide_at_ = early_at_ = -1;
    follow_ = 0;
    busy_until_ = cycle;
    known_ = false;
  }

  void load(const contract::Program& given) {
    program = given;
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
      std::uint32_t words[contract::kInstructionWords];
      contract::pack(program.instructions[i], words);
      load_words(module.load_instruction_i, i, words, contract::kInstructionWords);
    }
    for (std::size_t i = 0; i < program.loops.size(); ++i) {
      std::uint32_t words[contract::kLoopWords];
      contract::pack(program.loops[i], words);
      load_words(module.load_loop_i, i, words, contract::kLoopWords);
    }
    std::vector<std::uint32_t> delays = program.delays;
    module.cycles_with_head_i = static_cast<std::uint32_t>(delays.size());
    delays.insert(delays.end(), program.cycles_with_head.begin(), program.cycles_with_head.end());
    module.cycles_without_head_i = static_cast<std::uint32_t>(delays.size());
    delays.insert(delays.end(), program.cycles_without_head.begin(), program.cycles_without_head.end());
    for (std::size_t i = 0; i < delays.size(); ++i) load_words(module.load_delay_i, i, &delays[i], 1);
    module.loops_i = static_cast<std::uint16_t>(program.loops.size());
    module.length_steps_i = static_cast<std::uint16_t>(program.length_steps);
    tick(module);
    tick(module);
    cycle += 2;
  }

  void run(std::int64_t cycles) {
    for (const std::int64_t end = cycle + cycles; cycle < end && !::testing::Test::HasFatalFailure(); ++cycle) step();
  }
  /// Until all commands are done, and some cycles more.
  void finish() {
    for (; (!commands.empty() || cycle < busy_until_ + 40) && !::testing::Test::HasFatalFailure(); ++cycle) step();
  }
  /// Without looking, until an error or the limit.
  void run_to_error(std::int64_t limit) {
    for (const std::int64_t end = cycle + limit; cycle < end && module.error_o == 0; ++cycle) {
      drive();
      const bool takes = module.command_take_o != 0;
      tick(module);
      if (takes) commands.pop_front();
    }
  }
  std::int64_t tokens() const { return tokens_; }
  std::int64_t handed_over() const { return handed_over_; }

  Module module;
  Random random;
  contract::Program program;
  std::deque<Command> commands;
  std::int64_t cycle = 0;
  std::vector<std::int64_t> started;  ///< cycles in which tokens started

 private:
  struct Token {
    std::uint32_t id = 0, position = 0;
    bool with_head = false, samples = false;
    std::uint32_t inverse_temperature = 0;
    std::uint64_t seed = 0;
    bool followed = false;
  };
  struct Handed {
    std::uint32_t index = 0, iteration = 0, pc = 0;
  };
  using Places = std::map<std::pair<std::uint32_t, std::int64_t>, Handed>;  ///< by unit and cycle

  template <typename Valid>
  void load_words(Valid& valid, std::size_t address, const std::uint32_t* words, int count) {
    module.load_address_i = static_cast<std::uint32_t>(address);
    for (int i = 0; i < contract::kInstructionWords; ++i)
      module.load_data_i[static_cast<std::size_t>(i)] =
          i < count ? words[i] : static_cast<std::uint32_t>(random.bits(32));
    valid = 1;
    tick(module);
    valid = 0;
    ++cycle;
  }

  /// Inputs of this cycle.
  void drive() {
    const bool waits = !commands.empty() && commands.front().at <= cycle;
    const Command command = waits ? commands.front() : Command();
    module.command_valid_i = waits;
    module.command_token_i = command.token;
    module.command_position_i = static_cast<std::uint16_t>(command.position);
    module.command_with_head_i = command.with_head;
    module.command_samples_i = command.samples;
    module.command_inverse_temperature_i = command.inverse_temperature;
    module.command_seed_i = command.seed;
    module.command_follow_i = static_cast<std::uint16_t>(command.follow);
    // The choice changes until three cycles before the token ends.
    const auto end = ends_.lower_bound(cycle);
    const bool final = end != ends_.end() && cycle >= end->first - 3;
    if (final ? cycle == end->first - 3 : choice_ == Choice::kPulse || random.one_in(3))
      choice_now_ = static_cast<std::uint32_t>(random.bits(24));
    if (final && cycle == end->first - 3) choice_final_ = choice_now_;
    const bool pulse = final && cycle == end->first - 3;
    module.next_valid_i = choice_ == Choice::kRegister || pulse;
    module.next_token_i =
        choice_ == Choice::kPulse && !pulse ? static_cast<std::uint32_t>(random.bits(24)) : choice_now_;
    module.eval();
  }

  void step() {
    drive();
    const bool decides = open_ || cycle == decide_at_;
    const bool waits = module.command_valid_i != 0;
    ASSERT_EQ(module.command_take_o, decides && follow_ == 0 && waits) << "cycle " << cycle;
    compare_token();
    compare_unit(0, module.mvu_valid_o, module.mvu_instruction_o, module.mvu_iteration_o, module.mvu_index_o,
                 module.mvu_issue_o, module.mvu_issue_index_o, module.mvu_issue_pc_o);
    compare_unit(1, module.vpu_valid_o, module.vpu_instruction_o, module.vpu_iteration_o, module.vpu_index_o,
                 module.vpu_issue_o, module.vpu_issue_index_o, module.vpu_issue_pc_o);
    compare_unit(2, module.smx_valid_o, module.smx_instruction_o, module.smx_iteration_o, module.smx_index_o,
                 module.smx_issue_o, module.smx_issue_index_o, module.smx_issue_pc_o);
    ASSERT_EQ(module.error_o, 0) << "cycle " << cycle << ", index " << module.error_index_o;
    if (decides) {
      open_ = follow_ == 0 && !waits;
      if (!open_) plan();
    }
    tick(module);
  }

  void plan() {
    if (follow_ != 0) {
      --follow_;
      ++planned_.position;
      planned_.with_head = planned_.followed = true;
    } else {
      const Command& c = commands.front();
      planned_ = {c.token, c.position, c.with_head, c.samples, c.inverse_temperature, c.seed, false};
      follow_ = c.follow;
      commands.pop_front();
    }
    const std::int64_t start = cycle + kWalkLead;
    const std::uint32_t blocks = planned_.position / 32 + 1;
    const std::int64_t length =
        (planned_.with_head ? program.cycles_with_head : program.cycles_without_head)[blocks - 1];
    starts_[start] = planned_;
    ends_[start + length] = planned_;
    started.push_back(start);
    early_at_ = start - 3;
    decide_at_ = start + length - kWalkLead;
    busy_until_ = start + length;
    ++tokens_;
    std::uint32_t index = 0;
    for (const Run& run : runs_of(program, blocks, planned_.with_head)) {
      const Handed handed = {index++, run.step.iteration, run.step.index};
      handed_[{run.unit, start + run.issue - kLeads[run.unit]}] = handed;
      issued_[{run.unit, start + run.issue}] = handed;
    }
  }

  void compare_token() {
    const auto starting = starts_.find(cycle);
    ASSERT_EQ(module.token_start_o, starting != starts_.end()) << "cycle " << cycle;
    if (starting != starts_.end()) {
      token_ = starting->second;
      if (token_.followed) token_.id = choice_final_;
      known_ = true;
      early_at_ = -1;
    }
    const auto ending = ends_.find(cycle);
    ASSERT_EQ(module.token_end_o, ending != ends_.end()) << "cycle " << cycle;
    if (ending != ends_.end()) {
      ASSERT_EQ(module.token_position_o, ending->second.position);
      ASSERT_EQ(module.token_with_head_o, ending->second.with_head);
      ASSERT_EQ(module.token_next_o, choice_final_) << "cycle " << cycle;
    }
    ASSERT_EQ(module.busy_o, cycle < busy_until_) << "cycle " << cycle;
    if (early_at_ >= 0 && cycle >= early_at_) {
      ASSERT_EQ(module.token_early_o, planned_.followed ? choice_final_ : planned_.id) << "cycle " << cycle;
    } else if (known_) {
      ASSERT_EQ(module.token_early_o, token_.id) << "cycle " << cycle;
    }
    if (!known_) return;
    ASSERT_EQ(module.token_o, token_.id) << "cycle " << cycle;
    ASSERT_EQ(module.position_o, token_.position) << "cycle " << cycle;
    ASSERT_EQ(module.blocks_o, token_.position / 32 + 1) << "cycle " << cycle;
    ASSERT_EQ(module.with_head_o, token_.with_head) << "cycle " << cycle;
    ASSERT_EQ(module.samples_o, token_.samples) << "cycle " << cycle;
    ASSERT_EQ(module.inverse_temperature_o, token_.inverse_temperature) << "cycle " << cycle;
    ASSERT_EQ(module.seed_o, token_.seed) << "cycle " << cycle;
  }

  template <typename Valid, typename Word, typename Iteration, typename Index, typename Pc>
  void compare_unit(std::uint32_t unit, const Valid& valid, const Word& word, const Iteration& iteration,
                    const Index& index, const Valid& issue, const Index& issue_index, const Pc& issue_pc) {
    const std::string where = "unit " + std::to_string(unit) + ", cycle " + std::to_string(cycle);
    const auto handed = handed_.find({unit, cycle});
    ASSERT_EQ(valid, handed != handed_.end()) << where;
    if (handed != handed_.end()) {
      ++handed_over_;
      ASSERT_EQ(index, handed->second.index) << where;
      ASSERT_EQ(iteration, handed->second.iteration) << where;
      contract::Instruction in = program.instructions[handed->second.pc];
      // What no unit reads isn't handed over: what is for schedules, and the links that the core doesn't have yet.
      in.common.delay = in.common.delay_by_length = in.matvec.finish = in.vector.receivers = 0;
      std::uint32_t words[contract::kInstructionWords];
      contract::pack(in, words);
      for (std::size_t i = 0; i < contract::kInstructionWords; ++i)
        ASSERT_EQ(word[i], words[i]) << where << ", word " << i;
      handed_.erase(handed);
    }
    const auto issued = issued_.find({unit, cycle});
    ASSERT_EQ(issue, issued != issued_.end()) << where;
    if (issued == issued_.end()) return;
    ASSERT_EQ(issue_index, issued->second.index) << where;
    ASSERT_EQ(issue_pc, issued->second.pc) << where;
    issued_.erase(issued);
  }

  const Choice choice_;
  Places handed_, issued_;
  std::map<std::int64_t, Token> starts_, ends_;
  Token planned_, token_;
  bool open_ = true, known_ = false;
  std::int64_t decide_at_ = -1, early_at_ = -1, busy_until_ = 0, tokens_ = 0, handed_over_ = 0;
  std::uint32_t follow_ = 0, choice_now_ = 0, choice_final_ = 0;
};

}  // namespace cosim
}  // namespace lpu
