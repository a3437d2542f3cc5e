// lpu_sequencer in every cycle, with queues of four and of thirty-two: random programs and commands, and the places
// where a sequencer breaks: tokens back to back, a walk at full speed, long stalls, resets, halts.
#include <gtest/gtest.h>

#include "tests/cosim/sequencer/listed_program.hpp"
#include "tests/cosim/sequencer/random_programs.hpp"
#include "tests/cosim/sequencer/sequencer_bench.hpp"
#include "tests/cosim/sequencer/sizes.hpp"

namespace lpu {
namespace cosim {
namespace {

/// A command with everything random, for a program of that many lengths.
Command random_command(Random& random, const contract::Program& program, std::int64_t at) {
  Command command;
  command.at = at;
  command.token = static_cast<std::uint32_t>(random.bits(24));
  command.follow = random.one_in(2) ? 0 : number(random, 1, 40);
  command.position = number(random, 0, static_cast<int>(32 * program.length_steps) - 1);
  command.follow = std::min(command.follow, 32 * program.length_steps - 1 - command.position);
  command.with_head = !random.one_in(3);
  command.samples = random.one_in(2);
  command.inverse_temperature = static_cast<std::uint32_t>(random.bits(32));
  command.seed = random.bits(64);
  return command;
}

template <typename Size>
class Sequencer : public ::testing::Test {
 protected:
  using Bench = SequencerBench<typename Size::Module>;

