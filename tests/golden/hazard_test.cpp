// Every kind of dependency of docs/isa.md: the tightest schedule is accepted, one cycle less is refused, and the
// sentence names both instructions. Schedules are written by hand from the latency table; nothing here asks the
// scoreboard.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/golden/verdict.hpp"

namespace lpu::golden::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint32_t kKvStart = 1000;

std::string until(std::uint32_t cycle) { return " busy until cycle " + std::to_string(kStart + cycle); }

/// first at `first_cycle`, then second at each cycle: accepted from `tight` on, refused one before.
void expect_tight(const contract::HardwareConfig& config, const Instruction& first, std::uint32_t first_cycle,
                  const Instruction& second, std::uint32_t tight, const std::string& place,
                  std::uint32_t position = 0) {
  const auto at = [&](std::uint32_t cycle) {
    ProgramBuilder builder(config, 64);
    builder.add_at(first, first_cycle);
    builder.add_at(second, cycle);
    return verdict(config, builder, position);
  };
  EXPECT_EQ(at(tight), "accepted");
  EXPECT_THAT(at(tight - 1),
              AllOf(HasSubstr("hazard: instruction 1 ("), HasSubstr("instruction 0 ("), HasSubstr(place)));
}

Instruction matvec(std::uint32_t row_groups, std::uint32_t column_sets, std::uint32_t nibbles = 1) {
  Instruction in = instruction(Opcode::kMatvec);
  in.matvec.row_groups = row_groups;
  in.matvec.column_sets = column_sets;
  in.matvec.nibbles = in.matvec.column_set_words = nibbles;
  in.matvec.row_group_words = column_sets * nibbles;
  in.matvec.segments = in.matvec.start = in.matvec.finish = 1;
  return in;
}

Instruction rows(Opcode opcode, const contract::HardwareConfig& config, std::uint32_t count) {
  Instruction in = instruction(opcode);
  const auto lanes = static_cast<std::uint32_t>(config.lanes);
  in.vector.rows = count;
  in.vector.row_groups = (count + lanes - 1) / lanes;
  in.vector.pitch_cycles = lanes / static_cast<std::uint32_t>(config.vector_lanes);
  in.vector.segments = in.vector.head_blocks = 1;
  in.vector.accumulator = 100;
  in.vector.destination = 50;
  in.vector.memory_address = kKvStart;
  in.vector.key_address = kKvStart + 100;
  in.vector.row_group_words = in.vector.nibbles = in.vector.key_row_group_words = 2;
  in.vector.slot_words = in.vector.key_slot_words = 64;
  return in;
}

Instruction softmax() {
  Instruction in = instruction(Opcode::kSoftmax);
  in.softmax.segments = 1;
  in.softmax.pitch_cycles = 2;
  in.softmax.accumulator = 200;
  in.softmax.round = 3;
  return in;
}

const contract::HardwareConfig kFour = small_config(4, 2);  // 4 lanes × 2 groups: a row group enters in 2 cycles
const contract::HardwareConfig kOne = small_config(4, 1);
const contract::HardwareConfig kWide = small_config(32, 1, 32);  // a block of rows enters in 1 cycle

TEST(HazardTest, BeatBeforeActivationBlockIsReadableIsRefused) {
  Instruction reader = matvec(1, 1);
  reader.matvec.activation_address = 50;
  // 64 rows enter in cycles 0…31, the last block's last row in 31.
  expect_tight(kFour, rows(Opcode::kResidual, kFour, 64), 0, reader, 31 + contract::kResidualBlockCycles,
               "reads activation block 50 of bank 1");
  expect_tight(kFour, rows(Opcode::kSwiglu, kFour, 128), 0, reader, 63 + contract::kSwigluCycles,
               "activation block 50");
  Instruction query = rows(Opcode::kQuery, kFour, 64);
  query.vector.head_blocks = 2;
  expect_tight(kFour, query, 0, reader, 31 + contract::kQueryCycles, "activation block 50");
  query.vector.has_bias = 1;
  expect_tight(kFour, query, 0, reader, 31 + contract::kQueryCycles + contract::kBiasCycles, "activation block 50");
  Instruction mix = rows(Opcode::kMix, kFour, 32);
  mix.vector.segments = 2;  // segment 1's rows enter after segment 0's
  expect_tight(kFour, mix, 0, reader, 31 + contract::kMixCycles, "activation block 50");
}

