// The sampling noise of lpu_gumbel against hls/engine/gumbel.hpp and random.hpp: every lane, each in its cycle.
#include "hls/engine/gumbel.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "Vvpu_gumbel_2.h"
#include "Vvpu_gumbel_8.h"
#include "Vvpu_noise.h"
#include "hls/engine/random.hpp"
#include "tests/cosim/random_numbers.hpp"
#include "tests/cosim/wires.hpp"

namespace lpu {
namespace cosim {
namespace {

constexpr std::size_t kNoiseCycles = 47;

/// The seed and the position stay for many ids; a new slice of ids in every cycle.
template <typename Module>
void check_noise(int lanes, std::uint64_t seed) {
  SCOPED_TRACE("OPENLPU_SEED=" + std::to_string(seed));
  Random random(seed);
  Module module;
  for (int token = 0; token < 8; ++token) {
    module.seed_i = token == 0 ? 0 : random.bits(64);
    module.position_i = static_cast<std::uint32_t>(token == 1 ? 0xffffffffu : random.bits(token * 4));
    std::deque<std::uint32_t> rows;
    for (int cycle = 0; cycle < 600; ++cycle) {
      if (rows.size() == kNoiseCycles) {
        for (int lane = 0; lane < lanes; ++lane) {
          const std::uint32_t id = rows.front() + static_cast<std::uint32_t>(lane);
          const std::int32_t want = engine::gumbel(engine::random_number(module.seed_i, module.position_i, id));
          ASSERT_EQ(get_signed(module.noise_o, 32 * lane, 32), want) << "id " << id << ", cycle " << cycle;
        }
        rows.pop_front();
      }
      // Mostly in order, as the head does; sometimes any multiple of the lanes up to the largest id.
      const std::uint32_t row =
          random.one_in(8) ? static_cast<std::uint32_t>(random.bits(20)) : static_cast<std::uint32_t>(cycle * lanes);
      rows.push_back(row / static_cast<std::uint32_t>(lanes) * static_cast<std::uint32_t>(lanes));
      module.row_i = rows.back();
      tick(module);
    }
  }
}

TEST(Noise, CornersAndRandomNumbersGiveTheEnginesNoiseInItsCycle) {
  constexpr std::size_t kLanes = 4, kLatency = 16;
  // u next to one: the logarithm's lowest unit; u next to zero; every power of two and its neighbours.
  std::vector<std::uint32_t> numbers = {0xffffffffu, 0xfffffffeu, 0xfffffffdu, 0, 1, 2, 3};
  for (int bit = 2; bit < 32; ++bit)
    for (const std::uint32_t off : {~0u, 0u, 1u}) numbers.push_back((1u << bit) + off);
  for (const std::uint64_t seed : {kFixedSeed, fresh_seed()}) {
    SCOPED_TRACE("OPENLPU_SEED=" + std::to_string(seed));
    Random random(seed);
    for (int i = 0; i < 20000; ++i) {
      const std::uint32_t number = static_cast<std::uint32_t>(random.bits(32));
      // Near one, where the second logarithm has few bits.
      numbers.push_back(random.one_in(2) ? number : ~(number >> random.between(8, 31)));
    }
    while (numbers.size() % kLanes != 0) numbers.push_back(0);
    Vvpu_noise module;
    for (std::size_t cycle = 0; cycle < numbers.size() / kLanes + kLatency; ++cycle) {
      for (std::size_t lane = 0; lane < kLanes && cycle >= kLatency; ++lane) {
        const std::uint32_t number = numbers[(cycle - kLatency) * kLanes + lane];
        ASSERT_EQ(get_signed(module.noise_o, static_cast<int>(32 * lane), 32), engine::gumbel(number))
            << std::hex << number;
      }
      for (std::size_t lane = 0; lane < kLanes && (cycle + 1) * kLanes <= numbers.size(); ++lane)
        put(module.random_i, static_cast<int>(32 * lane), 32, numbers[cycle * kLanes + lane]);
      tick(module);
    }
  }
}

TEST(Gumbel, IdsOfEverySliceGiveTheEnginesNoiseInItsCycle) {
  for (const std::uint64_t seed : {kFixedSeed, fresh_seed()}) {
    check_noise<Vvpu_gumbel_2>(2, seed);
    check_noise<Vvpu_gumbel_8>(8, seed);
  }
}

}  // namespace
}  // namespace cosim
}  // namespace lpu
