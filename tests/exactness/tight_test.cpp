// The compiler's schedules are tight: bring any kind of instruction forward by one cycle and the golden card refuses
// the token. So neither of the two timings has slack that the other doesn't know of.
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <set>
#include <string>

#include "tests/exactness/compiled.hpp"
#include "tests/support/test_models.hpp"

namespace lpu::test {
namespace {

/// Runs one token of a program that was spoiled; true when the machine refuses it as a hazard.
bool is_refused(const bundle::Bundle& bundle, const contract::Program& program) {
  golden::Machine machine(bundle.hardware(), bundle.shape(), program, bundle.image(), 1);
  try {
    machine.step(1, 0, {});
  } catch (const golden::Fault& fault) {
    EXPECT_NE(std::string(fault.what()).find("instruction"), std::string::npos) << fault.what();
    return true;
  }
  return false;
}

/// The row of the delay table that a unit's first instruction uses on entry.
std::uint32_t& entry_delay(contract::Loop& loop, contract::Unit unit) {
  return unit == contract::Unit::kMvu   ? loop.entry_delay_mvu
         : unit == contract::Unit::kVpu ? loop.entry_delay_vpu
                                        : loop.entry_delay_smx;
}

/// Brings one instruction forward by a cycle; the next one of its unit in the loop keeps its place. Programs of one
/// context length only: all delays but the entries' are constants. False when the instruction issues without delay.
bool bring_forward(contract::Program& program, std::size_t index) {
  const auto unit = [&](std::size_t i) { return contract::unit_of(program.instructions[i].opcode()); };
  contract::CommonFields& own = program.instructions[index].common;
  for (contract::Loop& loop : program.loops) {
    const std::size_t first = loop.first_instruction, end = first + loop.instruction_count;
    if (index < first || index >= end) continue;
    bool is_entry = true;
    for (std::size_t i = first; i < index; ++i) is_entry = is_entry && unit(i) != unit(index);
    if (is_entry) {
      const std::uint32_t delay = program.delays[entry_delay(loop, unit(index))];
      if (delay == 0) return false;
      entry_delay(loop, unit(index)) = static_cast<std::uint32_t>(program.delays.size());
      program.delays.push_back(delay - 1);
    } else {
      if (own.delay == 0) return false;
      own.delay -= 1;
    }
    for (std::size_t next = index + 1; next < end; ++next) {
      if (unit(next) != unit(index)) continue;
      program.instructions[next].common.delay += 1;
      break;
    }
    return true;
  }
  return false;
}

TEST(TightSchedule, EveryKindOfInstructionIsRefusedOneCycleEarlier) {
  std::map<contract::Opcode, std::pair<int, int>> moved_refused;
  for (const char* hardware : {"virtual", "tiny", "virtual:16x2"}) {
    for (const char* name : {"tied_q4_1", "qwen2_q8_0"}) {
      CompileFor how;
      how.hardware = hardware;
      how.context_tokens = 32;  // one length: all delays are constants
      const Compiled compiled(model(name), how);
      const contract::Program& program = compiled.bundle().program();
      ASSERT_FALSE(is_refused(compiled.bundle(), program)) << name << " on " << hardware;
      for (std::size_t i = 0; i < program.instructions.size(); ++i) {
        contract::Program spoiled = program;
        if (!bring_forward(spoiled, i)) continue;
        auto& [moved, refused] = moved_refused[program.instructions[i].opcode()];
        ++moved;
        refused += is_refused(compiled.bundle(), spoiled) ? 1 : 0;
      }
    }
  }
  for (const contract::Opcode opcode :
       {contract::Opcode::kMatvec, contract::Opcode::kResidual, contract::Opcode::kQuery, contract::Opcode::kKey,
        contract::Opcode::kValue, contract::Opcode::kMix, contract::Opcode::kSwiglu, contract::Opcode::kLogits,
        contract::Opcode::kSoftmax}) {
    const auto [moved, refused] = moved_refused[opcode];
    EXPECT_GT(moved, 0) << static_cast<int>(opcode);
    EXPECT_GT(refused, 0) << static_cast<int>(opcode);
    RecordProperty("opcode_" + std::to_string(static_cast<int>(opcode)),
                   std::to_string(refused) + " of " + std::to_string(moved));
    std::cout << "opcode " << static_cast<int>(opcode) << ": " << refused << " of " << moved << " refused\n";
  }
}

}  // namespace
}  // namespace lpu::test
