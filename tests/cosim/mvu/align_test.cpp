// lpu_mvu_align against align of hls/engine: random values and row exponents, every edge of shift, rounding, clamp and
// zero, rows one after another in every cycle, values that stand until the next ones.
#include "hls/engine/align.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "Vmvu_align_32.h"
#include "Vmvu_align_4.h"
#include "tests/cosim/mvu/mvu_values.hpp"
#include "tests/cosim/wires.hpp"

namespace lpu {
namespace cosim {
namespace {

constexpr int kCycles = 17 - 3;       ///< stage 3 to stage 17
constexpr int kCountCycles = 12 - 3;  ///< to the saturations' count

/// Bits of a binary32 value without NaN and infinity; often one whose shift is at an edge for this row exponent.
std::uint32_t random_bits(Generator& random, int row_exponent) {
  std::uint32_t bits = static_cast<std::uint32_t>(random());
  const int kind = pick(random, 0, 3);
  if (kind == 0) {
    static constexpr int kLefts[] = {-27, -26, -25, -24, -23, -1, 0, 1, 19, 20, 61, 62, 63};
    const int field = kLefts[random() % 13] + 122 + row_exponent;
    bits = (bits & 0x807fffffu) | (static_cast<std::uint32_t>(field < 0 ? 0 : field > 254 ? 254 : field) << 23);
    if (random() % 2 != 0) bits &= 0xff800000u;  // halves, and powers of two
  } else if (kind == 1) {
    bits &= 0x807fffffu;  // zeros and subnormals
  }
  return (bits & engine::kInfinityBits) == engine::kInfinityBits ? bits & ~(1u << 23) : bits;
}

struct Expected {
  int cycle;
  int clamped;
  std::vector<engine::Int128> values;  ///< [lanes]
};

template <typename Module>
void run(int lanes, int cycles) {
  for (const std::uint64_t seed : seeds()) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator random(seed);
    Module module;
    module.rst_ni = 0;
    module.valid_i = 0;
    for (int i = 0; i < 20; ++i) tick(module);
    module.rst_ni = 1;
    std::deque<Expected> values, counts;
    std::vector<engine::Int128> standing;
    for (int cycle = 0; cycle < cycles; ++cycle) {
      module.valid_i = random() % 3 != 0;
      Expected next{cycle, 0, {}};
      for (int lane = 0; lane < lanes; ++lane) {
        const int row_exponent = random() % 4 == 0 ? pick(random, -128, 127) : pick(random, -20, 0);
        const std::uint32_t bits = random_bits(random, row_exponent);
        put(module.values_i, lane * 32, 32, bits);
        put(module.row_exponents_i, lane * 8, 8, static_cast<std::uint64_t>(row_exponent));
        engine::Status status;
        next.values.push_back(engine::align(engine::float_from_bits(bits), engine::sum_exponent(row_exponent), status));
        next.clamped += static_cast<int>(status.saturations);
      }
      if (module.valid_i != 0) {
        values.push_back(next);
        counts.push_back(next);
      }
      tick(module);
      int clamped = 0;
      if (!counts.empty() && counts.front().cycle + kCountCycles == cycle + 1) {
        clamped = counts.front().clamped;
        counts.pop_front();
      }
      ASSERT_EQ(static_cast<int>(module.saturations_o), clamped) << "cycle " << cycle;
      if (!values.empty() && values.front().cycle + kCycles == cycle + 1) {
        standing = values.front().values;
        values.pop_front();
      }
      for (std::size_t lane = 0; lane < standing.size(); ++lane) {
        const int at = static_cast<int>(lane) * kLowBits;
        ASSERT_EQ(get(module.low_o, at, kLowBits), low_half(standing[lane])) << "cycle " << cycle << " lane " << lane;
        ASSERT_EQ(get_signed(module.high_o, at, kLowBits), high_half(standing[lane]))
            << "cycle " << cycle << " lane " << lane;
      }
    }
  }
}

TEST(MvuAlign, FourLanesEqualTheEngine) { run<Vmvu_align_4>(4, 5000); }
TEST(MvuAlign, ThirtyTwoLanesEqualTheEngine) { run<Vmvu_align_32>(32, 700); }

}  // namespace
}  // namespace cosim
}  // namespace lpu