TEST(HazardTest, SecondColumnSetWaitsForItsOwnBlock) {
  Instruction reader = matvec(3, 2);
  reader.matvec.activation_address = 50;
  // 96 rows on one group: blocks at addresses 50, 51, 52; the burst's second set is read 3 beats (or 1) after the
  // first.
  const std::uint32_t second = 31 + contract::kResidualBlockCycles;
  expect_tight(kOne, rows(Opcode::kResidual, kOne, 64), 0, reader, second - 3, "reads activation block 51");
  reader.matvec.row_major = 1;
  expect_tight(kOne, rows(Opcode::kResidual, kOne, 64), 0, reader, second - 1, "reads activation block 51");
}

TEST(HazardTest, RowsBeforeAccumulatorIsReadableAreRefused) {
  Instruction logits = rows(Opcode::kLogits, kFour, 12);
  logits.vector.accumulator = 0;
  logits.vector.pitch_cycles = 2;
  // Row-major, 3 row groups of 2 sets: sums end with beats 1, 3 and 5; entries 0, 2 and 4 cycles after the issue. Cycle
  // 20: late enough for the logits' noise.
  Instruction producer = matvec(3, 2);
  producer.matvec.row_major = 1;
  expect_tight(kFour, producer, 20, logits, 21 + contract::kMatvecCycles, "reads accumulator 0 of segment 0");
  // Column-major: the row groups end with beats 3, 4, 5.
  expect_tight(kFour, matvec(3, 2), 20, logits, 23 + contract::kMatvecCycles, "reads accumulator 0 of segment 0");
  logits.vector.accumulator = 2;
  logits.vector.rows = 4;
  logits.vector.row_groups = 1;
  expect_tight(kFour, matvec(3, 2, 3), 0, logits, 17 + contract::kMatvecCycles, "reads accumulator 2 of segment 0");
}

TEST(HazardTest, SumThatNoBurstFinishesIsRefused) {
  Instruction producer = matvec(1, 1);
  producer.matvec.finish = 0;
  Instruction logits = rows(Opcode::kLogits, kFour, 4);
  logits.vector.accumulator = 0;
  ProgramBuilder builder(kFour, 64);
  builder.add(producer);
  builder.add(logits);
  EXPECT_THAT(verdict(kFour, builder, 0), HasSubstr("instruction 0 (matvec, iteration 0) doesn't finish it"));
}

TEST(HazardTest, StartingBeatBeforeOlderReadOfItsAccumulatorIsRefused) {
  Instruction logits = rows(Opcode::kLogits, kFour, 4);
  logits.vector.accumulator = 0;
  // Read in cycles 100 and 101; the sum changes kMatvecCycles − 1 after the beat.
  expect_tight(kFour, logits, 100, matvec(1, 1), 102 - (contract::kMatvecCycles - 1), "changes accumulator 0");
  // With two nibbles the block's second beat changes the sum.
  expect_tight(kFour, logits, 100, matvec(1, 1, 2), 101 - (contract::kMatvecCycles - 1), "changes accumulator 0");
}

TEST(HazardTest, SoftmaxReadHoldsItsAccumulatorUntilTheSegmentHasEntered) {
  Instruction scores = softmax();
  scores.softmax.segments = 2;
  scores.softmax.pitch_cycles = 4;
  scores.softmax.accumulator = 0;
  Instruction next = matvec(1, 1);
  next.matvec.segments = 2;
  next.matvec.activation_address = 20;
  // Segment 1 of row group 0 enters in cycles 102 and 103.
  expect_tight(kFour, scores, 100, next, 104 - (contract::kMatvecCycles - 1), "changes accumulator 0 of segment 1");
}

