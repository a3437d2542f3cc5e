// Programs with random instructions, loops and times: made from issue cycles that are chosen for each length of
// context, from which the delays follow. It exists to reach what compiled programs don't: loops without a unit, delays
// of one cycle everywhere, several units in a cycle. Relies on sequencer_model.hpp to keep only programs whose runs can
// be in time.
#pragma once

#include "tests/cosim/random_numbers.hpp"
#include "tests/cosim/sequencer/sequencer_model.hpp"

namespace lpu {
namespace cosim {

inline std::uint32_t number(Random& random, int lowest, int highest) {
  return static_cast<std::uint32_t>(random.between(lowest, highest));
}

/// Random in every field, of a random opcode of the unit.
inline contract::Instruction random_instruction(Random& random, std::uint32_t unit) {
  std::uint32_t words[contract::kInstructionWords];
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random.bits(32));
  const std::uint32_t opcode = unit == 0 ? 0 : unit == 2 ? 9 : number(random, 1, 8);
  words[0] = (words[0] & ~std::uint32_t{0x1fffffff}) | opcode;
  return contract::unpack(words);
}

struct ProgramShape {
  int longest_loop = 12;      ///< instructions
  int longest_gap = 30;       ///< cycles from one instruction to the next
  bool several_units = true;  ///< instructions of different units may issue in the same cycle
  bool tight = false;         ///< tokens end soon after their last instruction
};

class ProgramMaker {
 public:
  ProgramMaker(Random& random, const ProgramShape& shape) : random_(random), shape_(shape) {}

  contract::Program make() {
    program_ = contract::Program();
    program_.length_steps = number(random_, 1, 6);
    for (std::vector<std::int64_t>& last : last_) last.assign(program_.length_steps, 0);
    start_.assign(program_.length_steps, 0);
    const int loops = random_.between(1, 5);
    const int head_from = random_.between(1, 6);
    for (int i = 0; i < loops; ++i) {
      if (i == head_from) lengths(program_.cycles_without_head);
      loop(i >= head_from);
    }
    lengths(program_.cycles_with_head);
    if (program_.cycles_without_head.empty()) program_.cycles_without_head = program_.cycles_with_head;
    return program_;
  }

 private:
  using Columns = std::vector<std::int64_t>;  ///< [length_steps] cycles

  std::uint32_t row(const Columns& cycles) {
    for (const std::int64_t entry : cycles) program_.delays.push_back(static_cast<std::uint32_t>(entry));
    return static_cast<std::uint32_t>(program_.delays.size()) / program_.length_steps - 1;
  }

  void loop(bool is_head) {
    contract::Loop out;
    out.first_instruction = static_cast<std::uint32_t>(program_.instructions.size());
    out.instruction_count = number(random_, random_.one_in(8) ? 0 : 1, shape_.longest_loop);
    out.iterations = number(random_, random_.one_in(8) ? 0 : 1, 4);
    out.is_head = is_head ? 1 : 0;
    out.entry_delay_mvu = out.entry_delay_vpu = out.entry_delay_smx = contract::kNoEntryDelay;
    const std::uint32_t units = number(random_, 1, 7);  // a mask: some loops lack some
    std::vector<std::uint32_t> unit_of;
    std::vector<Columns> offsets;
    Columns at(program_.length_steps, 0);
    std::array<int, contract::kUnits> newest = {-1, -1, -1}, first = {-1, -1, -1};
    for (std::uint32_t i = 0; i < out.instruction_count; ++i) {
      std::uint32_t unit = number(random_, 0, 2);
      while ((units >> unit & 1) == 0) unit = (unit + 1) % 3;
      if (i != 0) advance(at, newest[unit] < 0 || offsets[static_cast<std::size_t>(newest[unit])] != at);
      if (newest[unit] >= 0)
        for (std::size_t c = 0; c < at.size(); ++c)
          at[c] = std::max(at[c], offsets[static_cast<std::size_t>(newest[unit])][c] + 1);
      newest[unit] = static_cast<int>(i);
      if (first[unit] < 0) first[unit] = static_cast<int>(i);
      unit_of.push_back(unit);
      offsets.push_back(at);
    }
    Columns period = at;
    advance(period, false);
    for (std::int64_t& cycles : period) ++cycles;
    add(out, unit_of, offsets, period, newest, first);
  }

