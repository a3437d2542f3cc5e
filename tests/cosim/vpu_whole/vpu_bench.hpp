// Drives a Verilated lpu_vpu through a script and compares every port in every cycle. It is the core around the module:
// the memories that it reads answer from the script's State, each after its fixed time, and show noise when they
// weren't asked; instructions are handed over 8 cycles before they issue, a token's fields change in its first cycle,
// its id is known 3 cycles earlier. Relies on vpu_script.hpp, wires.hpp.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "hls/engine/rms_norm.hpp"
#include "tests/cosim/vpu_whole/vpu_script.hpp"
#include "tests/cosim/wires.hpp"

namespace lpu {
namespace cosim {

template <typename Module>
class VpuBench {
 public:
  VpuBench() {
    module_.inverse_width_i = engine::bits_from_float(engine::inverse_width_factor(VpuWorld::kWidth));
    module_.epsilon_i = engine::bits_from_float(1e-5f);
    reset();
  }
  void reset() {
    module_.vpu_valid_i = 0;
    module_.token_start_i = 0;
    module_.rst_ni = 0;
    tick(module_);
    module_.rst_ni = 1;
  }

  int saturated_tokens = 0, calm_tokens = 0;

  /// The script's traffic, all of it or up to a cycle.
  void run(VpuScript& script, Cycle end = -1) {
    script_ = &script;
    asked_ = {};
    early_ = nullptr;
    module_.first_logit_row_i = script.first_logit_row;
    chosen_ = 0;
    has_choice_ = false;
    for (Cycle cycle = 0; cycle < (end < 0 ? script.traffic.end : end); ++cycle) {
      drive(cycle);
      module_.eval();
      answer_rounds();
      module_.eval();
      check(cycle);
      note(cycle);
      if (::testing::Test::HasFatalFailure() || ::testing::Test::HasNonfatalFailure()) return;
      tick(module_);
    }
  }

 private:
  static constexpr Cycle kMemoryCycles = 3, kAccumulatorCycles = 2, kTokenCycles = 3;

  /// What was asked in a cycle, kept as long as the slowest memory takes. Negative: nothing.
  struct Asked {
    std::int64_t exponent = -1, grid = -1, gain = -1, bias = -1, pair = -1, word = -1, minimum = -1;
    int segment = -1, entry = 0, slice = 0;
  };
  Asked& asked(Cycle cycle) { return asked_[static_cast<std::size_t>(cycle + 8) % asked_.size()]; }

  const VpuToken* token_at(Cycle cycle) const {
    for (const VpuToken& token : script_->traffic.tokens)
      if (token.start == cycle) return &token;
    return nullptr;
  }

  void drive(Cycle cycle) {
    const VpuTraffic& t = script_->traffic;
    const auto found = t.instructions.find(cycle + contract::kIssueLeadCycles);
    module_.vpu_valid_i = found != t.instructions.end();
    if (found != t.instructions.end()) {
      std::uint32_t packed[contract::kInstructionWords];
      contract::pack(found->second.instruction, packed);
      for (int i = 0; i < contract::kInstructionWords; ++i)
        module_.vpu_instruction_i[static_cast<std::size_t>(i)] = packed[i];
      module_.vpu_iteration_i = static_cast<std::uint16_t>(found->second.iteration);
    } else {
      module_.vpu_iteration_i = 0xffff;
    }
    if (const VpuToken* token = token_at(cycle + kTokenCycles)) early_ = token;
    // A token that follows: the module's own choice, as it is in the register by then.
    module_.token_early_i = early_ == nullptr ? 0x123456 : early_->follows ? module_.next_token_o : early_->token;
    const VpuToken* starts = token_at(cycle);
    module_.token_start_i = starts != nullptr;
    if (starts != nullptr) {
      module_.position_i = static_cast<std::uint16_t>(starts->position);
      module_.samples_i = starts->samples;
      module_.inverse_temperature_i = engine::bits_from_float(starts->inverse_temperature);
      module_.seed_i = starts->seed;
    }
    answer(asked(cycle - kMemoryCycles), asked(cycle - kAccumulatorCycles));
  }

