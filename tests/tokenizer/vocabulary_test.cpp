// Keys of a file that a tokenizer can't be built from: each refusal names the file and the key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "host/base/error.hpp"
#include "host/model/gguf.hpp"
#include "tests/support/gguf_builder.hpp"
#include "tests/tokenizer/small_vocabularies.hpp"

namespace lpu::model {
namespace {

using test::GgufBuilder;
using testing::HasSubstr;

void put(GgufBuilder& builder, const Vocabulary& vocabulary) {
  builder.set_string("tokenizer.ggml.model", vocabulary.model);
  builder.set_strings("tokenizer.ggml.tokens", vocabulary.texts);
  std::vector<std::int32_t> types;
  for (const TokenKind kind : vocabulary.kinds) types.push_back(static_cast<std::int32_t>(kind));
  builder.set_array("tokenizer.ggml.token_type", GgufBuilder::kI32, types);
  builder.set_u32("tokenizer.ggml.bos_token_id", 1).set_u32("tokenizer.ggml.eos_token_id", 2);
}

GgufBuilder bpe_file() {
  GgufBuilder builder;
  const Vocabulary vocabulary = test::bpe_vocabulary({"a b", "ab c"}, {{"<|im_end|>", TokenKind::kControl}});
  put(builder, vocabulary);
  builder.set_string("tokenizer.ggml.pre", "gpt-2").set_strings("tokenizer.ggml.merges", vocabulary.merges);
  return builder;
}

GgufBuilder spm_file() {
  GgufBuilder builder;
  const Vocabulary vocabulary = test::spm_vocabulary({{"▁", -1}, {"a", -2}});
  put(builder, vocabulary);
  builder.set_array("tokenizer.ggml.scores", GgufBuilder::kF32, vocabulary.scores);
  builder.set_u32("tokenizer.ggml.unknown_token_id", 0);
  return builder;
}

std::unique_ptr<Tokenizer> open(const GgufBuilder& builder) {
  return Tokenizer::from(GgufFile::from_bytes(builder.build(), "some/file.gguf"));
}

struct BadFile {
  std::string name;
  std::string key;  ///< that the sentence must name
  std::function<void(GgufBuilder&)> change;
};

void expect_refusals(const GgufBuilder& good, const std::vector<BadFile>& bad_files) {
  ASSERT_NO_THROW(open(good));
  for (const BadFile& bad : bad_files) {
    GgufBuilder builder = good;
    bad.change(builder);
    try {
      open(builder);
      ADD_FAILURE() << bad.name << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kBadInput) << bad.name;
      EXPECT_THAT(error.what(), HasSubstr("some/file.gguf")) << bad.name;
      EXPECT_THAT(error.what(), HasSubstr("tokenizer.ggml." + bad.key)) << bad.name;
    }
  }
}

BadFile number(const std::string& key, std::uint32_t value) {
  return {key + " = " + std::to_string(value), key,
          [key, value](GgufBuilder& b) { b.set_u32("tokenizer.ggml." + key, value); }};
}
BadFile text(const std::string& key, const std::string& value) {
  return {key + " = " + value, key, [key, value](GgufBuilder& b) { b.set_string("tokenizer.ggml." + key, value); }};
}
BadFile texts(const std::string& key, const std::vector<std::string>& value) {
  return {key + " with " + std::to_string(value.size()) + " other texts", key,
          [key, value](GgufBuilder& b) { b.set_strings("tokenizer.ggml." + key, value); }};
}
BadFile missing(const std::string& key) {
  return {key + " missing", key, [key](GgufBuilder& b) { b.remove("tokenizer.ggml." + key); }};
}

TEST(BpeKeys, DamagedFileIsRefusedByTheKeysName) {
  const std::vector<std::string> tokens = test::bpe_vocabulary({"a b", "ab c"}).texts;
  std::vector<std::string> twice = tokens;
  twice.push_back("ab");
  expect_refusals(
      bpe_file(),
      {missing("model"),
       text("model", "bert"),
       number("model", 1),
       missing("tokens"),
       texts("tokens", {}),
       text("tokens", "x"),
       texts("tokens", twice),
       missing("pre"),
       text("pre", "default"),
       text("pre", ""),
       number("pre", 3),
       missing("merges"),
       number("merges", 3),
       texts("merges", {"ab"}),
       texts("merges", {""}),
       texts("merges", {" "}),
       texts("merges", {"a "}),
       texts("merges", {" a"}),
       texts("merges", {"a b c"}),
       texts("merges", {"a \xE2\x82\xAC"}),
       texts("merges", {"a \xC3"}),
       text("token_type", "normal"),
       number("bos_token_id", 259),
       number("eos_token_id", 259),
       number("eot_token_id", 0xFFFFFFFF),
       number("eom_token_id", 259),
       number("unknown_token_id", 259),
       number("padding_token_id", 259),
       number("seperator_token_id", 259),
       text("eos_token_id", "2"),
       text("add_bos_token", "yes"),
       number("add_space_prefix", 1),
       number("add_eos_token", 1),
       number("remove_extra_whitespaces", 0),
       {"start mark wanted but not named", "bos_token_id",
        [](GgufBuilder& b) { b.set_bool("tokenizer.ggml.add_bos_token", true).remove("tokenizer.ggml.bos_token_id"); }},
       {"types too few", "token_type",
        [](GgufBuilder& b) {
          b.set_array("tokenizer.ggml.token_type", GgufBuilder::kI32, std::vector<std::int32_t>{1, 1});
        }},
       {"types as floats", "token_type",
        [](GgufBuilder& b) {
          b.set_array("tokenizer.ggml.token_type", GgufBuilder::kF32, std::vector<float>(259, 1));
        }},
       {"type out of range", "token_type",
        [](GgufBuilder& b) {
          b.set_array("tokenizer.ggml.token_type", GgufBuilder::kI32, std::vector<std::int32_t>(259, 7));
        }},
       {"negative type", "token_type",
        [](GgufBuilder& b) {
          b.set_array("tokenizer.ggml.token_type", GgufBuilder::kI32, std::vector<std::int32_t>(259, -1));
        }},
       {"byte tokens that aren't", "tokens", [](GgufBuilder& b) {
          b.set_array("tokenizer.ggml.token_type", GgufBuilder::kI32, std::vector<std::int32_t>(259, 6));
        }}});
}

TEST(SpmKeys, DamagedFileIsRefusedByTheKeysName) {
  expect_refusals(
      spm_file(),
      {missing("tokens"),
       missing("scores"),
       missing("token_type"),
       number("bos_token_id", 261),
       {"start mark not named", "bos_token_id", [](GgufBuilder& b) { b.remove("tokenizer.ggml.bos_token_id"); }},
       {"scores too few", "scores",
        [](GgufBuilder& b) { b.set_array("tokenizer.ggml.scores", GgufBuilder::kF32, std::vector<float>(260)); }},
       {"scores too many", "scores",
        [](GgufBuilder& b) { b.set_array("tokenizer.ggml.scores", GgufBuilder::kF32, std::vector<float>(262)); }},
       {"scores as bytes", "scores",
        [](GgufBuilder& b) { b.set_array("tokenizer.ggml.scores", GgufBuilder::kI8, std::vector<std::int8_t>(261)); }},
       {"score not a number", "scores",
        [](GgufBuilder& b) {
          b.set_array("tokenizer.ggml.scores", GgufBuilder::kF32,
                      std::vector<float>(261, std::numeric_limits<float>::quiet_NaN()));
        }},
       {"byte tokens missing without an unknown token", "tokens", [](GgufBuilder& b) {
          b.remove("tokenizer.ggml.unknown_token_id");
          b.set_array("tokenizer.ggml.token_type", GgufBuilder::kI32, std::vector<std::int32_t>(261, 1));
        }}});
}

TEST(TokenizerKeys, DefaultsAreThoseOfTheFormat) {
  EXPECT_FALSE(open(bpe_file())->adds_start());
  EXPECT_TRUE(open(bpe_file().set_string("tokenizer.ggml.pre", "llama-bpe"))->adds_start());
  EXPECT_FALSE(
      open(bpe_file().set_string("tokenizer.ggml.pre", "llama-bpe").set_bool("tokenizer.ggml.add_bos_token", false))
          ->adds_start());
  EXPECT_TRUE(open(spm_file())->adds_start());
  EXPECT_EQ(open(spm_file())->encode("a", false, false).size(), 2U);  // with the added space
  EXPECT_EQ(open(spm_file().set_bool("tokenizer.ggml.add_space_prefix", false))->encode("a", false, false).size(), 1U);
  EXPECT_EQ(open(bpe_file().remove("tokenizer.ggml.token_type"))->vocabulary(), 259U);
}

TEST(TokenizerKeys, FileThatIsGoneDoesNotMatterAfterwards) {
  const auto tokenizer = open(bpe_file());  // the GgufFile is destroyed by now
  EXPECT_THAT(tokenizer->encode("abc<|im_end|>", true, false), testing::ElementsAre(257, 258));
  EXPECT_TRUE(tokenizer->is_end(258));
  EXPECT_TRUE(tokenizer->is_end(2));
}

}  // namespace
}  // namespace lpu::model
