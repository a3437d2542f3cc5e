// The vector unit against hls/engine, bits and cycles, at VectorLanes 2, 8 and 32: each instruction alone with named
// corners, and long mixtures of all of them without a gap between.
#include <gtest/gtest.h>

#include <cmath>

#include "Vvpu_unit_2.h"
#include "Vvpu_unit_32.h"
#include "Vvpu_unit_8.h"
#include "tests/cosim/vpu/script.hpp"
#include "tests/cosim/vpu/vector_bench.hpp"

namespace lpu {
namespace cosim {
namespace {

template <typename ModuleType, int Width>
struct Size {
  using Module = ModuleType;
  static constexpr int kLanes = Width;
};

template <typename Unit>
class VectorUnit : public ::testing::Test {
 protected:
  /// Writes a script, runs it, compares the report of saturations too.
  template <typename Write>
  void run(std::uint64_t seed, Write write) {
    SCOPED_TRACE("OPENLPU_SEED=" + std::to_string(seed));
    Script script(Unit::kLanes, seed, 1);
    bench_.module().inverse_width_i = engine::bits_from_float(script.inverse_width);
    bench_.module().epsilon_i = engine::bits_from_float(script.epsilon);
    write(script);
    script.finish();
    bench_.module().samples_i = script.samples;
    bench_.module().inverse_temperature_i = engine::bits_from_float(script.inverse_temperature);
    const bool saturated = bench_.run(script.traffic);
    ASSERT_EQ(saturated, script.status.saturations != 0);
    saturated_ += saturated ? 1 : 0;
  }
  /// Every kind of numbers, alone and with gaps.
  template <typename Write>
  void run_styles(Write write) {
    for (const std::uint64_t seed : {kFixedSeed, fresh_seed()}) {
      for (std::uint64_t round = 0; round < 12; ++round) {
        Style style;
        style.gap = static_cast<int>(round % 3);
        run(seed + round, [&](Script& script) { write(script, style); });
        style.extreme = true;
        run(seed + round, [&](Script& script) { write(script, style); });
        style.extreme = false;
        style.zeros = true;
        run(seed + round, [&](Script& script) { write(script, style); });
        style.zeros = false;
        style.lowest_field = style.highest_field = 1 + static_cast<int>((seed + round * 41) % 254);  // one exponent
        run(seed + round, [&](Script& script) { write(script, style); });
        if (this->HasFatalFailure()) return;
      }
    }
    EXPECT_GT(saturated_, 0) << "no script reached a saturation";
  }

