// The vectorised dot against the engine's own functions on the image's bytes: every format, several lane counts, narrow
// and wide spreads of offsets. Exact equality; the seed is fixed.
#include "hls/golden/fast_dot.hpp"

#include <gtest/gtest.h>

#include <random>
#include <tuple>

#include "hls/engine/accumulate.hpp"
#include "hls/engine/block_dot.hpp"
#include "hls/golden/machine.hpp"
#include "hls/golden/state.hpp"
#include "tests/support/program_builder.hpp"

namespace lpu::golden::testing {
namespace {

using lpu::testing::instruction;
using lpu::testing::ProgramBuilder;
using lpu::testing::small_config;
using lpu::testing::TestImage;

constexpr std::uint32_t kRows = 3, kSets = 2;

contract::ModelShape any_shape() {
  contract::ModelShape shape;
  shape.width = shape.head_size = shape.vocabulary = shape.context_tokens = 32;
  return shape;
}

contract::MatvecFields burst(int nibbles, int flags, std::uint32_t segments) {
  contract::MatvecFields f = instruction(contract::Opcode::kMatvec).matvec;
  f.row_groups = kRows;
  f.column_sets = kSets;
  f.nibbles = f.column_set_words = static_cast<std::uint32_t>(nibbles);
  f.row_group_words = kSets * f.nibbles;
  f.signed_code = flags & 1;
  f.signed_scale = flags >> 1 & 1;
  f.unit_scale = flags >> 2 & 1;
  f.has_minimum = flags >> 3 & 1;
  f.segments = segments;
  f.start = f.finish = f.row_major = 1;
  f.accumulator = 2047;  // wraps
  return f;
}

/// The sum from the image's own bytes.
engine::Int128 expected(const contract::HardwareConfig& config, const TestImage& image, const contract::MatvecFields& f,
                        State& state, std::uint32_t r, std::uint32_t segment, std::uint32_t lane) {
  const auto lanes = static_cast<std::uint32_t>(config.lanes),
             groups = static_cast<std::uint32_t>(config.column_groups);
  const std::uint32_t part = groups / f.segments;
  engine::Int128 sum = 0;
  for (std::uint32_t c = 0; c < kSets; ++c)
    for (std::uint32_t g = segment * part; g < (segment + 1) * part; ++g) {
      std::uint8_t words[48];
      std::uint16_t side = 0, minimum = 0;
      const std::uint32_t address = r * f.row_group_words + c * f.column_set_words;
      for (std::uint32_t n = 0; n < f.nibbles; ++n) {
        const std::uint8_t* word = image.view.lane_words + (((address + n) * groups + g) * lanes + lane) * 18;
        std::copy(word, word + 16, words + 16 * n);
        if (n == 0) side = static_cast<std::uint16_t>(word[16] | word[17] << 8);
      }
      if (f.has_minimum != 0) {
        const std::uint8_t* word = image.view.minimum_words + ((address / f.nibbles * groups + g) * lanes + lane) * 2;
        minimum = static_cast<std::uint16_t>(word[0] | word[1] << 8);
      }
      const ActivationBlock& block = state.activation(g, c);
      const std::int32_t scale = f.unit_scale != 0 ? 1 : engine::scale_value(side, f.signed_scale != 0);
      sum = engine::accumulate(
          sum,
          engine::block_term(engine::block_dot(words, static_cast<int>(f.nibbles), f.signed_code != 0, block.mantissas),
                             scale, engine::block_sum(block.mantissas), engine::minimum_mantissa(minimum),
                             engine::minimum_shift(minimum)),
          block.offset);
    }
  return sum;
}

class FastDotTest : public ::testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(FastDotTest, RandomWordsOfEveryFormatGiveTheEnginesSums) {
  const auto [lanes, groups] = GetParam();
  const contract::HardwareConfig config = small_config(lanes, groups);
  const TestImage image(config, 64, 0, 32, 1, 1, 512, 7);
  std::mt19937 random(11);
  for (int nibbles = 1; nibbles <= 3; ++nibbles)
    for (int flags = 0; flags < 16; ++flags)
      for (const std::uint32_t segments : {1u, static_cast<std::uint32_t>(groups)}) {
        contract::Instruction in = instruction(contract::Opcode::kMatvec);
        in.matvec = burst(nibbles, flags, segments);
        ProgramBuilder builder(config, 32);
        builder.add(in);
        Machine machine(config, any_shape(), builder.build(), image.view, 1 + flags % 2);
        const int spread = flags % 3 == 0 ? 32 : 6;
        for (ActivationBlock& block : machine.state().activations) {
          block.offset = static_cast<std::uint8_t>(random() % static_cast<unsigned>(spread));
          for (std::int16_t& mantissa : block.mantissas)
            mantissa = static_cast<std::int16_t>(static_cast<int>(random() % 1023) - 511);
        }
        StepOptions options;
        machine.step(0, 0, options);
        const std::vector<engine::Int128> fast = machine.state().sums;
        for (std::uint32_t r = 0; r < kRows; ++r)
          for (std::uint32_t j = 0; j < segments; ++j)
            for (std::uint32_t lane = 0; lane < static_cast<std::uint32_t>(lanes); ++lane)
              ASSERT_TRUE(machine.state().entry_sums(2047 + r, j)[lane] ==
                          expected(config, image, in.matvec, machine.state(), r, j, lane))
                  << "nibbles " << nibbles << " flags " << flags << " row group " << r << " lane " << lane;
        options.fast = false;
        machine.step(0, 0, options);
        ASSERT_TRUE(machine.state().sums == fast);
      }
}

INSTANTIATE_TEST_SUITE_P(Arrays, FastDotTest,
                         ::testing::Values(std::tuple(2, 1), std::tuple(4, 2), std::tuple(8, 3), std::tuple(16, 2),
                                           std::tuple(64, 2), std::tuple(384, 1)));

TEST(FastDotKernelTest, PortableKernelGivesTheVectorKernelsSums) {
  const contract::HardwareConfig config = small_config(32, 2);
  const TestImage image(config, 8, 0, 8, 1, 1, 512, 3);
  const LaneMemory memory(config, image.view, nullptr);
  std::mt19937 random(5);
  PreparedBlock blocks[2];
  for (PreparedBlock& block : blocks) {
    std::int16_t mantissas[32];
    for (std::int16_t& mantissa : mantissas)
      mantissa = static_cast<std::int16_t>(static_cast<int>(random() % 1023) - 511);
    mantissas[0] = 511;
    mantissas[1] = -511;
    prepare_block(mantissas, &block);
    block.shift = 3;
  }
  blocks[1].bucket = 1;
  for (int nibbles = 1; nibbles <= 3; ++nibbles)
    for (int flags = 0; flags < 16; ++flags) {
      DotFormat format;
      format.nibbles = nibbles;
      format.signed_code = (flags & 1) != 0;
      format.signed_scale = (flags & 2) != 0;
      format.unit_scale = (flags & 4) != 0;
      format.has_minimum = (flags & 8) != 0;
      std::vector<std::int64_t> sums[2];
      for (int portable = 0; portable < 2; ++portable) {
        sums[portable].assign(64, 1);
        SetJob job;
        job.words = memory.tile(2, 0);
        job.group_bytes = memory.group_bytes();
        job.word_bytes = memory.word_bytes();
        job.minimums = memory.minimums(1, 0);
        job.minimum_group = 32;
        job.groups = 2;
        job.end_tile = 2;
        job.blocks = blocks;
        job.sums = sums[portable].data();
        job.bucket_sums = 32;
        set_kernel(format, portable != 0)(job);
      }
      EXPECT_EQ(sums[0], sums[1]) << "nibbles " << nibbles << " flags " << flags;
    }
}

TEST(FastDotBucketsTest, WideSpreadOfLargeBlocksTakesSeveralBuckets) {
  DotFormat format;
  format.nibbles = 3;
  format.has_minimum = true;
  PreparedBurst burst;
  burst.blocks.resize(3);
  const std::uint8_t offsets[3] = {2, 31, 9};
  const std::int32_t magnitudes[3] = {32 * 511, 32 * 511, 1};
  choose_buckets(format, offsets, magnitudes, &burst);
  EXPECT_EQ(burst.base, 2);
  EXPECT_EQ(burst.bucket_binades, 16);
  EXPECT_EQ(burst.buckets, 2);
  EXPECT_EQ(burst.blocks[1].bucket, 1);
  EXPECT_EQ(burst.blocks[1].shift, 13);
  EXPECT_EQ(burst.blocks[2].shift, 7);
  burst.blocks[1].skip = true;
  choose_buckets(format, offsets, magnitudes, &burst);
  EXPECT_EQ(burst.buckets, 1);
}

TEST(LaneMemoryTest, WordsComeBackAsTheyWereWritten) {
  const contract::HardwareConfig config = small_config(8, 2);
  const TestImage image(config, 3, 2, 0, 1, 1, 512, 1);
  std::uint64_t used = 0;
  LaneMemory memory(config, image.view, [&](std::size_t first, std::size_t bytes) {
    EXPECT_EQ(first, used);
    used += bytes;
  });
  EXPECT_EQ(used, image.lane_words.size());
  for (std::uint64_t address = 0; address < 3; ++address)
    for (std::size_t group = 0; group < 2; ++group)
      for (std::size_t lane = 0; lane < 8; ++lane) {
        const std::uint8_t* word = image.lane_words.data() + ((address * 2 + group) * 8 + lane) * 18;
        std::uint8_t data[16];
        memory.read_data(address, group, lane, data);
        EXPECT_TRUE(std::equal(data, data + 16, word));
        EXPECT_EQ(memory.side_bits(address, group, lane), word[16] | word[17] << 8);
        memory.write_data(3, group, lane, word);
        memory.set_side_bits(3, group, lane, 0xABCD);
        memory.read_data(3, group, lane, data);
        EXPECT_TRUE(std::equal(data, data + 16, word));
        EXPECT_EQ(memory.side_bits(3, group, lane), 0xABCD);
      }
  EXPECT_EQ(memory.nibble(4, 1, 7, 31), 0u);
  memory.clear_kv();
  EXPECT_EQ(memory.side_bits(3, 1, 7), 0);
}

}  // namespace
}  // namespace lpu::golden::testing
