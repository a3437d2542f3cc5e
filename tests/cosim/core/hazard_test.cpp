// Schedules that are wrong by a cycle or by many, forced into the core past the host's checks: whatever the golden
// card's clock says of them, the core either stops with an error code or makes the very values of the sound program.
#include <iostream>

#include "tests/cosim/core/forced_core.hpp"
#include "tests/cosim/random_numbers.hpp"

namespace lpu::test {
namespace {

constexpr std::int32_t kTokens[] = {5, 77};  // in turn: what the run before left behind is never the right value

struct Change {
  std::string name;
  Program program;
};

/// The delay of instruction `index` behind its unit's last one, or its row's entry for one block.
std::uint32_t& delay_of(Program& program, std::size_t index) {
  contract::Instruction& in = program.instructions[index];
  if (in.common.delay_by_length == 0) return in.common.delay;
  return program.delays[std::size_t{in.common.delay} * program.length_steps];
}

/// An instruction and the next one of its unit in the same loop.
struct Neighbours {
  std::size_t index, next;
  std::uint32_t entry_row;  ///< of the loop's entry delay if `index` is the unit's first in the loop
  bool is_first;
};
std::vector<Neighbours> neighbours_of(const Program& program) {
  std::vector<Neighbours> found;
  for (const contract::Loop& loop : program.loops) {
    const std::uint32_t rows[] = {loop.entry_delay_mvu, loop.entry_delay_vpu, loop.entry_delay_smx};
    std::vector<std::size_t> of_unit[contract::kUnits];
    for (std::size_t i = loop.first_instruction; i < loop.first_instruction + loop.instruction_count; ++i) {
      const auto unit = static_cast<std::size_t>(unit_of(program.instructions[i].opcode()));
      if (!of_unit[unit].empty()) found.push_back({of_unit[unit].back(), i, rows[unit], of_unit[unit].size() == 1});
      of_unit[unit].push_back(i);
    }
  }
  return found;
}

/// Instruction `pair.index` alone `cycles` later (earlier, if negative): the next of its unit stays where it was.
/// False where a delay would become negative.
bool move(Program& program, const Neighbours& pair, std::int64_t cycles, bool next_stays = true) {
  std::vector<std::pair<std::uint32_t*, std::int64_t>> changes = {{&delay_of(program, pair.index), cycles}};
  if (pair.is_first) changes.emplace_back(&program.delays[std::size_t{pair.entry_row} * program.length_steps], cycles);
  if (next_stays) changes.emplace_back(&delay_of(program, pair.next), -cycles);
  for (const auto& [delay, change] : changes) {
    if (*delay + change < 0) return false;
    *delay = static_cast<std::uint32_t>(*delay + change);
  }
  return true;
}

std::vector<Change> moved(const Program& sound, std::int64_t cycles) {
  std::vector<Change> changes;
  for (const Neighbours& pair : neighbours_of(sound)) {
    Program program = sound;
    if (move(program, pair, cycles)) changes.push_back({"instruction " + std::to_string(pair.index), program});
  }
  return changes;
}

/// Every delay a cycle shorter: all that its unit does afterwards comes a cycle earlier.
std::vector<Change> shortened(const Program& sound) {
  std::vector<Change> changes;
  for (std::size_t i = 0; i < sound.instructions.size(); ++i) {
    Program program = sound;
    contract::CommonFields& common = program.instructions[i].common;
    if (common.delay_by_length != 0 || common.delay == 0) continue;
    --common.delay;
    changes.push_back({"instruction " + std::to_string(i), program});
  }
  for (std::size_t row = 0; row < sound.delays.size(); row += sound.length_steps) {
    Program program = sound;
    if (program.delays[row] == 0) continue;
    --program.delays[row];
    changes.push_back({"row " + std::to_string(row / sound.length_steps), program});
  }
  return changes;
}

std::vector<Change> random_moves(const Program& sound, std::uint64_t seed, std::size_t count) {
  cosim::Random random(seed);
  const std::vector<Neighbours> pairs = neighbours_of(sound);
  std::vector<Change> changes;
  while (changes.size() < count) {
    const Neighbours& pair = pairs[static_cast<std::size_t>(random.between(0, static_cast<int>(pairs.size()) - 1))];
    const int most = random.one_in(3) ? 300 : 30, cycles = random.between(-most, most);
    Program program = sound;
    if (cycles != 0 && move(program, pair, cycles, random.one_in(2)))
      changes.push_back({"instruction " + std::to_string(pair.index) + " by " + std::to_string(cycles), program});
  }
  return changes;
}

/// Runs every changed program on one core, with resets in between.
void expect_refused_or_equal(const bundle::Bundle& bundle, const std::string& kind,
                             const std::vector<Change>& changes) {
  ForcedCore core(bundle);
  Outcome expected[2];
  for (int i = 0; i < 2; ++i) {
    expected[i] = core.run(bundle.program(), kTokens[i]);
    ASSERT_EQ(expected[i].results.size(), 2u) << expected[i].text;
  }
  ASSERT_FALSE(expected[0].logits == expected[1].logits) << "the two tokens must differ for the comparison to see";
  ASSERT_GT(changes.size(), 10u);
  std::map<std::uint32_t, int> stopped;  // by error code
  int hazards = 0, lengths = 0, caught = 0, harmless = 0, ran = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    SCOPED_TRACE(kind + ": " + changes[i].name);
    const std::string golden = golden_refusal(bundle, changes[i].program);
    const bool is_hazard = !golden.empty() && !golden.starts_with("length");
    const Outcome got = core.run(changes[i].program, kTokens[i % 2]);
    hazards += is_hazard;
    lengths += golden.starts_with("length");
    ASSERT_FALSE(got.is_silent) << got.text;
    if (got.stopped()) {
      ++stopped[static_cast<std::uint32_t>(got.error)];
      caught += is_hazard;
      EXPECT_NE(golden, "") << "the core stops a sound program: " << got.text;
      EXPECT_LT(got.results.size(), 2u);
      EXPECT_EQ(got.waiting, 0u) << "a result of a token that failed";
      EXPECT_TRUE(got.results.empty() || got.results[0].next == expected[i % 2].results[0].next);
    } else {
      ++ran;
      harmless += is_hazard;
      EXPECT_TRUE(got.same_values(expected[i % 2])) << "the golden card says: " << golden;
    }
    if (i % 8 == 0) {
      EXPECT_TRUE(core.run(bundle.program(), kTokens[1]).same_values(expected[1])) << "after a reset";
    }
  }
  std::cout << kind << ": " << changes.size() << " schedules; the golden clock sees a hazard in " << hazards
            << " and only another length in " << lengths << "; the core stops " << caught << " of those hazards, runs "
            << harmless << " to the sound values; it runs " << ran << " in all, stops";
  for (const auto& [code, count] : stopped) std::cout << " " << count << " with error " << code;
  std::cout << "\n";
}

using RtlHazard = RtlTest;

TEST_F(RtlHazard, EveryDelayACycleShorterIsStoppedOrHarmless) {
  expect_refused_or_equal(bundle_, "a delay shorter", shortened(bundle_.program()));
}

TEST_F(RtlHazard, EveryInstructionACycleEarlierIsStoppedOrHarmless) {
  expect_refused_or_equal(bundle_, "an instruction earlier", moved(bundle_.program(), -1));
}

TEST_F(RtlHazard, EveryInstructionACycleLaterIsStoppedOrHarmless) {
  expect_refused_or_equal(bundle_, "an instruction later", moved(bundle_.program(), 1));
}

TEST_F(RtlHazard, InstructionsMovedByManyCyclesAreStoppedOrHarmless) {
  for (const std::uint64_t seed : {cosim::kFixedSeed, cosim::fresh_seed()}) {
    SCOPED_TRACE("OPENLPU_SEED=" + std::to_string(seed));
    expect_refused_or_equal(bundle_, "moved far", random_moves(bundle_.program(), seed, 60));
  }
}

/// Biases; a single K/V head; keys of 12 bits; heads of two blocks.
TEST_F(RtlHazard, OtherModelsSchedulesAreStoppedOrHarmless) {
  for (const auto& [name, kv_bits] :
       {std::pair{"qwen2_tied_q4_1", 8U}, {"one_kv_head", 8U}, {"tied_q4_1", 12U}, {"head_64", 8U}}) {
    SCOPED_TRACE(name);
    const bundle::Bundle other =
        compiled(name, place_.path() / (std::string(name) + std::to_string(kv_bits)), "tiny", kv_bits);
    for (const std::int64_t cycles : {-1, 1})
      expect_refused_or_equal(other, std::string(name) + " " + std::to_string(cycles), moved(other.program(), cycles));
    expect_refused_or_equal(other, std::string(name) + " moved far",
                            random_moves(other.program(), cosim::kFixedSeed, 25));
  }
}

}  // namespace
}  // namespace lpu::test
