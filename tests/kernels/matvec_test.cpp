// The matrix-vector kernel at both sizes: random matrices of every format and awkward shapes, and a real layer's
// matrix.
#include <gtest/gtest.h>

#include <cmath>

#include "host/compiler/encode_block.hpp"
#include "host/model/model.hpp"
#include "tests/kernels/random_data.hpp"
#include "tests/support/test_models.hpp"

namespace lpu::kernels {
namespace {

constexpr std::uint32_t kSeed = 20240607;

void expect_equal(const std::vector<engine::Int128>& got, const std::vector<engine::Int128>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t row = 0; row < wanted.size(); ++row) {
    ASSERT_TRUE(got[row] == wanted[row]) << "row " << row << ", seed " << kSeed;
  }
}

std::vector<engine::Block> random_vector(RandomData& random, int blocks) {
  std::vector<engine::Block> vector;
  for (int i = 0; i < blocks; ++i) vector.push_back(random.block());
  return vector;
}

class MatvecKernel : public ::testing::TestWithParam<std::tuple<int, bool, bool>> {};

TEST_P(MatvecKernel, RandomMatricesGiveTheEnginesSums) {
  const auto [nibbles, is_signed, has_minimum] = GetParam();
  RandomData random(kSeed);
  // Below, at and above the lanes (4, 64) and the groups (2, 6), and one block in one row.
  for (const auto& [rows, blocks] : {std::pair{1, 1}, {3, 2}, {4, 3}, {5, 6}, {64, 6}, {65, 7}, {130, 13}}) {
    const TestMatrix matrix = random.matrix(rows, blocks, nibbles, is_signed, has_minimum);
    const auto vector = random_vector(random, blocks);
    const auto wanted = engine_sums(matrix, vector);
    SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(blocks) + " blocks");
    expect_equal(tiny_sums(matrix, vector, true), wanted);
    expect_equal(u55c_sums(matrix, vector, true), wanted);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, MatvecKernel,
                         ::testing::Combine(::testing::Values(1, 2, 3), ::testing::Bool(), ::testing::Bool()));

TEST(MatvecKernelResidual, SumsStartAtTheAlignedResidual) {
  RandomData random(kSeed);
  for (const auto& [rows, blocks, nibbles] : {std::tuple{5, 3, 1}, {64, 6, 2}, {130, 13, 3}}) {
    TestMatrix matrix = random.matrix(rows, blocks, nibbles, true, true);
    const auto vector = random_vector(random, blocks);
    const auto from_zero = engine_sums(matrix, vector);
    random.add_residual(matrix);
    const auto wanted = engine_sums(matrix, vector);
    EXPECT_FALSE(wanted[0] == from_zero[0]);
    expect_equal(tiny_sums(matrix, vector, true), wanted);
    expect_equal(u55c_sums(matrix, vector, true), wanted);
  }
}

TEST(MatvecKernelResidual, ValueBeyondTheAccumulatorIsCounted) {
  RandomData random(kSeed);
  TestMatrix matrix = random.matrix(70, 3, 1, false, false);
  const auto vector = random_vector(random, 3);
  random.add_residual(matrix);
  matrix.residual[3] = 3e38f;
  matrix.residual[69] = -3e38f;
  EXPECT_TRUE(engine_sums(matrix, vector).back() == 2);
  expect_equal(tiny_sums(matrix, vector, true), engine_sums(matrix, vector));
  expect_equal(u55c_sums(matrix, vector, true), engine_sums(matrix, vector));
}

TEST(MatvecKernelMemory, KeepsTheMatrixForTheNextVector) {
  RandomData random(kSeed);
  const TestMatrix matrix = random.matrix(70, 9, 2, true, true);
  for (int turn = 0; turn < 3; ++turn) {
    const auto vector = random_vector(random, 9);
    expect_equal(tiny_sums(matrix, vector, turn == 0), engine_sums(matrix, vector));
    expect_equal(u55c_sums(matrix, vector, turn == 0), engine_sums(matrix, vector));
  }
}

TEST(MatvecKernelMemory, LargestMagnitudesDontOverflow) {
  RandomData random(kSeed);
  TestMatrix matrix = random.matrix(4, 12, 3, true, true);
  for (std::uint8_t& byte : matrix.words) byte = 0;
  for (std::size_t i = 32; i < matrix.words.size(); ++i) {
    if (i / 16 % 3 == 2) matrix.words[i] = 0x88;  // −2048
  }
  for (std::uint16_t& scale : matrix.scales) scale = 0x8000;
  for (std::uint16_t& minimum : matrix.minimums) minimum = 0xf800;
  engine::Block block;
  for (std::int16_t& mantissa : block.mantissas) mantissa = -511;
  block.offset = 31;
  const std::vector<engine::Block> vector(12, block);
  expect_equal(tiny_sums(matrix, vector, true), engine_sums(matrix, vector));
  expect_equal(u55c_sums(matrix, vector, true), engine_sums(matrix, vector));
}

/// Codes of a block into its words' nibbles.
void append_words(TestMatrix& matrix, const std::array<std::int16_t, 32>& codes) {
  for (int nibble = 0; nibble < matrix.nibbles; ++nibble) {
    for (int byte = 0; byte < 16; ++byte) {
      const int low = (codes[2 * byte] >> (4 * nibble)) & 15;
      const int high = (codes[2 * byte + 1] >> (4 * nibble)) & 15;
      matrix.words.push_back(static_cast<std::uint8_t>(low | (high << 4)));
    }
  }
}

TEST(MatvecKernelModel, QueryMatrixOfSmolLm2GivesTheEnginesSumsAndTheFilesOwnDotProducts) {
  const auto path = test::smollm2();
  if (!path) GTEST_SKIP() << "no SmolLM2 in models/; scripts/get_model.sh smollm2-135m gets it";
  const auto model = model::Model::open(*path);
  const model::Tensor& tensor = *model->layers()[0].query;
  ASSERT_EQ(tensor.type, model::TensorType::kQ4_1);
  TestMatrix matrix;
  matrix.rows = static_cast<int>(tensor.rows());
  matrix.blocks = static_cast<int>(tensor.columns() / 32);
  const compiler::MatrixFormat format = compiler::format_for(tensor.type, kU55c);
  matrix.nibbles = format.nibbles;
  matrix.signed_code = format.signed_code;
  matrix.signed_scale = format.signed_scale;
  matrix.has_minimum = format.has_minimum;
  std::vector<int> exponents;
  for (std::uint64_t row = 0; row < tensor.rows(); ++row) {
    const auto encoded =
        compiler::encode_row(compiler::read_blocks(tensor.type, tensor.row(row), tensor.columns(), format), format);
    ASSERT_TRUE(encoded.lossless) << "row " << row;
    exponents.push_back(encoded.exponent);
    for (const auto& block : encoded.blocks) {
      append_words(matrix, block.codes);
      matrix.scales.push_back(block.side);
      matrix.minimums.push_back(block.minimum);
    }
  }

  RandomData random(kSeed);
  std::vector<engine::Block> vector;
  for (int i = 0; i < matrix.blocks; ++i) {
    vector.push_back(random.block());
    vector.back().offset = static_cast<std::uint8_t>(20 + i % 3);  // close exponents: binary64 holds the sum exactly
  }
  const auto wanted = engine_sums(matrix, vector);
  expect_equal(tiny_sums(matrix, vector, true), wanted);
  expect_equal(u55c_sums(matrix, vector, true), wanted);

  std::vector<float> values(tensor.columns());
  for (std::size_t row = 0; row < exponents.size(); ++row) {
    model::dequantise_row(tensor.type, tensor.row(row), values);
    double sum = 0;
    double magnitude = 0;
    for (std::size_t column = 0; column < values.size(); ++column) {
      const engine::Block& block = vector[column / 32];
      const double a = std::ldexp(block.mantissas[column % 32], block.offset + contract::kWindowLow);
      sum += a * values[column];
      magnitude += std::fabs(a * values[column]);
    }
    const double got = std::ldexp(static_cast<double>(wanted[row]), engine::sum_exponent(exponents[row]));
    // binary32 rounds d·q + m of the file once; the machine doesn't.
    ASSERT_LE(std::fabs(got - sum), magnitude * 0x1p-24) << "row " << row;
  }
}

}  // namespace
}  // namespace lpu::kernels