  template <typename Port>
  void put_floats(Port& port, const std::vector<float>& from, std::int64_t first, int count, int step) {
    for (int i = 0; i < count; ++i)
      put(port, 32 * i, 32,
          first < 0 ? 0x7f7fffffu : engine::bits_from_float(from[static_cast<std::size_t>(first + i * step)]));
  }
  template <typename Port>
  void put_exponents(Port& port, std::int64_t word) {
    const int lanes = script_->size().lanes;
    for (int l = 0; l < lanes; ++l)
      put(port, 8 * l, 8,
          word < 0 ? 0x55u
                   : static_cast<std::uint8_t>(script_->state().exponents[static_cast<std::size_t>(word * lanes + l)]));
  }
  void answer(const Asked& memory, const Asked& accumulator) {
    golden::State& state = script_->state();
    const VpuSize& size = script_->size();
    const int vl = size.vector_lanes;
    put_exponents(module_.exponent_word_i, memory.exponent);
    put_exponents(module_.grid_word_i, memory.grid);
    put_floats(module_.gain_i, state.constants, memory.gain, vl, 1);
    put_floats(module_.bias_i, state.constants, memory.bias, vl, 1);
    put_floats(module_.cosine_i, state.rope, memory.pair < 0 ? -1 : 2 * memory.pair, vl / 2, 2);
    put_floats(module_.sine_i, state.rope, memory.pair < 0 ? -1 : 2 * memory.pair + 1, vl / 2, 2);
    for (int l = 0; l < vl; ++l) {
      engine::Int128 sum = -1;
      if (accumulator.segment >= 0)
        sum = state.entry_sums(static_cast<std::size_t>(accumulator.entry),
                               static_cast<std::size_t>(accumulator.segment))[accumulator.slice * vl + l];
      put(module_.sums_i, 88 * l, 64, static_cast<std::uint64_t>(sum));
      put(module_.sums_i, 88 * l + 64, 24, static_cast<std::uint64_t>(sum >> 64));
    }
    if (memory.word >= 0 || words_shown_) answer_words(memory);
    words_shown_ = memory.word >= 0;
  }
  /// A row's words; where none were asked for: noise.
  void answer_words(const Asked& memory) {
    const VpuSize& size = script_->size();
    for (int g = 0; g < size.groups; ++g)
      for (int l = 0; l < size.lanes; ++l) {
        const std::size_t group = static_cast<std::size_t>(g), lane = static_cast<std::size_t>(l);
        const int at = g * size.lanes + l;
        std::uint8_t data[16] = {0x5a};
        std::uint16_t side = 0xa5a5, minimum = 0x5a5a;
        if (memory.word >= 0) {
          script_->state().memory.read_data(static_cast<std::uint64_t>(memory.word), group, lane, data);
          side = script_->state().memory.side_bits(static_cast<std::uint64_t>(memory.word), group, lane);
        }
        if (memory.minimum >= 0)
          minimum = script_->state().memory.minimum(static_cast<std::uint64_t>(memory.minimum), group, lane);
        for (int i = 0; i < 16; ++i) put(module_.words_i, 144 * at + 8 * i, 8, data[i]);
        put(module_.words_i, 144 * at + 128, 16, side);
        put(module_.minimums_i, 16 * at, 16, minimum);
      }
  }
  void answer_rounds() {
    const golden::RoundRegister& round =
        script_->state().rounds[module_.round_o * script_->state().groups +
                                std::min<std::size_t>(module_.segment_o, script_->state().groups - 1)];
    module_.difference_i = static_cast<unsigned char>(round.difference);
    module_.inverse_i = engine::bits_from_float(round.inverse);
  }

  void note(Cycle cycle) {
    Asked& now = asked(cycle);
    const Module& m = module_;
    now = Asked();
    if (m.exponent_read_o) now.exponent = m.exponent_address_o;
    if (m.grid_read_o) now.grid = m.grid_address_o;
    if (m.gain_read_o) now.gain = m.gain_address_o;
    if (m.bias_read_o) now.bias = m.bias_address_o;
    if (m.rope_read_o) now.pair = m.rope_pair_o;
    if (m.embed_read_o) now.word = m.embed_address_o;
    if (m.embed_minimum_read_o) now.minimum = m.embed_minimum_address_o;
    for (int j = 0; j < script_->size().groups; ++j)
      if ((m.accumulator_read_o >> j & 1) != 0) now.segment = j;
    now.entry = m.accumulator_entry_o;
    now.slice = m.accumulator_slice_o;
    const golden::State& state = script_->state();
    const std::int64_t lanes = script_->size().lanes;
    ASSERT_LT(std::max(now.exponent, now.grid), static_cast<std::int64_t>(state.exponents.size()) / lanes);
    ASSERT_LE(std::max(now.gain, now.bias) + script_->size().vector_lanes,
              static_cast<std::int64_t>(state.constants.size()));
    ASSERT_LE(2 * now.pair + script_->size().vector_lanes, static_cast<std::int64_t>(state.rope.size()));
    ASSERT_LT(now.entry, script_->size().entries);
  }

  /// True where something is due; fails where the module says otherwise.
  template <typename Map, typename Key>
  bool due(const Map& map, const Key& key, bool valid, const char* what) {
    const bool wanted = map.count(key) != 0;
    EXPECT_EQ(valid, wanted) << what << (valid ? " came unasked" : " didn't come");
    return wanted && valid;
  }
  template <typename Port>
  void check_lanes(const LaneValues& want, std::uint32_t row, std::uint32_t lanes, const Port& values) {
    ASSERT_EQ(row, want.row);
    ASSERT_EQ(lanes, want.lanes);
    for (std::size_t i = 0; i < want.values.size(); ++i)
      ASSERT_EQ(get(values, static_cast<int>(32 * i), 32), engine::bits_from_float(want.values[i])) << "lane " << i;
  }
  template <typename Port>
  void check_codes(const std::vector<int>& want, const Port& codes, int width) {
    for (std::size_t j = 0; j < want.size(); ++j)
      ASSERT_EQ(get_signed(codes, static_cast<int>(j) * width, width), want[j]) << "code " << j;
  }

