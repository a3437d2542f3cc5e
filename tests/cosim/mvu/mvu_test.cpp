// lpu_mvu, whole, against a recomputation with the engine's functions: bursts of every format, order, segment count and
// start, back to back and apart, each sum in exactly the cycle that kMatvecCycles says, while every other port is busy;
// and the assertions, which must stop a schedule that breaks the rules.
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "Vmvu_32.h"
#include "Vmvu_4.h"
#include "hls/contract/hardware_config.hpp"
#include "tests/cosim/mvu/mvu_bench.hpp"

namespace lpu {
namespace cosim {
namespace {

constexpr MvuShape kTiny{4, 2, 2, 2, 256, 256, 16, 64};
constexpr MvuShape kWide{32, 6, 8, 16, 48, 48, 12, 16};

/// Makes bursts whose addresses lie in their memories and whose sums have a start somewhere before them.
class Bursts {
 public:
  Bursts(const MvuShape& shape, std::uint64_t seed) : shape_(shape), random_(seed) {}

  /// Fields that the caller has set stay (zero: chosen here).
  Burst next(contract::MatvecFields fields, int gap) {
    Burst burst;
    burst.fields = fields;
    contract::MatvecFields& f = burst.fields;
    const bool goes_on = !made_.empty() && fields.segments == 0 && random_() % 2 != 0;
    if (f.nibbles == 0) choose_format(f);
    if (f.segments == 0) f.segments = goes_on ? made_.back().fields.segments : divisor();
    choose_counts(burst, goes_on);
    choose_addresses(burst);
    f.accumulator =
        goes_on ? made_.back().fields.accumulator : static_cast<std::uint32_t>(pick(random_, 0, shape_.entries - 1));
    if (!goes_on || random_() % 4 == 0 || !known(burst)) f.start = 1;
    if (f.start != 0) mark(burst);
    if (f.start != 0 && f.segments == 1 && random_() % 2 != 0) f.adds_residual = 1;
    f.residual_row = static_cast<std::uint32_t>(random_() % 60000);
    f.finish = static_cast<std::uint32_t>(random_() % 2);
    burst.issue = made_.empty() ? 8 : made_.back().issue + made_.back().beats() + gap;
    made_.push_back(burst);
    return burst;
  }
  const std::vector<Burst>& made() const { return made_; }

 private:
  std::uint32_t divisor() {
    std::uint32_t count = 0;
    do count = static_cast<std::uint32_t>(pick(random_, 1, shape_.groups));
    while (!contract::may_have_segments(shape_.groups, count));
    return count;
  }
  void choose_format(contract::MatvecFields& f) {
    const Format format = random_format(random_);
    f.nibbles = static_cast<std::uint32_t>(format.nibbles);
    f.signed_code = format.signed_code;
    f.signed_scale = format.signed_scale;
    f.has_minimum = format.has_minimum;
    f.unit_scale = format.unit_scale;
    f.relative_exponents = format.relative;
    f.round = static_cast<std::uint32_t>(pick(random_, 0, kRounds - 1));
    f.keeps_value_scale = f.nibbles >= 2 && random_() % 2 != 0;
    f.row_major = static_cast<std::uint32_t>(random_() % 2);
  }
  void choose_counts(Burst& burst, bool goes_on) {
    contract::MatvecFields& f = burst.fields;
    const int part = shape_.groups / static_cast<int>(f.segments);
    f.row_groups = static_cast<std::uint32_t>(pick(random_, 1, 5));
    if (goes_on) f.row_groups = static_cast<std::uint32_t>(made_.back().row_groups);
    f.column_sets = static_cast<std::uint32_t>(pick(random_, 1, 4));
    f.length_dimension = goes_on ? 0u : static_cast<std::uint32_t>(pick(random_, 0, 2));
    burst.context_blocks =
        f.length_dimension == 1 ? pick(random_, 1, shape_.lanes >= 32 ? 5 : 2) : pick(random_, 1, 4 * part);
    burst.row_groups = f.length_dimension == 1 ? (32 * burst.context_blocks + shape_.lanes - 1) / shape_.lanes
                                               : static_cast<int>(f.row_groups);
    burst.column_sets =
        f.length_dimension == 2 ? (burst.context_blocks + part - 1) / part : static_cast<int>(f.column_sets);
    // Numbers that the length replaces must not matter.
    if (f.length_dimension == 1) f.row_groups = static_cast<std::uint32_t>(random_() & 0xffff);
    if (f.length_dimension == 2) f.column_sets = static_cast<std::uint32_t>(random_() & 0xffff);
  }
  void choose_addresses(Burst& burst) {
    contract::MatvecFields& f = burst.fields;
    const int nibbles = static_cast<int>(f.nibbles), rows = burst.row_groups - 1, sets = burst.column_sets - 1;
    int row_words = nibbles, set_words = (rows + 1) * nibbles;  // in the order of a column-major burst
    if (random_() % 2 != 0) {
      set_words = nibbles;
      row_words = (sets + 1) * nibbles;
    }
    if (random_() % 4 == 0 || rows * row_words + sets * set_words + nibbles > shape_.lane_words)
      row_words = set_words = pick(random_, 0, (shape_.lane_words - nibbles) / (rows + sets + 1));
    f.row_group_words = static_cast<std::uint32_t>(row_words);
    f.column_set_words = static_cast<std::uint32_t>(set_words);
    burst.iteration = static_cast<std::uint32_t>(random_() % 4 == 0 ? 0 : random_() & 0xffff);
    const int words = rows * row_words + sets * set_words + nibbles;
    const int minimums = rows * (row_words / nibbles) + sets * (set_words / nibbles) + 1;
    f.weight_address = strided(pick(random_, 0, shape_.lane_words - words), burst.iteration, f.weight_stride);
    f.minimum_address = strided(pick(random_, 0, shape_.minimum_words - minimums), burst.iteration, f.minimum_stride);
    f.exponent_address = strided(pick(random_, 0, 60000), burst.iteration, f.exponent_stride);
    f.activation_address = static_cast<std::uint32_t>(pick(random_, 0, shape_.blocks - 1 - sets));
  }
  /// A base that is `wanted` after the iterations' strides; now and then at a stride of its own.
  std::uint32_t strided(int wanted, std::uint32_t iteration, std::uint32_t& stride) {
    stride = static_cast<std::uint32_t>(random_() & 0xffffff);
    return (static_cast<std::uint32_t>(wanted) - stride * iteration) & 0xffffff;
  }
  bool known(const Burst& burst) const {
    for (int r = 0; r < burst.row_groups; ++r)
      for (int segment = 0; segment < static_cast<int>(burst.fields.segments); ++segment)
        if (known_.count({(static_cast<int>(burst.fields.accumulator) + r) % shape_.entries, segment}) == 0)
          return false;
    return true;
  }
  void mark(const Burst& burst) {
    for (int r = 0; r < burst.row_groups; ++r)
      for (int segment = 0; segment < static_cast<int>(burst.fields.segments); ++segment)
        known_.insert({(static_cast<int>(burst.fields.accumulator) + r) % shape_.entries, segment});
  }

