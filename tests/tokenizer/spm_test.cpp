// The SentencePiece style on vocabularies of a few tokens: scores, byte fallback, the added space.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "tests/tokenizer/small_vocabularies.hpp"

namespace lpu::model {
namespace {

using test::spm_vocabulary;
using testing::ElementsAre;

constexpr TokenId kByte0 = 3;
constexpr TokenId kFirst = 259;  // the first token of one's own

std::unique_ptr<Tokenizer> without_prefix(const std::vector<test::SpmToken>& tokens) {
  Vocabulary vocabulary = spm_vocabulary(tokens);
  vocabulary.add_space_prefix = false;
  return make_tokenizer(std::move(vocabulary));
}

TEST(SpmMerges, HighestScoreMergesFirst) {
  const auto tokenizer = without_prefix({{"a", -9}, {"b", -9}, {"c", -9}, {"ab", -2}, {"bc", -1}});
  EXPECT_THAT(tokenizer->encode("abc", false, false), ElementsAre(kFirst, kFirst + 4));
}

TEST(SpmMerges, LeftmostOfEqualScoresMergesFirst) {
  const auto tokenizer = without_prefix({{"a", -9}, {"aa", -1}});
  EXPECT_THAT(tokenizer->encode("aaa", false, false), ElementsAre(kFirst + 1, kFirst));
}

TEST(SpmMerges, TokenWithoutAMergePathIsNotUsed) {
  const auto tokenizer = without_prefix({{"a", -9}, {"b", -9}, {"c", -9}, {"abc", -1}});
  EXPECT_THAT(tokenizer->encode("abc", false, false), ElementsAre(kFirst, kFirst + 1, kFirst + 2));
}

TEST(SpmMerges, ControlTokenIsNeverMadeByMerging) {
  const auto tokenizer = without_prefix({{"<", -9}, {"/", -9}, {"s", -9}, {">", -9}, {"</", -3}, {"s>", -3}});
  EXPECT_THAT(tokenizer->encode("</s>", false, false), ElementsAre(kFirst + 4, kFirst + 5));
  EXPECT_THAT(tokenizer->encode("</s>", true, false), ElementsAre(2));
}

TEST(SpmText, UnknownCharacterBecomesItsBytes) {
  const auto tokenizer = without_prefix({{"a", -1}});
  EXPECT_THAT(tokenizer->encode("aé\n", false, false),
              ElementsAre(kFirst, kByte0 + 0xC3, kByte0 + 0xA9, kByte0 + 0x0A));
}

TEST(SpmText, SpellingOfAByteTokenInTheTextIsText) {
  const auto tokenizer = without_prefix({{"<0x0", -1}, {"A>", -1}});
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("<0x0A>", true, false)), "<0x0A>");
}

TEST(SpmText, SpaceIsAddedBeforeTextAndAfterSpecialTokens) {
  const auto tokenizer = make_tokenizer(spm_vocabulary({{"▁", -9}, {"a", -9}, {"▁a", -1}, {"b", -9}}));
  EXPECT_THAT(tokenizer->encode("a a", false, true), ElementsAre(1, kFirst + 2, kFirst + 2));
  EXPECT_THAT(tokenizer->encode("a</s>b", true, false), ElementsAre(kFirst + 2, 2, kFirst, kFirst + 3));
  EXPECT_THAT(tokenizer->encode("", false, true), ElementsAre(1));
  EXPECT_EQ(tokenizer->kind(), "llama");
}

TEST(SpmText, SpaceIsNotAddedInTheMiddleOfAPrompt) {
  const auto tokenizer = make_tokenizer(spm_vocabulary({{"▁", -9}, {"a", -9}, {"▁a", -1}, {"b", -9}}));
  const std::vector<PromptPiece> pieces = {{"b", true}, {"a</s>", false}, {"</s>", true}, {"b", false}};
  const auto ids = tokenizer->encode_prompt(pieces, true);
  ASSERT_EQ(ids.size(), 11U);
  EXPECT_THAT(std::vector<TokenId>(ids.begin(), ids.begin() + 4), ElementsAre(1, kFirst, kFirst + 3, kFirst + 1));
  EXPECT_THAT(std::vector<TokenId>(ids.end() - 3, ids.end()), ElementsAre(2, kFirst, kFirst + 3));
}

TEST(SpmText, TokenBytesKeepTheSpaceThatDecodeLeavesOut) {
  const auto tokenizer = make_tokenizer(spm_vocabulary({{"▁a", -1}}));
  EXPECT_EQ(tokenizer->token_bytes(kFirst), " a");
  EXPECT_EQ(tokenizer->token_text(kFirst), "▁a");
  EXPECT_EQ(tokenizer->token_bytes(kByte0 + 0x41), "A");
  EXPECT_EQ(tokenizer->token_bytes(2), "");
  EXPECT_EQ(tokenizer->decode(std::vector<TokenId>{1, kFirst, kFirst}), "a a");
}

TEST(SpmText, DecodeOfEncodeIsTheText) {
  const auto tokenizer = make_tokenizer(spm_vocabulary(
      {{"▁", -9}, {"a", -9}, {"▁a", -1}, {"▁▁", -2}, {"s", -3}, {"[U]", -4, TokenKind::kUserDefined}, {"é", -5}}));
  std::mt19937_64 random(5);
  for (int round = 0; round < 1000; ++round) {
    std::string text = test::random_text(random, random() % 40);
    if (text.find("▁") != std::string::npos) continue;  // the one character that the style can't tell from a space
    if (round % 3 == 0) text.insert(0, " [U] ");
    ASSERT_EQ(tokenizer->decode(tokenizer->encode(text, false, true)), text) << "round " << round;
  }
}

TEST(SpmText, LongTextTakesAboutLinearTime) {
  const auto tokenizer = make_tokenizer(spm_vocabulary({{"a", -9}, {"aa", -1}, {"aaaa", -2}, {"▁", -9}, {"▁▁", -1}}));
  for (const std::string unit : {"a", " ", "é", "a "}) {
    std::string text;
    while (text.size() < 300000) text += unit;
    const auto start = std::chrono::steady_clock::now();
    const auto ids = tokenizer->encode(text, true, false);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    EXPECT_EQ(tokenizer->decode(ids), text);
    EXPECT_LT(seconds.count(), 10) << unit;
  }
}

}  // namespace
}  // namespace lpu::model