TEST(HazardTest, BlockWrittenBeforeOlderBeatsHaveReadItIsRefused) {
  Instruction reader = matvec(4, 1);
  reader.matvec.activation_address = 50;
  // Beats 100…103 read block 0; it becomes new 15 + kResidualBlockCycles after the residual's issue.
  expect_tight(kOne, reader, 100, rows(Opcode::kResidual, kOne, 32), 104 - 15 - contract::kResidualBlockCycles,
               "changes activation block 50 of bank 0");
}

TEST(HazardTest, RowsBeforeScaleRegisterIsReadableAreRefused) {
  Instruction norm = rows(Opcode::kResidual, kFour, 64);
  norm.vector.ends_norm = norm.vector.scale_register = 1;
  for (const Opcode opcode : {Opcode::kLogits, Opcode::kSwiglu, Opcode::kQuery, Opcode::kKey, Opcode::kValue}) {
    Instruction reader = rows(opcode, kFour, 64);
    reader.vector.scale_register = 1;
    reader.vector.destination = 60;
    reader.vector.pitch_cycles = 5;  // a V column keeps the second port for four cycles, and its scale before that
    expect_tight(kFour, norm, 0, reader, 31 + contract::kNormCycles, "reads scale register 1");
  }
}

TEST(HazardTest, SumThatStartsAtTheResidualBeforeItIsReadableIsRefused) {
  Instruction sums = matvec(3, 2);
  sums.matvec.adds_residual = sums.matvec.row_major = 1;
  // 12 rows on 4 lanes: residual values 8…11 enter in cycles 4 and 5 and are read in beat 4 (row-major) or 2.
  expect_tight(kFour, rows(Opcode::kResidual, kFour, 12), 0, sums, 5 + contract::kResidualCycles - 4,
               "reads residual value ");
  sums.matvec.row_major = 0;
  expect_tight(kFour, rows(Opcode::kResidual, kFour, 12), 0, sums, 5 + contract::kResidualCycles - 2,
               "reads residual value ");
}

TEST(HazardTest, BeatBeforeKeyWordsAreReadableIsRefused) {
  Instruction key = rows(Opcode::kKey, kFour, 64);
  key.vector.head_blocks = 2;  // groups 0 and 1 of one address; the second block's last row enters in cycle 31
  Instruction scores = matvec(1, 1, 2);
  scores.matvec.weight_address = kKvStart;
  expect_tight(kFour, key, 0, scores, 31 + contract::kKeyCycles, "reads lane word 1000");
  key.vector.has_bias = 1;
  expect_tight(kFour, key, 0, scores, 31 + contract::kKeyCycles + contract::kBiasCycles, "reads lane word 1000");
}

TEST(HazardTest, BeatBeforeValueWordsOrScaleAreReadableIsRefused) {
  Instruction sums = matvec(8, 1, 2);
  sums.matvec.weight_address = kKvStart;
  // 8 row groups of a head; row group r is readable r·kValuePortCycles later, and read 2·r beats after the first.
  expect_tight(kOne, rows(Opcode::kValue, kOne, 32), 0, sums,
               15 + contract::kValueCycles + 7 * contract::kValuePortCycles - 14, "reads lane word 1014");
  Instruction scores = matvec(1, 1, 2);
  scores.matvec.weight_address = kKvStart + 100;
  scores.matvec.keeps_value_scale = 1;
  // The scale is read with the second beat, in the cycle after it was written or later.
  expect_tight(kOne, rows(Opcode::kValue, kOne, 32), 0, scores,
               15 + contract::kValueCycles - contract::kValueScaleWriteCycles + 1 - 1, "reads lane word 1101");
}

