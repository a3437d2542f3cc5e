// A machine whose state the test fills: what the tests of single opcodes share. 4 lanes × 4 groups, two segments, heads
// of 64, position 37, third iteration of a loop. Relies on Machine::state() and hls/engine.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "hls/engine/accumulate.hpp"
#include "hls/engine/align.hpp"
#include "hls/engine/convert.hpp"
#include "hls/engine/gumbel.hpp"
#include "hls/engine/kv_quantise.hpp"
#include "hls/engine/quantise.hpp"
#include "hls/engine/random.hpp"
#include "hls/engine/rms_norm.hpp"
#include "hls/engine/rope.hpp"
#include "hls/engine/softmax.hpp"
#include "hls/engine/swiglu.hpp"
#include "hls/golden/execute.hpp"
#include "hls/golden/machine.hpp"
#include "tests/support/program_builder.hpp"

namespace lpu::golden::testing {

using contract::Opcode;
using lpu::testing::instruction;
using lpu::testing::small_config;

constexpr std::uint32_t kLanes = 4, kGroups = 4, kHead = 64, kPosition = 37, kIteration = 2;
constexpr std::uint32_t kWeights = 300, kKv = 400;

inline contract::ModelShape shape() {
  contract::ModelShape s;
  s.width = 96;
  s.heads = s.kv_heads = 4;
  s.head_size = kHead;
  s.vocabulary = 100;
  s.context_tokens = 96;
  s.norm_epsilon = 1e-5f;
  return s;
}

inline contract::Program one_burst(const contract::HardwareConfig& config) {
  contract::Instruction in = instruction(Opcode::kMatvec);
  in.matvec.row_groups = in.matvec.column_sets = in.matvec.nibbles = in.matvec.segments = 1;
  lpu::testing::ProgramBuilder builder(config, 96);
  builder.add(in);
  return builder.build();
}

class GoldenValuesTest : public ::testing::Test {
 protected:
  contract::HardwareConfig config = small_config(kLanes, kGroups);
  lpu::testing::TestImage image{config, kWeights, kKv, 100, 200, 2000, 96 * kHead / 2, 1};
  Machine machine{config, shape(), one_burst(config), image.view, 1};
  State& state = machine.state();
  engine::Status status;

  void SetUp() override {
    ASSERT_EQ(config.accumulator_entries, 2048);
    std::mt19937_64 random(2);
    for (engine::Int128& sum : state.sums) sum = static_cast<std::int64_t>(random()) / (1 << 12);
    for (std::uint16_t& scale : state.value_scales) scale = static_cast<std::uint16_t>(random() % 65535 + 1);
    for (float& x : state.residual) x = static_cast<float>(static_cast<int>(random() % 2000) - 1000) / 256;
    for (std::int8_t& exponent : state.exponents)
      exponent = static_cast<std::int8_t>(-22 + static_cast<int>(random() % 3));
    state.scales[0] = 0.125f;
    state.scales[1] = 0.75f;
    state.token.position = kPosition;
    state.token.blocks = kPosition / 32 + 1;
  }

  contract::VectorFields rows(std::uint32_t count, std::uint32_t first) {
    contract::VectorFields f = instruction(Opcode::kQuery).vector;
    f.accumulator = 2044;  // wraps
    f.rows = count;
    f.row_groups = (count + kLanes - 1) / kLanes;
    f.first_row = first;
    f.segments = 2;
    f.head_blocks = 2;
    f.exponent_address = 7;
    f.exponent_stride = 11;
    f.scale_register = 1;
    f.destination = 5;
    f.bias_address = 3;
    f.bias_stride = 64;
    f.gain_address = 100;
    f.gain_stride = 96;
    f.grid_address = 150;
    f.grid_stride = 4;
    f.memory_stride = 16;
    return f;
  }
  engine::Int128 sum(const contract::VectorFields& f, std::uint32_t row, std::uint32_t segment = 0) const {
    return state.sums[((f.accumulator + row / kLanes) % 2048 * kGroups + segment) * kLanes + row % kLanes];
  }
  float converted(const contract::VectorFields& f, std::uint32_t row) {
    const int exponent =
        state.exponents[(f.exponent_address + f.exponent_stride * kIteration + row / kLanes) * kLanes + row % kLanes];
    return engine::convert(sum(f, row), engine::sum_exponent(exponent), status);
  }
  float scaled(const contract::VectorFields& f, std::uint32_t row) {
    const float value = engine::multiply(converted(f, row), state.scales[f.scale_register], status);
    if (f.has_bias == 0) return value;
    return engine::add(value, state.constants[f.bias_address + f.bias_stride * kIteration + row], status);
  }
  /// 64 rows of a head, rotated at the position.
  std::vector<float> rotated_head(const contract::VectorFields& f, std::uint32_t first) {
    std::vector<float> values;
    for (std::uint32_t d = 0; d < kHead; ++d) values.push_back(scaled(f, first + d));
    for (std::uint32_t d = 0; d < kHead; d += 2)
      engine::rotate(values[d], values[d + 1], state.rope[kPosition * kHead + d], state.rope[kPosition * kHead + d + 1],
                     status);
    return values;
  }
  int grid(const contract::VectorFields& f, std::uint32_t head) const {
    return state.exponents[(f.grid_address + f.grid_stride * kIteration) * kLanes + head];
  }
  void expect_block(const float* values, std::uint32_t bank, std::uint32_t address) {
    const engine::Block block = engine::quantise(values, status);
    const ActivationBlock& got = state.activation(bank, address);
    EXPECT_TRUE(std::equal(got.mantissas, got.mantissas + 32, block.mantissas)) << bank << ", " << address;
    EXPECT_EQ(got.offset, block.offset);
    EXPECT_TRUE(std::any_of(got.mantissas, got.mantissas + 32, [](int a) { return a != 0; }));
  }
};

}  // namespace lpu::golden::testing
