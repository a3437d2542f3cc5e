// The tensor table of a GGUF file: shapes, types and places that the reader must refuse; whole files cut and damaged.
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/model/refusal.hpp"

namespace lpu::test {
namespace {

constexpr std::uint32_t kF16 = 1, kQ8_0 = 8, kQ4_K = 12, kIq4Nl = 20;

/// Two tensors whose bytes lie where they should; "first" fills one and a half alignments.
GgufBuilder two_tensors() {
  GgufBuilder builder;
  return builder.add_f32("first", {4, 3}, 1).add_f32("second", {2}, 2);
}

TEST(GgufTensors, PlacesAndShapesAreRead) {
  const model::GgufFile file = read(two_tensors());
  ASSERT_EQ(file.tensors().size(), 2U);
  const model::Tensor* first = file.find_tensor("first");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->columns(), 4U);
  EXPECT_EQ(first->rows(), 3U);
  EXPECT_EQ(first->row_bytes(), 16U);
  EXPECT_EQ(first->data.size(), 48U);
  EXPECT_EQ(file.find_tensor("second")->file_offset, first->file_offset + 64);
  EXPECT_EQ(file.size_bytes(), first->file_offset + 64 + 8);
}

TEST(GgufTensors, RowBeyondTheTensorIsADefect) {
  const model::GgufFile file = read(two_tensors());
  EXPECT_EQ(file.find_tensor("first")->row(2).size(), 16U);
  EXPECT_THROW((void)file.find_tensor("first")->row(3), Error);
}

TEST(GgufTensors, DuplicateNameIsRefused) {
  GgufBuilder builder = two_tensors();
  builder.tensors[1].name = "first";
  expect_refused(builder, {"name of tensor 'first'", "at byte", "appears twice"});
}

TEST(GgufTensors, NameOf64BytesIsRefusedAndOf63Read) {
  GgufBuilder builder = two_tensors();
  builder.tensors[1].name = std::string(63, 'n');
  EXPECT_NE(read(builder).find_tensor(std::string(63, 'n')), nullptr);
  builder.tensors[1].name += 'n';
  expect_refused(builder, {"name of tensor 1 at byte", "63 is the most accepted"});
}

TEST(GgufTensors, EmptyNameIsRefused) {
  GgufBuilder builder = two_tensors();
  builder.tensors[0].name = "";
  expect_refused(builder, {"name of tensor 0 at byte 24", "is empty"});
}

TEST(GgufTensors, DimensionCountMustBe1To4) {
  GgufBuilder builder;
  builder.add_f32("t", {1, 1, 1, 1}, 1);
  EXPECT_EQ(read(builder).tensors()[0].shape.size(), 4U);
  builder.tensors[0].shape = {};
  expect_refused(builder, {"dimension count of tensor 't' at byte 33", "is 0, but must be 1 to 4"});
  builder.tensors[0].shape = {1, 1, 1, 1, 1};
  expect_refused(builder, {"dimension count of tensor 't' at byte 33", "is 5, but must be 1 to 4"});
}

TEST(GgufTensors, DimensionOfZeroOrBeyondInt64IsRefused) {
  for (const std::uint64_t extent : {std::uint64_t{0}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    GgufBuilder builder = two_tensors();
    builder.tensors[0].shape[1] = extent;
    expect_refused(builder, {"dimension of tensor 'first', item 1 at byte", "is " + std::to_string(extent)});
  }
}

TEST(GgufTensors, ShapeWhoseProductWrapsIsRefused) {
  GgufBuilder builder = two_tensors();
  builder.tensors[0].shape = {std::uint64_t{1} << 32, std::uint64_t{1} << 32};
  expect_refused(builder, {"shape of tensor 'first'", "more values than 64 bits"});
  builder.tensors[0].shape = {4, (std::uint64_t{1} << 62) + 1};
  expect_refused(builder, {"shape of tensor 'first'", "more values than 64 bits"});
}

TEST(GgufTensors, ShapeWhoseByteCountWrapsIsRefused) {
  GgufBuilder builder = two_tensors();
  builder.tensors[0].shape = {std::uint64_t{1} << 62};
  expect_refused(builder, {"shape of tensor 'first'", "more bytes than 64 bits"});
}

TEST(GgufTensors, SumOfSizesThatWouldWrapIsRefused) {
  GgufBuilder builder = two_tensors();
  builder.tensors[0].shape = {(std::uint64_t{1} << 62) - 8};  // 2^64 - 32 bytes, to which padding would add a lap
  expect_refused(builder, {"data of tensor 'first'", "needs 18446744073709551584 bytes"});
}

TEST(GgufTensors, TypesThatDoNotExistAreRefused) {
  for (const std::uint32_t type : {4U, 5U, 31U, 32U, 33U, 36U, 37U, 38U, 43U, 255U, 0xFFFFFFFFU}) {
    GgufBuilder builder = two_tensors();
    builder.tensors[0].type = type;
    expect_refused(builder, {"type of tensor 'first' at byte",
                             "type " + std::to_string(type) + " does not exist or was removed", "Q4_1"});
  }
}

TEST(GgufTensors, KnownTypeThatIsNotSupportedIsListed) {
  GgufBuilder builder;
  builder.add_tensor("odd", {64}, kIq4Nl, std::vector<std::byte>(36)).add_f32("second", {2}, 2);
  const model::GgufFile file = read(builder);
  const model::Tensor& odd = file.tensors()[0];
  EXPECT_FALSE(odd.is_supported());
  EXPECT_TRUE(odd.data.empty());
  EXPECT_EQ(model::type_name(odd.raw_type), "IQ4_NL");
  EXPECT_EQ(odd.shape, std::vector<std::uint64_t>{64});
  EXPECT_TRUE(file.tensors()[1].is_supported());
}

TEST(GgufTensors, RowThatIsNotWholeBlocksIsRefused) {
  GgufBuilder builder;
  builder.add_tensor("t", {48, 2}, kQ8_0, std::vector<std::byte>(34 * 3));
  expect_refused(builder, {"shape of tensor 't'", "rows of 48 values are not a multiple of Q8_0's block of 32"});
  builder.tensors[0].type = kQ4_K;
  builder.tensors[0].shape = {128, 2};
  expect_refused(builder, {"shape of tensor 't'", "block of 256"});
}

TEST(GgufTensors, OffsetThatIsNotAlignedIsRefused) {
  GgufBuilder builder = two_tensors();
  builder.tensors[1].offset = 65;
  expect_refused(builder, {"offset of tensor 'second' at byte", "not a multiple of the alignment 32"});
}

TEST(GgufTensors, OverlappingTensorsAreRefused) {
  GgufBuilder builder = two_tensors();
  builder.tensors[1].offset = 32;
  expect_refused(builder, {"offset of tensor 'second' at byte", "is 32, which overlaps"});
}

TEST(GgufTensors, HoleBetweenTensorsIsRefused) {
  GgufBuilder builder = two_tensors();
  builder.tensors[1].offset = 96;
  expect_refused(builder, {"offset of tensor 'second' at byte", "is 96, which leaves a hole"});
}

TEST(GgufTensors, OffsetFarPastTheEndIsRefused) {
  GgufBuilder builder = two_tensors();
  for (const std::uint64_t offset : {std::uint64_t{1} << 40, ~std::uint64_t{31}}) {
    builder.tensors[0].offset = offset;
    expect_refused(builder, {"offset of tensor 'first' at byte", "is " + std::to_string(offset)});
  }
}

TEST(GgufTensors, DataPastTheEndIsRefused) {
  GgufBuilder builder = two_tensors();
  builder.tensors[1].shape = {3};
  expect_refused(builder, {"data of tensor 'second' at byte", "needs 12 bytes, but the file ends at byte"});
}

/// A file with every kind of thing in it, small enough to be cut at each byte.
GgufBuilder small_file() {
  GgufBuilder builder = two_tensors();
  builder.set_string("general.architecture", "llama").set_bool("flag", true).set_u32("general.alignment", 32);
  builder.set_strings("tokenizer.ggml.tokens", {"a", "bc"})
      .set_array<float>("tokenizer.ggml.scores", GgufBuilder::kF32, {1, 2});
  builder.set_array<std::uint8_t>("flags", GgufBuilder::kBool, {1, 0}).set_number("f64", GgufBuilder::kF64, 1.0);
  return builder.add_tensor("third", {2, 2}, kF16, std::vector<std::byte>(8));
}

TEST(GgufFile, CutAtAnyByteIsRefused) {
  const std::vector<std::byte> whole = small_file().build();
  EXPECT_NO_THROW(read(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto end = whole.begin() + static_cast<std::ptrdiff_t>(size);
    expect_sentence(refusal_of([&] { read(std::vector(whole.begin(), end)); }), {"at byte"});
    if (HasFailure()) FAIL() << "cut to " << size << " bytes";
  }
}

TEST(GgufFile, AnyDamagedByteIsReadOrRefusedButNeverWorse) {
  const std::vector<std::byte> whole = small_file().build();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int value : {0x00, 0x01, 0x7F, 0x80, 0xFF}) {
      std::vector<std::byte> damaged = whole;
      damaged[at] = static_cast<std::byte>(value);
      try {
        const model::GgufFile file = read(damaged);
        for (const model::Tensor& tensor : file.tensors()) {
          for (std::uint64_t row = 0; tensor.is_supported() && row < tensor.rows(); ++row) {
            ASSERT_EQ(tensor.row(row).size(), tensor.row_bytes());
          }
        }
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), ExitCode::kBadInput) << error.what() << " with byte " << at << " = " << value;
      }
    }
  }
}

TEST(GgufFile, MovedFileKeepsItsTensors) {
  model::GgufFile first = read(two_tensors());
  const std::byte* data = first.tensors()[0].data.data();
  const model::GgufFile second = std::move(first);
  EXPECT_EQ(second.find_tensor("first")->data.data(), data);
  EXPECT_EQ(second.find_tensor("first")->row(1)[3], std::byte{0x3F});
}

TEST(GgufFile, MissingFileIsAnIoError) {
  try {
    const model::GgufFile file(std::filesystem::path("no/such/file.gguf"));
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kIo);
    EXPECT_THAT(error.what(), testing::HasSubstr("no/such/file.gguf"));
  }
}

}  // namespace
}  // namespace lpu::test