  VectorBench<typename Unit::Module, Unit::kLanes> bench_;
  int saturated_ = 0;
};

using Sizes = ::testing::Types<Size<Vvpu_unit_2, 2>, Size<Vvpu_unit_8, 8>, Size<Vvpu_unit_32, 32>>;
struct SizeNames {
  template <typename Unit>
  static std::string GetName(int) {
    return "Lanes" + std::to_string(Unit::kLanes);
  }
};
TYPED_TEST_SUITE(VectorUnit, Sizes, SizeNames);

TYPED_TEST(VectorUnit, ResidualRowsGiveValuesBlocksAndScaleInTheirCycles) {
  this->run_styles([](Script& script, const Style& style) {
    for (const std::size_t rows : {1, 31, 32, 33, 64, 96})  // a block's border, and a last block that isn't full
      script.residual(rows, true, true, style);
    script.residual(64, true, false, style);  // a norm over three instructions
    script.residual(32, false, false, style);
    script.residual(32, false, true, style);
  });
}

TYPED_TEST(VectorUnit, QueryRowsGiveRotatedBlocksInTheirCycles) {
  this->run_styles([](Script& script, const Style& style) {
    script.rotated(Opcode::kQuery, 64, false, false, style);
    script.rotated(Opcode::kQuery, 64, true, false, style);
  });
}

TYPED_TEST(VectorUnit, KeyRowsGiveFittedCodesInTheirCycles) {
  this->run_styles([](Script& script, const Style& style) {
    script.rotated(Opcode::kKey, 128, false, false, style);
    script.rotated(Opcode::kKey, 64, false, true, style);
    script.rotated(Opcode::kKey, 64, true, false, style);
  });
}

TYPED_TEST(VectorUnit, ValueRowsGiveFittedHeadsInTheirCycles) {
  this->run_styles([](Script& script, const Style& style) {
    for (const std::size_t head_size : {32, 64, 96, 256}) {
      script.value(3, head_size, false, style);
      script.value(2, head_size, true, style);
      script.wait(8);  // a model has one head size
    }
  });
}

TYPED_TEST(VectorUnit, MixRowsGiveBlocksInTheirCycles) {
  this->run_styles([](Script& script, const Style& style) {
    script.mix(64, style);
    script.mix(32, style);
  });
}

TYPED_TEST(VectorUnit, SwigluPairsGiveBlocksInTheirCycles) {
  this->run_styles([](Script& script, const Style& style) {
    for (const std::size_t pairs : {1, 31, 32, 33, 64}) script.swiglu(pairs, style);
  });
}

TYPED_TEST(VectorUnit, LogitsGiveTheLowestIdOfTheLargestInItsCycle) {
  this->run_styles([](Script& script, const Style& style) {
    script.logits(100, 0, true, true, false, style);
    script.logits(64, 0, true, true, true, style);    // ties, zeros of both signs
    script.logits(64, 64, true, false, true, style);  // a token over two instructions, the higher ids first
    script.logits(33, 0, false, true, true, style);
  });
}

TYPED_TEST(VectorUnit, SampledLogitsGiveTheLowestIdOfTheLargestKeyInItsCycle) {
  this->run_styles([](Script& script, const Style& style) {
    script.samples = true;
    script.inverse_temperature = style.extreme ? script.random().number(100, 150) : 1.25f;
    script.logits(100, 0, true, true, false, style);
    script.logits(64, 64, true, false, true, style);
    script.logits(33, 0, false, true, true, style);
  });
}

TYPED_TEST(VectorUnit, ResidualAtTheEndsOfFixedPointSaturatesOnlyBeyondThem) {
  // −2^17 is the lowest number with 14 fraction bits in 32; +2^17 is one too many.
  for (const float value : {-131072.0f, 131072.0f, 131071.99f, -131072.02f}) {
    this->run(kFixedSeed, [value](Script& script) {
      Style style;
      style.exact = {value};
      script.residual(32, true, true, style);
    });
  }
}

TYPED_TEST(VectorUnit, ValueScaleRoundedUpToTheLimitSaturatesOnlyBeyondIt) {
  for (const float steps : {0.25f, 0.999f, 1.0f, 1.001f, 65534.5f, 65535.0f, 65535.01f, 65535.5f, 65536.0f, 70000.0f}) {
    for (const int grid : {-20, 0}) {
      this->run(kFixedSeed, [steps, grid](Script& script) {
        Style style;
        style.exact = {std::ldexp(steps * 127.0f, grid), std::ldexp(-steps * 31.0f, grid)};
        style.grid = grid;
        script.value(1, 32, false, style);
      });
    }
  }
}

TYPED_TEST(VectorUnit, InstructionsOfAllKindsWithoutGapsKeepTheirBitsAndCycles) {
  for (const std::uint64_t seed : {kFixedSeed, fresh_seed()}) {
    this->run(seed, [](Script& script) {
      for (int i = 0; i < 150; ++i) {
        Random& random = script.random();
        Style style;
        style.gap = random.one_in(3) ? 2 : 0;
        style.zeros = random.one_in(20);
        const std::size_t blocks = static_cast<std::size_t>(random.between(1, 4));
        switch (random.between(0, 6)) {
          case 0:
            script.residual(32 * blocks - static_cast<std::size_t>(random.between(0, 31)), true, true, style);
            break;
          case 1:
            script.rotated(Opcode::kQuery, 32 * blocks, false, false, style);
            break;
          case 2:
            script.rotated(Opcode::kKey, 32 * blocks, false, random.one_in(2), style);
            break;
          case 3:
            script.value(2, 64, false, style);
            break;
          case 4:
            script.mix(32 * blocks, style);
            break;
          case 5:
            script.swiglu(16 * blocks + 3, style);
            break;
          default:
            script.logits(32 * blocks - 5, 64, true, true, random.one_in(2), style);
            break;
        }
      }
    });
  }
}

TYPED_TEST(VectorUnit, ResetInTheMiddleLeavesNothingBehind) {
  Script script(TypeParam::kLanes, kFixedSeed, 1);
  script.value(1, 256, false, Style());
  Traffic cut = script.traffic;
  for (const auto& [cycle, entry] : script.traffic.entries)
    if (cycle > 5) cut.entries.erase(cycle);  // a head that never ends
  cut.values.clear();
  cut.end = 8;
  this->bench_.run(cut);
  this->bench_.reset();
  this->run(kFixedSeed, [](Script& next) {
    next.value(2, 64, false, Style());
    next.rotated(Opcode::kKey, 64, false, false, Style());
    next.residual(64, true, true, Style());
  });
}

}  // namespace
}  // namespace cosim
}  // namespace lpu
