// The load streams of lpu_host_port: every region filled to its last byte, at three sizes, and what is refused.
#include "Vhost_32.h"
#include "Vhost_4.h"
#include "Vhost_8.h"
#include "tests/cosim/memory/host_bench.hpp"

namespace lpu {
namespace cosim {
namespace {

constexpr Region kMemories[] = {Region::kLaneWords, Region::kMinimumWords, Region::kExponents, Region::kConstants,
                                Region::kRope,      Region::kInstructions, Region::kLoops,     Region::kDelays};

template <typename Module, HostShape (*ShapeOf)()>
struct Size {
  static HostShape shape() { return ShapeOf(); }
  using Bench = HostBench<Module>;
};
using Sizes = ::testing::Types<Size<Vhost_4, host_shape_4>, Size<Vhost_8, host_shape_8>, Size<Vhost_32, host_shape_32>>;
struct SizeNames {
  template <typename SizeOf>
  static std::string GetName(int) {
    const HostShape shape = SizeOf::shape();
    return "Lanes" + std::to_string(shape.lanes) + "Groups" + std::to_string(shape.groups);
  }
};

template <typename SizeOf>
class HostLoad : public ::testing::Test {
 protected:
  template <typename Work>
  void with_seeds(Work work) {
    for (const std::uint64_t seed : {kFixedSeed, fresh_seed()}) {
      SCOPED_TRACE("OPENLPU_SEED=" + std::to_string(seed));
      typename SizeOf::Bench bench(SizeOf::shape(), seed);
      work(bench);
      if (this->HasFailure()) return;
    }
  }
  /// The region's first bytes, now and then with idle cycles between.
  template <typename Bench>
  void fill(Bench& bench, Region region, int bytes) {
    for (int offset = 0; offset < bytes && !this->HasFatalFailure(); offset += 4) {
      if (bench.random.one_in(16)) bench.idle(bench.random.between(1, 3));
      bench.stream(region, offset);
    }
  }
  /// One write that is refused: the error is there, nothing is shown; then a soft reset.
  template <typename Bench>
  void expect_refused(Bench& bench, Region region, std::uint64_t offset, const std::string& what) {
    bench.write(region, offset, bench.noise());
    bench.idle(4);
    EXPECT_EQ(bench.error(), CardError::kLoad) << what;
    EXPECT_TRUE(bench.module.halt_o) << what;
    bench.soft_reset();
    EXPECT_EQ(bench.error(), CardError::kNone) << what;
  }
};
TYPED_TEST_SUITE(HostLoad, Sizes, SizeNames);

TYPED_TEST(HostLoad, EveryRegionArrivesWholeInItsCyclesAndOneMoreWriteIsRefused) {
  this->with_seeds([this](auto& bench) {
    const HostShape shape = TypeParam::shape();
    for (int round = 0; round < 2; ++round)
      for (const Region region : kMemories) {
        const int bytes = shape.capacity_bytes(region), before = bench.loads_seen();
        this->fill(bench, region, bytes);
        bench.idle(3);
        if (this->HasFatalFailure()) return;
        EXPECT_EQ(bench.loads_seen() - before, bytes / shape.unit_bytes(region));
        EXPECT_EQ(bench.error(), CardError::kNone);
        if (round == 0) this->expect_refused(bench, region, static_cast<std::uint64_t>(bytes), "beyond the memory");
      }
  });
}

TYPED_TEST(HostLoad, StreamThatStartsAnewForgetsItsHalfElement) {
  this->with_seeds([this](auto& bench) {
    const HostShape shape = TypeParam::shape();
    for (int i = 0; i < 20; ++i) {
      const Region region = kMemories[bench.random.between(0, 7)];
      this->fill(bench, region, 4 * bench.random.between(0, shape.capacity_bytes(region) / 4));
      if (this->HasFatalFailure()) return;
    }
    bench.idle(3);
    EXPECT_EQ(bench.error(), CardError::kNone);
  });
}

TYPED_TEST(HostLoad, WriteOutOfOrderIsRefused) {
  this->with_seeds([this](auto& bench) {
    for (const Region region : {Region::kLaneWords, Region::kInstructions, Region::kDelays}) {
      this->fill(bench, region, 16);
      this->expect_refused(bench, region, 20, "a gap");
      this->fill(bench, region, 16);
      this->expect_refused(bench, region, 12, "the same again");
      this->fill(bench, region, 16);
      this->expect_refused(bench, region, std::uint64_t{1} << 35 | 16, "a high bit");
      this->fill(bench, region, 16);
      this->expect_refused(bench, Region::kConstants, 16, "another region's middle");
      this->fill(bench, region, 16);
      this->expect_refused(bench, region, 18, "no multiple of 4");
      this->fill(bench, region, 16);
      bench.soft_reset();
      this->expect_refused(bench, region, 16, "after a reset");
      for (const int beyond : {9, 12, 15}) this->expect_refused(bench, static_cast<Region>(beyond), 0, "no region");
      if (this->HasFatalFailure()) return;
    }
  });
}

TYPED_TEST(HostLoad, WriteWhileATokenRunsOrWaitsIsRefused) {
  this->with_seeds([this](auto& bench) {
    for (const Region region : kMemories) {
      bench.module.busy_i = 1;
      bench.write(region, 0, bench.noise());
      bench.module.busy_i = 1;
      bench.idle(2);
      bench.module.busy_i = 0;
      EXPECT_EQ(bench.error(), CardError::kLoad);
      bench.soft_reset();
    }
    bench.write(ControlRegister::kVocabulary, 10);
    bench.write(ControlRegister::kContextTokens, 10);
    bench.write(ControlRegister::kToken, 1);
    bench.write(ControlRegister::kPosition, 1);
    bench.write(ControlRegister::kStart, 1);
    EXPECT_EQ(bench.error(), CardError::kNone);
    this->expect_refused(bench, Region::kExponents, 0, "a command waits");
    bench.write(ControlRegister::kReset, 1);
    bench.idle(10);
    this->expect_refused(bench, Region::kDelays, 0, "in reset");
  });
}

}  // namespace
}  // namespace cosim
}  // namespace lpu