TEST(HazardTest, LaneWordReadableInTheCycleAfterAnOlderReadIsRefused) {
  // Two words, read in cycles 100 and 101: readable anew from 102 and 103 on. K's and V's are written in the two cycles
  // before both can be read.
  Instruction reader = matvec(1, 1, 2);
  reader.matvec.weight_address = kKvStart;
  expect_tight(kOne, reader, 100, rows(Opcode::kKey, kOne, 32), 103 - 15 - contract::kKeyCycles,
               "changes lane word 1000");
  expect_tight(kOne, reader, 100, rows(Opcode::kValue, kOne, 32), 103 - 15 - contract::kValueCycles,
               "changes lane word 1000");
  reader.matvec.weight_address = kKvStart + 100;  // the scale's word is the second one
  expect_tight(kOne, reader, 100, rows(Opcode::kValue, kOne, 32),
               102 - 15 - (contract::kValueCycles - contract::kValueScaleWriteCycles), "changes lane word 1101");
}

TEST(HazardTest, ValueScaleBeforeItsKeyIsReadableIsRefused) {
  // Both heads enter in one cycle and V's chain is shorter; the port reads K's word before V's are ready. At position
  // 32 V's words go to group 1, its scale to group 0.
  const contract::HardwareConfig config = small_config(32, 2, 32);
  Instruction value = rows(Opcode::kValue, config, 32);
  value.vector.key_address = kKvStart;
  value.vector.key_row_group_words = value.vector.nibbles;
  value.vector.memory_address = kKvStart + 200;
  expect_tight(config, rows(Opcode::kKey, config, 32), 0, value,
               contract::kKeyCycles - (contract::kValueCycles - contract::kValueScaleReadCycles),
               "reads lane word 1003", 32);
}

TEST(HazardTest, SoftmaxRegistersBeforeTheyAreReadableAreRefused) {
  Instruction sums = matvec(1, 1, 2);
  sums.matvec.relative_exponents = 1;
  sums.matvec.round = 3;
  sums.matvec.activation_address = 20;
  // 32 positions on 4 lanes: entries in cycles 0…15.
  expect_tight(kOne, softmax(), 0, sums, 15 + contract::kSoftmaxRowCycles, "the largest exponent of round 3");
  sums.matvec.relative_exponents = sums.matvec.activation_address = 0;
  expect_tight(kOne, softmax(), 0, sums, 15 + contract::kSoftmaxBlockCycles, "reads activation block 0 of bank 0");
  // On two groups the second bank's block is the zero one that comes with the row's end.
  expect_tight(kFour, softmax(), 0, sums, 15 + contract::kSoftmaxRowCycles, "reads activation block 0 of bank 1");
  Instruction mix = rows(Opcode::kMix, kOne, 32);
  mix.vector.round = 3;
  expect_tight(kOne, softmax(), 0, mix, 15 + contract::kReciprocalCycles, "reads 1/z of round 3, segment 0");
}

TEST(HazardTest, TwoBlocksInOneBankInOneCycleAreRefused) {
  const auto at = [](std::uint32_t cycle) {
    ProgramBuilder builder(kOne, 64);
    builder.add_at(softmax(), 10);  // block of bank 0 at 25 + kSoftmaxBlockCycles
    builder.add_at(rows(Opcode::kResidual, kOne, 32), cycle);
    return verdict(kOne, builder, 0);
  };
  const std::uint32_t same = 25 + contract::kSoftmaxBlockCycles - 15 - contract::kResidualBlockCycles;
  EXPECT_EQ(at(same - 1), "accepted");
  EXPECT_EQ(at(same + 1), "accepted");
  EXPECT_THAT(at(same),
              AllOf(HasSubstr("instruction 1 (residual, iteration 0) uses the write port of activation bank 0"),
                    HasSubstr("instruction 0 (softmax, iteration 0)")));
}