  /// A fixed seed and a fresh one.
  template <typename Work>
  void with_seeds(Work work) {
    for (const std::uint64_t seed : {kFixedSeed, fresh_seed()})
      for (const Choice choice : {Choice::kRegister, Choice::kPulse}) {
        SCOPED_TRACE("OPENLPU_SEED=" + std::to_string(seed));
        Bench bench(seed, choice);
        work(bench);
        if (this->HasFatalFailure()) return;
      }
  }
  /// Commands that mostly wait already, sometimes come late, sometimes just at the decision.
  static void send(Bench& bench, int count) {
    std::int64_t at = bench.cycle;
    for (int i = 0; i < count; ++i) {
      if (bench.random.one_in(3)) at += bench.random.between(1, 600);
      bench.commands.push_back(random_command(bench.random, bench.program, at));
    }
  }
};

TYPED_TEST_SUITE(Sequencer, Sizes);

TYPED_TEST(Sequencer, RandomProgramsIssueInTheCyclesOfTheirDelays) {
  this->with_seeds([this](auto& bench) {
    for (int i = 0; i < 16 && !this->HasFatalFailure(); ++i) {
      ProgramShape shape;
      shape.longest_gap = bench.random.one_in(2) ? 3 : 60;
      shape.several_units = bench.random.one_in(2);
      shape.tight = bench.random.one_in(2);
      shape.longest_loop = bench.random.one_in(2) ? 3 : 14;
      bench.load(random_program(bench.random, shape, TypeParam::kEntries));
      this->send(bench, 6);
      bench.finish();
    }
    EXPECT_GT(bench.tokens(), 100);
    EXPECT_GT(bench.handed_over(), 1000);
  });
}

TYPED_TEST(Sequencer, TokensBackToBackStartInTheCycleOfTheEnd) {
  Listed list;
  list.loop(1);
  list.add(1, 1, 0);
  list.add(0, 1, 8);
  list.loop(3);
  list.add(0, 9, 9);
  list.add(1, 7, 20);
  list.add(2, 20, 20);
  list.length(90);
  this->with_seeds([&](auto& bench) {
    bench.load(list.program);
    Command following = plain(bench.cycle + 3);
    following.follow = 5;
    bench.commands = {following, plain(bench.cycle), plain(bench.cycle)};
    bench.finish();
    ASSERT_EQ(bench.started.size(), 8u);
    for (std::size_t i = 1; i < 8; ++i) ASSERT_EQ(bench.started[i] - bench.started[i - 1], 90);
  });
}

TYPED_TEST(Sequencer, CommandAroundTheDecisionStartsAtTheEndOrItsLeadLater) {
  Listed list;
  list.loop(1);
  list.add(1, 1, 0);
  list.add(0, 1, 8);
  list.length(70);
  this->with_seeds([&](auto& bench) {
    bench.load(list.program);
    for (std::int64_t late = -3; late < 60 && !this->HasFatalFailure(); ++late) {
      const std::int64_t start = bench.cycle + kWalkLead, decision = start + 70 - kWalkLead;
      bench.commands = {plain(bench.cycle), plain(decision + late)};
      bench.finish();
      ASSERT_EQ(bench.started.back(), std::max(start + 70, decision + late + kWalkLead));
    }
  });
}

TYPED_TEST(Sequencer, ShortestPeriodOfOneUnitIsOneCycleWithTheDefaultQueues) {
  // An instruction is eight cycles on its way after it took its place: with four places the queue sets the period.
  std::uint32_t period = 0;
  Listed list;
  do {
    list = Listed();
    list.loop(60);
    for (int i = 0; i < 5; ++i) list.add(1, period + 1, 0);
    list.length(330 * (period + 1));
  } while (!in_time(list.program, TypeParam::kEntries) && ++period < 100);
  EXPECT_EQ(period + 1, TypeParam::kEntries == 4 ? 5u : 1u);
  this->with_seeds([&](auto& bench) {
    bench.load(list.program);
    bench.commands = {plain(bench.cycle), plain(bench.cycle)};
    bench.finish();
    EXPECT_EQ(bench.handed_over(), 600);
  });
}

TYPED_TEST(Sequencer, UnitsTakeTurnsEveryCycle) {
  const std::uint32_t period = TypeParam::kEntries == 4 ? 30 : 3;
  Listed list;
  list.loop(70);
  list.add(1, period, 0);
  list.add(0, period, 8);
  list.add(2, period, 9);
  list.length(71 * period + 40);
  ASSERT_TRUE(in_time(list.program, TypeParam::kEntries));
  this->with_seeds([&](auto& bench) {
    bench.load(list.program);
    bench.commands = {plain(bench.cycle), plain(bench.cycle)};
    bench.finish();
    EXPECT_EQ(bench.handed_over(), 420);
  });
}

TYPED_TEST(Sequencer, QueueFullForLongHoldsTheWalkerAndGoesOn) {
  Listed list;
  list.loop(3);
  for (int i = 0; i < 50; ++i) list.add(0, 100, 8);
  for (int i = 0; i < 3; ++i) list.add(1, 20, 4900);
  list.length(3 * 50 * 100 + 300);
  list.program.instructions[50].common.delay = 4960;
  this->with_seeds([&](auto& bench) {
    bench.load(list.program);
    bench.commands = {plain(bench.cycle), plain(bench.cycle)};
    bench.finish();
    EXPECT_EQ(bench.handed_over(), 2 * 3 * 53);
  });
}

TYPED_TEST(Sequencer, HeadLoopsAreLeftOutWhereverTheyStand) {
  Listed list;
  list.loop(2);
  list.add(1, 20, 0);
  list.loop(2, true);
  list.add(1, 20, 21);
  list.add(0, 20, 40);
  for (int i = 0; i < 3; ++i) {
    list.loop(1, true);
    list.add(2, 9, 60);
  }
  list.loop(4);
  list.add(0, 30, 200);
  list.add(1, 30, 200);
  list.loop(1, true);
  list.add(2, 9, 300);
  list.length(600);
  list.program.cycles_without_head = {450};
  this->with_seeds([&](auto& bench) {
    bench.load(list.program);
    for (int mask = 0; mask < 8; ++mask)
      for (int i = 0; i < 3; ++i) {
        bench.commands.push_back(plain(bench.cycle));
        bench.commands.back().with_head = (mask >> i & 1) != 0;
      }
    bench.finish();
    EXPECT_EQ(bench.tokens(), 24);
  });
}

TYPED_TEST(Sequencer, MostLoopsOfTheMemoryAreWalked) {
  Listed list;
  for (std::uint32_t i = 0; i < 256; ++i) {
    list.loop(1, i % 5 == 4);
    if (i % 2 == 0) list.add(1, 5, 60);
  }
  list.length(256 / 2 * 60);
  this->with_seeds([&](auto& bench) {
    list.program.delays.resize(1500);
    bench.load(list.program);
    bench.commands = {plain(bench.cycle), plain(bench.cycle)};
    bench.commands.back().with_head = false;
    bench.finish();
  });
}

TYPED_TEST(Sequencer, DelaysByLengthFollowThePositionThroughFollowedTokens) {
  this->with_seeds([this](auto& bench) {
    ProgramShape shape;
    bench.load(random_program(bench.random, shape, TypeParam::kEntries));
    const std::uint32_t context = 32 * bench.program.length_steps;
    bench.commands = {plain(bench.cycle)};
    bench.commands[0].follow = context - 1;
    bench.finish();
    EXPECT_EQ(bench.tokens(), context);
  });
}

TYPED_TEST(Sequencer, ResetInTheMiddleForgetsTheTokenAndKeepsTheProgram) {
  this->with_seeds([this](auto& bench) {
    bench.load(random_program(bench.random, ProgramShape(), TypeParam::kEntries));
    for (int i = 0; i < 40 && !this->HasFatalFailure(); ++i) {
      this->send(bench, 3);
      bench.run(bench.random.between(1, 400));
      bench.reset(bench.random.between(1, 3));
    }
    this->send(bench, 3);
    bench.finish();
  });
}

}  // namespace
}  // namespace cosim
}  // namespace lpu
