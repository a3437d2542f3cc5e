// What lpu_sequencer reports of programs and commands that can't be run, with the number of the run; that it stops
// then, and that a reset starts it again. Relies on WalkerModel's exact cycles for the border between in time and late.
#include <gtest/gtest.h>

#include "tests/cosim/sequencer/listed_program.hpp"
#include "tests/cosim/sequencer/sizes.hpp"

namespace lpu {
namespace cosim {
namespace {

using contract::CardError;

template <typename Size>
class SequencerErrors : public ::testing::Test {
 protected:
  using Bench = SequencerBench<typename Size::Module>;

  /// A program that runs, to show that the reset helps.
  static Listed sound() {
    Listed list;
    list.loop(2);
    list.add(1, 10, 0);
    list.add(0, 10, 12);
    list.length(80);
    return list;
  }

  void expect(Bench& bench, CardError error, std::uint32_t index) {
    bench.run_to_error(20000);
    ASSERT_EQ(bench.module.error_o, static_cast<std::uint32_t>(error));
    ASSERT_EQ(bench.module.error_index_o, index);
    bench.commands.push_back(plain(0));
    tick(bench.module);
    bench.module.command_valid_i = 1;
    for (int i = 0; i < 400; ++i) {
      bench.module.eval();
      ASSERT_FALSE(bench.module.mvu_valid_o || bench.module.vpu_valid_o || bench.module.smx_valid_o);
      ASSERT_FALSE(bench.module.command_take_o || bench.module.token_start_o || bench.module.token_end_o);
      ASSERT_EQ(bench.module.error_o, static_cast<std::uint32_t>(error));
      ASSERT_EQ(bench.module.error_index_o, index);
      tick(bench.module);
    }
    bench.reset(1);
    bench.load(sound().program);
    bench.commands = {plain(bench.cycle), plain(bench.cycle)};
    bench.finish();
  }
  /// The program's first token ends in this error.
  void expect(const contract::Program& program, CardError error, std::uint32_t index, bool with_head = true) {
    Bench bench(kFixedSeed, Choice::kRegister);
    bench.load(program);
    bench.commands = {plain(bench.cycle)};
    bench.commands[0].with_head = with_head;
    expect(bench, error, index);
  }
};
TYPED_TEST_SUITE(SequencerErrors, Sizes);

TYPED_TEST(SequencerErrors, InstructionBehindAFullQueueIsLateWithItsIndex) {
  Listed list;
  list.loop(2);
  for (int i = 0; i < 40; ++i) list.add(1, 50, 8);
  list.add(0, 20, 20);
  list.length(9000);
  this->expect(list.program, CardError::kLate, 40);
}

TYPED_TEST(SequencerErrors, LoopsThatCostTheWholeLeadAreInTimeAndOneMoreIsLate) {
  Listed list;
  for (int loops = 1; loops < 6; ++loops) {
    list.loop(1);
    list.add(1, 1, loops == 1 ? 0 : 1);
    list.length(100);
    WalkerModel walker(TypeParam::kEntries);
    const std::int64_t late = walker.token(list.program, 0, runs_of(list.program, 1, true), true);
    if (TypeParam::kEntries > 4) {
      ASSERT_EQ(late, loops == 5 ? 4 : -1);
    }
    if (late >= 0) {
      this->expect(list.program, CardError::kLate, static_cast<std::uint32_t>(late));
      continue;
    }
    typename TestFixture::Bench bench(kFixedSeed, Choice::kPulse);
    bench.load(list.program);
    bench.commands = {plain(bench.cycle), plain(bench.cycle)};
    bench.finish();
  }
}

TYPED_TEST(SequencerErrors, DelayOfZeroBehindAnotherOfTheUnitIsLate) {
  Listed list;
  list.loop(1);
  list.add(1, 1, 0);
  list.add(0, 1, 8);
  list.add(1, 0, 0);
  list.length(100);
  this->expect(list.program, CardError::kLate, 2);
}

TYPED_TEST(SequencerErrors, UnknownOpcodeIsRefusedWithItsIndex) {
  for (std::uint32_t opcode = contract::kOpcodes; opcode < 16; ++opcode) {
    Listed list;
    list.loop(3);
    list.add(1, 10, 0);
    list.loop(1);
    list.add(0, 10, 60);
    list.add(1, 10, 60);
    list.program.instructions[2].common.opcode = opcode;
    list.length(200);
    this->expect(list.program, CardError::kOpcode, 4);
  }
}

TYPED_TEST(SequencerErrors, ProgramWithoutInstructionsIsRefused) {
  Listed nothing;
  nothing.length(100);
  this->expect(nothing.program, CardError::kLoops, 0);
  Listed empty;
  empty.loop(0);
  empty.add(1, 1, 0);
  empty.loop(5);
  empty.length(100);
  this->expect(empty.program, CardError::kLoops, 0);
  Listed head;
  head.loop(1, true);
  head.add(1, 1, 0);
  head.length(100);
  this->expect(head.program, CardError::kLoops, 0, false);
}

TYPED_TEST(SequencerErrors, TooManyLoopsAreRefused) {
  typename TestFixture::Bench bench(kFixedSeed, Choice::kRegister);
  bench.load(TestFixture::sound().program);
  bench.module.loops_i = 257;
  bench.commands = {plain(bench.cycle)};
  this->expect(bench, CardError::kLoops, 0);
}

TYPED_TEST(SequencerErrors, LoopBeyondTheProgramMemoryIsRefused) {
  Listed list;
  list.loop(1);
  list.add(1, 10, 0);
  list.loop(1);
  list.add(1, 10, 50);
  list.program.loops[1].instruction_count = TypeParam::kInstructions;
  list.length(300);
  this->expect(list.program, CardError::kLoops, 0);
}

TYPED_TEST(SequencerErrors, DelayBeyondTheTableIsRefusedWithItsIndex) {
  Listed list;
  list.loop(1);
  list.add(1, 10, 0);
  list.add(0, 10, 10);
  list.add(0, TypeParam::kDelays, 10);
  list.program.instructions[2].common.delay_by_length = 1;
  list.length(300);
  this->expect(list.program, CardError::kAddress, 2);
  Listed far;  // row · columns is 2^32, which must not come round to 0
  far.loop(1);
  far.add(1, 10, 0);
  far.add(1, 0x100000, 0);
  far.program.instructions[1].common.delay_by_length = 1;
  far.length(300);
  far.program.length_steps = 0x1000;
  this->expect(far.program, CardError::kAddress, 1);
}

/// Of a table's row, that is: the 24 bits of an instruction's own delay hold no such number.
TYPED_TEST(SequencerErrors, DelayOfMoreCyclesThanATokenMayLastIsRefusedWithItsIndex) {
  for (const std::uint32_t delay : {1u << 30, ~0u}) {
    Listed list;
    list.loop(1);
    list.add(1, 10, 0);
    list.add(0, 10, 10);
    list.add(0, static_cast<std::uint32_t>(list.program.delays.size()), 10);
    list.program.instructions[2].common.delay_by_length = 1;
    list.program.delays.push_back(delay);
    list.length(300);
    this->expect(list.program, CardError::kLength, 2);
  }
}

TYPED_TEST(SequencerErrors, TokenLengthBeyondTheTableIsAnAddressError) {
  for (const bool with_head : {false, true}) {
    typename TestFixture::Bench bench(kFixedSeed, Choice::kRegister);
    bench.load(TestFixture::sound().program);
    (with_head ? bench.module.cycles_with_head_i : bench.module.cycles_without_head_i) = TypeParam::kDelays;
    bench.commands = {plain(bench.cycle)};
    bench.commands[0].with_head = with_head;
    this->expect(bench, CardError::kAddress, 0);
  }
}

TYPED_TEST(SequencerErrors, LengthTooShortForTheNextWalkIsRefused) {
  Listed list = TestFixture::sound();
  list.length(kWalkLead - 1);
  this->expect(list.program, CardError::kLength, 0);
  list.length(1u << 30);
  this->expect(list.program, CardError::kLength, 0);
}

TYPED_TEST(SequencerErrors, TokenThatEndsBeforeItsWalkIsReported) {
  Listed list;
  list.loop(1);
  for (int i = 0; i < 60; ++i) list.add(1, 100, 0);
  list.length(400);
  this->expect(list.program, CardError::kLength, 0);
  typename TestFixture::Bench bench(kFixedSeed, Choice::kRegister);  // the same with a next token
  bench.load(list.program);
  bench.commands = {plain(bench.cycle), plain(bench.cycle)};
  this->expect(bench, CardError::kLength, 0);
}

TYPED_TEST(SequencerErrors, LoadBeyondAMemoryIsReported) {
  const std::uint32_t depths[] = {TypeParam::kInstructions, 256, TypeParam::kDelays};
  for (int memory = 0; memory < 3; ++memory) {
    typename TestFixture::Bench bench(kFixedSeed, Choice::kRegister);
    for (std::uint32_t address : {depths[memory] - 1, depths[memory]}) {
      ASSERT_EQ(bench.module.error_o, 0);
      bench.module.load_address_i = address;
      bench.module.load_instruction_i = memory == 0;
      bench.module.load_loop_i = memory == 1;
      bench.module.load_delay_i = memory == 2;
      tick(bench.module);
      bench.module.load_instruction_i = bench.module.load_loop_i = bench.module.load_delay_i = 0;
      tick(bench.module);
    }
    this->expect(bench, CardError::kLoad, 0);
  }
}

TYPED_TEST(SequencerErrors, FollowedTokenWithoutAChoiceIsAHazard) {
  typename TestFixture::Bench bench(kFixedSeed, Choice::kPulse);
  bench.load(TestFixture::sound().program);
  bench.commands = {plain(bench.cycle)};
  bench.commands[0].follow = 1;
  this->expect(bench, CardError::kHazard, 0);  // run_to_error() knows no ends: no pulse is sent
}

TYPED_TEST(SequencerErrors, HaltStopsInTheNextCycleUntilAReset) {
  Listed list;
  list.loop(20);
  const std::uint32_t period = TypeParam::kEntries == 4 ? 30 : 3;
  for (std::uint32_t unit = 0; unit < 3; ++unit) list.add(unit, period, 10);
  list.length(20 * period + 60);
  for (int at = 1; at < 120; at += 7) {
    typename TestFixture::Bench bench(kFixedSeed, Choice::kRegister);
    bench.load(list.program);
    bench.commands = {plain(bench.cycle), plain(bench.cycle)};
    bench.run(at);
    bench.module.halt_i = 1;
    tick(bench.module);
    bench.module.halt_i = 0;
    bench.module.command_valid_i = 1;
    int issues = 0;
    for (int i = 0; i < 300; ++i) {
      bench.module.eval();
      ASSERT_FALSE(bench.module.mvu_valid_o || bench.module.vpu_valid_o || bench.module.smx_valid_o);
      ASSERT_FALSE(bench.module.command_take_o || bench.module.token_start_o || bench.module.token_end_o);
      ASSERT_EQ(bench.module.error_o, 0);
      issues += bench.module.mvu_issue_o + bench.module.vpu_issue_o + bench.module.smx_issue_o;
      tick(bench.module);
    }
    ASSERT_LE(issues, 2 + 3 + 3);  // handed over before: their markers still come
    bench.reset(1);
    bench.commands = {plain(bench.cycle), plain(bench.cycle)};
    bench.finish();
  }
}

}  // namespace
}  // namespace cosim
}  // namespace lpu
