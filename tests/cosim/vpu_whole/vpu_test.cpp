// The vector processor whole against hls/golden and hls/engine, bits and cycles, at 4x2 lanes with slices of 2 and at
// 32x6 with slices of 8: random tokens of all opcodes, sampled and greedy, with biases and without, one after another
// as early as docs/isa.md lets them start, each next token's embedding fetched by the module's own choice.
#include <gtest/gtest.h>

#include <map>

#include "Vvpu_32.h"
#include "Vvpu_4.h"
#include "hls/contract/memory_map.hpp"
#include "tests/cosim/vpu_whole/vpu_bench.hpp"

namespace lpu {
namespace cosim {
namespace {

template <typename ModuleType, int L, int G, int VL, int Entries>
struct Size {
  using Module = ModuleType;
  static constexpr VpuSize kSize{L, G, VL, Entries, 64};
};

template <typename Unit>
class Vpu : public ::testing::Test {
 protected:
  /// `tokens` tokens of `count` instructions and some kLogits.
  void run(std::uint64_t seed, std::uint32_t head_blocks, bool has_bias, int tokens, int count) {
    SCOPED_TRACE("OPENLPU_SEED=" + std::to_string(seed));
    VpuScript script(Unit::kSize, seed, head_blocks, has_bias);
    for (int i = 0; i < tokens; ++i) script.token(count, static_cast<int>(script.draw(0, 3)), script.draw(0, 1) != 0);
    bench_.run(script);
    const VpuTraffic& t = script.traffic;
    blocks_ += t.blocks.size(), keys_ += t.keys.size(), heads_ += t.heads.size(), logits_ += t.logits.size();
    for (const VpuToken& token : t.tokens) follows_ += token.follows ? 1 : 0, samples_ += token.samples ? 1 : 0;
  }
  bool failed() const { return this->HasFatalFailure() || this->HasNonfatalFailure(); }

  VpuBench<typename Unit::Module> bench_;
  std::size_t blocks_ = 0, keys_ = 0, heads_ = 0, logits_ = 0, follows_ = 0, samples_ = 0;
};

/// A module fed with instructions that no schedule would make: what it reports, and when.
class VpuError : public ::testing::Test {
 protected:
  /// A token starts in cycle 0; each instruction issues in its cycle. The first error and its cycle.
  std::pair<int, Cycle> run(bool samples, const std::map<Cycle, std::pair<Opcode, VectorFields>>& instructions) {
    module_.vpu_valid_i = 0;
    module_.rst_ni = 0;
    tick(module_);
    module_.rst_ni = 1;
    for (Cycle cycle = -contract::kIssueLeadCycles; cycle < 200; ++cycle) {
      const auto found = instructions.find(cycle + contract::kIssueLeadCycles);
      module_.vpu_valid_i = found != instructions.end();
      if (module_.vpu_valid_i) {
        contract::Instruction instruction;
        instruction.common.opcode = static_cast<std::uint32_t>(found->second.first);
        instruction.vector = found->second.second;
        std::uint32_t packed[contract::kInstructionWords];
        contract::pack(instruction, packed);
        for (int i = 0; i < contract::kInstructionWords; ++i)
          module_.vpu_instruction_i[static_cast<std::size_t>(i)] = packed[i];
      }
      module_.token_start_i = cycle == 0;
      module_.samples_i = samples;
      module_.eval();
      if (module_.error_o != 0) return {module_.error_o, cycle};
      tick(module_);
    }
    return {0, 0};
  }
  static VectorFields fields(std::uint32_t rows, std::uint32_t destination) {
    VectorFields f;
    f.rows = rows;
    f.row_groups = (rows + 3) / 4;
    f.slice_cycles = 1;
    f.pitch_cycles = 2;
    f.segments = 1;
    f.head_blocks = 1;
    f.destination = destination;
    f.starts_norm = 1;
    return f;
  }
  static constexpr int kAddress = static_cast<int>(contract::CardError::kAddress),
                       kPort = static_cast<int>(contract::CardError::kPort),
                       kHazard = static_cast<int>(contract::CardError::kHazard),
                       kBusy = static_cast<int>(contract::CardError::kBusy);

