// Encoding: the file's blocks survive bit for bit where numbers.md §2 can hold them, and what is lost elsewhere is
// counted. The SmolLM2 tests are skipped where models/ doesn't hold the file.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "hls/contract/describe.hpp"
#include "host/compiler/encode_block.hpp"
#include "tests/support/test_models.hpp"

namespace lpu::compiler {
namespace {

constexpr MatrixFormat kFourBitsMinimum{1, false, false, true};
constexpr MatrixFormat kFourBitsSigned{1, true, true, false};
constexpr MatrixFormat kEightBits{2, true, false, false};

FileBlock random_block(std::mt19937& random, double scale, double minimum, int lowest, int highest) {
  FileBlock block{scale, minimum, {}};
  for (std::int16_t& code : block.codes)
    code = static_cast<std::int16_t>(std::uniform_int_distribution<int>(lowest, highest)(random));
  return block;
}
/// A number with an 11-bit significand, as binary16 has.
double half_like(std::mt19937& random, int exponent) {
  return std::ldexp(1024 + std::uniform_int_distribution<int>(0, 1023)(random), exponent - 10);
}

TEST(EncodeRow, ScalesWithin32To1AreLossless) {
  std::mt19937 random(5);
  for (int row = 0; row < 200; ++row) {
    std::vector<FileBlock> blocks;
    for (int b = 0; b < 18; ++b) {
      const int down = std::uniform_int_distribution<int>(0, 4)(random);
      blocks.push_back(random_block(random, half_like(random, -6 - down), 0, -128, 127));
    }
    const EncodedRow encoded = encode_row(blocks, kEightBits);
    EXPECT_TRUE(encoded.lossless) << row;
    EXPECT_EQ(encoded.error_sum, 0.0);
  }
}

TEST(EncodeRow, SignedScalesWithin16To1AreLossless) {
  std::mt19937 random(6);
  for (int row = 0; row < 200; ++row) {
    std::vector<FileBlock> blocks;
    for (int b = 0; b < 18; ++b) {
      const double sign = random() % 2 == 0 ? 1 : -1;
      blocks.push_back(random_block(
          random, sign * half_like(random, -6 - std::uniform_int_distribution<int>(0, 3)(random)), 0, -8, 7));
    }
    EXPECT_TRUE(encode_row(blocks, kFourBitsSigned).lossless) << row;
  }
}

TEST(EncodeRow, MinimumsOfTheUsualSizeAreLossless) {
  std::mt19937 random(7);
  for (int row = 0; row < 200; ++row) {
    std::vector<FileBlock> blocks;
    for (int b = 0; b < 18; ++b) {
      const int down = std::uniform_int_distribution<int>(0, 4)(random);
      const double scale = half_like(random, -6 - down);
      // minimums are 0.6 to 15 scales below zero, with a significand of their own
      int exponent;
      std::frexp(scale * std::uniform_real_distribution<double>(0.6, 15)(random), &exponent);
      blocks.push_back(random_block(random, scale, -half_like(random, exponent - 1), 0, 15));
    }
    EXPECT_TRUE(encode_row(blocks, kFourBitsMinimum).lossless) << row;
  }
}

TEST(EncodeRow, ScaleTooSmallForItsRowIsCountedAsError) {
  std::mt19937 random(8);
  std::vector<FileBlock> blocks = {random_block(random, 1.0009765625, 0, 1, 127),
                                   random_block(random, 1.0009765625 / 4096, 0, 1, 127)};
  const EncodedRow encoded = encode_row(blocks, kEightBits);
  EXPECT_FALSE(encoded.lossless);
  EXPECT_GT(encoded.error_sum, 0.0);
  EXPECT_LE(encoded.error_largest,
            127 * std::ldexp(1.0, encoded.exponent - 1));  // half a unit of the scale, times the code
}

TEST(EncodeRow, ZeroRowIsZero) {
  const EncodedRow encoded = encode_row(std::vector<FileBlock>(3), kFourBitsMinimum);
  EXPECT_TRUE(encoded.lossless);
  for (const EncodedBlock& block : encoded.blocks) {
    EXPECT_EQ(block.side, 0);
    EXPECT_EQ(block.minimum, 0);
  }
}

TEST(EncodeRow, NegativeScaleOfAnUnsignedFormatMovesIntoTheCodes) {
  FileBlock block{-0.5, 0, {}};
  block.codes[0] = -128;
  block.codes[1] = 5;
  const EncodedRow encoded = encode_row({block}, kEightBits);
  EXPECT_EQ(encoded.blocks[0].codes[0], 127);  // 128 doesn't fit: the one step is an error that is counted
  EXPECT_EQ(encoded.blocks[0].codes[1], -5);
  EXPECT_EQ(encoded.error_largest, 0.5);
}

TEST(FormatFor, HardwareWithoutMinimumsTakesEightBits) {
  const contract::HardwareConfig& with = *contract::find_hardware("u55c");
  const contract::HardwareConfig& without = *contract::find_hardware("kv260");
  EXPECT_EQ(format_for(model::TensorType::kQ4_1, with), kFourBitsMinimum);
  EXPECT_EQ(format_for(model::TensorType::kQ4_1, without), kEightBits);
  EXPECT_EQ(format_for(model::TensorType::kQ4_0, without), kFourBitsSigned);
  EXPECT_EQ(common_format(kFourBitsMinimum, kEightBits), (MatrixFormat{2, true, false, true}));
}

/// binary32 to the nearest binary16 of a normal value.
std::uint16_t to_half(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const std::uint32_t sign = bits >> 16 & 0x8000;
  const std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude < 0x38800000) return static_cast<std::uint16_t>(sign);
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13));
}

