// The hazard monitor alone: for every kind of write the exact cycle from which on it may be read, and up to which what
// it replaces may be; writes out of order; instructions of another token. A monitor that is blind would let a wrong
// schedule pass unseen, one that is strict would stop a right one. Relies on hls/contract's latencies.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "Vwatch_hazards.h"
#include "hls/contract/instructions.hpp"
#include "hls/contract/latencies.hpp"
#include "hls/contract/memory_map.hpp"
#include "tests/cosim/wires.hpp"

namespace lpu {
namespace cosim {
namespace {

using contract::Opcode;

constexpr auto kHazard = static_cast<int>(contract::CardError::kHazard);
constexpr int kGroups = 2, kBlockBits = 337, kExponentLsb = 320;
constexpr int kBank = 1, kBlock = 3, kEntry = 5, kSegment = 1, kRow = 4, kRound = 9, kWord = 16, kKeyWord = 50;

class HazardMonitor : public ::testing::Test {
 protected:
  using Action = std::function<void()>;

  void at(int cycle, Action action) { events_[cycle].push_back(std::move(action)); }
  /// All that was put on the list, from reset on; whether a hazard was told.
  bool fails() {
    Verilated::fatalOnError(false);  // $error tells of a hazard in words, too
    Vwatch_hazards module;
    m_ = &module;
    module.rst_ni = 0;
    for (int i = 0; i < 3; ++i) tick(module);
    module.rst_ni = 1;
    bool failed = false;
    for (int cycle = 0; cycle <= events_.rbegin()->first + 160; ++cycle) {
      quiet();
      if (const auto found = events_.find(cycle); found != events_.end())
        for (const Action& action : found->second) action();
      tick(module);
      EXPECT_TRUE(module.error_o == 0 || module.error_o == kHazard);
      failed = failed || module.error_o != 0;
    }
    events_.clear();
    return failed;
  }

  // ---- instructions that issue
  void mvu(int cycle, std::uint32_t index) {
    at(cycle, [=, this] { m_->mvu_issue_i = 1, m_->mvu_index_i = index; });
  }
  void vpu(int cycle, std::uint32_t index) {
    at(cycle, [=, this] { m_->vpu_issue_i = 1, m_->vpu_index_i = index; });
  }
  void smx(int cycle, std::uint32_t index) {
    at(cycle, [=, this] { m_->smx_issue_i = 1, m_->smx_index_i = index; });
  }
  void token(int cycle) {
    at(cycle, [this] { m_->token_start_i = 1; });
  }

  // ---- an entry of the VPU with a block's end and an instruction's end, as its kind has it
  void entry(int cycle, std::uint32_t index, Opcode kind, bool has_bias = false) {
    vpu(cycle, index);
    at(cycle, [=, this] {
      m_->entry_valid_i = 1;
      m_->entry_kind_i = static_cast<std::uint8_t>(kind);
      m_->entry_has_bias_i = has_bias ? 1 : 0;
      m_->entry_block_end_i = m_->entry_end_i = 1;
      m_->tag_bank_i = kBank;
      m_->tag_address_i = kind == Opcode::kKey || kind == Opcode::kValue ? kWord : kBlock;
      m_->tag_nibbles_i = 3;
      m_->tag_row_step_i = 4;
      m_->tag_head_blocks_i = 1;
      m_->tag_key_group_i = kBank;
      m_->tag_key_address_i = kKeyWord;
      m_->tag_residual_row_i = kRow;
      m_->mix_round_i = kRound;
    });
  }

  /// In an entry's cycle: other places than kWord and kKeyWord.
  void places(int cycle, std::uint32_t word, std::uint32_t key_word) {
    at(cycle, [=, this] { m_->tag_address_i = word, m_->tag_key_address_i = key_word; });
  }
  void reset(int cycle) {
    at(cycle, [this] { m_->rst_ni = 0; });
    at(cycle + 1, [this] { m_->rst_ni = 1; });
  }

  // ---- what reads
  void beat(int cycle, std::uint32_t index, std::uint32_t block, std::uint32_t word, bool relative = false) {
    mvu(cycle, index);
    at(cycle, [=, this] {
      m_->beat_i = 1;
      m_->beat_block_i = static_cast<std::uint16_t>(block);
      m_->beat_word_i = word;
      m_->beat_relative_i = relative ? 1 : 0;
      m_->beat_round_i = kRound;
    });
  }
  void residual_read(int cycle, std::uint32_t index) {
    mvu(cycle, index);
    at(cycle, [this] { m_->residual_read_i = 1, m_->residual_row_i = kRow - 2; });  // and the next slice
  }
  void vector_read(int cycle, std::uint32_t index) {
    vpu(cycle, index);
    at(cycle - 2, [this] { m_->vector_read_i = 1 << kSegment, m_->vector_entry_i = kEntry; });
  }
  void softmax_read(int cycle, std::uint32_t index) {
    smx(cycle, index);
    at(cycle - 2, [this] { m_->softmax_read_i = 1 << kSegment, m_->softmax_entry_i = kEntry; });
  }

