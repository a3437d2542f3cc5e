// rtl/common's number operators against hls/engine: random operands with a fixed and a printed seed, and named corners.
// New operands enter in every cycle and each result is compared in exactly the cycle that hls/contract/latencies.hpp
// says: a result one cycle early or late meets its neighbour's and fails.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "Vvpu_add.h"
#include "Vvpu_convert.h"
#include "Vvpu_multiply.h"
#include "Vvpu_quantise.h"
#include "Vvpu_reciprocal.h"
#include "Vvpu_rsqrt.h"
#include "Vvpu_sigmoid.h"
#include "hls/contract/latencies.hpp"
#include "hls/engine/convert.hpp"
#include "hls/engine/quantise.hpp"
#include "hls/engine/rsqrt.hpp"
#include "hls/engine/sigmoid.hpp"
#include "tests/cosim/random_numbers.hpp"
#include "tests/cosim/wires.hpp"

namespace lpu {
namespace cosim {
namespace {

using engine::bits_from_float;
using engine::float_from_bits;
using engine::Status;

constexpr int kLanes = 4;  ///< parameter Lanes of the operators' models
constexpr int kRandomCycles = 40000;

struct Pair {
  float a;
  float b;
};
struct Result {
  float value;
  std::uint32_t saturations;
};
/// Operands of all lanes, one cycle after another: first the corners, then random ones.
using Operands = std::vector<Pair>;

Operands operands(const Operands& corners, std::uint64_t seed, const std::function<Pair(Random&)>& draw) {
  Operands all = corners;
  while (all.size() % kLanes != 0) all.push_back(corners.back());
  Random random(seed);
  for (int i = 0; i < kRandomCycles * kLanes; ++i) all.push_back(draw(random));
  return all;
}

Pair any_pair(Random& random) {
  Pair pair{random.any_number(), random.any_number()};
  // Exponents near each other, and opposite numbers: where sums cancel and products meet the ends of the range.
  if (random.one_in(3)) {
    const int field = random.between(1, 250);
    pair = {random.number(field, field), random.number(field, std::min(254, field + random.between(0, 4)))};
  }
  if (random.one_in(32)) pair.b = -pair.a;
  if (random.one_in(4)) {
    const int field = random.between(1, 253);
    pair = {random.number(field, field),
            random.number(std::max(1, 127 - field), std::min(254, 131 - std::min(field, 130)))};
  }
  return pair;
}

/// Runs a two-operand module over all operands, comparing each result `latency` cycles later.
template <typename Module>
void check_pairs(Module& module, const Operands& all, int latency, Result (*expected)(Pair)) {
  const std::size_t cycles = all.size() / kLanes;
  for (std::size_t cycle = 0; cycle < cycles + static_cast<std::size_t>(latency); ++cycle) {
    if (cycle >= static_cast<std::size_t>(latency)) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const Pair pair = all[(cycle - static_cast<std::size_t>(latency)) * kLanes + lane];
        const Result want = expected(pair);
        const int at = static_cast<int>(lane);
        ASSERT_EQ(get(module.result_o, 32 * at, 32), bits_from_float(want.value))
            << std::hex << bits_from_float(pair.a) << " " << bits_from_float(pair.b) << ", cycle " << std::dec << cycle;
        ASSERT_EQ(get(module.saturated_o, at, 1), want.saturations)
            << std::hex << bits_from_float(pair.a) << " " << bits_from_float(pair.b);
      }
    }
    for (std::size_t lane = 0; lane < kLanes && cycle < cycles; ++lane) {
      const Pair pair = all[cycle * kLanes + lane];
      put(module.a_i, static_cast<int>(32 * lane), 32, bits_from_float(pair.a));
      put(module.b_i, static_cast<int>(32 * lane), 32, bits_from_float(pair.b));
    }
    tick(module);
  }
}

Result multiplied(Pair pair) {
  Status status;
  const float value = engine::multiply(pair.a, pair.b, status);
  return {value, status.saturations};
}
Result added(Pair pair) {
  Status status;
  const float value = engine::add(pair.a, pair.b, status);
  return {value, status.saturations};
}

const Operands kCorners = {
    {0.0f, 0.0f},
    {-0.0f, 0.0f},
    {-0.0f, -0.0f},
    {1.0f, -1.0f},
    {-1.0f, 1.0f},
    {float_from_bits(0x007fffff), float_from_bits(0x007fffff)},  // subnormals are zero
    {float_from_bits(0x807fffff), -0.0f},
    {float_from_bits(0x00800001), float_from_bits(0x80800000)},  // a difference that is subnormal
    {float_from_bits(0x80800001), float_from_bits(0x00800000)},
    {float_from_bits(0x7f7fffff), float_from_bits(0x7f7fffff)},  // saturates
    {float_from_bits(0xff7fffff), float_from_bits(0x7f7fffff)},
    {float_from_bits(0x7f7fffff), float_from_bits(0x73000000)},  // half a last bit: a tie that rounds up, over the end
    {float_from_bits(0x7f7fffff), float_from_bits(0x72ffffff)},
    {float_from_bits(0x3f800000), float_from_bits(0x33800000)},  // a tie that stays
    {float_from_bits(0x3f800001), float_from_bits(0x33800000)},  // a tie that goes up
    {float_from_bits(0x3f800000), float_from_bits(0xb3000000)},  // just below one
    {float_from_bits(0x3f800000), float_from_bits(0xb2ffffff)},
    {float_from_bits(0x1fffffff), float_from_bits(0x1fffffff)},  // a product that rounds up to 2^−126
    {float_from_bits(0x207fffff), float_from_bits(0x1fffffff)},
    {float_from_bits(0x20000000), float_from_bits(0x20000000)},
    {float_from_bits(0x3fffffff), float_from_bits(0x007fffff)},
    {float_from_bits(0x3f7fffff), float_from_bits(0x00800000)},
};

TEST(Multiply, OperandsOfAllKindsGiveTheEnginesProductInItsCycle) {
  for (const std::uint64_t seed : {kFixedSeed, fresh_seed()}) {
    SCOPED_TRACE("OPENLPU_SEED=" + std::to_string(seed));
    Vvpu_multiply module;
    check_pairs(module, operands(kCorners, seed, any_pair), contract::kMultiplyCycles, multiplied);
  }
}

TEST(Add, OperandsOfAllKindsGiveTheEnginesSumInItsCycle) {
  for (const std::uint64_t seed : {kFixedSeed, fresh_seed()}) {
    SCOPED_TRACE("OPENLPU_SEED=" + std::to_string(seed));
    Vvpu_add module;
    check_pairs(module, operands(kCorners, seed, any_pair), contract::kAddCycles, added);
  }
}

void check_convert(std::uint64_t seed) {
  SCOPED_TRACE("OPENLPU_SEED=" + std::to_string(seed));
  struct Input {
    engine::Int128 sum;
    int exponent;
  };
  std::vector<Input> inputs;
  const engine::Int128 one = 1;
  for (const int exponent : {-300, -213, -150, -149, -127, -126, 0, 39, 40, 41, 103, 104, 127, 128, 300}) {
    for (const int power : {0, 1, 22, 23, 24, 25, 26, 63, 64, 85, 86}) {
      for (const int more : {-1, 0, 1}) {
        inputs.push_back({(one << power) + more, exponent});
        inputs.push_back({-((one << power) + more), exponent});
      }
    }
    inputs.push_back({-(one << 87), exponent});     // the lowest of all
    inputs.push_back({(one << 25) + 2, exponent});  // ties
    inputs.push_back({(one << 25) + 6, exponent});
    inputs.push_back({(one << 86) - (one << 61), exponent});  // rounds up to a power of two
  }
  Random random(seed);
  while (inputs.size() % kLanes != 0 || inputs.size() < kRandomCycles * kLanes)
    inputs.push_back({random.sum(88), random.between(-260, 180)});

  Vvpu_convert module;
  const std::size_t cycles = inputs.size() / kLanes;
  constexpr std::size_t kLatency = contract::kConvertCycles;
  for (std::size_t cycle = 0; cycle < cycles + kLatency; ++cycle) {
    for (std::size_t lane = 0; lane < kLanes && cycle >= kLatency; ++lane) {
      const Input& input = inputs[(cycle - kLatency) * kLanes + lane];
      Status status;
      const float want = engine::convert(input.sum, input.exponent, status);
      const int at = static_cast<int>(lane);
      ASSERT_EQ(get(module.result_o, 32 * at, 32), bits_from_float(want)) << "exponent " << input.exponent;
      ASSERT_EQ(get(module.saturated_o, at, 1), status.saturations);
    }
    for (std::size_t lane = 0; lane < kLanes && cycle < cycles; ++lane) {
      const Input& input = inputs[cycle * kLanes + lane];
      const int at = static_cast<int>(lane);
      put(module.sum_i, 88 * at, 64, static_cast<std::uint64_t>(input.sum));
      put(module.sum_i, 88 * at + 64, 24, static_cast<std::uint64_t>(input.sum >> 64));
      put(module.exponent_i, 10 * at, 10, static_cast<std::uint64_t>(input.exponent));
    }
    tick(module);
  }
}

TEST(Convert, SumsOfEveryLengthGiveTheEnginesNumberInItsCycle) {
  check_convert(kFixedSeed);
  check_convert(fresh_seed());
}

/// 32 values about an exponent field, some of them zero or far below.
std::vector<float> block_values(Random& random) {
  std::vector<float> values(32);
  const int top = random.one_in(4) ? random.between(1, 254) : random.between(100, 150);
  const int bottom = std::max(0, top - random.between(0, 40));
  for (float& value : values) value = random.one_in(8) ? random.number(0, 0) : random.number(bottom, top);
  return values;
}

void check_quantise(std::uint64_t seed) {
  SCOPED_TRACE("OPENLPU_SEED=" + std::to_string(seed));
  std::vector<std::vector<float>> blocks;
  const auto one_value = [&](float value, std::size_t place) {
    blocks.emplace_back(32, 0.0f);
    blocks.back()[place] = value;
  };
  blocks.emplace_back(32, 0.0f);                         // all zero
  blocks.emplace_back(32, float_from_bits(0x807fffff));  // all subnormal
  blocks.emplace_back(32, float_from_bits(0x7f7fffff));  // largest
  blocks.emplace_back(32, -511.5f);                      // rounds to 512
  for (std::uint32_t field = 1; field < 255; ++field) {  // every exponent, below, in and above the window
    one_value(float_from_bits(field << 23), field % 32);
    one_value(float_from_bits((field << 23) | 0x807fffffu), 31);
    one_value(float_from_bits((field << 23) | 0x00004000u), 0);
  }
  Random random(seed);
  for (int i = 0; i < 6000; ++i) blocks.push_back(block_values(random));

  Vvpu_quantise module;
  constexpr std::size_t kLatency = contract::kQuantiseCycles;
  for (std::size_t cycle = 0; cycle < blocks.size() + kLatency; ++cycle) {
    if (cycle >= kLatency) {
      Status status;
      const engine::Block want = engine::quantise(blocks[cycle - kLatency].data(), status);
      ASSERT_EQ(module.offset_o, want.offset) << "block " << cycle - kLatency;
      ASSERT_EQ(module.saturated_o, status.saturations) << "block " << cycle - kLatency;
      for (int j = 0; j < 32; ++j)
        ASSERT_EQ(get_signed(module.mantissas_o, 10 * j, 10), want.mantissas[j])
            << "block " << cycle - kLatency << ", value " << j;
    }
    for (std::size_t j = 0; j < 32 && cycle < blocks.size(); ++j)
      put(module.values_i, static_cast<int>(32 * j), 32, bits_from_float(blocks[cycle][j]));
    tick(module);
  }
}

TEST(Quantise, BlocksBelowInAndAboveTheWindowGiveTheEnginesBlockInItsCycle) {
  check_quantise(kFixedSeed);
  check_quantise(fresh_seed());
}

/// A function of one number. The first numbers go through every field with chosen fractions.
template <typename Module>
void check_function(std::uint64_t seed, int lanes, std::size_t latency, float (*expected)(float)) {
  SCOPED_TRACE("OPENLPU_SEED=" + std::to_string(seed));
  std::vector<float> inputs;
  for (std::uint32_t field = 0; field < 255; ++field)
    for (const std::uint32_t fraction : {0u, 1u, 0x3fffu, 0x4000u, 0x7fffu, 0x8000u, 0x400000u, 0x7fffffu})
      for (const std::uint32_t sign : {0u, 1u})
        inputs.push_back(float_from_bits((sign << 31) | (field << 23) | fraction));
  Random random(seed);
  while (inputs.size() < 60000) {
    const float value = random.one_in(4) ? random.any_number() : random.number(105, 135);
    inputs.push_back(value);
  }
  while (inputs.size() % static_cast<std::size_t>(lanes) != 0) inputs.push_back(1.0f);

  Module module;
  const std::size_t width = static_cast<std::size_t>(lanes), cycles = inputs.size() / width;
  for (std::size_t cycle = 0; cycle < cycles + latency; ++cycle) {
    for (std::size_t lane = 0; lane < width && cycle >= latency; ++lane) {
      const float input = inputs[(cycle - latency) * width + lane];
      ASSERT_EQ(get(module.result_o, static_cast<int>(32 * lane), 32), bits_from_float(expected(input)))
          << std::hex << bits_from_float(input);
    }
    for (std::size_t lane = 0; lane < width && cycle < cycles; ++lane)
      put(module.value_i, static_cast<int>(32 * lane), 32, bits_from_float(inputs[cycle * width + lane]));
    tick(module);
  }
}

TEST(Reciprocal, EveryExponentGivesTheEnginesNumberInItsCycle) {
  for (const std::uint64_t seed : {kFixedSeed, fresh_seed()})
    check_function<Vvpu_reciprocal>(seed, 1, contract::kTableCycles, engine::reciprocal);
}

TEST(ReciprocalSquareRoot, EveryExponentGivesTheEnginesNumberInItsCycle) {
  for (const std::uint64_t seed : {kFixedSeed, fresh_seed()})
    check_function<Vvpu_rsqrt>(seed, 1, contract::kTableCycles, engine::reciprocal_square_root);
}

TEST(Sigmoid, EveryExponentGivesTheEnginesNumberInItsCycle) {
  for (const std::uint64_t seed : {kFixedSeed, fresh_seed()})
    check_function<Vvpu_sigmoid>(seed, kLanes, 2 + contract::kTableCycles + 1, engine::sigmoid);
}

}  // namespace
}  // namespace cosim
}  // namespace lpu
