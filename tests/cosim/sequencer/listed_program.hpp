// Programs written down instruction by instruction, for one length of context. Relies on random_programs.hpp for what
// the instructions hold, which no sequencer looks at.
#pragma once

#include "tests/cosim/sequencer/random_programs.hpp"
#include "tests/cosim/sequencer/sequencer_bench.hpp"

namespace lpu {
namespace cosim {

class Listed {
 public:
  Listed() { program.length_steps = 1; }

  void loop(std::uint32_t iterations, bool is_head = false) {
    contract::Loop next;
    next.first_instruction = static_cast<std::uint32_t>(program.instructions.size());
    next.iterations = iterations;
    next.is_head = is_head ? 1 : 0;
    next.entry_delay_mvu = next.entry_delay_vpu = next.entry_delay_smx = contract::kNoEntryDelay;
    program.loops.push_back(next);
  }
  /// Its own delay, and the one as the unit's first of the loop.
  void add(std::uint32_t unit, std::uint32_t delay, std::uint32_t entry) {
    contract::Loop& loop = program.loops.back();
    std::uint32_t* entries[contract::kUnits] = {&loop.entry_delay_mvu, &loop.entry_delay_vpu, &loop.entry_delay_smx};
    if (*entries[unit] == contract::kNoEntryDelay) {
      *entries[unit] = static_cast<std::uint32_t>(program.delays.size());
      program.delays.push_back(entry);
    }
    program.instructions.push_back(random_instruction(random_, unit));
    program.instructions.back().common.delay = delay;
    ++loop.instruction_count;
  }
  void length(std::uint32_t cycles) { program.cycles_with_head = program.cycles_without_head = {cycles}; }

  contract::Program program;

 private:
  Random random_{kFixedSeed};
};

/// Token 0 at position 0, with the head.
inline Command plain(std::int64_t at) {
  Command command;
  command.at = at;
  return command;
}

}  // namespace cosim
}  // namespace lpu
