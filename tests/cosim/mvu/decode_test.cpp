// lpu_mvu_decode against docs/isa.md's counts and strides: every context length with every segment count of six groups
// of 64 lanes (a row group holds two blocks) and of two groups of four (a block fills eight), every step by 1 to 3
// nibbles, and random strides; one instruction a cycle, the record exactly three cycles later.
#include <gtest/gtest.h>

#include <deque>

#include "Vmvu_decode_4.h"
#include "Vmvu_decode_64.h"
#include "hls/contract/instructions.hpp"
#include "tests/cosim/mvu/mvu_values.hpp"
#include "tests/cosim/wires.hpp"

namespace lpu {
namespace cosim {
namespace {

constexpr int kCycles = 3;
// Lowest bits of burst_t's fields in rtl/mvu/lpu_mvu_pkg.sv.
constexpr int kExponentAddress = 1, kLastSet = 98, kLastRowGroup = 114, kSetMinimumStep = 130, kRowMinimumStep = 154,
              kMinimumAddress = 226, kWeightAddress = 250;

struct Case {
  contract::MatvecFields fields;
  std::uint32_t iteration = 0, blocks = 1;
};

template <typename Module>
class Bench {
 public:
  Bench(std::uint32_t lanes, std::uint32_t groups) : lanes_(lanes), groups_(groups) { module_.rst_ni = 1; }

  void take(const Case& taken) {
    contract::Instruction instruction;
    instruction.matvec = taken.fields;
    std::uint32_t words[contract::kInstructionWords];
    contract::pack(instruction, words);
    for (int i = 0; i < contract::kInstructionWords; ++i) module_.instruction_i[static_cast<std::size_t>(i)] = words[i];
    module_.iteration_i = static_cast<std::uint16_t>(taken.iteration);
    module_.blocks_i = static_cast<std::uint16_t>(taken.blocks);
    module_.valid_i = 1;
    cases_.push_back(taken);
    tick(module_);
    if (cases_.size() < kCycles) return;
    ASSERT_EQ(module_.valid_o, 1);
    check(cases_.front());
    cases_.pop_front();
  }
  void finish() {
    module_.valid_i = 0;
    for (; !cases_.empty(); cases_.pop_front()) {
      tick(module_);
      if (cases_.size() < kCycles) check(cases_.front());
    }
    tick(module_);
    EXPECT_EQ(module_.valid_o, 0);
  }

 private:
  std::uint64_t field(int lsb, int width) { return get(module_.burst_o, lsb, width); }
  void check(const Case& was) {
    const contract::MatvecFields& f = was.fields;
    const std::uint32_t part = groups_ / f.segments;
    const std::uint32_t rows = f.length_dimension == 1 ? (32 * was.blocks + lanes_ - 1) / lanes_ : f.row_groups;
    const std::uint32_t sets = f.length_dimension == 2 ? (was.blocks + part - 1) / part : f.column_sets;
    ASSERT_EQ(field(kLastRowGroup, 16), (rows - 1) & 0xffff) << was.blocks << " blocks";
    ASSERT_EQ(field(kLastSet, 16), sets - 1) << was.blocks << " blocks, " << f.segments << " segments";
    ASSERT_EQ(field(kRowMinimumStep, 24), f.row_group_words / f.nibbles);
    ASSERT_EQ(field(kSetMinimumStep, 24), f.column_set_words / f.nibbles);
    ASSERT_EQ(field(kWeightAddress, 24), (f.weight_address + f.weight_stride * was.iteration) & 0xffffff);
    ASSERT_EQ(field(kMinimumAddress, 24), (f.minimum_address + f.minimum_stride * was.iteration) & 0xffffff);
    ASSERT_EQ(field(kExponentAddress, 24), (f.exponent_address + f.exponent_stride * was.iteration) & 0xffffff);
  }

  Module module_;
  std::uint32_t lanes_, groups_;
  std::deque<Case> cases_;
};

template <typename Module>
void run(std::uint32_t lanes, std::uint32_t groups, std::uint32_t longest) {
  Bench<Module> bench(lanes, groups);
  Generator random(1);
  std::uint32_t words = 0;
  for (std::uint32_t segments = 1; segments <= groups; ++segments) {
    if (groups % segments != 0) continue;
    for (std::uint32_t blocks = 1; blocks <= longest && !::testing::Test::HasFatalFailure(); ++blocks) {
      Case next;
      contract::MatvecFields& f = next.fields;
      f.segments = segments;
      f.length_dimension = blocks % 3;
      f.nibbles = words % 3 + 1;
      f.row_group_words = words % (1 << 20);
      f.column_set_words = words % 256;
      f.row_groups = static_cast<std::uint32_t>(pick(random, 1, 65535));
      f.column_sets = static_cast<std::uint32_t>(pick(random, 1, 65535));
      f.weight_address = static_cast<std::uint32_t>(random() & 0xffffff);
      f.weight_stride = static_cast<std::uint32_t>(random() & 0xffffff);
      f.minimum_address = static_cast<std::uint32_t>(random() & 0xffffff);
      f.minimum_stride = static_cast<std::uint32_t>(random() & 0xffffff);
      f.exponent_address = static_cast<std::uint32_t>(random() & 0xffffff);
      f.exponent_stride = static_cast<std::uint32_t>(random() & 0xffffff);
      next.iteration = static_cast<std::uint32_t>(random() & 0xffff);
      next.blocks = blocks;
      bench.take(next);
      words += 7;
    }
  }
  bench.finish();
}

TEST(MvuDecode, EveryLengthOfSixGroupsOfSixtyFourLanesIsCounted) { run<Vmvu_decode_64>(64, 6, 65535); }
TEST(MvuDecode, EveryLengthOfTwoGroupsOfFourLanesIsCounted) { run<Vmvu_decode_4>(4, 2, 8191); }

}  // namespace
}  // namespace cosim
}  // namespace lpu
