// Whole programs: loops and strides, delays by length, head loops, threads, resets, and refusals of outside data.
// Relies on the small Llama-shaped program of smollm2_shapes.hpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>

#include "hls/golden/check_program.hpp"
#include "hls/golden/fault.hpp"
#include "hls/golden/machine.hpp"
#include "hls/golden/scoreboard.hpp"
#include "hls/golden/state.hpp"
#include "tests/golden/smollm2_shapes.hpp"

namespace lpu::golden::testing {
namespace {

using lpu::testing::instruction;
using lpu::testing::ProgramBuilder;
using lpu::testing::small_config;
using ::testing::HasSubstr;

LlamaShapes small_shapes() {
  LlamaShapes s;
  s.config = small_config(8, 4);
  s.model.layers = 3;
  s.model.width = 128;
  s.model.heads = 4;
  s.model.kv_heads = 2;
  s.model.head_size = 32;
  s.model.ffn_width = 160;
  s.model.vocabulary = 203;
  s.model.context_tokens = 96;
  s.model.norm_epsilon = 1e-5f;
  s.segments = 2;
  return s;
}

struct Trace {
  std::vector<std::int32_t> tokens;
  std::vector<float> logits;
  std::vector<std::uint32_t> cycles;
  bool operator==(const Trace& other) const {
    return tokens == other.tokens && logits == other.logits && cycles == other.cycles;
  }
};

Trace generate(Machine& machine, const LlamaShapes& s, bool fast, float temperature = 0) {
  Trace trace;
  trace.logits.resize(s.model.vocabulary);
  StepOptions options;
  options.fast = fast;
  options.temperature = temperature;
  options.seed = 42;
  options.logits = trace.logits.data();
  std::int32_t token = 3;
  for (std::uint32_t position = 0; position < 40; ++position) {
    const StepResult result = machine.step(token, position, options);
    EXPECT_EQ(result.saturations, 0u);
    token = result.next_token;
    trace.tokens.push_back(token);
    trace.cycles.push_back(result.cycles);
  }
  return trace;
}

TEST(GoldenMachineTest, ThreadsDotsAndResetsDontChangeABit) {
  const LlamaShapes s = small_shapes();
  const LlamaImage image(s, 1);
  const contract::Program program = llama_program(s);
  Machine one(s.config, s.model, program, image.view, 1);
  const Trace trace = generate(one, s, true);
  for (const unsigned threads : {2u, 3u}) {
    Machine more(s.config, s.model, program, image.view, threads);
    EXPECT_TRUE(generate(more, s, true) == trace) << threads << " threads";
    more.reset();
    EXPECT_TRUE(generate(more, s, false) == trace) << threads << " threads, plain dots";
  }
  one.reset();
  const Trace sampled = generate(one, s, true, 1.0f);
  EXPECT_FALSE(sampled == trace);
  EXPECT_GT(std::set<std::int32_t>(sampled.tokens.begin(), sampled.tokens.end()).size(), 20u);
  Machine three(s.config, s.model, program, image.view, 3);
  EXPECT_TRUE(generate(three, s, true, 1.0f) == sampled);
}

TEST(GoldenMachineTest, LargestLogitOrSampledTokenComesOut) {
  const LlamaShapes s = small_shapes();
  const LlamaImage image(s, 2);
  Machine machine(s.config, s.model, llama_program(s), image.view, 1);
  std::vector<float> logits(s.model.vocabulary);
  StepOptions options;
  options.logits = logits.data();
  const StepResult result = machine.step(5, 0, options);
  const auto largest = std::max_element(logits.begin(), logits.end());
  EXPECT_EQ(result.next_token, largest - logits.begin());
  EXPECT_EQ(result.best.count, 64);
  EXPECT_EQ(result.best.logits[0], *largest);
}

TEST(GoldenMachineTest, HeadLoopsAreLeftOutWithoutLogits) {
  const LlamaShapes s = small_shapes();
  const LlamaImage image(s, 3);
  Machine machine(s.config, s.model, llama_program(s), image.view, 1);
  StepOptions options;
  const StepResult with = machine.step(5, 0, options);
  options.want_logits = false;
  const StepResult without = machine.step(5, 0, options);
  EXPECT_EQ(without.next_token, -1);
  EXPECT_EQ(without.best.count, 0);
  EXPECT_LT(without.cycles, with.cycles);
  EXPECT_EQ(with.busy_beats - without.busy_beats, s.head_words());
}

TEST(GoldenMachineTest, BusyBeatsGrowWithTheContext) {
  const LlamaShapes s = small_shapes();
  const LlamaImage image(s, 4);
  Machine machine(s.config, s.model, llama_program(s), image.view, 1);
  StepOptions options;
  const std::uint64_t weights = s.layer_words() * s.model.layers + s.head_words();
  const auto attention =
      [&](std::uint64_t blocks) {  // scores: 4 row groups a block; sums: 4 row groups, 2 blocks a set
        return s.model.layers * s.rounds() * (blocks * 4 * 2 + 4 * ((blocks + 1) / 2) * 2);
      };
  EXPECT_EQ(machine.step(5, 31, options).busy_beats, weights + attention(1));
  EXPECT_EQ(machine.step(5, 32, options).busy_beats, weights + attention(2));
  EXPECT_EQ(machine.step(5, 95, options).busy_beats, weights + attention(3));
}

/// One matvec in a loop: row group k of the image's first words each time.
contract::Instruction strided_burst() {
  contract::Instruction in = instruction(contract::Opcode::kMatvec);
  in.matvec.row_groups = in.matvec.column_sets = in.matvec.nibbles = in.matvec.column_set_words = 1;
  in.matvec.segments = in.matvec.start = in.matvec.finish = 1;
  in.matvec.weight_stride = 5;
  return in;
}

TEST(ScoreboardTest, IssueFollowsEntryDelaysOwnDelaysAndTheDelayTable) {
  const contract::HardwareConfig config = small_config(4, 2);
  contract::Program program;
  program.length_steps = 3;
  program.delays = {17, 18, 19, 100, 200, 300, 40, 50, 60};
  contract::Instruction first = strided_burst(), second = strided_burst();
  first.common.delay = 11;
  second.common.delay = 1;
  second.common.delay_by_length = 1;
  program.instructions = {first, second, first};
  contract::Loop loop, head;
  loop.instruction_count = 2;
  loop.iterations = 3;
  loop.entry_delay_mvu = 0;
  head.first_instruction = 2;
  head.instruction_count = head.iterations = head.is_head = 1;
  head.entry_delay_mvu = 2;
  program.loops = {loop, head};
  Scoreboard board(config, program, 100, 0);
  // 17 | 100 11 100 11 100 | 40, and so on in the columns of longer contexts.
  EXPECT_EQ(board.token(0, TokenPart::whole(false)).cycles, 17u + 3 * 100 + 2 * 11 + contract::kMatvecCycles);
  EXPECT_EQ(board.token(0, TokenPart::whole(true)).cycles, 17u + 3 * 100 + 2 * 11 + 40 + contract::kMatvecCycles);
  EXPECT_EQ(board.token(95, TokenPart::whole(true)).cycles, 19u + 3 * 300 + 2 * 11 + 60 + contract::kMatvecCycles);
  EXPECT_EQ(board.token(95, TokenPart::whole(true)).busy_beats, 7u);
}

TEST(GoldenMachineTest, LoopAddsStridesToAddresses) {
  const contract::HardwareConfig config = small_config(4, 2);
  const lpu::testing::TestImage image(config, 20, 0, 0, 1, 1, 512, 9);
  contract::ModelShape shape;
  shape.width = shape.head_size = shape.vocabulary = shape.context_tokens = 32;
  const auto sums_of = [&](std::uint32_t address, std::uint32_t iterations) {
    contract::Instruction in = strided_burst();
    in.matvec.weight_address = address;
    ProgramBuilder builder(config, 32);
    builder.loop(iterations);
    builder.add(in);
    Machine machine(config, shape, builder.build(), image.view, 1);
    for (ActivationBlock& block : machine.state().activations)
      std::fill(block.mantissas, block.mantissas + 32, std::int16_t{3});
    machine.step(0, 0, StepOptions());
    return machine.state().sums;
  };
  EXPECT_TRUE(sums_of(1, 4) == sums_of(16, 1));
  EXPECT_FALSE(sums_of(1, 4) == sums_of(1, 1));
  EXPECT_THROW(sums_of(6, 4), Fault);
}

TEST(GoldenMachineTest, RequestOutOfRangeIsRefused) {
  const LlamaShapes s = small_shapes();
  const LlamaImage image(s, 5);
  Machine machine(s.config, s.model, llama_program(s), image.view, 1);
  StepOptions options;
  EXPECT_THROW(machine.step(-1, 0, options), Fault);
  EXPECT_THROW(machine.step(203, 0, options), Fault);
  EXPECT_THROW(machine.step(0, 96, options), Fault);
  options.temperature = -1;
  EXPECT_THROW(machine.step(0, 0, options), Fault);
}

TEST(GoldenMachineTest, ProgramThatReachesOutsideIsRefusedWithASentence) {
  const LlamaShapes s = small_shapes();
  const LlamaImage image(s, 6);
  const contract::Program good = llama_program(s);
  const auto refusal = [&](const std::function<void(contract::Program&, contract::ModelShape&)>& spoil) {
    contract::Program program = good;
    contract::ModelShape shape = s.model;
    spoil(program, shape);
    try {
      Machine machine(s.config, shape, program, image.view, 1);
    } catch (const Fault& fault) {
      return std::string(fault.what());
    }
    return std::string("accepted");
  };
  const auto at = [&](contract::Opcode opcode) {
    for (std::size_t i = 0; i < good.instructions.size(); ++i)
      if (good.instructions[i].opcode() == opcode) return i;
    return std::size_t{0};
  };
  using P = contract::Program;
  using M = contract::ModelShape;
  const auto spoiled = [&](contract::Opcode opcode, std::uint32_t contract::VectorFields::*field, std::uint32_t value) {
    return refusal([&](P& p, M&) { p.instructions[at(opcode)].vector.*field = value; });
  };
  using V = contract::VectorFields;
  using O = contract::Opcode;
  EXPECT_EQ(refusal([](P&, M&) {}), "accepted");
  EXPECT_THAT(refusal([](P& p, M&) { p.instructions[1].common.opcode = 12; }), HasSubstr("unknown opcode"));
  EXPECT_THAT(refusal([](P& p, M&) { p.instructions[1].matvec.weight_stride = 1 << 20; }),
              HasSubstr("instruction 1 (matvec): weight_address reaches"));
  EXPECT_THAT(refusal([](P& p, M&) { p.instructions[1].matvec.segments = 3; }), HasSubstr("segments must divide"));
  EXPECT_THAT(refusal([](P& p, M&) { p.instructions[1].matvec.minimum_address = 1 << 20; }),
              HasSubstr("minimum_address"));
  EXPECT_THAT(refusal([](P& p, M&) { p.instructions[1].matvec.activation_address = 65535; }),
              HasSubstr("activation_address reaches"));
  EXPECT_THAT(refusal([](P& p, M&) { p.instructions[1].matvec.nibbles = 4; }), HasSubstr("nibbles is wider"));
  EXPECT_THAT(refusal([](P& p, M&) { p.loops[1].instruction_count = 5000; }), HasSubstr("loop 1 runs past"));
  EXPECT_THAT(refusal([](P& p, M&) { p.loops[0].is_head = 1; }), HasSubstr("loop 1 isn't part of the head"));
  EXPECT_THAT(refusal([](P& p, M&) { p.loops[1].entry_delay_smx = contract::kNoEntryDelay; }),
              HasSubstr("row 16777215 of the delay table"));
  EXPECT_THAT(refusal([](P& p, M&) { p.length_steps = 2; }), HasSubstr("delay table has 2 columns"));
  EXPECT_THAT(refusal([](P&, M& m) { m.head_size = 48; }), HasSubstr("head size"));
  EXPECT_THAT(refusal([](P&, M& m) { m.vocabulary = 100000; }), HasSubstr("reaches"));
  EXPECT_THAT(spoiled(O::kResidual, &V::gain_address, 1 << 20), HasSubstr("gain_address reaches"));
  EXPECT_THAT(spoiled(O::kResidual, &V::first_row, 8), HasSubstr("block's border"));
  EXPECT_THAT(spoiled(O::kResidual, &V::gain_address, 144), HasSubstr("gain_address and its stride must be multiples"));
  EXPECT_THAT(spoiled(O::kResidual, &V::gain_stride, 16), HasSubstr("gain_address and its stride must be multiples"));
  EXPECT_THAT(spoiled(O::kEmbed, &V::gain_address, 1), HasSubstr("gain_address and its stride must be multiples"));
  EXPECT_THAT(spoiled(O::kQuery, &V::destination, 65535), HasSubstr("destination reaches"));
  EXPECT_THAT(spoiled(O::kKey, &V::memory_address, 0), HasSubstr("K and V must lie behind the weights"));
  EXPECT_THAT(spoiled(O::kKey, &V::slot_words, (1 << 24) - 1), HasSubstr("accepted"));  // one slot: never used
  EXPECT_THAT(spoiled(O::kKey, &V::row_group_words, 1 << 19), HasSubstr("memory_address reaches"));
  EXPECT_THAT(spoiled(O::kValue, &V::key_address, (1 << 24) - 1), HasSubstr("key_address reaches"));
  EXPECT_THAT(spoiled(O::kValue, &V::grid_address, 1 << 20), HasSubstr("grid_address reaches"));
  EXPECT_THAT(spoiled(O::kMix, &V::rows, 64), HasSubstr("rows"));
  EXPECT_THAT(spoiled(O::kSwiglu, &V::pitch_cycles, 1), HasSubstr("pitch_cycles"));
  EXPECT_THAT(spoiled(O::kLogits, &V::first_row, 200), HasSubstr("the last logit reaches"));
  for (const O opcode : {O::kQuery, O::kKey, O::kValue})
    EXPECT_THAT(spoiled(opcode, &V::has_bias, 1), HasSubstr("has_bias isn't that of the program's other"));
  EXPECT_THAT(spoiled(O::kEmbed, &V::exponent_address, (1 << 24) - 1), HasSubstr("exponent_address reaches"));
}

/// The check's sentence on a program of one instruction, or of two.
std::string verdict(const contract::Instruction& first, const contract::Instruction* second = nullptr,
                    std::uint32_t iterations = 1, int delay_entries = 1024) {
  contract::HardwareConfig config = small_config(8, 4, 4);
  config.delay_entries = delay_entries;
  const lpu::testing::TestImage image(config, 20, 20, 0, 40, 500, 96 * 16, 9);
  contract::ModelShape shape;
  shape.width = shape.head_size = 32;
  shape.vocabulary = 203;
  shape.context_tokens = 96;
  ProgramBuilder builder(config, 96);
  builder.loop(iterations);
  builder.add(first);
  if (second != nullptr) builder.add(*second);
  try {
    check_program(config, shape, builder.build(), image.view);
  } catch (const Fault& fault) {
    return fault.what();
  }
  return "accepted";
}

contract::Instruction logits(std::uint32_t first_row, std::uint32_t rows) {
  contract::Instruction in = instruction(contract::Opcode::kLogits);
  in.vector.first_row = first_row;
  in.vector.rows = rows;
  in.vector.row_groups = (rows + 7) / 8;
  in.vector.pitch_cycles = 2;
  return in;
}

TEST(CheckProgramTest, LogitsOutOfOrderOrNotInWholeSlicesAreRefused) {
  const auto both = [](const contract::Instruction& first, const contract::Instruction& second) {
    return verdict(first, &second);
  };
  EXPECT_EQ(both(logits(0, 44), logits(44, 12)), "accepted");
  EXPECT_EQ(both(logits(8, 12), logits(20, 183)), "accepted");  // only the vocabulary ends inside a slice of 4
  EXPECT_THAT(both(logits(0, 44), logits(48, 12)), HasSubstr("instruction 1 (logits): logits don't go on where"));
  EXPECT_THAT(both(logits(44, 12), logits(0, 44)), HasSubstr("instruction 1 (logits): logits don't go on where"));
  EXPECT_THAT(verdict(logits(2, 8)), HasSubstr("slice's border"));
  EXPECT_THAT(verdict(logits(0, 10)), HasSubstr("slice's border"));
  EXPECT_THAT(verdict(logits(0, 8), nullptr, 2), HasSubstr("logits come once a token"));
}

TEST(CheckProgramTest, BiasThatIsNotAlignedIsRefused) {
  contract::Instruction query = logits(0, 32);
  query.common.opcode = static_cast<std::uint32_t>(contract::Opcode::kQuery);
  query.vector.segments = query.vector.head_blocks = query.vector.has_bias = 1;
  query.vector.bias_address = 64;
  query.vector.bias_stride = 32;
  EXPECT_EQ(verdict(query), "accepted");
  query.vector.bias_address = 80;
  EXPECT_THAT(verdict(query), HasSubstr("bias_address and its stride must be multiples of 32"));
  query.vector.bias_address = 64;
  query.vector.bias_stride = 8;
  EXPECT_THAT(verdict(query), HasSubstr("bias_address and its stride must be multiples of 32"));
}

TEST(CheckProgramTest, DelayTableWithoutRoomForTheTokenLengthsIsRefused) {
  // One row of entry delays and the two of token lengths, three context lengths each.
  EXPECT_EQ(verdict(logits(0, 8), nullptr, 1, 9), "accepted");
  EXPECT_THAT(verdict(logits(0, 8), nullptr, 1, 8), HasSubstr("have 9 entries, this hardware holds 8"));
}

TEST(GoldenMachineTest, SpoiledProgramsAreRefusedOrRunButNeverLeaveTheirMemories) {
  // Random fields of random instructions get random values; a sanitizer build sees any access outside.
  const LlamaShapes s = small_shapes();
  const LlamaImage image(s, 8);
  const contract::Program good = llama_program(s);
  std::mt19937 random(17);
  int ran = 0, refused = 0;
  for (int round = 0; round < 400; ++round) {
    contract::Program program = good;
    std::uint32_t words[contract::kInstructionWords];
    contract::Instruction& victim = program.instructions[random() % program.instructions.size()];
    contract::pack(victim, words);
    words[random() % contract::kInstructionWords] ^= static_cast<std::uint32_t>(1u << random() % 32);
    if (round % 3 == 0) words[random() % contract::kInstructionWords] = static_cast<std::uint32_t>(random());
    victim = contract::unpack(words);
    try {
      Machine machine(s.config, s.model, program, image.view, 1);
      machine.step(static_cast<std::int32_t>(random() % 203), static_cast<std::uint32_t>(random() % 96), StepOptions());
      ++ran;
    } catch (const Fault& fault) {
      EXPECT_GT(std::string(fault.what()).size(), 20u);
      ++refused;
    }
  }
  EXPECT_GT(ran, 50);
  EXPECT_GT(refused, 50);
}

TEST(GoldenMachineTest, ImageLargerThanTheHardwareIsRefused) {
  const LlamaShapes s = small_shapes();
  const LlamaImage image(s, 7);
  contract::HardwareConfig config = s.config;
  config.lane_words = 10;
  EXPECT_THROW(Machine(config, s.model, llama_program(s), image.view, 1), Fault);
}

}  // namespace
}  // namespace lpu::golden::testing
