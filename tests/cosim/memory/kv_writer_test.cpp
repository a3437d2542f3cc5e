// lpu_kv_writer and the lane memories behind it against hls/golden's lane memory: every port in every cycle, keys of 8
// and 12 bits, heads of 1 to 8 blocks that overlap in different groups and follow one another in one, and the errors.
#include "Vkv_32.h"
#include "Vkv_4.h"
#include "Vkv_64.h"
#include "Vkv_8.h"
#include "tests/cosim/memory/kv_writer_bench.hpp"

namespace lpu {
namespace cosim {
namespace {

using contract::CardError;

template <typename ModuleOf, int Lanes, int Groups, int Words>
struct Size {
  using Module = ModuleOf;
  static constexpr KvShape kShape = {Lanes, Groups, Words};
};
using Sizes =
    ::testing::Types<Size<Vkv_4, 4, 2, 512>, Size<Vkv_8, 8, 1, 256>, Size<Vkv_32, 32, 3, 64>, Size<Vkv_64, 64, 2, 48>>;
struct SizeNames {
  template <typename SizeOf>
  static std::string GetName(int) {
    return "Lanes" + std::to_string(SizeOf::kShape.lanes) + "Groups" + std::to_string(SizeOf::kShape.groups);
  }
};

template <typename SizeOf>
class KvWriter : public ::testing::Test {
 protected:
  static constexpr KvShape kShape = SizeOf::kShape;
  // Keys in the lower words, V's scales' words behind them, V's words in the rest.
  static constexpr int kKeyWords = kShape.words / 8, kScaleWords = kShape.words / 4;
  using Bench = KvBench<typename SizeOf::Module>;

  template <typename Work>
  void with_seeds(Work work) {
    for (const std::uint64_t seed : {kFixedSeed, fresh_seed()}) {
      SCOPED_TRACE("OPENLPU_SEED=" + std::to_string(seed));
      Bench bench(kShape, seed);
      work(bench);
      if (this->HasFailure()) return;
    }
  }
  std::vector<int> positions(Random& random) const {
    return {0, 1, kShape.lanes - 1, kShape.lanes, 31, 32, 33, 63, 64, 65, 65535, random.between(0, 65535)};
  }
  /// A key somewhere in the next cycles where the port is free.
  void random_key(Bench& bench, int first, int span) const {
    Random& random = bench.random;
    Key key{0, random.between(0, kShape.groups - 1), 0, random.between(2, 3)};
    key.address = random.between(0, kKeyWords - key.nibbles);
    for (int tries = 0; tries < 100; ++tries) {
      key.ready = first + random.between(0, span);
      if (codes_taken_.count(key.ready) != 0 || !bench.take(key.group, key.ready - key.nibbles, key.nibbles)) continue;
      codes_taken_[key.ready] = true;
      bench.key(key);
      return;
    }
  }
  /// A head after the last one: its codes begin when the last one's have come, its ports are free.
  void next_value(Bench& bench, int blocks, int group, int key_group) {
    Random& random = bench.random;
    Value value{0, group, 0, random.between(2, 3), blocks, key_group, random.between(kKeyWords, kScaleWords - 1)};
    const int rows = bench.row_groups(blocks);
    const int room = kShape.words - kScaleWords - ((rows - 1) * value.row_step + 2);
    if (room < 0) value.row_step = 2;
    value.address = kScaleWords + (room > 0 ? random.between(0, room) : 0);
    const auto free = [&](int ready) {
      if (key_group == group)  // one port for all
        return !(busy_[group] > ready - kScaleReadLead);
      return !(busy_[group] > ready - kRowsLead) && !(busy_[key_group] > ready - kScaleReadLead);
    };
    value.ready = std::max(codes_end_ + kCodesLead, bench.first_ready());
    while (!free(value.ready)) ++value.ready;
    if (random.one_in(3)) value.ready += random.between(0, 5);
    codes_end_ = value.ready - kCodesLead + blocks;
    busy_[key_group] = std::max(busy_[key_group], value.ready - kScaleWriteLead + 1);
    busy_[group] = std::max(busy_[group], value.ready - kRowsLead + 4 * rows);
    bench.value(value);
  }
  void next_position(Bench& bench, int position) {
    bench.start_position(position);
    codes_end_ = 0;
    busy_.clear();
    codes_taken_.clear();
  }