  void check(Cycle cycle) {
    SCOPED_TRACE("cycle " + std::to_string(cycle));
    const VpuTraffic& t = script_->traffic;
    const Module& m = module_;
    ASSERT_EQ(m.error_o, 0);
    check_blocks(cycle);
    if (due(t.residuals, cycle, m.residual_lanes_o != 0, "residual"))
      check_lanes(t.residuals.at(cycle), m.residual_row_o, m.residual_lanes_o, m.residual_values_o);
    if (due(t.logits, cycle, m.logits_valid_o, "logits"))
      check_lanes(t.logits.at(cycle), m.logits_row_o, m.logits_lanes_o, m.logits_o);
    if (due(t.scales, cycle, m.scale_write_o, "scale")) {
      ASSERT_EQ(m.scale_register_o, t.scales.at(cycle).first);
      ASSERT_EQ(m.scale_o, engine::bits_from_float(t.scales.at(cycle).second));
    }
    check_heads(cycle);
    check_token(cycle);
    if (due(t.embed_reads, cycle, m.embed_read_o, "embedding read")) {
      ASSERT_EQ(m.embed_address_o, t.embed_reads.at(cycle));
    }
    if (due(t.minimum_reads, cycle, m.embed_minimum_read_o, "minimum read")) {
      ASSERT_EQ(m.embed_minimum_address_o, t.minimum_reads.at(cycle));
    }
    ASSERT_EQ(m.landed_o, t.landed.count(cycle) != 0);
  }
  void check_blocks(Cycle cycle) {
    const VpuTraffic& t = script_->traffic;
    for (int bank = 0; bank < script_->size().groups; ++bank) {
      const std::pair<Cycle, std::uint64_t> key{cycle, static_cast<std::uint64_t>(bank)};
      if (!due(t.blocks, key, (module_.block_write_o >> bank & 1) != 0, "block")) continue;
      const auto& [address, block] = t.blocks.at(key);
      ASSERT_EQ(get(module_.block_address_o, 16 * bank, 16), address) << "bank " << bank;
      ASSERT_EQ(get(module_.block_o, 337 * bank + 320, 17), block.offset) << "bank " << bank;
      for (int j = 0; j < 32; ++j)
        ASSERT_EQ(get_signed(module_.block_o, 337 * bank + 10 * j, 10), block.mantissas[j]) << "bank " << bank;
    }
  }
  void check_heads(Cycle cycle) {
    const VpuTraffic& t = script_->traffic;
    const Module& m = module_;
    if (due(t.keys, cycle, m.key_valid_o, "key")) {
      const KeyCodes& want = t.keys.at(cycle);
      ASSERT_EQ(m.key_group_o, want.group);
      ASSERT_EQ(m.key_address_o, want.address);
      ASSERT_EQ(m.key_nibbles_o, want.nibbles);
      ASSERT_EQ(m.key_scale_o, want.scale);
      check_codes(want.codes, m.key_codes_o, 12);
    }
    if (due(t.heads, cycle, m.value_early_o, "value's place")) {
      const ValueHead& want = t.heads.at(cycle);
      ASSERT_EQ(m.value_group_o, want.group);
      ASSERT_EQ(m.value_address_o, want.address);
      ASSERT_EQ(m.value_row_step_o, want.row_step);
      ASSERT_EQ(m.value_key_group_o, want.key_group);
      ASSERT_EQ(m.value_key_address_o, want.key_address);
      ASSERT_EQ(m.value_head_blocks_o, want.head_blocks);
    }
    if (due(t.values, cycle, m.value_valid_o, "value")) {
      const ValueCodes& want = t.values.at(cycle);
      ASSERT_EQ(m.value_block_o, want.block);
      ASSERT_EQ(m.value_scale_o, want.scale);
      check_codes(want.codes, m.value_codes_o, 8);
    }
  }
  void check_token(Cycle cycle) {
    const VpuTraffic& t = script_->traffic;
    if (due(t.nexts, cycle, module_.next_write_o, "next token")) {
      chosen_ = t.nexts.at(cycle);
      has_choice_ = true;
    }
    ASSERT_EQ(module_.next_valid_o, has_choice_);
    if (has_choice_) {
      ASSERT_EQ(module_.next_token_o, chosen_);
    }
    // The sticky bit holds a token's saturations up to the next one's first cycle, and none of them behind it.
    const VpuToken* before = nullptr;
    for (const VpuToken& token : t.tokens) {
      if (token.start == cycle && before != nullptr) {
        ASSERT_EQ(module_.saturated_o, before->saturates);
        ++(before->saturates ? saturated_tokens : calm_tokens);
      }
      if (token.start + 1 == cycle) {
        ASSERT_EQ(module_.saturated_o, 0);
      }
      if (token.start == cycle) has_choice_ = false;
      before = &token;
    }
  }

  Module module_;
  VpuScript* script_ = nullptr;
  const VpuToken* early_ = nullptr;
  std::array<Asked, 8> asked_;
  bool words_shown_ = true, has_choice_ = false;
  std::uint32_t chosen_ = 0;
};

}  // namespace cosim
}  // namespace lpu