/// One Q4_0 block as quantisers make it: the value of largest magnitude becomes code −8.
std::vector<std::byte> quantise_q4_0(const float* values) {
  float largest = 0;
  for (int i = 0; i < 32; ++i)
    if (std::fabs(values[i]) > std::fabs(largest)) largest = values[i];
  const std::uint16_t scale = to_half(largest / -8);
  const float inverse = scale == 0 ? 0 : 1 / model::half_to_float(scale);
  std::vector<std::byte> block(18);
  std::memcpy(block.data(), &scale, sizeof scale);
  for (int i = 0; i < 16; ++i) {
    const auto code = [&](float x) { return std::clamp(static_cast<int>(std::lround(x * inverse)) + 8, 0, 15); };
    block[static_cast<std::size_t>(2 + i)] = static_cast<std::byte>(code(values[i]) | code(values[i + 16]) << 4);
  }
  return block;
}

TEST(EncodeSmolLm2, QuantisedToQ4_0EveryRowIsLossless) {
  const auto file = test::smollm2();
  if (!file) GTEST_SKIP() << "models/SmolLM2-135M-Instruct.Q4_1.gguf is absent: scripts/get_model.sh smollm2-135m";
  const auto model = model::Model::open(*file);
  std::uint64_t rows = 0, lossless = 0;
  double largest = 0;
  for (const model::Layer& layer : model->layers())
    for (const model::Tensor* tensor : {layer.query, layer.down}) {
      std::vector<float> values(tensor->columns());
      for (std::uint64_t r = 0; r < tensor->rows(); r += 7) {
        model::dequantise_row(tensor->type, tensor->row(r), values);
        std::vector<std::byte> row;
        for (std::size_t at = 0; at < values.size(); at += 32) {
          const std::vector<std::byte> block = quantise_q4_0(values.data() + at);
          row.insert(row.end(), block.begin(), block.end());
        }
        const EncodedRow encoded =
            encode_row(read_blocks(model::TensorType::kQ4_0, row, values.size(), kFourBitsSigned), kFourBitsSigned);
        ++rows;
        lossless += encoded.lossless ? 1 : 0;
        if (encoded.value_largest > 0) largest = std::max(largest, encoded.error_largest / encoded.value_largest);
      }
    }
  EXPECT_GT(rows, 4900u);
  EXPECT_EQ(lossless, rows);
  EXPECT_EQ(largest, 0.0);
}

}  // namespace
}  // namespace lpu::compiler