  Vvpu_4 module_;
};

using Sizes = ::testing::Types<Size<Vvpu_4, 4, 2, 2, 16>, Size<Vvpu_32, 32, 6, 8, 12>>;
struct SizeNames {
  template <typename Unit>
  static std::string GetName(int) {
    return std::to_string(Unit::kSize.lanes) + "x" + std::to_string(Unit::kSize.groups);
  }
};
TYPED_TEST_SUITE(Vpu, Sizes, SizeNames);

TYPED_TEST(Vpu, TokensOfAllOpcodesKeepTheirBitsAndCycles) {
  for (const std::uint64_t seed : {kFixedSeed, fresh_seed()}) {
    for (std::uint64_t round = 0; round < 4 && !this->failed(); ++round) {
      this->bench_.reset();
      this->run(seed + round, round == 3 ? 3 : static_cast<std::uint32_t>(round + 1), round % 2 == 1, 16, 20);
    }
  }
  EXPECT_GT(this->bench_.saturated_tokens, 0);
  EXPECT_GT(this->blocks_, 500u);
  for (const std::size_t seen : {this->keys_, this->heads_, this->logits_, this->follows_, this->samples_})
    EXPECT_GT(seen, 10u);
}

TYPED_TEST(Vpu, TokensWithoutSaturationsSayNone) {
  this->run(kFixedSeed, 1, false, 12, 0);
  EXPECT_GT(this->bench_.calm_tokens, 0);
}

TYPED_TEST(Vpu, HeadsOfTheLargestSizeKeepTheirBitsAndCycles) { this->run(kFixedSeed, 8, true, 3, 12); }

TYPED_TEST(Vpu, ResetInTheMiddleLeavesNothingBehind) {
  Random random(fresh_seed());
  for (int i = 0; i < 6 && !this->failed(); ++i) {
    VpuScript cut(TypeParam::kSize, kFixedSeed, 2, false);
    cut.token(12, 2, true);
    this->bench_.run(cut, random.between(10, static_cast<int>(cut.traffic.end)));
    this->bench_.reset();
    this->run(kFixedSeed + static_cast<std::uint64_t>(i), 2, false, 2, 6);
    this->bench_.reset();
  }
}

TEST_F(VpuError, BlocksThatMeetInABankAreAPortErrorACycleLater) {
  const Cycle shown = 20 + contract::kSwigluCycles - 1, residual = shown - (contract::kResidualBlockCycles - 1);
  EXPECT_EQ(run(false, {{20, {Opcode::kSwiglu, fields(2, 0)}}, {residual, {Opcode::kResidual, fields(2, 0)}}}),
            std::make_pair(kPort, shown + 1));
  VectorFields other_bank = fields(2, 0);
  other_bank.first_row = 32;
  EXPECT_EQ(run(false, {{20, {Opcode::kSwiglu, fields(2, 0)}}, {residual, {Opcode::kResidual, other_bank}}}).first, 0);
}

TEST_F(VpuError, BlockBeyondTheBanksIsAnAddressError) {
  EXPECT_EQ(run(false, {{20, {Opcode::kResidual, fields(2, 63)}}}).first, 0);
  EXPECT_EQ(run(false, {{20, {Opcode::kResidual, fields(2, 64)}}}),
            std::make_pair(kAddress, Cycle{20 + contract::kResidualBlockCycles}));
}

TEST_F(VpuError, LogitsBeforeTheirNoiseAreAHazard) {
  EXPECT_EQ(run(true, {{37, {Opcode::kLogits, fields(2, 0)}}}).first, 0);
  EXPECT_EQ(run(false, {{9, {Opcode::kLogits, fields(2, 0)}}}).first, 0);
  EXPECT_EQ(run(true, {{36, {Opcode::kLogits, fields(2, 0)}}}).first, kHazard);
}

TEST_F(VpuError, InstructionInsideAnotherIsBusy) {
  EXPECT_EQ(run(false, {{20, {Opcode::kSwiglu, fields(8, 0)}}, {24, {Opcode::kSwiglu, fields(8, 0)}}}).first, 0);
  EXPECT_EQ(run(false, {{20, {Opcode::kSwiglu, fields(8, 0)}}, {23, {Opcode::kSwiglu, fields(8, 0)}}}).first, kBusy);
}

}  // namespace
}  // namespace cosim
}  // namespace lpu
