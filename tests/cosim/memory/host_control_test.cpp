// The control registers of lpu_host_port: constants, commands, results, errors, counters, the soft reset, and the two
// cycles of every answer.
#include "Vhost_4.h"
#include "hls/contract/describe.hpp"
#include "tests/cosim/memory/host_bench.hpp"

namespace lpu {
namespace cosim {
namespace {

using Bench = HostBench<Vhost_4>;
constexpr int kResetCycles = 64, kCommands = 16, kResults = 64;

template <typename Work>
void with_seeds(Work work) {
  for (const std::uint64_t seed : {kFixedSeed, fresh_seed()}) {
    SCOPED_TRACE("OPENLPU_SEED=" + std::to_string(seed));
    Bench bench(host_shape_4(), seed);
    work(bench);
    if (::testing::Test::HasFailure()) return;
  }
}
std::uint32_t low_bits(int count) { return count == 32 ? ~0u : (1u << count) - 1; }

struct Field {
  ControlRegister word;
  int bits;
};
constexpr Field kConstants[] = {{ControlRegister::kWidth, 20},          {ControlRegister::kInverseWidth, 32},
                                {ControlRegister::kEpsilon, 32},        {ControlRegister::kHeadSize, 16},
                                {ControlRegister::kLoops, 16},          {ControlRegister::kLengthSteps, 16},
                                {ControlRegister::kCyclesWithHead, 24}, {ControlRegister::kCyclesWithoutHead, 24},
                                {ControlRegister::kVocabulary, 24},     {ControlRegister::kFirstLogitRow, 20},
                                {ControlRegister::kContextTokens, 17}};
constexpr Field kCommandFields[] = {{ControlRegister::kToken, 24},    {ControlRegister::kPosition, 16},
                                    {ControlRegister::kFlags, 2},     {ControlRegister::kSeedLow, 32},
                                    {ControlRegister::kSeedHigh, 32}, {ControlRegister::kInverseTemperature, 32},
                                    {ControlRegister::kFollow, 16}};

std::vector<std::uint32_t> constants_shown(const Vhost_4& m) {
  return {m.width_o,      m.inverse_width_o,   m.epsilon_o,          m.head_size_o,
          m.loops_o,      m.length_steps_o,    m.cycles_with_head_o, m.cycles_without_head_o,
          m.vocabulary_o, m.first_logit_row_o, m.context_tokens_o};
}

struct Command {
  std::uint32_t token, position, flags, inverse_temperature, follow;
  std::uint64_t seed;
};
void write_command(Bench& bench, const Command& command) {
  bench.write(ControlRegister::kToken, command.token);
  bench.write(ControlRegister::kPosition, command.position);
  bench.write(ControlRegister::kFlags, command.flags);
  bench.write(ControlRegister::kInverseTemperature, command.inverse_temperature);
  bench.write(ControlRegister::kSeedLow, static_cast<std::uint32_t>(command.seed));
  bench.write(ControlRegister::kSeedHigh, static_cast<std::uint32_t>(command.seed >> 32));
  bench.write(ControlRegister::kFollow, command.follow);
  bench.write(ControlRegister::kStart, bench.noise());
}
void model_of(Bench& bench, std::uint32_t vocabulary, std::uint32_t context) {
  bench.write(ControlRegister::kVocabulary, vocabulary);
  bench.write(ControlRegister::kContextTokens, context);
}
std::uint32_t status(Bench& bench) { return bench.read(ControlRegister::kStatus); }

struct Result {
  std::uint32_t next, cycles, busy_beats, position, flags;
};
Result push_result(Bench& bench) {
  const Result result = {static_cast<std::uint32_t>(bench.random.bits(24)), bench.noise(), bench.noise(),
                         static_cast<std::uint32_t>(bench.random.bits(16)),
                         static_cast<std::uint32_t>(bench.random.bits(2))};
  bench.module.result_push_i = 1;
  bench.module.result_next_i = result.next;
  bench.module.result_cycles_i = result.cycles;
  bench.module.result_busy_beats_i = result.busy_beats;
  bench.module.result_position_i = static_cast<std::uint16_t>(result.position);
  bench.module.result_with_head_i = (result.flags & 1) != 0;
  bench.module.result_saturated_i = (result.flags & 2) != 0;
  bench.idle();
  bench.module.result_push_i = 0;
  return result;
}
void expect_oldest(Bench& bench, const Result& result) {
  EXPECT_EQ(bench.read(ControlRegister::kResultNext), result.next);
  EXPECT_EQ(bench.read(ControlRegister::kResultCycles), result.cycles);
  EXPECT_EQ(bench.read(ControlRegister::kResultBusyBeats), result.busy_beats);
  EXPECT_EQ(bench.read(ControlRegister::kResultFlags), result.flags);
  EXPECT_EQ(bench.read(ControlRegister::kResultPosition), result.position);
}
std::uint64_t read_wide(Bench& bench, ControlRegister low, ControlRegister high) {
  const std::uint64_t value = bench.read(low);
  return value | static_cast<std::uint64_t>(bench.read(high)) << 32;
}

TEST(HostControl, ContractHashIsThatOfTheContract) {
  Bench bench(host_shape_4(), kFixedSeed);
  EXPECT_EQ(read_wide(bench, ControlRegister::kContractLow, ControlRegister::kContractHigh), contract::contract_hash());
}

TEST(HostControl, ConstantsAndCommandFieldsReadAsWrittenAndReachTheCore) {
  with_seeds([](Bench& bench) {
    std::vector<std::uint32_t> written;
    for (const Field& field : kConstants) {
      written.push_back(bench.noise());
      bench.write(field.word, written.back());
      // A read shown in the next cycle sees it.
      EXPECT_EQ(bench.read(field.word), written.back() & low_bits(field.bits)) << static_cast<int>(field.word);
      written.back() &= low_bits(field.bits);
    }
    EXPECT_EQ(constants_shown(bench.module), written);
    for (const Field& field : kCommandFields) {
      const std::uint32_t value = bench.noise();
      bench.write(field.word, value);
      EXPECT_EQ(bench.read(field.word), value & low_bits(field.bits)) << static_cast<int>(field.word);
    }
    for (const int unnamed : {6, 7, 19, 31, 39, 40, 47, 53, 54, 62, 63})
      EXPECT_EQ(bench.read(static_cast<ControlRegister>(unnamed)), 0u) << unnamed;
    EXPECT_EQ(bench.read(static_cast<ControlRegister>(64 + 8)), 0u) << "beyond the registers";
    for (std::uint64_t region = 0; region < 16; ++region)
      if (region != 8) {
        EXPECT_EQ(bench.read(region << contract::kRegionShift | 32), 0u) << "region " << region;
      }
    EXPECT_EQ(bench.error(), CardError::kNone);
  });
}

TEST(HostControl, ConstantWrittenWhileATokenRunsIsRefused) {
  Bench bench(host_shape_4(), kFixedSeed);
  bench.write(ControlRegister::kWidth, 576);
  bench.idle();
  bench.module.busy_i = 1;
  bench.write(ControlRegister::kWidth, 64);
  EXPECT_EQ(bench.error(), CardError::kLoad);
  EXPECT_EQ(bench.read(ControlRegister::kWidth), 576u);
  EXPECT_EQ(status(bench), 3u);
}

TEST(HostControl, WriteBetweenWordsIsRefusedAndChangesNothing) {
  Bench bench(host_shape_4(), kFixedSeed);
  bench.write(ControlRegister::kWidth, 576);
  for (const std::uint64_t offset : {1, 2, 3}) {
    bench.write(Region::kControl, 4 * static_cast<std::uint64_t>(ControlRegister::kWidth) + offset, 64);
    EXPECT_EQ(bench.error(), CardError::kLoad) << offset;
    EXPECT_EQ(bench.read(ControlRegister::kWidth), 576u) << offset;
    bench.soft_reset();
    EXPECT_EQ(bench.error(), CardError::kNone);
  }
}

TEST(HostControl, CommandsComeInOrderWithTheirFieldsUntilTheQueueIsFull) {
  with_seeds([](Bench& bench) {
    model_of(bench, 1u << 23, 1u << 16);
    std::deque<Command> waiting;
    for (int i = 0; i < 200; ++i) {
      if (waiting.size() < kCommands && bench.random.one_in(2)) {
        Command command = {static_cast<std::uint32_t>(bench.random.bits(23)),
                           static_cast<std::uint32_t>(bench.random.bits(15)),
                           static_cast<std::uint32_t>(bench.random.bits(2)),
                           bench.noise(),
                           static_cast<std::uint32_t>(bench.random.bits(15)),
                           static_cast<std::uint64_t>(bench.noise()) << 32 | bench.noise()};
        if ((command.flags & 1) == 0) command.follow = 0;
        write_command(bench, command);
        waiting.push_back(command);
      }
      EXPECT_EQ(status(bench), static_cast<std::uint32_t>(waiting.size()) << 8 | (waiting.empty() ? 0u : 1u));
      const Vhost_4& m = bench.module;
      ASSERT_EQ(m.command_valid_o, !waiting.empty());
      if (waiting.empty() || bench.random.one_in(3)) continue;
      const Command& oldest = waiting.front();
      EXPECT_EQ(m.command_token_o, oldest.token);
      EXPECT_EQ(m.command_position_o, oldest.position);
      EXPECT_EQ(m.command_with_head_o, oldest.flags & 1);
      EXPECT_EQ(m.command_samples_o, oldest.flags >> 1);
      EXPECT_EQ(m.command_inverse_temperature_o, oldest.inverse_temperature);
      EXPECT_EQ(m.command_seed_o, oldest.seed);
      EXPECT_EQ(m.command_follow_o, oldest.follow);
      bench.module.command_take_i = 1;
      bench.idle();
      bench.module.command_take_i = 0;
      waiting.pop_front();
    }
    while (waiting.size() < kCommands) {
      write_command(bench, {1, 1, 1, 0, 0, 0});
      waiting.push_back({});
    }
    EXPECT_EQ(bench.error(), CardError::kNone);
    bench.write(ControlRegister::kStart, 1);
    EXPECT_EQ(bench.error(), CardError::kCommand);
    EXPECT_EQ(status(bench), 16u << 8 | 3u);
  });
}

TEST(HostControl, CommandOutOfRangeIsRefused) {
  Bench bench(host_shape_4(), kFixedSeed);
  const auto expect = [&bench](const Command& command, bool accepted, const char* what) {
    write_command(bench, command);
    bench.idle(2);
    EXPECT_EQ(bench.error(), accepted ? CardError::kNone : CardError::kCommand) << what;
    EXPECT_EQ(bench.module.command_valid_o, accepted) << what;
    EXPECT_EQ(bench.module.halt_o, !accepted) << what;
    bench.soft_reset();
  };
  expect({0, 0, 1, 0, 0, 0}, false, "no model");
  model_of(bench, 100, 65536);
  expect({99, 65535, 0, 0, 0, 0}, true, "the last token and position");
  expect({100, 0, 1, 0, 0, 0}, false, "no such token");
  expect({1u << 24, 0, 1, 0, 0, 0}, false, "a token beyond its field");
  expect({0, 65536, 1, 0, 0, 0}, false, "a position beyond its field");
  expect({0, 65530, 1, 0, 5, 0}, true, "followers up to the last position");
  expect({0, 65530, 1, 0, 6, 0}, false, "followers beyond it");
  expect({0, 5, 2, 0, 1, 0}, false, "followers of a token without head");
  model_of(bench, 100, 32);
  expect({0, 31, 1, 0, 0, 0}, true, "the context's last position");
  expect({0, 32, 1, 0, 0, 0}, false, "beyond the context");
}

TEST(HostControl, ResultsWaitInOrderAndAddUpUntilTheQueueOverflows) {
  with_seeds([](Bench& bench) {
    std::deque<Result> waiting;
    std::uint64_t tokens = 0, cycles = 0, beats = 0;
    for (int i = 0; i < 300; ++i) {
      if (waiting.size() < kResults && bench.random.between(0, 2) != 0) {
        waiting.push_back(push_result(bench));
        ++tokens;
        cycles += waiting.back().cycles;
        beats += waiting.back().busy_beats;
      }
      EXPECT_EQ(status(bench), static_cast<std::uint32_t>(waiting.size()) << 16);
      expect_oldest(bench, waiting.empty() ? Result{} : waiting.front());
      if (bench.random.one_in(3)) {
        bench.write(ControlRegister::kResultPop, bench.noise());
        if (!waiting.empty()) waiting.pop_front();
      }
    }
    EXPECT_EQ(read_wide(bench, ControlRegister::kTokensLow, ControlRegister::kTokensHigh), tokens);
    EXPECT_EQ(read_wide(bench, ControlRegister::kCyclesLow, ControlRegister::kCyclesHigh), cycles);
    EXPECT_EQ(read_wide(bench, ControlRegister::kBusyBeatsLow, ControlRegister::kBusyBeatsHigh), beats);
    while (waiting.size() < kResults) waiting.push_back(push_result(bench));
    EXPECT_EQ(bench.error(), CardError::kNone);
    push_result(bench);
    EXPECT_EQ(bench.error(), CardError::kResults);
    expect_oldest(bench, waiting.front());
  });
}

TEST(HostControl, FirstErrorOfTheCoreStaysWithItsIndexAndHalts) {
  Bench bench(host_shape_4(), kFixedSeed);
  const auto core_error = [&bench](CardError error, std::uint32_t index) {
    bench.module.error_i = static_cast<std::uint8_t>(error);
    bench.module.error_index_i = index;
    bench.idle();
    bench.module.error_i = 0;
    bench.module.error_index_i = 0;
  };
  EXPECT_FALSE(bench.module.halt_o);
  core_error(CardError::kHazard, 0xabcde);
  EXPECT_TRUE(bench.module.halt_o) << "in the next cycle";
  core_error(CardError::kLate, 1);
  bench.write(Region::kLaneWords, 4, 0);
  EXPECT_EQ(bench.error(), CardError::kHazard);
  EXPECT_EQ(bench.read(ControlRegister::kErrorIndex), 0xabcdeu);
  EXPECT_EQ(status(bench), 2u);
}

TEST(HostControl, SoftResetLastsItsCyclesAndKeepsOnlyTheModel) {
  Bench bench(host_shape_4(), kFixedSeed);
  model_of(bench, 100, 32);
  bench.write(ControlRegister::kWidth, 576);
  write_command(bench, {1, 1, 1, 0, 0, 0});
  push_result(bench);
  bench.write(ControlRegister::kReset, 0);
  bench.idle(3);
  EXPECT_FALSE(bench.module.soft_reset_o) << "0 resets nothing";
  EXPECT_EQ(status(bench), 1u << 16 | 1u << 8 | 1u);
  bench.module.error_i = static_cast<std::uint8_t>(CardError::kPort);
  bench.write(ControlRegister::kReset, 1);
  bench.module.error_i = 0;
  EXPECT_TRUE(bench.module.halt_o);
  for (int i = 0; i < kResetCycles; ++i) {
    bench.idle();
    ASSERT_TRUE(bench.module.soft_reset_o) << "cycle " << i << " of it";
  }
  bench.idle();
  EXPECT_FALSE(bench.module.soft_reset_o);
  EXPECT_FALSE(bench.module.halt_o);
  EXPECT_EQ(status(bench), 0u);
  EXPECT_EQ(bench.error(), CardError::kNone);
  EXPECT_EQ(read_wide(bench, ControlRegister::kTokensLow, ControlRegister::kTokensHigh), 0u);
  EXPECT_EQ(bench.read(ControlRegister::kWidth), 576u);
  EXPECT_EQ(bench.read(ControlRegister::kVocabulary), 100u);
  bench.write(ControlRegister::kReset, 1);
  bench.idle(5);
  EXPECT_EQ(status(bench), 1u) << "busy while it lasts";
  bench.write(ControlRegister::kStart, 1);
  bench.idle(kResetCycles);
  EXPECT_EQ(status(bench), 2u);
  EXPECT_EQ(bench.error(), CardError::kCommand) << "a command while it lasted";
}

}  // namespace
}  // namespace cosim
}  // namespace lpu
