// What the golden card's clock says of a program's first token: for tests with schedules written by hand.
// Relies on hls/golden/scoreboard.hpp and tests/support/program_builder.hpp.
#pragma once

#include <string>

#include "hls/golden/fault.hpp"
#include "hls/golden/scoreboard.hpp"
#include "tests/support/program_builder.hpp"

namespace lpu::golden::testing {

using contract::Instruction;
using contract::Opcode;
using lpu::testing::instruction;
using lpu::testing::ProgramBuilder;
using lpu::testing::small_config;

constexpr std::uint64_t kWeightWords = 1000, kKvWords = 1000;

/// Cycle of the token in which the builder's first loop starts.
constexpr std::uint32_t kStart = contract::kIssueLeadCycles;

/// "accepted", or the fault's sentence.
inline std::string verdict(const contract::HardwareConfig& config, const contract::Program& program,
                           std::uint32_t position = 0) {
  Scoreboard board(config, program, kWeightWords, kKvWords);
  try {
    board.token(position, TokenPart::whole(true));
  } catch (const Fault& fault) {
    return fault.what();
  }
  return "accepted";
}

inline std::string verdict(const contract::HardwareConfig& config, const ProgramBuilder& builder,
                           std::uint32_t position = 0) {
  return verdict(config, builder.build(), position);
}

}  // namespace lpu::golden::testing