  // ---- what other units than the VPU make, of an instruction that issues in `cycle`
  void sums(int cycle, std::uint32_t index) {
    mvu(cycle, index);
    at(cycle + contract::kMatvecCycles - 1, [this] { m_->sum_write_i = 1 << kSegment, m_->sum_entry_i = kEntry; });
  }
  void softmax_block(int cycle, std::uint32_t index, bool is_zero_block) {
    smx(cycle, index);
    at(cycle + (is_zero_block ? contract::kSoftmaxRowCycles : contract::kSoftmaxBlockCycles) - 1, [=, this] {
      m_->smx_block_write_i = 1 << kBank;
      put(m_->smx_block_address_i, 16 * kBank, 16, kBlock);
      put(m_->smx_blocks_i, kBank * kBlockBits + kExponentLsb, 17, is_zero_block ? 0x10000U : 0x1U);
    });
  }
  void softmax_row(int cycle, std::uint32_t index) {
    smx(cycle, index);
    at(cycle + contract::kSoftmaxRowCycles - 1, [this] { m_->round_write_i = 1, m_->round_i = kRound; });
  }

 private:
  void quiet() {
    m_->token_start_i = m_->mvu_issue_i = m_->vpu_issue_i = m_->smx_issue_i = 0;
    m_->beat_i = m_->beat_relative_i = m_->residual_read_i = m_->sum_write_i = 0;
    m_->vector_read_i = m_->softmax_read_i = m_->entry_valid_i = m_->smx_block_write_i = m_->round_write_i = 0;
    for (int g = 0; g < kGroups; ++g) put(m_->smx_blocks_i, g * kBlockBits, 64, 0);
    for (int g = 0; g < kGroups; ++g) put(m_->smx_blocks_i, g * kBlockBits + kExponentLsb, 17, 0);
  }

  Vwatch_hazards* m_ = nullptr;
  std::map<int, std::vector<Action>> events_;
};

/// A write of an instruction that begins in cycle 10 with index 5, when it can be read, and a read of its place.
struct Pair {
  const char* name;
  int latency;
  std::function<void(int, std::uint32_t)> write, read;
  bool replaces = true;  ///< the read sees no other place that the writer changes earlier
};

class HazardPairs : public HazardMonitor {
 protected:
  static constexpr int kStart = 10;
  static constexpr std::uint32_t kOlder = 4, kWriter = 5, kNewer = 6;
  static constexpr std::uint32_t kElsewhere = 15, kOtherWord = 63;