TEST(HazardTest, TwoUsesOfTheSecondLanePortInOneCycleAreRefused) {
  Instruction next = rows(Opcode::kKey, kWide, 32);
  next.vector.first_row = 32;
  // Two words each: the second key may follow two cycles later.
  expect_tight(kWide, rows(Opcode::kKey, kWide, 32), 0, next, 2, "the second lane-memory port of group 0");
}

TEST(HazardTest, ValueScaleAtTheSecondLanePortWithAKeysWordIsRefused) {
  // K's two words are written in cycles 37 and 38. V's port uses after its issue: 25 and 27 for the scale, 28…31 words.
  const contract::HardwareConfig config = small_config(32, 2, 32);
  ASSERT_EQ(contract::kKeyCycles, 39);
  ASSERT_EQ(contract::kValueCycles - contract::kValueScaleReadCycles, 25);
  ASSERT_EQ(contract::kValueCycles - contract::kValueScaleWriteCycles, 27);
  Instruction value = rows(Opcode::kValue, config, 32);
  value.vector.memory_address = kKvStart + 200;  // the scale goes to another word than the key's
  const auto at = [&](std::uint32_t cycle, std::uint32_t position) {
    ProgramBuilder builder(config, 64);
    builder.add_at(rows(Opcode::kKey, config, 32), 0);
    builder.add_at(value, cycle);
    return verdict(config, builder, position);
  };
  const auto expect_refused_in = [&](std::uint32_t first, std::uint32_t last, std::uint32_t position) {
    for (std::uint32_t cycle = 1; cycle < 20; ++cycle) {
      SCOPED_TRACE(cycle);
      if (cycle >= first && cycle <= last)
        EXPECT_THAT(at(cycle, position), HasSubstr("uses the second lane-memory port of group 0"));
      else
        EXPECT_EQ(at(cycle, position), "accepted");
    }
  };
  expect_refused_in(6, 13, 0);
  expect_refused_in(10, 13, 32);  // V's words go to group 1, so only the scale meets the key
}

TEST(HazardTest, MatvecOrSoftmaxInATokensFirstCyclesIsRefused) {
  const auto at = [](const Instruction& in, std::uint32_t cycle) {
    ProgramBuilder builder(kFour, 64);
    builder.add_at(in, 0);
    contract::Program program = builder.build();
    for (std::uint32_t& delay : program.delays) delay = cycle;  // of the only instruction, at each length
    return verdict(kFour, program);
  };
  for (const Instruction& in : {matvec(1, 1), softmax()}) {
    EXPECT_EQ(at(in, contract::kIssueLeadCycles), "accepted");
    for (const std::uint32_t early : {0, contract::kIssueLeadCycles - 1})
      EXPECT_THAT(at(in, early), AllOf(HasSubstr("hazard: instruction 0 ("), HasSubstr("in the first 8 cycles")));
  }
  EXPECT_EQ(at(rows(Opcode::kSwiglu, kFour, 4), 0), "accepted");
}

TEST(HazardTest, InstructionBeforeItsUnitIsFreeIsRefused) {
  Instruction second = matvec(1, 1);
  second.matvec.accumulator = 30;
  expect_tight(kFour, matvec(5, 1), 0, second, 5, "keeps the MVU" + until(5));
  Instruction logits = rows(Opcode::kLogits, kFour, 12);
  logits.vector.pitch_cycles = 7;  // the last of three entries takes only its own two cycles
  expect_tight(kFour, logits, 40, logits, 40 + 2 * 7 + 2, "keeps the VPU" + until(56));
  Instruction scores = softmax();
  scores.softmax.pitch_cycles = 5;
  Instruction later = scores;
  later.softmax.round = 4;
  later.softmax.destination = 9;
  expect_tight(kOne, scores, 0, later, 7 * 5 + 2, "keeps the SMX" + until(37));
  Instruction embed = rows(Opcode::kEmbed, kFour, 64);
  embed.vector.column_sets = 1;
  embed.vector.pitch_cycles = 40;
  expect_tight(kFour, embed, 0, rows(Opcode::kLogits, kFour, 4), 40 + contract::kEmbedFetchCycles,
               "keeps the VPU" + until(40 + contract::kEmbedFetchCycles));
}

