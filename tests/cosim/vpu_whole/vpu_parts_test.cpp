// Parts of the vector processor behind its arithmetic, one by one: the noise made ahead against hls/engine/gumbel.hpp,
// the choice of the next token, and the blocks' way to the banks.
#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "Vvpu_choice.h"
#include "Vvpu_noise_queue_2.h"
#include "Vvpu_noise_queue_8.h"
#include "Vvpu_writes.h"
#include "hls/contract/latencies.hpp"
#include "hls/engine/gumbel.hpp"
#include "hls/engine/random.hpp"
#include "tests/cosim/random_numbers.hpp"
#include "tests/cosim/wires.hpp"

namespace lpu {
namespace cosim {
namespace {

/// From a token's first cycle to the first slice's noise: registers around lpu_gumbel's 47.
constexpr int kFirstNoiseCycles = 50;
constexpr int kQueueSlices = 64;

template <typename Module>
class NoiseBench {
 public:
  explicit NoiseBench(int lanes) : lanes_(lanes) {
    module_.rst_ni = 0;
    tick(module_);
    module_.rst_ni = 1;
  }
  void start(std::uint64_t seed, std::uint32_t position, std::uint32_t first_row, bool samples) {
    module_.token_start_i = 1;
    module_.seed_i = seed;
    module_.position_i = static_cast<std::uint16_t>(position);
    module_.first_row_i = first_row;
    module_.samples_i = samples;
    row_ = first_row;
    cycle();
    module_.token_start_i = 0;
  }
  /// One cycle without a take.
  void cycle() {
    module_.take_i = 0;
    tick(module_);
    EXPECT_EQ(module_.wrong_o, 0);
  }
  void wait(int cycles) {
    for (int i = 0; i < cycles; ++i) cycle();
  }
  /// Takes the next slice and compares it.
  void take() {
    module_.take_i = 1;
    module_.take_row_i = row_;
    tick(module_);
    ASSERT_EQ(module_.wrong_o, 0) << "row " << row_;
    for (int lane = 0; lane < lanes_; ++lane) {
      const std::uint32_t id = row_ + static_cast<std::uint32_t>(lane);
      ASSERT_EQ(get_signed(module_.noise_o, 32 * lane, 32),
                engine::gumbel(engine::random_number(module_.seed_i, module_.position_i, id)))
          << "id " << id;
    }
    row_ += static_cast<std::uint32_t>(lanes_);
  }
  /// Takes where it must be reported.
  void take_wrong(std::uint32_t row) {
    module_.take_i = 1;
    module_.take_row_i = row;
    tick(module_);
    EXPECT_EQ(module_.wrong_o, 1);
  }
  std::uint32_t row() const { return row_; }