  int codes_end_ = 0;                        ///< cycle after the last head's last codes
  std::map<int, int> busy_;                  ///< by group: first cycle in which its port is free
  mutable std::map<int, bool> codes_taken_;  ///< one key's codes a cycle
};
TYPED_TEST_SUITE(KvWriter, Sizes, SizeNames);

TYPED_TEST(KvWriter, KeysOfBothWidthsLandInTheirLaneWhileOthersOverlap) {
  this->with_seeds([this](auto& bench) {
    for (const int position : this->positions(bench.random)) {
      this->next_position(bench, position);
      const int first = bench.first_ready();
      for (int i = 0; i < 40; ++i) this->random_key(bench, first, 60);
      bench.run();
      if (this->HasFatalFailure()) return;
    }
    EXPECT_GT(bench.compared_words(), 500);
  });
}

TYPED_TEST(KvWriter, HeadsOfEverySizeBecomeColumnsAndScalesInTheirCycles) {
  this->with_seeds([this](auto& bench) {
    const int groups = TestFixture::kShape.groups;
    int blocks = 1;
    for (const int position : this->positions(bench.random)) {
      this->next_position(bench, position);
      for (int i = 0; i < 6; ++i, blocks = blocks % 8 + 1) {
        // Segments of one group, or of all: the scale's group is the segment's first.
        const int group = bench.random.between(0, groups - 1);
        this->next_value(bench, blocks, group, bench.random.one_in(2) ? group : 0);
      }
      bench.run();
      if (this->HasFatalFailure()) return;
    }
  });
}

TYPED_TEST(KvWriter, HeadsFollowOneAnotherInOneGroupAsSoonAsThePortAllows) {
  this->with_seeds([this](auto& bench) {
    const int group = TestFixture::kShape.groups - 1;
    for (const int position : {0, 33, 65535}) {
      this->next_position(bench, position);
      for (const int blocks : {1, 2, 1, 3, 8, 1, 1, 5}) this->next_value(bench, blocks, group, 0);
      bench.run();
      if (this->HasFatalFailure()) return;
    }
  });
}

TYPED_TEST(KvWriter, AddressBeyondTheMemoryIsAnErrorAndWritesNothing) {
  this->with_seeds([](auto& bench) {
    const int words = TestFixture::kShape.words, group = TestFixture::kShape.groups - 1;
    const int ready = bench.first_ready();
    bench.key({ready, group, words - 1, 2});
    bench.cancel(group, ready - 1, 1);
    bench.error(ready, CardError::kAddress);

    const int value_ready = ready + 10, rows = bench.row_groups(1);
    bench.value({value_ready, group, words, 2, 1, 0, words});
    bench.cancel(0, value_ready - kScaleReadLead, 3);
    bench.cancel(group, value_ready - kRowsLead, 4 * rows);
    for (const int cycle : {value_ready - kScaleReadLead, value_ready - kScaleWriteLead})
      bench.error(cycle + 1, CardError::kAddress);
    for (int i = 0; i < 4 * rows; ++i) bench.error(value_ready - kRowsLead + i + 1, CardError::kAddress);
    bench.run();
  });
}

TYPED_TEST(KvWriter, TagOfNoGroupOrHeadIsAnErrorAndDoesNothing) {
  this->with_seeds([](auto& bench) {
    int cycle = bench.first_ready();
    bench.at(cycle, [&bench] {
      bench.module().key_valid_i = 1;
      bench.module().key_nibbles_i = 0;
    });
    bench.error(cycle + 1, CardError::kAddress);
    for (const int blocks : {0, 9, 15}) {
      cycle += 20;
      bench.at(cycle, [&bench, blocks] {
        bench.module().value_early_i = 1;
        bench.module().value_head_blocks_i = static_cast<std::uint8_t>(blocks);
      });
      bench.error(cycle + 1, CardError::kAddress);
    }
    if (TestFixture::kShape.groups == 3) {  // the field has room for a fourth
      bench.at(cycle + 20, [&bench] {
        bench.module().key_valid_i = 1;
        bench.module().key_nibbles_i = 2;
        bench.module().key_group_i = 3;
      });
      bench.at(cycle + 40, [&bench] {
        bench.module().value_early_i = 1;
        bench.module().value_head_blocks_i = 1;
        bench.module().value_key_group_i = 3;
      });
      bench.error(cycle + 21, CardError::kAddress);
      bench.error(cycle + 41, CardError::kAddress);
    }
    bench.run();
  });
}

TYPED_TEST(KvWriter, TwoUsesOfOnePortInACycleAreAnErrorAndNeitherHappens) {
  this->with_seeds([](auto& bench) {
    const int ready = bench.first_ready(), group = TestFixture::kShape.groups - 1;
    bench.key({ready, group, 0, 2});
    bench.key({ready + 1, group, 2, 2});
    bench.cancel(group, ready - 1, 1);
    bench.error(ready, CardError::kPort);

    // V's scale is read while a key's second word is written.
    const int value_ready = ready + 20;
    bench.value({value_ready, group, 8, 2, 1, group, 4});
    bench.key({value_ready - kScaleReadLead + 1, group, 0, 2});
    bench.cancel(group, value_ready - kScaleReadLead, 1);
    bench.cancel(group, value_ready - kScaleWriteLead, 1);  // with a word that wasn't read
    bench.error(value_ready - kScaleReadLead + 1, CardError::kPort);
    bench.key({value_ready - kScaleWriteLead + 1, group, 0, 2});
    bench.cancel(group, value_ready - kScaleWriteLead, 1);
    bench.error(value_ready - kScaleWriteLead + 1, CardError::kPort);
    bench.run();
  });
}

TYPED_TEST(KvWriter, HeadThatStartsInsideAnotherOfItsGroupIsAnError) {
  const int groups = TestFixture::kShape.groups;
  if (groups == 1) return;  // their scales would meet them before
  this->with_seeds([groups](auto& bench) {
    const int first = bench.first_ready(), second = first + 8, group = groups - 1;
    bench.value({first, group, 8, 0, 8, 0, 4});
    bench.cancel(group, second - kRowsLead, 4 * bench.row_groups(8));
    bench.value({second, group, 10, 0, 1, 0, 5});
    bench.error(second - kScaleWriteLead + 1, CardError::kPort);
    bench.run();
  });
}

}  // namespace
}  // namespace cosim
}  // namespace lpu
