// Byte-level BPE on vocabularies of a few tokens: merge order, special tokens, fallbacks, hostile lengths.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "host/base/error.hpp"
#include "host/model/pre_tokenizer.hpp"
#include "tests/tokenizer/small_vocabularies.hpp"

namespace lpu::model {
namespace {

using test::bpe_vocabulary;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(BpeMerges, EarlierMergeComesFirstWhereverItStands) {
  const auto tokenizer = make_tokenizer(bpe_vocabulary({"b c", "a b", "ab c"}));
  EXPECT_THAT(tokenizer->encode("abc", false, false), ElementsAre('a', 256));
  EXPECT_THAT(tokenizer->encode("abab", false, false), ElementsAre(257, 257));
}

TEST(BpeMerges, LeftmostOfEqualMergesComesFirst) {
  const auto tokenizer = make_tokenizer(bpe_vocabulary({"a a"}));
  EXPECT_THAT(tokenizer->encode("aaaaa", false, false), ElementsAre(256, 256, 'a'));
}

TEST(BpeMerges, FirstOfTwoEqualEntriesCounts) {
  const auto tokenizer = make_tokenizer(bpe_vocabulary({"a b", "b c", "a b"}));
  EXPECT_THAT(tokenizer->encode("abc", false, false), ElementsAre(256, 'c'));
}

TEST(BpeMerges, StepThatIsNoTokenFallsBackToBytes) {
  Vocabulary vocabulary = bpe_vocabulary({"a b"});
  vocabulary.texts[256] = "zz";  // "ab" is a step, but no token
  EXPECT_THAT(make_tokenizer(std::move(vocabulary))->encode("abz", false, false), ElementsAre('a', 'b', 'z'));
}

TEST(BpeMerges, StepThatIsNoTokenLeadsToALongerToken) {
  Vocabulary vocabulary = bpe_vocabulary({"a b", "ab c"});
  vocabulary.texts[256] = "zz";
  EXPECT_THAT(make_tokenizer(std::move(vocabulary))->encode("abc", false, false), ElementsAre(257));
}

TEST(BpeMerges, WholeWordIsTakenAtOnceForLlamaBpeOnly) {
  // "abc" is a token, but the merges lead elsewhere: "a bc" isn't among them.
  const std::vector<std::pair<std::string, TokenKind>> whole = {{"abc", TokenKind::kNormal}};
  EXPECT_THAT(make_tokenizer(bpe_vocabulary({"b c"}, whole, "llama-bpe"))->encode("abc", false, false),
              ElementsAre(257));
  EXPECT_THAT(make_tokenizer(bpe_vocabulary({"b c"}, whole, "qwen2"))->encode("abc", false, false),
              ElementsAre('a', 256));
}

TEST(BpeMerges, ControlTokenIsNeverMadeByMerging) {
  for (const char* pre : {"gpt-2", "llama-bpe"}) {
    Vocabulary vocabulary = bpe_vocabulary({"a b"}, {}, pre);
    vocabulary.kinds[256] = TokenKind::kControl;
    EXPECT_THAT(make_tokenizer(std::move(vocabulary))->encode("ab", false, false), ElementsAre('a', 'b')) << pre;
  }
}

TEST(BpeMerges, ByteWithoutATokenVanishes) {
  Vocabulary vocabulary = bpe_vocabulary({});
  vocabulary.texts[4] = "";
  EXPECT_THAT(make_tokenizer(std::move(vocabulary))->encode("a\x04z", false, false), ElementsAre('a', 'z'));
}

const std::vector<std::pair<std::string, TokenKind>> kSpecials = {{"<|im_start|>", TokenKind::kControl},
                                                                  {"<|im_end|>", TokenKind::kControl},
                                                                  {"<|im_end|>x", TokenKind::kControl},
                                                                  {"[USER]", TokenKind::kUserDefined}};

TEST(BpeSpecialTokens, ControlTokensAreFoundOnlyWhereAsked) {
  const auto tokenizer = make_tokenizer(bpe_vocabulary({}, kSpecials));
  EXPECT_THAT(tokenizer->encode("a<|im_start|>b", true, false), ElementsAre('a', 256, 'b'));
  EXPECT_EQ(tokenizer->encode("a<|im_start|>b", false, false).size(), 14U);
  EXPECT_THAT(tokenizer->encode("[USER][USER]", false, false), ElementsAre(259, 259));
}

TEST(BpeSpecialTokens, LongestIsFoundFirst) {
  const auto tokenizer = make_tokenizer(bpe_vocabulary({}, kSpecials));
  EXPECT_THAT(tokenizer->encode("<|im_end|><|im_end|>x", true, false), ElementsAre(257, 258));
}

TEST(BpeSpecialTokens, LongerOneWinsOverOneThatBeginsBefore) {
  const auto tokenizer =
      make_tokenizer(bpe_vocabulary({}, {{"<ab>", TokenKind::kControl}, {"b><long>", TokenKind::kControl}}));
  EXPECT_THAT(tokenizer->encode("<ab><long>", true, false), ElementsAre('<', 'a', 257));
}

TEST(BpeSpecialTokens, ControlTokensHaveNoBytes) {
  const auto tokenizer = make_tokenizer(bpe_vocabulary({}, kSpecials));
  EXPECT_EQ(tokenizer->token_bytes(256), "");
  EXPECT_EQ(tokenizer->token_text(256), "<|im_start|>");
  EXPECT_EQ(tokenizer->token_bytes(259), "[USER]");
  EXPECT_EQ(tokenizer->decode(std::vector<TokenId>{'a', 256, ' ', 259, 'b'}), "a [USER]b");
}

TEST(BpeSpecialTokens, EndMarksAreKeysAndKnownControlTexts) {
  Vocabulary vocabulary = bpe_vocabulary({}, kSpecials);
  vocabulary.end = 'e';
  vocabulary.end_of_turn = 't';
  vocabulary.end_of_message = 'm';
  vocabulary.texts.push_back("<|eot_id|>");
  vocabulary.kinds.push_back(TokenKind::kNormal);  // not a control token here, so it's text
  const auto tokenizer = make_tokenizer(std::move(vocabulary));
  std::vector<TokenId> ends;
  for (TokenId id = 0; id < static_cast<TokenId>(tokenizer->vocabulary()); ++id) {
    if (tokenizer->is_end(id)) ends.push_back(id);
  }
  EXPECT_THAT(ends, ElementsAre('e', 'm', 't', 257));
}

TEST(BpePrompt, MessageCanNotForgeAControlToken) {
  const auto tokenizer = make_tokenizer(bpe_vocabulary({}, kSpecials));
  const std::vector<PromptPiece> pieces = {{"<|im_start|>", true}, {"<|im_end|>", false}, {"<|im_end|>", true}};
  const auto ids = tokenizer->encode_prompt(pieces, false);
  ASSERT_EQ(ids.size(), 12U);
  EXPECT_EQ(ids.front(), 256);
  EXPECT_EQ(ids[1], '<');
  EXPECT_EQ(ids.back(), 257);
}

TEST(BpePrompt, ControlTokenOverTwoPiecesIsText) {
  const auto tokenizer = make_tokenizer(bpe_vocabulary({}, kSpecials));
  for (const bool first : {false, true}) {
    const std::vector<PromptPiece> pieces = {{"<|im_", first}, {"end|>", !first}};
    EXPECT_EQ(tokenizer->encode_prompt(pieces, false).size(), 10U);
  }
  EXPECT_THAT(tokenizer->encode_prompt(std::vector<PromptPiece>{}, false), ElementsAre());
}

TEST(BpePrompt, WordsCrossPieces) {
  // As in the original template's text: the line end after the role and one in the message are one word.
  const auto tokenizer = make_tokenizer(bpe_vocabulary({"Ċ Ċ"}, kSpecials));
  const std::vector<PromptPiece> pieces = {{"<|im_start|>\n", true}, {"\n", false}, {"<|im_end|>", true}};
  EXPECT_THAT(tokenizer->encode_prompt(pieces, false), ElementsAre(257, 256, 258));
}

TEST(BpeText, StartMarkIsAddedWhereFileAndCallerAskForIt) {
  Vocabulary vocabulary = bpe_vocabulary({}, kSpecials);
  vocabulary.start = 256;
  EXPECT_THAT(make_tokenizer(vocabulary)->encode("a", false, true), ElementsAre('a'));
  vocabulary.add_start = true;
  const auto tokenizer = make_tokenizer(vocabulary);
  EXPECT_TRUE(tokenizer->adds_start());
  EXPECT_THAT(tokenizer->encode("a", false, true), ElementsAre(256, 'a'));
  EXPECT_THAT(tokenizer->encode("a", false, false), ElementsAre('a'));
  EXPECT_THAT(tokenizer->encode("", false, true), ElementsAre(256));
}

TEST(BpeText, InvalidUtf8BecomesTheReplacementCharacter) {
  const auto tokenizer = make_tokenizer(bpe_vocabulary({}));
  EXPECT_EQ(tokenizer->encode("a\xFF\xE2\x82z", false, false), tokenizer->encode("a\uFFFD\uFFFDz", false, false));
}

TEST(BpeText, DecodeOfEncodeIsTheTextForAllPreTokenizers) {
  std::mt19937_64 random(11);
  for (const char* pre : {"smollm", "gpt-2", "llama-bpe", "qwen2"}) {
    const auto tokenizer = make_tokenizer(bpe_vocabulary({"Ġ t", "' s", "Ã ©", "ð Ł", "Ċ Ċ", "0 1", "Ġt h"}, {}, pre));
    EXPECT_EQ(tokenizer->kind(), std::string("gpt2/") + pre);
    for (int round = 0; round < 500; ++round) {
      const std::string text = test::random_text(random, random() % 60);
      ASSERT_EQ(tokenizer->decode(tokenizer->encode(text, round % 2 == 0, false)), text) << pre << ", round " << round;
    }
  }
}

TEST(BpeText, IdOutsideTheVocabularyIsRefused) {
  const auto tokenizer = make_tokenizer(bpe_vocabulary({}));
  EXPECT_THROW(static_cast<void>(tokenizer->token_bytes(256)), Error);
  EXPECT_THROW(static_cast<void>(tokenizer->token_bytes(-1)), Error);
  EXPECT_THROW(static_cast<void>(tokenizer->decode(std::vector<TokenId>{1, 1000})), Error);
}

TEST(BpeText, LongWordsAndLongRunsTakeAboutLinearTime) {
  // A quadratic step would take minutes.
  std::vector<std::string> merges = {"a a", "aa aa", "aaaa aaaa", "Ġ Ġ", "a b"};
  for (const char* pre : {"smollm", "gpt-2", "llama-bpe", "qwen2"}) {
    const auto tokenizer = make_tokenizer(bpe_vocabulary(merges, kSpecials, pre));
    for (const std::string unit : {"a", "ab", " ", "\n", "<", "'", "1", "é", " \n", "<|im_"}) {
      std::string text;
      while (text.size() < 300000) text += unit;
      const auto start = std::chrono::steady_clock::now();
      const auto ids = tokenizer->encode(text + "!", true, false);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      EXPECT_EQ(tokenizer->decode(ids), text + "!");
      EXPECT_LT(seconds.count(), 10) << pre << " on '" << unit << "'";
    }
  }
}

TEST(PreTokenizerWords, UnknownNameGivesNoneAndKnownOnesAreListed) {
  EXPECT_EQ(PreTokenizer::by_name("default"), nullptr);
  EXPECT_EQ(PreTokenizer::by_name(""), nullptr);
  for (const char* name : {"smollm", "gpt-2", "llama-bpe", "qwen2"}) {
    EXPECT_NE(PreTokenizer::by_name(name), nullptr) << name;
    EXPECT_THAT(std::string(PreTokenizer::supported()), HasSubstr(name));
  }
}

TEST(PreTokenizerWords, EachPreTokenizerCutsItsOwnWay) {
  const std::string text = "I'LL it'll 12345 foo!!\n\n  bar\xC2\xA0";
  EXPECT_THAT(PreTokenizer::by_name("gpt-2")->split(text),
              ElementsAre("I", "'", "LL", " it", "'ll", " 12345", " foo", "!!", "\n\n ", " bar", "\xC2\xA0"));
  EXPECT_THAT(PreTokenizer::by_name("smollm")->split(text),
              ElementsAre("I", "'", "LL", " it", "'ll", " ", "1", "2", "3", "4", "5", " foo", "!!", "\n\n ", " bar",
                          "\xC2\xA0"));
  EXPECT_THAT(PreTokenizer::by_name("llama-bpe")->split(text),
              ElementsAre("I", "'LL", " it", "'ll", " ", "123", "45", " foo", "!!\n\n", " ", " bar", "\xC2\xA0"));
  EXPECT_THAT(
      PreTokenizer::by_name("qwen2")->split(text),
      ElementsAre("I", "'LL", " it", "'ll", " ", "1", "2", "3", "4", "5", " foo", "!!\n\n", " ", " bar", "\xC2\xA0"));
}

}  // namespace
}  // namespace lpu::model
