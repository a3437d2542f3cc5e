// The order in which a program's instructions run, written once for the scoreboard, the executor and the checks: loops
// one after another, iterations inside them, head loops left out where no logits are wanted.
// Relies on hls/contract/program.hpp and on check_program() having accepted the loops.
#pragma once

#include <cstdint>

#include "hls/contract/program.hpp"

namespace lpu {
namespace golden {

/// One run of an instruction.
struct Step {
  std::uint32_t index = 0;      ///< in the program
  std::uint32_t iteration = 0;  ///< of its loop
};

/// base + iteration · stride, as every field with a stride is meant.
inline std::uint64_t strided(std::uint32_t base, std::uint32_t stride, std::uint32_t iteration) {
  return base + static_cast<std::uint64_t>(stride) * iteration;
}

/// What runs: a phase, and in it the loops flagged as the head only where logits are wanted.
struct TokenPart {
  contract::Phase phase = contract::Phase::kToken;
  bool with_head = true;

  /// All of a token, on a card alone.
  static TokenPart whole(bool with_head) { return TokenPart{contract::Phase::kToken, with_head}; }
  bool has(const contract::Loop& loop) const {
    return loop.phase == static_cast<std::uint32_t>(phase) && (loop.is_head == 0 || with_head);
  }
};

/// Calls visit(loop, step) for every run, in the order of meaning.
template <typename Visit>
void walk(const contract::Program& program, const TokenPart& part, Visit visit) {
  for (const contract::Loop& loop : program.loops) {
    if (!part.has(loop)) continue;
    for (std::uint32_t iteration = 0; iteration < loop.iterations; ++iteration)
      for (std::uint32_t i = 0; i < loop.instruction_count; ++i) {
        Step step;
        step.index = loop.first_instruction + i;
        step.iteration = iteration;
        visit(loop, step);
      }
  }
}

/// Row groups and column sets of a matvec when `blocks` blocks of positions are attended to.
struct BurstSize {
  std::uint64_t row_groups = 0;
  std::uint64_t column_sets = 0;
};
inline BurstSize burst_size(const contract::HardwareConfig& config, const contract::MatvecFields& fields,
                            std::uint64_t blocks) {
  BurstSize size;
  size.row_groups = fields.row_groups;
  size.column_sets = fields.column_sets;
  const std::uint64_t lanes = static_cast<std::uint64_t>(config.lanes);
  const std::uint64_t part = static_cast<std::uint64_t>(config.column_groups) / fields.segments;
  if (fields.length_dimension == static_cast<std::uint32_t>(contract::LengthDimension::kRowGroups))
    size.row_groups = (32 * blocks + lanes - 1) / lanes;
  if (fields.length_dimension == static_cast<std::uint32_t>(contract::LengthDimension::kColumnSets))
    size.column_sets = (blocks + part - 1) / part;
  return size;
}

const char* opcode_name(contract::Opcode opcode);

}  // namespace golden
}  // namespace lpu
