// Decoding of tensor rows, bit for bit: against values that the reference Python package made (vectors/dequantise.bin,
// from scripts/vectors/make_dequantise_vectors.py) and against the definitions; and the search for NaN and infinity.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "tests/model/refusal.hpp"

namespace lpu::test {
namespace {

using model::TensorType;

std::vector<std::byte> file_bytes(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

TEST(DequantiseRow, ReferenceVectorsAreMetBitForBit) {
  const std::vector<std::byte> bytes = file_bytes(OPENLPU_VECTORS_DIR "/dequantise.bin");
  std::map<std::uint32_t, int> rows_of_type;
  std::size_t at = 0;
  while (at < bytes.size()) {
    std::uint32_t head[3];  // type, bytes of the row, values
    std::memcpy(head, bytes.data() + at, sizeof head);
    at += sizeof head;
    const std::span row(bytes.data() + at, head[1]);
    at += head[1];
    std::vector<std::uint32_t> wanted(head[2]);
    std::memcpy(wanted.data(), bytes.data() + at, wanted.size() * 4);
    at += wanted.size() * 4;
    std::vector<float> values(head[2]);
    model::dequantise_row(static_cast<TensorType>(head[0]), row, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(values[i]), wanted[i]) << model::type_name(head[0]) << " value " << i;
    }
    ++rows_of_type[head[0]];
  }
  ASSERT_EQ(rows_of_type.size(), 11U);
  for (const auto& [type, rows] : rows_of_type) EXPECT_EQ(rows, 2) << model::type_name(type);
}

TEST(DequantiseRow, RowOfTheWrongLengthIsADefect) {
  std::vector<std::byte> row(34);
  std::vector<float> values(64);
  EXPECT_THROW(model::dequantise_row(TensorType::kQ8_0, row, values), Error);
  values.resize(31);
  EXPECT_THROW(model::dequantise_row(TensorType::kQ8_0, row, values), Error);
  values.resize(32);
  EXPECT_NO_THROW(model::dequantise_row(TensorType::kQ8_0, row, values));
}

TEST(HalfToFloat, EveryBitPatternHasItsValue) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = model::half_to_float(static_cast<std::uint16_t>(bits));
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const auto fraction = static_cast<float>(bits & 0x3FF);
    EXPECT_EQ(std::signbit(value), (bits & 0x8000) != 0) << bits;
    if (exponent == 31) {
      EXPECT_EQ(std::isnan(value), fraction != 0) << bits;
      EXPECT_EQ(std::isinf(value), fraction == 0) << bits;
    } else {
      const float wanted = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
      EXPECT_EQ(std::abs(value), wanted) << bits;
    }
  }
}

struct Blocks {
  TensorType type;
  std::size_t trouble_offset;  ///< of a binary16 (or the value itself) in the block
  const char* what;
};

class CheckValues : public testing::TestWithParam<Blocks> {};

TEST_P(CheckValues, NanAndInfinityAreNamedWithRowBlockAndOffset) {
  const auto& [type, trouble, what] = GetParam();
  const std::size_t bytes = model::block_bytes(type);
  const std::uint64_t columns = 2 * model::block_values(type);
  GgufBuilder builder;
  // Zero is finite in every type. The damage goes to row 1, block 1.
  builder.add_tensor("t", {columns, 3}, static_cast<std::uint32_t>(type), std::vector<std::byte>(6 * bytes));
  EXPECT_NO_THROW(model::check_values(read(builder).tensors()[0]));
  const bool is_half = type != TensorType::kF32 && type != TensorType::kBF16;
  const std::size_t high_byte = 3 * bytes + trouble + (type == TensorType::kF32 ? 3 : 1);
  for (const int sign : {0x00, 0x80}) {
    std::vector<std::byte>& data = builder.tensors[0].data;
    data[high_byte] = static_cast<std::byte>(sign | (is_half ? 0x7C : 0x7F));
    data[high_byte - 1] = std::byte{0x80};  // completes the exponent of F32 and BF16; makes a binary16 a NaN
    const model::GgufFile file = read(builder);
    const model::Tensor& tensor = file.tensors()[0];
    const auto sentence = refusal_of([&] { model::check_values(tensor); });
    ASSERT_TRUE(sentence.has_value());
    EXPECT_THAT(*sentence, testing::HasSubstr("tensor 't'"));
    EXPECT_THAT(*sentence, testing::HasSubstr("row 1, block 1"));
    EXPECT_THAT(*sentence, testing::HasSubstr("at byte " + std::to_string(tensor.file_offset + 3 * bytes + trouble)));
    EXPECT_THAT(*sentence, testing::HasSubstr(what));
  }
}

INSTANTIATE_TEST_SUITE_P(
    AllTypes, CheckValues,
    testing::Values(Blocks{TensorType::kF32, 0, "the value"}, Blocks{TensorType::kF16, 0, "the value"},
                    Blocks{TensorType::kBF16, 0, "the value"}, Blocks{TensorType::kQ4_0, 0, "the scale"},
                    Blocks{TensorType::kQ4_1, 0, "the scale"}, Blocks{TensorType::kQ4_1, 2, "the minimum"},
                    Blocks{TensorType::kQ5_0, 0, "the scale"}, Blocks{TensorType::kQ5_1, 0, "the scale"},
                    Blocks{TensorType::kQ5_1, 2, "the minimum"}, Blocks{TensorType::kQ8_0, 0, "the scale"},
                    Blocks{TensorType::kQ4_K, 0, "the scale"}, Blocks{TensorType::kQ4_K, 2, "the minimum"},
                    Blocks{TensorType::kQ5_K, 0, "the scale"}, Blocks{TensorType::kQ5_K, 2, "the minimum"},
                    Blocks{TensorType::kQ6_K, 208, "the scale"}),
    [](const auto& instance) {
      return model::type_name(static_cast<std::uint32_t>(instance.param.type)) + "At" +
             std::to_string(instance.param.trouble_offset);
    });

}  // namespace
}  // namespace lpu::test