TEST(HazardTest, SlowSlicesDelayBlocksReadsAndTheUnit) {
  Instruction slow = rows(Opcode::kResidual, kOne, 32);
  slow.vector.slice_cycles = 3;  // slices of a row group enter 3 cycles apart, row groups 5
  slow.vector.pitch_cycles = 5;
  Instruction reader = matvec(1, 1);
  reader.matvec.activation_address = 50;
  expect_tight(kOne, slow, 0, reader, 7 * 5 + 3 + contract::kResidualBlockCycles, "activation block 50");
  expect_tight(kOne, slow, 0, rows(Opcode::kLogits, kOne, 4), 7 * 5 + 4, "keeps the VPU" + until(39));
  Instruction logits = rows(Opcode::kLogits, kOne, 4);
  logits.vector.accumulator = 0;
  logits.vector.slice_cycles = logits.vector.pitch_cycles = 9;
  expect_tight(kOne, logits, 100, matvec(1, 1), 110 - (contract::kMatvecCycles - 1), "changes accumulator 0");
}

TEST(HazardTest, BeatInACycleOfEmbedsReadIsRefused) {
  Instruction embed = rows(Opcode::kEmbed, kFour, 128);
  embed.vector.column_sets = 2;
  embed.vector.pitch_cycles = 40;
  const auto at = [&](std::uint32_t beat, bool embed_first) {
    ProgramBuilder builder(kFour, 64);
    if (embed_first) builder.add_at(embed, 10);
    builder.add_at(matvec(3, 1), beat);
    if (!embed_first) builder.add_at(embed, 10);
    return verdict(kFour, builder, 0);
  };
  for (const bool embed_first : {false, true}) {  // reads in cycles 10, 11, 50, 51; beats in three cycles
    for (const std::uint32_t free : {7u, 12u, 30u, 47u, 52u}) EXPECT_EQ(at(free, embed_first), "accepted") << free;
    for (const std::uint32_t taken : {8u, 9u, 11u, 48u, 51u})
      EXPECT_THAT(at(taken, embed_first), AllOf(HasSubstr("(matvec, iteration 0) has a beat at cycle"),
                                                HasSubstr("(embed, iteration 0) reads the lanes' memories")))
          << taken;
  }
}

TEST(HazardTest, TokenLastsUntilItsLastResultIsReadable) {
  const auto cycles = [](const Instruction& in, const contract::HardwareConfig& config, std::uint32_t at = 7) {
    ProgramBuilder builder(config, 64);
    builder.add_at(in, at);
    const contract::Program program = builder.build();
    return Scoreboard(config, program, kWeightWords, kKvWords).token(0, TokenPart::whole(true)).cycles;
  };
  EXPECT_EQ(cycles(matvec(3, 2), kFour), kStart + 7 + 5 + contract::kMatvecCycles);
  EXPECT_EQ(cycles(rows(Opcode::kLogits, kFour, 6), kFour, 30),
            kStart + 30 + 2 + contract::kLogitCycles);  // rows 6, 7 are absent
  EXPECT_EQ(cycles(softmax(), kOne), kStart + 7 + 15 + contract::kReciprocalCycles);
  EXPECT_EQ(cycles(rows(Opcode::kResidual, kFour, 64), kFour), kStart + 7 + 31 + contract::kResidualBlockCycles);
  EXPECT_EQ(cycles(rows(Opcode::kValue, kOne, 32), kOne),
            kStart + 7 + 15 + contract::kValueCycles + 7 * contract::kValuePortCycles);
}

}  // namespace
}  // namespace lpu::golden::testing
