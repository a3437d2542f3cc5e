// The round registers against arrays: what is read in each cycle, and 1/z from its port in the cycle it comes.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "Vsmx_rounds_1.h"
#include "Vsmx_rounds_2.h"
#include "Vsmx_rounds_6.h"
#include "hls/contract/instructions.hpp"
#include "tests/cosim/random_numbers.hpp"
#include "tests/cosim/wires.hpp"

namespace lpu {
namespace cosim {
namespace {

constexpr std::size_t kRounds = contract::kMaxRounds;

template <typename ModuleOf, int Groups>
struct Size {
  using Module = ModuleOf;
  static constexpr int kGroups = Groups;
};

template <typename SizeOf>
class RoundRegisters : public ::testing::Test {
 protected:
  static constexpr int kGroups = SizeOf::kGroups;
  static constexpr std::size_t kPlaces = kGroups;

  void write_round(std::size_t round) {
    module_.round_write_i = 1;
    module_.round_i = static_cast<std::uint8_t>(round);
    for (std::size_t s = 0; s < kPlaces; ++s) {
      next_exponents_[s] = static_cast<std::uint32_t>(random_.bits(17));
      next_differences_[s] = static_cast<std::uint32_t>(random_.bits(6));
      put(module_.exponents_i, 17 * static_cast<int>(s), 17, next_exponents_[s]);
      put(module_.differences_i, 6 * static_cast<int>(s), 6, next_differences_[s]);
    }
  }
  /// Can be read at once.
  void write_inverse(std::size_t round) {
    module_.inverse_write_i = 1;
    module_.inverse_round_i = static_cast<std::uint8_t>(round);
    for (std::size_t s = 0; s < kPlaces; ++s) {
      inverses_[round][s] = static_cast<std::uint32_t>(random_.bits(32));
      put(module_.inverses_i, 32 * static_cast<int>(s), 32, inverses_[round][s]);
    }
  }
  void quiet() {
    module_.round_write_i = 0;
    module_.inverse_write_i = 0;
    for (int s = 0; s < kGroups; ++s) {
      put(module_.exponents_i, 17 * s, 17, random_.bits(17));
      put(module_.differences_i, 6 * s, 6, random_.bits(6));
      put(module_.inverses_i, 32 * s, 32, random_.bits(32));
    }
  }
  void read(std::size_t mvu_round, std::size_t vpu_round, std::size_t segment) {
    module_.mvu_round_i = static_cast<std::uint8_t>(mvu_round);
    module_.vpu_round_i = static_cast<std::uint8_t>(vpu_round);
    module_.vpu_segment_i = static_cast<std::uint8_t>(segment);
    module_.eval();
    for (std::size_t s = 0; s < kPlaces; ++s)
      ASSERT_EQ(get(module_.mvu_exponents_o, 17 * static_cast<int>(s), 17), exponents_[mvu_round][s]);
    ASSERT_EQ(module_.vpu_difference_o, differences_[vpu_round][segment]);
    ASSERT_EQ(module_.vpu_inverse_o, inverses_[vpu_round][segment]);
  }
  void clock() {
    tick(module_);
    if (module_.round_write_i == 0) return;
    exponents_[module_.round_i] = next_exponents_;
    differences_[module_.round_i] = next_differences_;
  }
  void fill() {
    for (std::size_t round = 0; round < kRounds; ++round) {
      quiet();
      write_round(round);
      write_inverse(round);
      clock();
    }
  }

  using Row = std::array<std::uint32_t, kPlaces>;  ///< [segments]
  typename SizeOf::Module module_;
  Random random_{kFixedSeed};
  std::array<Row, kRounds> exponents_{}, differences_{}, inverses_{};
  Row next_exponents_{}, next_differences_{};
};

using Sizes = ::testing::Types<Size<Vsmx_rounds_1, 1>, Size<Vsmx_rounds_2, 2>, Size<Vsmx_rounds_6, 6>>;
struct SizeNames {
  template <typename SizeOf>
  static std::string GetName(int) {
    return "Groups" + std::to_string(SizeOf::kGroups);
  }
};
TYPED_TEST_SUITE(RoundRegisters, Sizes, SizeNames);

TYPED_TEST(RoundRegisters, EveryRoundAndSegmentReadsWhatWasWritten) {
  this->fill();
  this->quiet();
  for (std::size_t round = 0; round < kRounds; ++round)
    for (std::size_t segment = 0; segment < this->kPlaces; ++segment) this->read(kRounds - 1 - round, round, segment);
}

TYPED_TEST(RoundRegisters, ExponentsAreSeenACycleAfterTheWriteAndInversesInItsCycle) {
  this->fill();
  for (int i = 0; i < 200 && !this->HasFailure(); ++i) {
    const std::size_t round = this->random_.bits(6), segment = this->random_.bits(8) % this->kPlaces;
    this->quiet();
    this->write_round(round);
    this->read(round, round, segment);  // still the old ones
    this->clock();
    this->quiet();
    this->read(round, round, segment);
    this->write_inverse(round);
    this->read(round, round, segment);
    this->read(round, round ^ 1, segment);  // another round's isn't taken from the port
    this->clock();
    this->quiet();
    this->read(round, round, segment);
  }
}

TYPED_TEST(RoundRegisters, RandomWritesAndReadsAgreeInEveryCycle) {
  this->fill();
  for (const std::uint64_t seed : {kFixedSeed, fresh_seed()}) {
    SCOPED_TRACE("OPENLPU_SEED=" + std::to_string(seed));
    this->random_ = Random(seed);
    for (int cycle = 0; cycle < 5000 && !this->HasFailure(); ++cycle) {
      this->quiet();
      const std::size_t near = this->random_.bits(2);  // few rounds, so that writes and reads meet
      if (this->random_.one_in(2)) this->write_round(near);
      if (this->random_.one_in(2)) this->write_inverse(this->random_.bits(2));
      this->read(this->random_.bits(2), this->random_.bits(2), this->random_.bits(8) % this->kPlaces);
      this->clock();
    }
  }
}

}  // namespace
}  // namespace cosim
}  // namespace lpu
