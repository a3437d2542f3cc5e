// What the core does with programs, tables, registers and requests that the host would refuse, forced in past its
// checks: it stops with an error code within the token, gives no result, and works again after a soft reset with a
// sound program.
#include "tests/cosim/core/forced_core.hpp"
#include "tests/cosim/random_numbers.hpp"

namespace lpu::test {
namespace {

using contract::Opcode;

constexpr std::int32_t kToken = 5;

class RtlErrors : public RtlTest {
 protected:
  void SetUp() override {
    RtlTest::SetUp();
    if (IsSkipped()) return;
    core_ = std::make_unique<ForcedCore>(bundle_);
    expected_ = core_->run(bundle_.program(), kToken);
    ASSERT_EQ(expected_.results.size(), 2u) << expected_.text;
  }

  [[nodiscard]] std::size_t first(Opcode opcode) const {
    const auto& in = bundle_.program().instructions;
    const auto found = std::find_if(in.begin(), in.end(), [&](const auto& i) { return i.opcode() == opcode; });
    EXPECT_NE(found, in.end());
    return static_cast<std::size_t>(found - in.begin());
  }
  /// The program stops with one of these errors, and the sound one runs after a reset. `fresh`: the fault may have
  /// written over weights, so that the core is loaded anew.
  void expect_stop(const Program& program, const std::vector<CardError>& errors, const std::string& what,
                   bool fresh = false) {
    SCOPED_TRACE(what);
    const Outcome got = core_->run(program, kToken);
    EXPECT_FALSE(got.is_silent) << got.text;
    EXPECT_NE(std::find(errors.begin(), errors.end(), got.error), errors.end())
        << "error " << static_cast<int>(got.error) << ": " << got.text;
    EXPECT_TRUE(got.results.empty());
    EXPECT_EQ(got.waiting, 0u);
    if (fresh) core_ = std::make_unique<ForcedCore>(bundle_);
    expect_sound();
  }
  void expect_sound() {
    EXPECT_TRUE(core_->run(bundle_.program(), kToken).same_values(expected_)) << "the sound program after a reset";
  }
  /// Registers and requests: the driver's own program stays.
  void expect_error(CardError error) {
    core_->driver().run(40);
    EXPECT_EQ(core_->driver().read(ControlRegister::kErrorCode), static_cast<std::uint32_t>(error));
    EXPECT_NE(core_->driver().read(ControlRegister::kStatus) & 2U, 0u);
    expect_sound();
  }