 private:
  Module module_;
  int lanes_;
  std::uint32_t row_ = 0;
};

template <typename Module>
void check_queue(int lanes, std::uint64_t seed) {
  SCOPED_TRACE("OPENLPU_SEED=" + std::to_string(seed));
  Random random(seed);
  NoiseBench<Module> bench(lanes);
  for (int token = 0; token < 8 && !::testing::Test::HasFatalFailure(); ++token) {
    const std::uint32_t row = static_cast<std::uint32_t>(random.between(0, 999) * lanes);
    bench.start(random.bits(64), static_cast<std::uint32_t>(random.bits(16)), token == 0 ? 0 : row, true);
    // The first slice as early as it can be; a full queue; a token cut short while noise is on its way.
    bench.wait(token % 3 == 0 ? kFirstNoiseCycles - 2 : token % 3 == 1 ? 300 : kFirstNoiseCycles);
    const int slices = random.between(0, 3) * 100 + 7, gap = token % 2 == 0 ? 0 : 3;
    for (int i = 0; i < slices && !::testing::Test::HasFatalFailure(); ++i) {
      bench.take();  // slices without a gap: lpu_gumbel keeps up
      bench.wait(gap == 0 ? 0 : random.between(0, gap));
    }
  }
}

TEST(NoiseQueue, SlicesOfManyTokensGiveTheEnginesNoise) {
  for (const std::uint64_t seed : {kFixedSeed, fresh_seed()}) {
    check_queue<Vvpu_noise_queue_2>(2, seed);
    check_queue<Vvpu_noise_queue_8>(8, seed);
  }
}

TEST(NoiseQueue, SliceThatIsNotThereOrOutOfOrderIsReported) {
  NoiseBench<Vvpu_noise_queue_2> bench(2);
  bench.start(5, 6, 0, true);
  bench.take_wrong(0);  // too early
  bench.start(5, 6, 0, false);
  bench.wait(200);
  bench.take_wrong(0);  // a token that isn't sampled has no noise
  bench.start(5, 6, 8, true);
  bench.wait(kFirstNoiseCycles);
  bench.take();
  bench.take_wrong(8);
}

TEST(NoiseQueue, MoreSlicesThanItHoldsAreMadeAsPlacesBecomeFree) {
  NoiseBench<Vvpu_noise_queue_8> bench(8);
  bench.start(77, 3, 16, true);
  bench.wait(1000);
  for (int i = 0; i < 3 * kQueueSlices; ++i) bench.take();
}

/// A choice of one kind, or of both: the one that counts is in the register 21 cycles after the entry.
void choose(Vvpu_choice& module, bool samples, std::uint32_t best, std::uint32_t sampled, bool valid_before) {
  module.samples_i = samples;
  for (int cycle = 0; cycle <= 24; ++cycle) {
    module.best_valid_i = cycle == 16;
    module.best_id_i = cycle == 16 ? best : 0xfffff;
    module.sample_valid_i = samples && cycle == 20;
    module.sample_id_i = cycle == 20 ? sampled : 0xffffe;
    module.eval();
    ASSERT_EQ(module.next_write_o, cycle == 21) << "cycle " << cycle;
    ASSERT_EQ(module.next_valid_o, valid_before || cycle >= 21) << "cycle " << cycle;
    if (cycle >= 21) {
      ASSERT_EQ(module.next_token_o, samples ? sampled : best);
    }
    ASSERT_EQ(module.landed_o, cycle == contract::kLogitCycles - 1) << "cycle " << cycle;
    tick(module);
  }
}

TEST(Choice, GreedyAndSampledIdsAreThereInTheSameCycle) {
  Vvpu_choice module;
  module.token_start_i = 0;
  module.rst_ni = 0;
  for (int i = 0; i < 5; ++i) tick(module);
  module.rst_ni = 1;
  choose(module, false, 0x12345, 0x777, false);
  choose(module, true, 0x54321, 0xabcde, true);  // a second kLogits of the token
  module.token_start_i = 1;
  tick(module);
  module.token_start_i = 0;
  choose(module, true, 1, 0, false);
}

TEST(BlockWrites, ChainsOnDifferentBanksAreWrittenTogether) {
  constexpr int kGroups = 6, kChains = 4, kBlocks = 64;
  Random random(kFixedSeed);
  Vvpu_writes module;
  int meetings = 0, outsides = 0;
  for (int i = 0; i < 5000; ++i) {
    const unsigned valid = static_cast<unsigned>(random.bits(kChains));
    std::vector<int> banks, addresses;
    std::vector<std::vector<std::uint64_t>> blocks;
    module.valid_i = static_cast<unsigned char>(valid);
    for (int chain = 0; chain < kChains; ++chain) {
      banks.push_back(random.between(0, random.one_in(20) ? 7 : kGroups - 1));
      addresses.push_back(random.one_in(20) ? random.between(kBlocks, 65535) : random.between(0, kBlocks - 1));
      put(module.bank_i, 3 * chain, 3, static_cast<std::uint64_t>(banks.back()));
      put(module.address_i, 16 * chain, 16, static_cast<std::uint64_t>(addresses.back()));
      blocks.emplace_back();
      for (int part = 0; part < 10; ++part) {
        blocks.back().push_back(random.bits(32));
        put(module.mantissas_i, 320 * chain + 32 * part, 32, blocks.back().back());
      }
      blocks.back().push_back(random.bits(5));
      put(module.offset_i, 5 * chain, 5, blocks.back().back());
    }
    module.eval();
    unsigned used = 0;
    bool meets = false, outside = false;
    for (int chain = 0; chain < kChains; ++chain) {
      if ((valid >> chain & 1) == 0) continue;
      const unsigned bank = 1u << banks[static_cast<std::size_t>(chain)];
      outside = outside || bank >= 1u << kGroups || addresses[static_cast<std::size_t>(chain)] >= kBlocks;
      meets = meets || (bank < 1u << kGroups && (used & bank) != 0);
      used |= bank & ((1u << kGroups) - 1);
    }
    meetings += meets ? 1 : 0;
    outsides += outside ? 1 : 0;
    ASSERT_EQ(module.meets_o, meets);
    ASSERT_EQ(module.outside_o, outside);
    ASSERT_EQ(module.write_o, used);
    for (int chain = 0; chain < kChains && !meets; ++chain) {
      const std::size_t at = static_cast<std::size_t>(chain);
      if ((valid >> chain & 1) == 0 || banks[at] >= kGroups) continue;
      ASSERT_EQ(get(module.address_o, 16 * banks[at], 16), static_cast<std::uint64_t>(addresses[at]));
      for (int part = 0; part < 10; ++part)
        ASSERT_EQ(get(module.block_o, 337 * banks[at] + 32 * part, 32), blocks[at][static_cast<std::size_t>(part)]);
      ASSERT_EQ(get(module.block_o, 337 * banks[at] + 320, 17), blocks[at][10]);
    }
  }
  EXPECT_GT(meetings, 100);
  EXPECT_GT(outsides, 100);
}

}  // namespace
}  // namespace cosim
}  // namespace lpu