  std::vector<Pair> pairs() {
    const auto kind = [this](Opcode opcode, bool has_bias = false) {
      return [=, this](int cycle, std::uint32_t index) { entry(cycle, index, opcode, has_bias); };
    };
    const auto block = [this](int cycle, std::uint32_t index) { beat(cycle, index, kBlock, kOtherWord); };
    const auto word = [this](std::uint32_t address) {
      return [=, this](int cycle, std::uint32_t index) { beat(cycle, index, kElsewhere, address); };
    };
    const int bias = contract::kBiasCycles, value = contract::kValueCycles, key = contract::kKeyCycles;
    const int scale = value - contract::kValueScaleWriteCycles + 1;
    return {
        {"residual", contract::kResidualCycles, kind(Opcode::kResidual),
         [this](int cycle, std::uint32_t index) { residual_read(cycle, index); }},
        {"residual of an embedding", contract::kResidualCycles, kind(Opcode::kEmbed),
         [this](int cycle, std::uint32_t index) { residual_read(cycle, index); }},
        {"norm block", contract::kResidualBlockCycles, kind(Opcode::kResidual), block},
        {"scale register", contract::kNormCycles, kind(Opcode::kResidual), kind(Opcode::kLogits)},
        {"scale register, by a key", contract::kNormCycles, kind(Opcode::kEmbed), kind(Opcode::kKey)},
        {"mix block", contract::kMixCycles, kind(Opcode::kMix), block},
        {"query block", contract::kQueryCycles, kind(Opcode::kQuery), block},
        {"query block with a bias", contract::kQueryCycles + bias, kind(Opcode::kQuery, true), block},
        {"swiglu block", contract::kSwigluCycles, kind(Opcode::kSwiglu), block},
        {"key's word 0", key, kind(Opcode::kKey), word(kWord)},
        {"key's word 2", key, kind(Opcode::kKey), word(kWord + 2)},
        {"key's word 1 with a bias", key + bias, kind(Opcode::kKey, true), word(kWord + 1)},
        {"value's first row group", value, kind(Opcode::kValue), word(kWord)},
        {"value's last row group", value + 7 * contract::kValuePortCycles, kind(Opcode::kValue), word(kWord + 29)},
        {"value with a bias", value + bias + contract::kValuePortCycles, kind(Opcode::kValue, true), word(kWord + 4)},
        {"value's scale", scale, kind(Opcode::kValue), word(kKeyWord)},
        {"value's scale with a bias", scale + bias, kind(Opcode::kValue, true), word(kKeyWord)},
        {"sum, by the VPU", contract::kMatvecCycles, [this](int c, std::uint32_t i) { sums(c, i); },
         [this](int c, std::uint32_t i) { vector_read(c, i); }},
        {"sum, by the SMX", contract::kMatvecCycles, [this](int c, std::uint32_t i) { sums(c, i); },
         [this](int c, std::uint32_t i) { softmax_read(c, i); }},
        {"softmax block", contract::kSoftmaxBlockCycles, [this](int c, std::uint32_t i) { softmax_block(c, i, false); },
         block},
        {"zero block", contract::kSoftmaxRowCycles, [this](int c, std::uint32_t i) { softmax_block(c, i, true); },
         block},
        {"E of a round", contract::kSoftmaxRowCycles, [this](int c, std::uint32_t i) { softmax_row(c, i); },
         [this](int c, std::uint32_t i) { beat(c, i, kElsewhere, kOtherWord, true); }},
        {"1/z of a round", contract::kReciprocalCycles, [this](int c, std::uint32_t i) { softmax_row(c, i); },
         kind(Opcode::kMix), false},
    };
  }
};

TEST_F(HazardPairs, EveryWriteMayBeReadInItsCycleAndNotOneBefore) {
  for (const Pair& pair : pairs()) {
    SCOPED_TRACE(pair.name);
    pair.write(kStart, kWriter);
    pair.read(kStart + pair.latency, kNewer);
    EXPECT_FALSE(fails());
    pair.write(kStart, kWriter);
    pair.read(kStart + pair.latency - 1, kNewer);
    EXPECT_TRUE(fails());
  }
}

TEST_F(HazardPairs, EveryPlaceMayBeReadUntilTheCycleBeforeItIsReplaced) {
  for (const Pair& pair : pairs()) {
    SCOPED_TRACE(pair.name);
    if (pair.replaces) {
      pair.write(kStart, kWriter);
      pair.read(kStart + pair.latency - 1, kOlder);
      EXPECT_FALSE(fails());
    }
    pair.write(kStart, kWriter);
    pair.read(kStart + pair.latency, kOlder);
    EXPECT_TRUE(fails());
  }
}

TEST_F(HazardPairs, OlderWriteThatLandsOnANewerOneIsTold) {
  entry(kStart, 5, Opcode::kSwiglu);
  entry(kStart + 2, 6, Opcode::kQuery);  // a cycle earlier there
  EXPECT_TRUE(fails());
  entry(kStart, 5, Opcode::kSwiglu);
  entry(kStart + 4, 6, Opcode::kQuery);
  EXPECT_FALSE(fails());
}

TEST_F(HazardPairs, ScaleOfAValueReadsItsKeysWord) {
  constexpr int kRead = contract::kValueCycles - contract::kValueScaleReadCycles;
  for (const int early : {0, 1}) {
    entry(kStart, 5, Opcode::kKey);  // words kWord … kWord + 2; the value's key lies in the first of them
    const int cycle = kStart + contract::kKeyCycles - kRead - early;
    entry(cycle, 6, Opcode::kValue);
    places(cycle, kWord + 8, kWord);
    EXPECT_EQ(fails(), early != 0);
  }
}

TEST_F(HazardPairs, FirstInstructionsOfATokenAreNewerThanTheLastOfTheOneBefore) {
  for (const int early : {0, 1}) {
    token(1);
    entry(kStart, 900, Opcode::kQuery);
    token(kStart + 1);
    beat(kStart + contract::kQueryCycles - early, 0, kBlock, kOtherWord);
    EXPECT_EQ(fails(), early != 0);
  }
}

TEST_F(HazardPairs, ResetForgetsWhatWasOnItsWay) {
  entry(kStart, 5, Opcode::kQuery);
  reset(kStart + 3);
  beat(kStart + 5, 6, kBlock, kOtherWord);
  EXPECT_FALSE(fails());
}

}  // namespace
}  // namespace cosim
}  // namespace lpu
