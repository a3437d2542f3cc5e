// The memories of constants against arrays: every read port in every cycle, words in exactly the third cycle after the
// request, what was written a cycle before seen, and the residual's zeros beyond the width.
#include <gtest/gtest.h>

#include <deque>
#include <utility>
#include <vector>

#include "Vmemory_constant_4.h"
#include "Vmemory_constant_64.h"
#include "Vmemory_exponent_4.h"
#include "Vmemory_exponent_64.h"
#include "Vmemory_residual_4.h"
#include "Vmemory_residual_64.h"
#include "Vmemory_residual_8.h"
#include "Vmemory_rope_4.h"
#include "Vmemory_rope_64.h"
#include "tests/cosim/random_numbers.hpp"
#include "tests/cosim/wires.hpp"

namespace lpu {
namespace cosim {
namespace {

constexpr int kReadCycles = 3;
constexpr int kCycles = 3000;

template <typename Work>
void with_seeds(Work work) {
  for (const std::uint64_t seed : {kFixedSeed, fresh_seed()}) {
    SCOPED_TRACE("OPENLPU_SEED=" + std::to_string(seed));
    work(Random(seed));
    if (::testing::Test::HasFailure()) return;
  }
}

/// A request that waits for its cycle.
struct Expected {
  int cycle, port;
  std::vector<std::uint32_t> parts;
};

/// Reads in every port and cycle, and now and then, with no read in its cycle, the load of one word.
/// ports, step: of addresses; addresses: how many; parts: of a word; part_bits: their width.
/// drive_read(port, read, address), drive_write(write, address, parts) and part(port, index) know the module's ports.
struct LoadedMemory {
  int ports, step, addresses, parts, part_bits;
};
template <typename Module, typename Read, typename Write, typename Part>
void check_loaded_memory(Random random, const LoadedMemory& shape, Read drive_read, Write drive_write, Part part) {
  Module module;
  module.rst_ni = 1;
  std::vector<std::vector<std::uint32_t>> words(static_cast<std::size_t>(shape.addresses));
  std::deque<Expected> expected;
  int compared = 0;
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    const bool loads = cycle < shape.addresses || random.one_in(8);
    const int at = cycle < shape.addresses ? cycle : random.between(0, shape.addresses - 1);
    std::vector<std::uint32_t> fresh;
    for (int i = 0; i < shape.parts; ++i) fresh.push_back(static_cast<std::uint32_t>(random.bits(shape.part_bits)));
    drive_write(module, loads, at * shape.step, fresh);
    for (int port = 0; port < shape.ports; ++port) {
      // Often the word of the load before.
      const int address = random.between(0, shape.addresses - 1);
      const bool reads = !loads && !words[static_cast<std::size_t>(address)].empty() && !random.one_in(4);
      drive_read(module, port, reads, address * shape.step);
      if (reads) expected.push_back({cycle + kReadCycles, port, words[static_cast<std::size_t>(address)]});
    }
    if (loads) words[static_cast<std::size_t>(at)] = fresh;
    tick(module);
    for (; !expected.empty() && expected.front().cycle == cycle + 1; expected.pop_front(), ++compared)
      for (int i = 0; i < shape.parts; ++i)
        ASSERT_EQ(part(module, expected.front().port, i), expected.front().parts[static_cast<std::size_t>(i)])
            << "cycle " << cycle + 1 << ", port " << expected.front().port << ", part " << i;
  }
  EXPECT_GT(compared, kCycles / 2);
}

template <typename Module>
void check_exponents(int lanes, Random random) {
  check_loaded_memory<Module>(
      std::move(random), {4, 1, 24, lanes, 8},
      [](Module& module, int port, bool reads, int address) {
        put(module.read_i, port, 1, reads);
        put(module.read_address_i, port * 24, 24, static_cast<std::uint64_t>(address));
      },
      [](Module& module, bool loads, int address, const std::vector<std::uint32_t>& parts) {
        module.write_i = loads;
        module.write_address_i = static_cast<std::uint32_t>(address);
        for (std::size_t i = 0; i < parts.size(); ++i) put(module.write_word_i, static_cast<int>(i) * 8, 8, parts[i]);
      },
      [lanes](const Module& module, int port, int i) { return get(module.read_word_o, (port * lanes + i) * 8, 8); });
}
TEST(ExponentMemory, AllFourPortsReadInEveryCycleAtTiny) {
  with_seeds([](Random random) { check_exponents<Vmemory_exponent_4>(4, std::move(random)); });
}
TEST(ExponentMemory, AllFourPortsReadInEveryCycleAt64Lanes) {
  with_seeds([](Random random) { check_exponents<Vmemory_exponent_64>(64, std::move(random)); });
}

template <typename Module>
void check_constants(int vector_lanes, Random random) {
  check_loaded_memory<Module>(
      std::move(random), {2, vector_lanes, 192 / vector_lanes, vector_lanes, 32},
      [](Module& module, int port, bool reads, int address) {
        put(module.read_i, port, 1, reads);
        put(module.read_address_i, port * 27, 27, static_cast<std::uint64_t>(address));
      },
      [](Module& module, bool loads, int address, const std::vector<std::uint32_t>& parts) {
        module.write_i = loads;
        module.write_address_i = static_cast<std::uint32_t>(address);
        for (std::size_t i = 0; i < parts.size(); ++i)
          put(module.write_values_i, static_cast<int>(i) * 32, 32, parts[i]);
      },
      [vector_lanes](const Module& module, int port, int i) {
        return get(module.read_values_o, (port * vector_lanes + i) * 32, 32);
      });
}
TEST(ConstantMemory, GainsAndBiasesReadInEveryCycleAtTiny) {
  with_seeds([](Random random) { check_constants<Vmemory_constant_4>(2, std::move(random)); });
}
TEST(ConstantMemory, GainsAndBiasesReadInEveryCycleAt32Lanes) {
  with_seeds([](Random random) { check_constants<Vmemory_constant_64>(32, std::move(random)); });
}

template <typename Module>
void check_rope(int vector_lanes, Random random) {
  const int pairs = vector_lanes / 2;
  check_loaded_memory<Module>(
      std::move(random), {1, pairs, 96 / pairs, vector_lanes, 32},
      [](Module& module, int, bool reads, int address) {
        module.read_i = reads;
        module.read_pair_i = static_cast<std::uint32_t>(address);
      },
      [](Module& module, bool loads, int address, const std::vector<std::uint32_t>& parts) {
        module.write_i = loads;
        module.write_pair_i = static_cast<std::uint32_t>(address);
        for (std::size_t i = 0; i < parts.size(); ++i)
          put(module.write_pairs_i, static_cast<int>(i) * 32, 32, parts[i]);
      },
      [](const Module& module, int, int i) {
        return i % 2 == 0 ? get(module.cosine_o, i / 2 * 32, 32) : get(module.sine_o, i / 2 * 32, 32);
      });
}
TEST(RopeMemory, CosinesAndSinesReadInEveryCycleAtTiny) {
  with_seeds([](Random random) { check_rope<Vmemory_rope_4>(2, std::move(random)); });
}
TEST(RopeMemory, CosinesAndSinesReadInEveryCycleAt32Lanes) {
  with_seeds([](Random random) { check_rope<Vmemory_rope_64>(32, std::move(random)); });
}

/// Slices written and lanes read in every cycle, often at one place: a read sees what was shown in the cycle before it.
template <typename Module>
void check_residual(int lanes, int vector_lanes, Random random) {
  constexpr int kValues = 192;
  Module module;
  module.rst_ni = 1;
  std::vector<std::uint32_t> values(kValues, 0);
  std::deque<Expected> expected;
  int compared = 0;
  const int slices = kValues / vector_lanes;
  module.width_i = kValues;
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    const bool fills = cycle < slices;
    if (!fills && cycle % 256 == 0) {
      // A model of another width: no read is on its way.
      module.read_i = 0;
      module.write_lanes_i = 0;
      for (int i = 0; i < kReadCycles; ++i) tick(module);
      expected.clear();
      module.width_i = static_cast<std::uint32_t>(cycle % 512 == 0 ? kValues : 32 * random.between(1, kValues / 32));
    }
    const int row = fills ? cycle * vector_lanes : random.between(0, slices - 1) * vector_lanes;
    const bool writes = fills || !random.one_in(3);
    const std::uint64_t mask = !writes ? 0 : fills || random.one_in(2) ? ~std::uint64_t{0} : random.bits(vector_lanes);
    put(module.write_lanes_i, 0, vector_lanes, mask);
    module.write_row_i = static_cast<std::uint32_t>(row);
    int read_row = random.between(0, slices - 1) * vector_lanes;
    if (random.one_in(3)) read_row = std::max(0, row - random.between(0, lanes / vector_lanes - 1) * vector_lanes);
    module.read_i = !fills && !random.one_in(8);
    module.read_row_i = static_cast<std::uint32_t>(read_row);
    if (module.read_i) {
      Expected made{cycle + kReadCycles, 0, {}};
      for (int i = read_row; i < read_row + lanes; ++i)
        made.parts.push_back(i < static_cast<int>(module.width_i) ? values[static_cast<std::size_t>(i)] : 0);
      expected.push_back(made);
    }
    for (int i = 0; i < vector_lanes; ++i) {
      const std::uint32_t value = static_cast<std::uint32_t>(random.bits(32));
      put(module.write_values_i, i * 32, 32, value);
      if ((mask >> i & 1) != 0) values[static_cast<std::size_t>(row + i)] = value;
    }
    tick(module);
    for (; !expected.empty() && expected.front().cycle == cycle + 1; expected.pop_front(), ++compared)
      for (int lane = 0; lane < lanes; ++lane)
        ASSERT_EQ(get(module.read_values_o, lane * 32, 32), expected.front().parts[static_cast<std::size_t>(lane)])
            << "cycle " << cycle + 1 << ", lane " << lane;
  }
  EXPECT_GT(compared, kCycles / 2);
}
TEST(ResidualMemory, SlicesAndLanesMeetInAnyCycleAtTiny) {
  with_seeds([](Random random) { check_residual<Vmemory_residual_4>(4, 2, std::move(random)); });
}
TEST(ResidualMemory, SlicesAndLanesMeetInAnyCycleInFourBanks) {
  with_seeds([](Random random) { check_residual<Vmemory_residual_8>(8, 2, std::move(random)); });
}
TEST(ResidualMemory, SlicesAndLanesMeetInAnyCycleAt64Lanes) {
  with_seeds([](Random random) { check_residual<Vmemory_residual_64>(64, 32, std::move(random)); });
}

}  // namespace
}  // namespace cosim
}  // namespace lpu
