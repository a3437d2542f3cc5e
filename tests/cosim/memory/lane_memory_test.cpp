// The lanes' memory, whole and cut in two (block RAM below, UltraRAM above), against an array: words on port A in the
// third cycle, on the second port in the second; a write seen by reads from the next cycle on; lanes written by a mask;
// the addresses on both sides of the cut.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "Vlanes_cut.h"
#include "Vlanes_whole.h"
#include "hls/contract/hardware_config.hpp"
#include "tests/cosim/random_numbers.hpp"
#include "tests/cosim/wires.hpp"

namespace lpu {
namespace cosim {
namespace {

constexpr int kLanes = 4, kWordBits = contract::kWordBits, kParts = kLanes * kWordBits / 32;
constexpr int kFirstPortCycles = 3, kSecondPortCycles = 2, kCycles = 4000;
using Words = std::array<std::uint32_t, kParts>;  ///< of all lanes at one address

/// low_words: lowest addresses, which the second port may only write. addresses: those that are used.
template <typename Module>
void check_lane_memory(Random random, int low_words, const std::vector<int>& addresses) {
  Module module;
  module.rst_ni = 1;
  std::map<int, Words> memory;
  std::map<int, Words> first_due, second_due;  // by cycle
  int compared = 0;
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    const auto pick = [&] {
      return addresses[static_cast<std::size_t>(random.between(0, static_cast<int>(addresses.size()) - 1))];
    };
    const bool fills = cycle < static_cast<int>(addresses.size());
    const int written = fills ? addresses[static_cast<std::size_t>(cycle)] : pick();
    const bool writes = fills || random.one_in(3);
    const unsigned mask = fills ? 0xfu : static_cast<unsigned>(random.between(1, 15));

    const int read = pick();
    module.read_i = !fills && !(writes && read == written) && random.one_in(2);
    module.read_address_i = static_cast<std::uint32_t>(read);
    if (module.read_i) first_due[cycle + kFirstPortCycles] = memory.at(read);  // writes so far were shown before

    const int second = writes ? written : pick();
    module.second_read_i = !writes && second >= low_words && random.one_in(2);
    module.second_address_i = static_cast<std::uint32_t>(second);
    if (module.second_read_i) second_due[cycle + kSecondPortCycles] = memory.at(second);
    module.second_write_i = static_cast<unsigned char>(writes ? mask : 0u);
    for (int part = 0; part < kParts; ++part) put(module.second_words_i, 32 * part, 32, random.bits(32));
    if (writes) {
      Words& words = memory[written];
      for (int lane = 0; lane < kLanes; ++lane)
        for (int bit = 0; (mask >> lane & 1) != 0 && bit < kWordBits; ++bit) {
          const int at = lane * kWordBits + bit;
          std::uint32_t& part = words[static_cast<std::size_t>(at / 32)];
          part = (part & ~(1u << (at % 32))) | static_cast<std::uint32_t>(get(module.second_words_i, at, 1))
                                                   << (at % 32);
        }
    }
    module.eval();
    const auto check = [&](const std::map<int, Words>& due, const auto& port, const char* what) {
      const auto found = due.find(cycle);
      if (found == due.end()) return;
      ++compared;
      for (int part = 0; part < kParts; ++part)
        ASSERT_EQ(get(port, 32 * part, 32), found->second[static_cast<std::size_t>(part)])
            << what << ", cycle " << cycle << ", bits from " << 32 * part;
    };
    check(first_due, module.read_words_o, "port A");
    check(second_due, module.second_words_o, "second port");
    if (::testing::Test::HasFailure()) return;
    tick(module);
  }
  EXPECT_GT(compared, kCycles / 4);
}

template <typename Module>
void with_seeds(int low_words, const std::vector<int>& addresses) {
  for (const std::uint64_t seed : {kFixedSeed, fresh_seed()}) {
    SCOPED_TRACE("OPENLPU_SEED=" + std::to_string(seed));
    check_lane_memory<Module>(Random(seed), low_words, addresses);
  }
}

TEST(LaneMemory, WholeGivesEveryWordInItsCycle) {
  std::vector<int> addresses;
  for (int i = 0; i < 64; ++i) addresses.push_back(i);
  with_seeds<Vlanes_whole>(0, addresses);
}

TEST(LaneMemory, CutInTwoIsOneMemory) {
  constexpr int kWords = contract::kUltraRamWords + 10;
  std::vector<int> addresses;
  for (int i = 0; i < 20; ++i) addresses.push_back(i);  // both sides of the cut at 10
  for (const int far : {511, 512, 4095, 4096, kWords - 2, kWords - 1}) addresses.push_back(far);
  with_seeds<Vlanes_cut>(10, addresses);
}

TEST(LaneMemory, ContractAgreesWhereTheCutIs) {
  for (const contract::HardwareConfig& config : contract::kHardwareConfigs) {
    const int low = contract::weight_only_words(config);
    EXPECT_EQ((config.lane_words - low) % contract::kUltraRamWords == 0, config.lane_words >= contract::kUltraRamWords)
        << config.name;
    EXPECT_LT(low, contract::kUltraRamWords) << config.name;
  }
}

}  // namespace
}  // namespace cosim
}  // namespace lpu
