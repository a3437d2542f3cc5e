// Parts of the vector processor behind its arithmetic, one by one: the noise made ahead against hls/engine/gumbel.hpp,
// the choice of the next token, and the blocks' way to the banks.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "Vvpu_choice.h"
#include "Vvpu_noise_queue_2.h"
#include "Vvpu_noise_queue_32.h"
#include "Vvpu_noise_queue_8.h"
#include "Vvpu_writes.h"
#include "hls/contract/latencies.hpp"
#include "hls/contract/noise_clock.hpp"
#include "hls/engine/gumbel.hpp"
#include "hls/engine/random.hpp"
#include "tests/cosim/random_numbers.hpp"
#include "tests/cosim/wires.hpp"

namespace lpu {
namespace cosim {
namespace {

/// Drives the queue and counts, by the contract's clock, in which cycle the next slice may be taken.
template <typename Module>
class NoiseBench {
 public:
  explicit NoiseBench(int lanes) : lanes_(lanes), clock_(config_of(lanes)) {
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
    cycle_ = 0;
    clock_.start_token();
    cycle();
    module_.token_start_i = 0;
  }
  /// One cycle without a take.
  void cycle() {
    module_.take_i = 0;
    step();
    EXPECT_EQ(module_.wrong_o, 0);
  }
  void wait(int cycles) {
    for (int i = 0; i < cycles; ++i) cycle();
  }
  /// Cycles until the next slice is there.
  int missing() const {
    const auto there = static_cast<std::int64_t>(clock_.available() + contract::kNoiseTakeCycles);
    return static_cast<int>(std::max<std::int64_t>(0, there - cycle_));
  }
  /// Takes the next slice, no earlier than it is there, and compares it.
  void take() {
    wait(missing());
    clock_.enter(static_cast<std::uint64_t>(cycle_ - contract::kNoiseTakeCycles));
    module_.take_i = 1;
    module_.take_row_i = row_;
    step();
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
    step();
    EXPECT_EQ(module_.wrong_o, 1);
  }
  std::uint32_t row() const { return row_; }
  std::int64_t now() const { return cycle_; }

 private:
  static contract::HardwareConfig config_of(int lanes) {
    contract::HardwareConfig config = contract::kHardwareConfigs[0];
    config.lanes = config.vector_lanes = lanes;
    return config;
  }
  void step() {
    tick(module_);
    ++cycle_;
  }

  Module module_;
  int lanes_;
  contract::NoiseClock clock_;
  std::uint32_t row_ = 0;
  std::int64_t cycle_ = 0;  ///< of the token
};

template <typename Module>
void check_queue(int lanes, std::uint64_t seed) {
  SCOPED_TRACE("OPENLPU_SEED=" + std::to_string(seed));
  Random random(seed);
  NoiseBench<Module> bench(lanes);
  for (int token = 0; token < 6 && !::testing::Test::HasFatalFailure(); ++token) {
    const std::uint32_t row = static_cast<std::uint32_t>(random.between(0, 999) * lanes);
    bench.start(random.bits(64), static_cast<std::uint32_t>(random.bits(16)), token == 0 ? 0 : row, true);
    // The first slice as early as it can be; a full queue; a token cut short while noise is on its way.
    bench.wait(token % 3 == 0 ? 0 : token % 3 == 1 ? 2300 : 60);
    const int slices = random.between(0, 3) * 300 + 7, gap = token % 2 == 0 ? 0 : 3;
    for (int i = 0; i < slices && !::testing::Test::HasFatalFailure(); ++i) {
      bench.take();
      bench.wait(gap == 0 ? 0 : random.between(0, gap));
    }
  }
}

TEST(NoiseQueue, SlicesOfManyTokensGiveTheEnginesNoise) {
  for (const std::uint64_t seed : {kFixedSeed, fresh_seed()}) {
    check_queue<Vvpu_noise_queue_2>(2, seed);
    check_queue<Vvpu_noise_queue_8>(8, seed);
    check_queue<Vvpu_noise_queue_32>(32, seed);
  }
}

/// After so many takes as early as they can be, from a queue filled for `wait` cycles: the next one is tight.
template <typename Module>
void expect_tight(int lanes, int wait, int slices) {
  SCOPED_TRACE(std::to_string(lanes) + " lanes, after " + std::to_string(wait) + " cycles and " +
               std::to_string(slices) + " slices");
  for (const int early : {0, 1}) {
    NoiseBench<Module> bench(lanes);
    bench.start(5, 6, 0, true);
    bench.wait(wait);
    for (int i = 0; i < slices; ++i) bench.take();
    ASSERT_GE(bench.missing(), early) << "the slice doesn't have to wait";
    bench.wait(bench.missing() - early);
    early == 0 ? bench.take() : bench.take_wrong(bench.row());
  }
}

TEST(NoiseQueue, SliceOneCycleBeforeTheContractSaysIsReported) {
  for (const int slices : {0, 1, 2, 17}) {
    if (slices == 0) expect_tight<Vvpu_noise_queue_2>(2, 0, slices);
    if (slices == 0) expect_tight<Vvpu_noise_queue_8>(8, 0, slices);
    expect_tight<Vvpu_noise_queue_32>(32, 0, slices);
  }
  // A full queue: slices go out one a cycle, places come back, and after some 670 the generator is caught up with.
  constexpr int kFull = 60 + 4 * contract::kNoiseQueueSlices;
  for (const int slices : {680, 700}) expect_tight<Vvpu_noise_queue_32>(32, kFull, slices);
}

TEST(NoiseQueue, FirstSliceIsThereWhenTheLatencyTableSays) {
  for (const auto& [parts, missing] : {std::pair<int, int>{1, 49 - 1}, {4, 52 - 1}}) {  // start() is a cycle
    if (parts == 1) {
      NoiseBench<Vvpu_noise_queue_8> bench(8);
      bench.start(5, 6, 0, true);
      EXPECT_EQ(bench.missing(), missing);
    } else {
      NoiseBench<Vvpu_noise_queue_32> bench(32);
      bench.start(5, 6, 0, true);
      EXPECT_EQ(bench.missing(), missing);
    }
  }
}

TEST(NoiseQueue, SliceOutOfOrderOrOfATokenWithoutNoiseIsReported) {
  NoiseBench<Vvpu_noise_queue_2> bench(2);
  bench.start(5, 6, 0, false);
  bench.wait(200);
  bench.take_wrong(0);
  bench.start(5, 6, 8, true);
  bench.take();
  bench.take_wrong(8);
}

TEST(NoiseQueue, MoreSlicesThanItHoldsAreMadeAsPlacesBecomeFree) {
  NoiseBench<Vvpu_noise_queue_8> bench(8);
  bench.start(77, 3, 16, true);
  bench.wait(1000);
  const std::int64_t from = bench.now();
  for (int i = 0; i < 3 * contract::kNoiseQueueSlices; ++i) bench.take();
  EXPECT_EQ(bench.now(), from + 3 * contract::kNoiseQueueSlices);  // without a gap: as many lanes as a slice has
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
