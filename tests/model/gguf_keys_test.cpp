// The header and the keys of a GGUF file: every damage that the reader must refuse, and the look-ups.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/model/refusal.hpp"

namespace lpu::test {
namespace {

constexpr std::uint64_t kHeaderBytes = 24;

/// Where the value of the first key starts when the key has this name.
std::string first_value_at(const std::string& name) {
  return "at byte " + std::to_string(kHeaderBytes + 8 + name.size() + 4);
}

TEST(GgufHeader, WrongMagicIsRefused) {
  GgufBuilder builder;
  builder.magic = 0x4C4D4747;
  expect_refused(builder, {"magic at byte 0", "'GGML', not 'GGUF'"});
}

TEST(GgufHeader, Versions2And3AreReadAndOthersRefused) {
  for (const std::uint32_t version : {2U, 3U}) {
    GgufBuilder builder;
    builder.version = version;
    EXPECT_EQ(read(builder).version(), version);
  }
  for (const std::uint32_t version : {0U, 1U, 4U, 0xFFFFFFFFU}) {
    GgufBuilder builder;
    builder.version = version;
    expect_refused(builder, {"version at byte 4", "only 2 and 3 are supported"});
  }
}

TEST(GgufHeader, BigEndianFileIsRefusedAsSuch) {
  GgufBuilder builder;
  builder.version = 0x03000000;
  expect_refused(builder, {"version at byte 4", "big-endian"});
}

TEST(GgufHeader, ShorterThan24BytesIsRefused) {
  const std::vector<std::byte> whole = GgufBuilder().build();
  ASSERT_EQ(whole.size(), kHeaderBytes);
  EXPECT_NO_THROW(read(whole));
  for (std::size_t size = 0; size < kHeaderBytes; ++size) {
    expect_refused(std::vector(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)),
                   {"header at byte 0", "of 24 bytes"});
  }
}

TEST(GgufHeader, HugeCountsAreRefusedBeforeAnythingIsAllocated) {
  for (const std::uint64_t count : {2ULL, 1ULL << 40, 1ULL << 63, ~0ULL}) {
    GgufBuilder builder;
    builder.tensor_count = count;
    expect_refused(builder, {"tensor count at byte 8", "more than the 0 bytes left can hold"});
    builder.tensor_count.reset();
    builder.key_count = count;
    expect_refused(builder, {"key count at byte 16", "more than the 0 bytes left can hold"});
  }
}

TEST(GgufKeys, StringLongerThanTheFileIsRefused) {
  for (const std::uint64_t length : {17ULL, 1ULL << 30, 1ULL << 63, ~0ULL}) {
    GgufBuilder builder;
    builder.add("some.text", GgufBuilder::kString,
                ByteWriter().put(length).put(std::uint64_t{0}).put(std::uint64_t{0}).bytes);
    expect_refused(builder, {"value of key 'some.text'", first_value_at("some.text"), "claims a text of"});
  }
}

TEST(GgufKeys, KeyNameLongerThanTheFileIsRefused) {
  GgufBuilder builder;
  builder.set_bool("k", true);
  std::vector<std::byte> bytes = builder.build();
  bytes[kHeaderBytes + 7] = std::byte{0x7F};
  expect_refused(bytes, {"name of key 0 at byte 24", "claims a text of"});
}

TEST(GgufKeys, ArrayLongerThanTheFileIsRefusedBeforeItIsAllocated) {
  for (const std::uint32_t item : {GgufBuilder::kU8, GgufBuilder::kF32, GgufBuilder::kU64, GgufBuilder::kString}) {
    for (const std::uint64_t count : {100ULL, 1ULL << 30, 1ULL << 61, ~0ULL}) {
      GgufBuilder builder;
      builder.add("many", GgufBuilder::kArray, ByteWriter().put(item).put(count).put(std::uint64_t{0}).bytes);
      expect_refused(builder, {"value of key 'many'", first_value_at("many"), "claims an array of"});
    }
  }
}

TEST(GgufKeys, ArrayElementTypeThatDoesNotExistIsRefused) {
  GgufBuilder builder;
  builder.add("many", GgufBuilder::kArray, ByteWriter().put(13U).put(std::uint64_t{0}).bytes);
  expect_refused(builder, {"value of key 'many'", "array element type 13 does not exist"});
}

TEST(GgufKeys, NestedArrayIsRefused) {
  GgufBuilder builder;
  builder.add("many", GgufBuilder::kArray, ByteWriter().put(GgufBuilder::kArray).put(std::uint64_t{0}).bytes);
  expect_refused(builder, {"value of key 'many'", "nested arrays are not supported"});
}

TEST(GgufKeys, ValueTypeThatDoesNotExistIsRefused) {
  GgufBuilder builder;
  builder.add("odd", 13, {std::byte{0}});
  expect_refused(builder, {"type of key 'odd'", "value type 13 does not exist"});
}

TEST(GgufKeys, TokenizerArraysOfOtherElementTypesAreRefused) {
  GgufBuilder tokens;
  tokens.set_array<std::int32_t>("tokenizer.ggml.tokens", GgufBuilder::kI32, {1, 2});
  expect_refused(tokens, {"'tokenizer.ggml.tokens'", "array of i32, but must be an array of string"});
  GgufBuilder scores;
  scores.set_array<std::int8_t>("tokenizer.ggml.scores", GgufBuilder::kI8, {1, 2});
  expect_refused(scores, {"'tokenizer.ggml.scores'", "array of i8, but must be an array of f32"});
  GgufBuilder types;
  types.set_array<std::int8_t>("tokenizer.ggml.token_type", GgufBuilder::kI8, {1, 2});
  expect_refused(types, {"'tokenizer.ggml.token_type'", "array of i8, but must be an array of i32"});
  GgufBuilder merges;
  merges.set_u32("tokenizer.ggml.merges", 3);
  expect_refused(merges, {"'tokenizer.ggml.merges'", "is u32, but must be an array of string"});
}

TEST(GgufKeys, DuplicateKeyIsRefused) {
  GgufBuilder builder;
  builder.add("twice", GgufBuilder::kBool, {std::byte{0}}).add("twice", GgufBuilder::kBool, {std::byte{1}});
  expect_refused(builder, {"key 'twice' at byte 42", "appears twice"});
}

TEST(GgufKeys, EmptyKeyIsRefused) {
  GgufBuilder builder;
  builder.add("", GgufBuilder::kU32, ByteWriter().put(7U).bytes);
  expect_refused(builder, {"name of key 0 at byte 24", "is empty"});
}

TEST(GgufKeys, BoolThatIsNeither0Nor1IsRefused) {
  GgufBuilder builder;
  builder.set_number("flag", GgufBuilder::kBool, std::uint8_t{2});
  expect_refused(builder, {"value of key 'flag'", first_value_at("flag"), "holds 2, not 0 or 1"});
  GgufBuilder many;
  many.set_array<std::uint8_t>("flags", GgufBuilder::kBool, {0, 1, 255});
  expect_refused(many, {"value of key 'flags', item 2", "holds 255, not 0 or 1"});
}

TEST(GgufKeys, UnsignedArrayItemBeyondInt64IsRefused) {
  GgufBuilder builder;
  builder.set_array<std::uint64_t>("many", GgufBuilder::kU64, {1, 1ULL << 63});
  expect_refused(builder, {"value of key 'many', item 1", "beyond what is accepted"});
}

TEST(GgufKeys, AlignmentMustBeAPowerOfTwoUpToOneMebibyte) {
  for (const std::uint32_t alignment : {0U, 3U, 24U, 33U, 1U << 21, 1U << 31, 0xFFFFFFFFU}) {
    GgufBuilder builder;
    builder.set_u32("general.alignment", alignment);
    expect_refused(builder, {"'general.alignment'", first_value_at("general.alignment"), "must be a power of two"});
  }
  for (const std::uint32_t alignment : {1U, 8U, 64U, 1U << 20}) {
    GgufBuilder builder;
    builder.alignment = alignment;
    builder.set_u32("general.alignment", alignment).add_f32("one", {3}, 1.5F).add_f32("two", {1}, 2.5F);
    const model::GgufFile file = read(builder);
    EXPECT_EQ(file.tensors()[1].file_offset % alignment, 0U);
    std::vector<float> value(1);
    model::dequantise_row(model::TensorType::kF32, file.tensors()[1].row(0), value);
    EXPECT_EQ(value[0], 2.5F);
  }
}

TEST(GgufKeys, AlignmentOfAnotherTypeIsRefused) {
  GgufBuilder wide;
  wide.set_number("general.alignment", GgufBuilder::kU64, std::uint64_t{32});
  expect_refused(wide, {"'general.alignment'", "is u64, but must be u32"});
  GgufBuilder array;
  array.set_array<std::uint32_t>("general.alignment", GgufBuilder::kU32, {32});
  expect_refused(array, {"'general.alignment'", "is an array of u32, but must be u32"});
}

TEST(GgufKeys, ControlCharactersOfNamesAreEscapedInErrors) {
  GgufBuilder builder;
  builder.add("a\x1b[31m\n", 99, {std::byte{0}});
  expect_refused(builder, {"'a\\x1b[31m\\x0a'"});
}

TEST(GgufKeys, EveryScalarTypeIsRead) {
  GgufBuilder builder;
  builder.set_number("u8", GgufBuilder::kU8, std::uint8_t{200}).set_number("i8", GgufBuilder::kI8, std::int8_t{-3});
  builder.set_number("u16", GgufBuilder::kU16, std::uint16_t{60000})
      .set_number("i16", GgufBuilder::kI16, std::int16_t{5});
  builder.set_u32("u32", 4000000000U).set_number("i32", GgufBuilder::kI32, -7);
  builder.set_number("u64", GgufBuilder::kU64, ~std::uint64_t{0}).set_number("i64", GgufBuilder::kI64, std::int64_t{9});
  builder.set_f32("f32", 0.1F)
      .set_number("f64", GgufBuilder::kF64, 0.1)
      .set_bool("bool", true)
      .set_string("text", "héllo");
  const model::GgufFile file = read(builder);
  EXPECT_EQ(file.values().size(), 12U);
  EXPECT_EQ(file.find_unsigned("u8"), 200U);
  EXPECT_EQ(file.find_unsigned("u16"), 60000U);
  EXPECT_EQ(file.find_unsigned("i16"), 5U);
  EXPECT_EQ(file.find_unsigned("u32"), 4000000000U);
  EXPECT_EQ(file.find_unsigned("u64"), ~std::uint64_t{0});
  EXPECT_EQ(file.find_unsigned("i64"), 9U);
  EXPECT_EQ(file.find_float("f32"), double{0.1F});
  EXPECT_EQ(file.find_float("f64"), 0.1);
  EXPECT_EQ(file.find_bool("bool"), true);
  EXPECT_EQ(*file.find_string("text"), "héllo");
  EXPECT_EQ(std::get<std::int64_t>(file.values().at("i8")), -3);
  EXPECT_EQ(std::get<std::int64_t>(file.values().at("i32")), -7);
}

TEST(GgufKeys, EveryArrayTypeIsReadWithItsOwnWidth) {
  GgufBuilder builder;
  builder.set_array<std::uint8_t>("u8", GgufBuilder::kU8, {0, 255})
      .set_array<std::int8_t>("i8", GgufBuilder::kI8, {-1, 1});
  builder.set_array<std::uint16_t>("u16", GgufBuilder::kU16, {65535})
      .set_array<std::int16_t>("i16", GgufBuilder::kI16, {-2});
  builder.set_array<std::uint32_t>("u32", GgufBuilder::kU32, {4000000000U})
      .set_array<std::int32_t>("i32", GgufBuilder::kI32, {-3});
  builder.set_array<std::uint64_t>("u64", GgufBuilder::kU64, {1ULL << 62});
  builder.set_array<std::int64_t>("i64", GgufBuilder::kI64, {std::numeric_limits<std::int64_t>::min()});
  builder.set_array<std::uint8_t>("bool", GgufBuilder::kBool, {1, 0})
      .set_array<float>("f32", GgufBuilder::kF32, {0.1F});
  builder.set_array<double>("f64", GgufBuilder::kF64, {0.1}).set_strings("text", {"", "b"}).set_strings("none", {});
  const model::GgufFile file = read(builder);
  using Integers = std::vector<std::int64_t>;
  EXPECT_EQ(*file.find_integers("u8"), (Integers{0, 255}));
  EXPECT_EQ(*file.find_integers("i8"), (Integers{-1, 1}));
  EXPECT_EQ(*file.find_integers("u16"), Integers{65535});
  EXPECT_EQ(*file.find_integers("i16"), Integers{-2});
  EXPECT_EQ(*file.find_integers("u32"), Integers{4000000000});
  EXPECT_EQ(*file.find_integers("i32"), Integers{-3});
  EXPECT_EQ(*file.find_integers("u64"), Integers{std::int64_t{1} << 62});
  EXPECT_EQ(*file.find_integers("i64"), Integers{std::numeric_limits<std::int64_t>::min()});
  EXPECT_EQ(*file.find_integers("bool"), (Integers{1, 0}));
  EXPECT_EQ(*file.find_floats("f32"), std::vector<double>{double{0.1F}});
  EXPECT_EQ(*file.find_floats("f64"), std::vector<double>{0.1});
  EXPECT_EQ(*file.find_strings("text"), (std::vector<std::string>{"", "b"}));
  EXPECT_TRUE(file.find_strings("none")->empty());
}

TEST(GgufKeys, LookUpOfAbsentKeyFindsNothing) {
  const model::GgufFile file = read(GgufBuilder());
  EXPECT_EQ(file.find_unsigned("x"), std::nullopt);
  EXPECT_EQ(file.find_float("x"), std::nullopt);
  EXPECT_EQ(file.find_bool("x"), std::nullopt);
  EXPECT_EQ(file.find_string("x"), nullptr);
  EXPECT_EQ(file.find_strings("x"), nullptr);
  EXPECT_EQ(file.find_floats("x"), nullptr);
  EXPECT_EQ(file.find_integers("x"), nullptr);
  EXPECT_EQ(file.find_tensor("x"), nullptr);
}

TEST(GgufKeys, LookUpAsAnotherTypeIsRefusedWithTheOffset) {
  GgufBuilder builder;
  builder.set_number("size", GgufBuilder::kI32, -1);
  const model::GgufFile file = read(builder);
  expect_sentence(refusal_of([&] { (void)file.find_unsigned("size"); }),
                  {"'size'", first_value_at("size"), "is a signed integer, but must be a non-negative integer"});
  expect_sentence(refusal_of([&] { (void)file.find_float("size"); }), {"'size'", "must be a floating-point number"});
  expect_sentence(refusal_of([&] { (void)file.find_string("size"); }), {"'size'", "must be a text"});
  expect_sentence(refusal_of([&] { (void)file.find_strings("size"); }), {"'size'", "must be an array of texts"});
}

}  // namespace
}  // namespace lpu::test
