// What a sequencer must do, from docs/isa.md: when each run of a program's token issues, by golden's order of runs; and
// which runs a walker of one instruction a cycle can have ready in time, given the queues' depth. It exists so that
// tests know both the cycles and the limits. Relies on hls/golden/walk.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "hls/contract/program.hpp"
#include "hls/golden/walk.hpp"

namespace lpu {
namespace cosim {

constexpr int kLeads[contract::kUnits] = {4, 8, 8};  ///< lpu_sequencer_pkg's MvuLead, VpuLead, SmxLead
constexpr int kWalkLead = 24;

struct Run {
  golden::Step step;
  std::uint32_t unit = 0;
  std::int64_t issue = 0;  ///< cycles after the token's first
};

/// Runs of one token in list order, with the cycle of each.
inline std::vector<Run> runs_of(const contract::Program& program, std::uint32_t blocks, bool with_head) {
  std::vector<Run> runs;
  std::array<std::int64_t, contract::kUnits> issue{};
  const contract::Loop* current = nullptr;
  std::array<bool, contract::kUnits> entered{};
  golden::walk(program, golden::TokenPart::whole(with_head), [&](const contract::Loop& loop, const golden::Step& step) {
    if (&loop != current) entered.fill(false);
    current = &loop;
    const contract::CommonFields& common = program.instructions[step.index].common;
    const auto unit = static_cast<std::size_t>(contract::unit_of(static_cast<contract::Opcode>(common.opcode)));
    const std::uint32_t rows[contract::kUnits] = {loop.entry_delay_mvu, loop.entry_delay_vpu, loop.entry_delay_smx};
    const bool by_table = !entered[unit] || common.delay_by_length != 0;
    const std::uint32_t row = entered[unit] ? common.delay : rows[unit];
    issue[unit] += by_table ? program.delays[row * program.length_steps + blocks - 1] : common.delay;
    entered[unit] = true;
    runs.push_back(Run{step, static_cast<std::uint32_t>(unit), issue[unit]});
  });
  return runs;
}

/// When the walker has fetched what: tokens one after another, cycles counted from anywhere.
class WalkerModel {
 public:
  explicit WalkerModel(std::int64_t queue_entries) : entries_(queue_entries) {}

  /// The token's first run, by its number, that is late; −1 where all are in time. Afterwards the walker is free in
  /// cycle free().
  std::int64_t token(const contract::Program& program, std::int64_t start, const std::vector<Run>& runs,
                     bool with_head) {
    std::int64_t cycle = std::max(start - kWalkLead + 1, free_) + 1;  // enters the first loop
    std::int64_t late = -1;
    std::size_t next = 0;
    for (const contract::Loop& loop : program.loops) {
      const std::uint32_t count = loop.is_head != 0 && !with_head ? 0 : loop.iterations * loop.instruction_count;
      if (count == 0) ++cycle;
      ++cycle;
      for (std::uint32_t i = 0; i < count; ++i, ++next, ++cycle) {
        while (!room(cycle)) ++cycle;
        const Run& run = runs[next];
        const std::int64_t hand_over = start + run.issue - kLeads[run.unit];
        queues_[run.unit].push_back({cycle, hand_over});
        if (late < 0 && hand_over < cycle + kFetchToUnit) late = static_cast<std::int64_t>(next);
      }
    }
    free_ = cycle + 7;
    return late;
  }
  std::int64_t free() const { return free_; }

 private:
  static constexpr std::int64_t kFetchToUnit = 10;  ///< from program memory's address to the unit's port
  struct Waiting {
    std::int64_t fetch, hand_over;
  };
  bool room(std::int64_t cycle) {
    for (std::deque<Waiting>& queue : queues_) {
      while (!queue.empty() && queue.front().hand_over <= cycle) queue.pop_front();
      auto used = static_cast<std::int64_t>(queue.size());
      for (auto newest = queue.rbegin(); newest != queue.rend() && newest->fetch + 3 > cycle; ++newest) --used;
      if (used > entries_ - 3) return false;
    }
    return true;
  }

  std::int64_t entries_, free_ = -1000000;
  std::array<std::deque<Waiting>, contract::kUnits> queues_;
};

}  // namespace cosim
}  // namespace lpu