  const MvuShape shape_;
  Generator random_;
  std::vector<Burst> made_;
  std::set<std::pair<int, int>> known_;  ///< (entry, segment) that some burst has started
};

template <typename Module>
void run_random(const MvuShape& shape, int count) {
  for (const std::uint64_t seed : seeds()) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Bursts bursts(shape, seed);
    Generator random(seed + 1);
    for (int i = 0; i < count; ++i) bursts.next({}, random() % 3 != 0 ? 0 : pick(random, 1, 9));
    MvuBench<Module> bench(shape, seed + 2);
    bench.run(bursts.made());
    EXPECT_GT(bench.compared(), count);
    EXPECT_EQ(bench.saturations(), bench.model.saturations);
  }
}

TEST(Mvu, RandomBurstsOfTwoGroupsOfFourLanesShowEverySumInItsCycle) { run_random<Vmvu_4>(kTiny, 600); }
TEST(Mvu, RandomBurstsOfSixGroupsOfThirtyTwoLanesShowEverySumInItsCycle) { run_random<Vmvu_32>(kWide, 60); }

/// The formats that compilers make, each row-major and column-major, in one and in two segments, without a gap.
TEST(Mvu, EveryWeightFormatInEveryOrderEqualsTheEngine) {
  struct Named {
    std::uint32_t nibbles, signed_code, signed_scale, has_minimum, unit_scale, keeps, relative;
  };
  constexpr Named kFormats[] = {
      {1, 0, 0, 1, 0, 0, 0},  // 4 bits and a minimum
      {1, 1, 1, 0, 0, 0, 0},  // signed 4 bits, signed scale
      {2, 1, 0, 0, 0, 0, 0},  // 8 bits
      {2, 0, 0, 1, 0, 0, 0},  // 8 bits and a minimum
      {2, 1, 0, 0, 0, 1, 0},  // K of 8 bits, with V's scales
      {3, 1, 0, 0, 0, 1, 0},  // K of 12 bits, with V's scales
      {2, 1, 0, 0, 1, 0, 1},  // V: scale 1, softmax weights
  };
  Bursts bursts(kTiny, 3);
  for (const Named& format : kFormats)
    for (std::uint32_t order = 0; order < 2; ++order)
      for (std::uint32_t segments = 1; segments <= 2; ++segments)
        for (int i = 0; i < 6; ++i) {
          contract::MatvecFields f;
          f.nibbles = format.nibbles;
          f.signed_code = format.signed_code;
          f.signed_scale = format.signed_scale;
          f.has_minimum = format.has_minimum;
          f.unit_scale = format.unit_scale;
          f.keeps_value_scale = format.keeps;
          f.relative_exponents = format.relative;
          f.row_major = order;
          f.segments = segments;
          bursts.next(f, 0);
        }
  MvuBench<Vmvu_4> bench(kTiny, 4);
  bench.run(bursts.made());
  EXPECT_EQ(bench.saturations(), bench.model.saturations);
}

TEST(Mvu, ManyBeatsOnOneEntryInEveryCycleAddUp) {
  Bursts bursts(kTiny, 5);
  contract::MatvecFields f;
  f.nibbles = 1;
  f.row_major = 1;
  f.segments = 1;
  Burst burst = bursts.next(f, 0);
  burst.fields.length_dimension = 0;
  burst.row_groups = 1;
  burst.fields.row_groups = 1;
  burst.column_sets = 40;
  burst.fields.column_sets = 40;
  burst.fields.column_set_words = 1;
  burst.fields.row_group_words = 40;
  burst.iteration = 0;
  burst.fields.weight_address = 100;
  burst.fields.activation_address = 5;
  MvuBench<Vmvu_4> bench(kTiny, 6);
  bench.run({burst});
  EXPECT_GT(bench.compared(), 0);
}

TEST(Mvu, ResetInTheMiddleOfABurstLeavesNothingBehind) {
  MvuBench<Vmvu_4> bench(kTiny, 10);
  for (int stop = 9; stop < 60; ++stop) {
    Bursts bursts(kTiny, static_cast<std::uint64_t>(stop));
    for (int i = 0; i < 6; ++i) bursts.next({}, i % 2);
    bench.run(bursts.made(), stop);
    bench.reset(stop % 3 + 1);
  }
  Bursts bursts(kTiny, 11);
  for (int i = 0; i < 40; ++i) bursts.next({}, i % 3);
  bench.run(bursts.made());
}

Burst plain_burst(int issue) {
  Burst burst;
  burst.fields.nibbles = 1;
  burst.fields.segments = 1;
  burst.fields.start = 1;
  burst.fields.column_sets = 4;
  burst.column_sets = 4;
  burst.fields.column_set_words = 1;
  burst.fields.row_groups = 1;
  burst.issue = issue;
  return burst;
}

/// An assertion's sentence goes to the standard output; death tests read the other one.
template <typename Work>
void stopping(Work work) {
  dup2(STDERR_FILENO, STDOUT_FILENO);
  work();
}

TEST(MvuDeathTest, BurstInsideAnotherStopsTheSimulation) {
  EXPECT_DEATH(stopping([] {
                 MvuBench<Vmvu_4>(kTiny, 8).run({plain_burst(8), plain_burst(11)});
               }),
               "a burst begins inside another");
}

/// Hands over one instruction by itself, so that nothing but the RTL looks at it.
void hand_over_alone(const contract::MatvecFields& fields, std::uint32_t opcode) {
  Vmvu_4 module;
  module.rst_ni = 0;
  for (int i = 0; i < 16; ++i) tick(module);
  module.rst_ni = 1;
  contract::Instruction instruction;
  instruction.matvec = fields;
  std::uint32_t words[contract::kInstructionWords];
  contract::pack(instruction, words);
  words[0] |= opcode;
  for (int i = 0; i < contract::kInstructionWords; ++i) module.instruction_i[static_cast<std::size_t>(i)] = words[i];
  module.blocks_i = 1;
  module.instruction_valid_i = 1;
  tick(module);
  module.instruction_valid_i = 0;
  for (int i = 0; i < 40; ++i) {
    module.embed_read_i = fields.round == 1 && module.beat_o != 0;
    put(module.second_write_i, 0, 1, fields.round == 2 && module.beat_o != 0);  // to word 0 of group 0, lane 0
    tick(module);
  }
}

TEST(MvuDeathTest, SegmentsThatDontDivideTheGroupsStopTheSimulation) {
  contract::MatvecFields fields = plain_burst(0).fields;
  fields.segments = 3;
  EXPECT_DEATH(stopping([&] { hand_over_alone(fields, 0); }), "segments don't divide the column groups");
}
TEST(MvuDeathTest, AnotherUnitsInstructionStopsTheSimulation) {
  const contract::MatvecFields fields = plain_burst(0).fields;
  EXPECT_DEATH(stopping([&] { hand_over_alone(fields, 9); }), "opcode 9 isn't the MVU's");
}
TEST(MvuDeathTest, EmbeddingReadInABeatsCycleStopsTheSimulation) {
  contract::MatvecFields fields = plain_burst(0).fields;
  fields.round = 1;
  EXPECT_DEATH(stopping([&] { hand_over_alone(fields, 0); }), "kEmbed reads the lanes' memories in a beat's cycle");
}
TEST(MvuDeathTest, WordWrittenInTheCycleOfItsReadStopsTheSimulation) {
  contract::MatvecFields fields = plain_burst(0).fields;
  fields.round = 2;
  EXPECT_DEATH(stopping([&] { hand_over_alone(fields, 0); }), "port A reads address 0 while port B writes it");
}
TEST(MvuDeathTest, AddressBeyondTheLaneMemoryStopsTheSimulation) {
  contract::MatvecFields fields = plain_burst(0).fields;
  fields.weight_address = 256;
  EXPECT_DEATH(stopping([&] { hand_over_alone(fields, 0); }), "no word 256");
}
TEST(Mvu, InstructionAloneWithinTheRulesRunsToItsEnd) { hand_over_alone(plain_burst(0).fields, 0); }

}  // namespace
}  // namespace cosim
}  // namespace lpu