  std::unique_ptr<ForcedCore> core_;
  Outcome expected_;
};

TEST_F(RtlErrors, UnknownOpcodeStopsWhereverItStands) {
  for (const std::size_t index : {std::size_t{0}, first(Opcode::kLogits)})
    for (std::uint32_t opcode = contract::kOpcodes; opcode < 16; ++opcode) {
      Program program = bundle_.program();
      program.instructions[index].common.opcode = opcode;
      expect_stop(program, {CardError::kOpcode}, "opcode " + std::to_string(opcode));
    }
}

TEST_F(RtlErrors, DelayOfZeroIsLate) {
  for (const Opcode opcode : {Opcode::kKey, Opcode::kSwiglu}) {
    Program program = bundle_.program();
    program.instructions[first(opcode)].common.delay_by_length = 0;
    program.instructions[first(opcode)].common.delay = 0;
    expect_stop(program, {CardError::kLate, CardError::kBusy}, golden::opcode_name(opcode));
  }
}

/// A unit that may not issue in a token's first cycles, told to do so.
TEST_F(RtlErrors, IssueBeforeTheFirstWritesIsStopped) {
  for (const std::uint32_t delay : {0U, 1U, 4U}) {
    Program program = bundle_.program();
    // The first loop only fetches the token's row; the second is the first one with the MVU.
    ASSERT_NE(program.loops.at(1).entry_delay_mvu, contract::kNoEntryDelay);
    program.delays[std::size_t{program.loops[1].entry_delay_mvu} * program.length_steps] = delay;
    expect_stop(program,
                {CardError::kLate, CardError::kHazard, CardError::kAddress, CardError::kPort, CardError::kLength},
                std::to_string(delay));
  }
}

TEST_F(RtlErrors, DelayRowBeyondTheTableIsAnAddressError) {
  Program program = bundle_.program();
  program.instructions[first(Opcode::kKey)].common.delay_by_length = 1;
  program.instructions[first(Opcode::kKey)].common.delay = (1U << 24) - 1;
  expect_stop(program, {CardError::kAddress}, "row");
}

TEST_F(RtlErrors, AddressBeyondItsMemoryIsStopped) {
  struct Field {
    Opcode opcode;
    const char* name;
    std::uint32_t contract::MatvecFields::*matvec;
    std::uint32_t contract::VectorFields::*vector;
    std::uint32_t contract::SoftmaxFields::*softmax;
    std::uint32_t first_beyond;
    int bits;
  };
  using M = contract::MatvecFields;
  using V = contract::VectorFields;
  using S = contract::SoftmaxFields;
  const contract::HardwareConfig& c = bundle_.hardware();
  const auto words = static_cast<std::uint32_t>(c.lane_words), minimums = static_cast<std::uint32_t>(c.minimum_words),
             blocks = static_cast<std::uint32_t>(c.activation_blocks),
             exponents = static_cast<std::uint32_t>(c.exponent_words),
             constants = static_cast<std::uint32_t>(c.constant_values);
  const Field fields[] = {
      {Opcode::kMatvec, "weight", &M::weight_address, nullptr, nullptr, words, 24},
      {Opcode::kMatvec, "minimum", &M::minimum_address, nullptr, nullptr, minimums, 24},
      {Opcode::kMatvec, "activation", &M::activation_address, nullptr, nullptr, blocks, 16},
      {Opcode::kEmbed, "table", nullptr, &V::memory_address, nullptr, words, 24},
      {Opcode::kEmbed, "minimum", nullptr, &V::minimum_address, nullptr, minimums, 24},
      {Opcode::kEmbed, "exponent", nullptr, &V::exponent_address, nullptr, exponents, 24},
      {Opcode::kEmbed, "gain", nullptr, &V::gain_address, nullptr, constants, 27},
      {Opcode::kEmbed, "destination", nullptr, &V::destination, nullptr, blocks, 16},
      {Opcode::kResidual, "exponent", nullptr, &V::exponent_address, nullptr, exponents, 24},
      {Opcode::kResidual, "gain", nullptr, &V::gain_address, nullptr, constants, 27},
      {Opcode::kResidual, "destination", nullptr, &V::destination, nullptr, blocks, 16},
      {Opcode::kQuery, "exponent", nullptr, &V::exponent_address, nullptr, exponents, 24},
      {Opcode::kQuery, "destination", nullptr, &V::destination, nullptr, blocks, 16},
      {Opcode::kKey, "K", nullptr, &V::memory_address, nullptr, words, 24},
      {Opcode::kKey, "grid", nullptr, &V::grid_address, nullptr, exponents, 24},
      {Opcode::kValue, "V", nullptr, &V::memory_address, nullptr, words, 24},
      {Opcode::kValue, "K of V", nullptr, &V::key_address, nullptr, words, 24},
      {Opcode::kValue, "grid", nullptr, &V::grid_address, nullptr, exponents, 24},
      {Opcode::kMix, "destination", nullptr, &V::destination, nullptr, blocks, 16},
      {Opcode::kMix, "grid", nullptr, &V::grid_address, nullptr, exponents, 24},
      {Opcode::kSwiglu, "exponent", nullptr, &V::exponent_address, nullptr, exponents, 24},
      {Opcode::kSwiglu, "destination", nullptr, &V::destination, nullptr, blocks, 16},
      {Opcode::kLogits, "exponent", nullptr, &V::exponent_address, nullptr, exponents, 24},
      {Opcode::kSoftmax, "grid", nullptr, nullptr, &S::grid_address, exponents, 24},
      {Opcode::kSoftmax, "destination", nullptr, nullptr, &S::destination, blocks, 16},
  };
  for (const Field& field : fields)
    for (const std::uint32_t value : {field.first_beyond, (1U << field.bits) - 32}) {
      Program program = bundle_.program();
      contract::Instruction& in = program.instructions[first(field.opcode)];
      if (field.matvec != nullptr) in.matvec.*field.matvec = value;
      if (field.vector != nullptr) in.vector.*field.vector = value;
      if (field.softmax != nullptr) in.softmax.*field.softmax = value;
      if (field.matvec == &M::minimum_address) in.matvec.has_minimum = 1;
      expect_stop(program, {CardError::kAddress},
                  std::string(golden::opcode_name(field.opcode)) + " " + field.name + " " + std::to_string(value),
                  true);
    }
}

/// The VPU's last query before the mix comes later, so that its block and one of the SMX want one bank in one cycle; it
/// goes where nobody reads, so that nothing else is wrong.
TEST_F(RtlErrors, BlocksOfTwoUnitsForOneBankInOneCycleAreAPortError) {
  const Program& sound = bundle_.program();
  const std::size_t mix = first(Opcode::kMix);
  std::size_t query = mix;
  while (query > 0 && sound.instructions[query].opcode() != Opcode::kQuery) --query;
  ASSERT_EQ(sound.instructions[query].opcode(), Opcode::kQuery);
  bool meets = false;
  for (std::uint32_t later = 30; later < 80 && !meets; ++later) {
    SCOPED_TRACE(later);
    Program program = sound;
    program.instructions[query].vector.destination =
        static_cast<std::uint32_t>(bundle_.hardware().activation_blocks) - 8;
    const auto delay = [&program](std::size_t index) -> std::uint32_t& {
      contract::CommonFields& common = program.instructions[index].common;
      return common.delay_by_length == 0 ? common.delay
                                         : program.delays[std::size_t{common.delay} * program.length_steps];
    };
    ASSERT_GT(delay(mix), later);
    delay(query) += later;
    delay(mix) -= later;
    const Outcome got = core_->run(program, kToken);
    meets = got.error == CardError::kPort;
    EXPECT_EQ(got.stopped(), meets) << got.text;
    EXPECT_EQ(got.results.empty(), meets);
  }
  EXPECT_TRUE(meets);
  expect_sound();
}

TEST_F(RtlErrors, SoftmaxThatBeginsInsideAnotherIsBusy) {
  Program program = bundle_.program();
  std::size_t second = first(Opcode::kSoftmax) + 1;
  while (second < program.instructions.size() && program.instructions[second].opcode() != Opcode::kSoftmax) ++second;
  ASSERT_LT(second, program.instructions.size());
  program.instructions[second].common.delay_by_length = 0;
  program.instructions[second].common.delay = 4;
  expect_stop(program, {CardError::kBusy}, "softmax");
}

TEST_F(RtlErrors, WrongTokenLengthIsStopped) {
  const std::uint32_t length = bundle_.program().cycles_with_head[0];
  // Lengths that end in the middle of the head's landings, in that of a layer, and in the embedding, too.
  for (const std::uint32_t wrong : {length - 1, length + 1, length - 40, length - 105, length - 300, length / 2,
                                    length / 3, 60U, 30U, length + 500, 1U, 0U, 1U << 30})
    for (const bool both : {false, true}) {
      Program program = bundle_.program();
      program.cycles_with_head[0] = wrong;
      if (both) program.cycles_without_head[0] = wrong;
      expect_stop(program, {CardError::kLength, CardError::kBusy, CardError::kHazard, CardError::kLate},
                  std::to_string(wrong));
    }
}

TEST_F(RtlErrors, LoopsOutOfRangeAreStopped) {
  for (const std::uint32_t loops : {0U, 257U, 65535U}) {
    core_->driver().reset();
    core_->driver().write(ControlRegister::kLoops, loops);
    core_->driver().start({});
    core_->driver().run(200);
    expect_error(CardError::kLoops);
  }
  const std::vector<CardError> any = {CardError::kLength, CardError::kOpcode, CardError::kLate, CardError::kAddress,
                                      CardError::kBusy,   CardError::kHazard, CardError::kLoops};
  Program program = bundle_.program();
  program.loops[0].iterations = 60000;
  expect_stop(program, any, "iterations", true);
  program = bundle_.program();
  program.loops.back().instruction_count += 200;
  expect_stop(program, any, "too many instructions", true);
}

TEST_F(RtlErrors, CommandsOutOfRangeAreStopped) {
  const contract::ModelShape& shape = bundle_.shape();
  card::TokenRequest request;
  request.token = static_cast<std::int32_t>(shape.vocabulary);
  core_->driver().start(request);
  expect_error(CardError::kCommand);
  request.token = 0;
  request.position = shape.context_tokens;
  core_->driver().start(request);
  expect_error(CardError::kCommand);
  request.position = 0;
  for (int i = 0; i < 20; ++i) core_->driver().start(request);
  expect_error(CardError::kCommand);
}

TEST_F(RtlErrors, ResultsThatNobodyTakesStopTheCore) {
  core_->driver().reset();
  card::TokenRequest request;
  request.want_next = false;
  const std::uint64_t length = bundle_.program().cycles_without_head[0] + 64;
  for (int i = 0; i < 65; ++i) {
    core_->driver().start(request);
    core_->driver().run(length);
  }
  expect_error(CardError::kResults);
}

TEST_F(RtlErrors, LoadingWhileATokenRunsStopsTheCore) {
  for (const Region region : {Region::kConstants, Region::kInstructions}) {
    core_->driver().reset();
    core_->driver().start({});
    core_->driver().run(300);
    core_->driver().reload(region, {});
    expect_error(CardError::kLoad);
  }
}

/// Single bits of the program: whatever they mean, the core answers in bounded time, and the reset helps.
TEST_F(RtlErrors, AnyBitOfTheProgramChangedNeverHangsTheCore) {
  for (const std::uint64_t seed : {cosim::kFixedSeed, cosim::fresh_seed()}) {
    SCOPED_TRACE("OPENLPU_SEED=" + std::to_string(seed));
    cosim::Random random(seed);
    for (int i = 0; i < 12; ++i) {
      const Region region = random.one_in(4) ? Region::kDelays : Region::kInstructions;
      const std::uint64_t bytes = region == Region::kDelays
                                      ? bundle_.program().delays.size() * 4
                                      : bundle_.program().instructions.size() * contract::kInstructionWords * 4;
      const card::ImageFault fault = {region,
                                      static_cast<std::uint64_t>(random.between(0, static_cast<int>(bytes) - 1)),
                                      static_cast<std::uint8_t>(1U << random.between(0, 7))};
      SCOPED_TRACE("byte " + std::to_string(fault.byte) + " ^ " + std::to_string(fault.flip));
      core_ = std::make_unique<ForcedCore>(bundle_);
      core_->driver().reset();
      core_->driver().reload(region, {fault});
      const Outcome got = core_->run_tokens(kToken);
      EXPECT_FALSE(got.is_silent) << got.text;
      if (got.stopped()) {
        EXPECT_LT(got.results.size(), 2u);
      }
      core_ = std::make_unique<ForcedCore>(bundle_);
    }
    expect_sound();
  }
}

}  // namespace
}  // namespace lpu::test
