// Logits and their noise in time (docs/isa.md, "Noise"): the tightest schedule is accepted, one cycle less is refused.
// Cycles are counted by hand from two numbers of the latency table; nothing here asks the contract's noise clock.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/golden/verdict.hpp"

namespace lpu::golden::testing {
namespace {

const contract::HardwareConfig kNarrow = small_config(4, 2);     // slices of 2 ids: one part of noise
const contract::HardwareConfig kWide = small_config(32, 1, 32);  // of 32: four parts, a cycle each

std::string refusal(std::uint32_t index, std::uint32_t logit, std::uint32_t wanted, std::uint32_t there) {
  return "hazard: instruction " + std::to_string(index) + " (logits, iteration 0) wants the noise of logit " +
         std::to_string(logit) + " at cycle " + std::to_string(wanted) + ", but it is there from cycle " +
         std::to_string(there) + " on";
}

/// kLogits of `count` slices from slice `first` on, in consecutive cycles: a row group each.
Instruction logits(const contract::HardwareConfig& config, std::uint32_t first, std::uint32_t count) {
  Instruction in = instruction(Opcode::kLogits);
  const auto slice = static_cast<std::uint32_t>(config.vector_lanes);
  in.vector.first_row = slice * first;
  in.vector.rows = slice * count;
  in.vector.row_groups = count;
  in.vector.pitch_cycles = in.vector.segments = in.vector.head_blocks = 1;
  return in;
}

TEST(NoiseTest, FirstLogitsBeforeTheirNoiseAreRefused) {
  const auto at = [](const contract::HardwareConfig& config, std::uint32_t cycle) {
    ProgramBuilder builder(config, 64);
    builder.add_at(logits(config, 0, 1), cycle - kStart);
    return verdict(config, builder);
  };
  for (const auto& [config, first] : {std::pair(kNarrow, 37u), std::pair(kWide, 40u)}) {
    EXPECT_EQ(at(config, first), "accepted");
    EXPECT_EQ(at(config, first - 1), refusal(0, 0, first - 1, first));
  }
}

TEST(NoiseTest, LogitsThatCatchUpWithTheirNoiseAreRefused) {
  ASSERT_EQ(contract::kNoiseQueueSlices, 512);
  ASSERT_EQ(contract::kNoiseCycles, 48);
  // The queue is full by cycle 5000. Slice 512 + m waits for the place of slice m, which entered m cycles after the
  // first: it is there 48 + 4·(m + 1) cycles after the first, and wanted 512 + m after it. So m = 153 is the last.
  const auto at_once = [](std::uint32_t count) {
    ProgramBuilder builder(kWide, 64);
    builder.add_at(logits(kWide, 0, count), 5000);
    return verdict(kWide, builder);
  };
  EXPECT_EQ(at_once(666), "accepted");
  EXPECT_EQ(at_once(667), refusal(0, 32 * 666, kStart + 5666, kStart + 5000 + 48 + 4 * 155));
  // The last of 200 further slices is there at 48 + 4·200 after the first.
  const auto then = [](std::uint32_t cycle) {
    ProgramBuilder builder(kWide, 64);
    builder.add_at(logits(kWide, 0, 512), 5000);
    builder.add_at(logits(kWide, 512, 200), 5000 + cycle);
    return verdict(kWide, builder);
  };
  constexpr std::uint32_t kTight = 48 + 4 * 200 - 199;
  EXPECT_EQ(then(kTight), "accepted");
  EXPECT_EQ(then(kTight - 1), refusal(1, 32 * 711, kStart + 5000 + kTight - 1 + 199, kStart + 5000 + 48 + 4 * 200));
}

TEST(NoiseTest, SlicesOfOnePartKeepUpForever) {
  ProgramBuilder builder(kNarrow, 64);
  Instruction many = logits(kNarrow, 0, 4000);
  many.vector.row_groups = 2000;
  many.vector.pitch_cycles = 2;  // two slices of a row group, without a gap
  builder.add_at(many, 37 - kStart);
  EXPECT_EQ(verdict(kNarrow, builder), "accepted");
}

TEST(NoiseTest, EachTokenMakesItsOwn) {
  ProgramBuilder builder(kWide, 64);
  builder.add_at(logits(kWide, 0, 600), 5000);
  const contract::Program program = builder.build();
  Scoreboard board(kWide, program, 1000, 1000);
  for (int token = 0; token < 3; ++token) EXPECT_NO_THROW(board.token(0, TokenPart::whole(true)));
}

}  // namespace
}  // namespace lpu::golden::testing