  void add(contract::Loop& out, const std::vector<std::uint32_t>& unit_of, const std::vector<Columns>& offsets,
           const Columns& period, const std::array<int, contract::kUnits>& newest,
           const std::array<int, contract::kUnits>& first) {
    std::uint32_t* entries[contract::kUnits] = {&out.entry_delay_mvu, &out.entry_delay_vpu, &out.entry_delay_smx};
    std::array<int, contract::kUnits> previous = newest;
    for (std::uint32_t i = 0; i < out.instruction_count; ++i) {
      const std::uint32_t unit = unit_of[i];
      const auto before = static_cast<std::size_t>(previous[unit]);
      Columns delay(program_.length_steps), entry(program_.length_steps);
      bool constant = true;
      for (std::size_t c = 0; c < delay.size(); ++c) {
        delay[c] = offsets[i][c] - offsets[before][c] + (first[unit] == static_cast<int>(i) ? period[c] : 0);
        entry[c] = start_[c] + offsets[i][c] - last_[unit][c];
        constant = constant && delay[c] == delay[0];
      }
      if (first[unit] == static_cast<int>(i)) *entries[unit] = row(entry);
      contract::Instruction in = random_instruction(random_, unit);
      in.common.delay_by_length = !constant || random_.one_in(3) ? 1 : 0;
      in.common.delay = in.common.delay_by_length != 0 ? row(delay) : static_cast<std::uint32_t>(delay[0]);
      program_.instructions.push_back(in);
      previous[unit] = static_cast<int>(i);
    }
    program_.loops.push_back(out);
    if (out.iterations == 0) return;
    for (std::size_t c = 0; c < period.size(); ++c) {
      for (std::size_t unit = 0; unit < contract::kUnits; ++unit)
        if (newest[unit] >= 0)
          last_[unit][c] =
              start_[c] + period[c] * (out.iterations - 1) + offsets[static_cast<std::size_t>(newest[unit])][c];
      if (out.instruction_count != 0) start_[c] += period[c] * out.iterations;
    }
  }

  void advance(Columns& at, bool may_stay) {
    const bool stays = may_stay && shape_.several_units && random_.one_in(3);
    const bool by_length = random_.one_in(4);
    const int gap = stays ? 0 : random_.between(1, random_.one_in(4) ? 1 : shape_.longest_gap);
    for (std::int64_t& cycles : at) cycles += gap + (by_length ? random_.between(0, shape_.longest_gap) : 0);
  }

  void lengths(std::vector<std::uint32_t>& cycles) {
    for (const std::int64_t end : start_)
      cycles.push_back(std::max(number(random_, kWalkLead, kWalkLead + 30),
                                static_cast<std::uint32_t>(end) + number(random_, 1, 4) + (shape_.tight ? 0 : 60)));
  }

  Random& random_;
  const ProgramShape shape_;
  contract::Program program_;
  std::array<Columns, contract::kUnits> last_;  ///< each unit's newest issue, [length_steps]
  Columns start_;                               ///< of the next loop
};

/// Whether every run is in time, and every walk done, whatever the neighbouring tokens are.
inline bool in_time(const contract::Program& program, int queue_entries) {
  for (std::uint32_t blocks = 1; blocks <= program.length_steps; ++blocks)
    for (int heads = 0; heads < 4; ++heads)
      for (std::uint32_t later = 0; later < 2; ++later) {
        WalkerModel walker(queue_entries);
        std::int64_t start = 0;
        for (int token = 0; token < 3; ++token) {
          const bool with_head = (token == 1 ? heads >> 1 : heads & 1) != 0;
          const std::uint32_t column = std::min(blocks + (token == 2 ? later : 0), program.length_steps);
          const std::vector<Run> runs = runs_of(program, column, with_head);
          if (runs.empty() || walker.token(program, start, runs, with_head) >= 0) return false;
          start += (with_head ? program.cycles_with_head : program.cycles_without_head)[column - 1];
          if (walker.free() >= start) return false;
        }
      }
  return true;
}

inline contract::Program random_program(Random& random, const ProgramShape& shape, int queue_entries) {
  for (ProgramShape easier = shape;; easier.longest_gap += 1 + easier.longest_gap / 2) {
    contract::Program program = ProgramMaker(random, easier).make();
    if (in_time(program, queue_entries)) return program;
  }
}

}  // namespace cosim
}  // namespace lpu
