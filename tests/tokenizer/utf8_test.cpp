// repair_utf8 and Utf8Stream against the Unicode Standard's table of well-formed sequences.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/tokenizer/small_vocabularies.hpp"

namespace lpu::model {
namespace {

const std::string kBad = "\xEF\xBF\xBD";

std::string bads(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += kBad;
  return text;
}

TEST(RepairUtf8, WellFormedTextStaysAsItIs) {
  for (const std::string text : {"", "plain", "é", "€", "𐍈", "\xF4\x8F\xBF\xBF", "\xED\x9F\xBF", "\xEE\x80\x80",
                                 "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xE0\xA0\x80", "\xC2\x80", "\xDF\xBF"}) {
    EXPECT_EQ(repair_utf8(text), text);
  }
  const std::string zero("a\0b", 3);
  EXPECT_EQ(repair_utf8(zero), zero);
}

TEST(RepairUtf8, EachMaximalIllFormedPartBecomesOneReplacement) {
  // The example of the Unicode Standard, chapter 3, "U+FFFD Substitution of Maximal Subparts".
  EXPECT_EQ(repair_utf8("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64"),
            "a" + bads(3) + "b" + kBad + "c" + bads(2) + "d");
}

TEST(RepairUtf8, LoneBytesBecomeOneReplacementEach) {
  EXPECT_EQ(repair_utf8("\x80"), kBad);
  EXPECT_EQ(repair_utf8("\xFF\xFE"), bads(2));
  EXPECT_EQ(repair_utf8("\xC0\xAF"), bads(2));  // overlong slash
  EXPECT_EQ(repair_utf8("\xC1\xBF"), bads(2));
  EXPECT_EQ(repair_utf8("\xE0\x9F\xBF"), bads(3));      // overlong
  EXPECT_EQ(repair_utf8("\xF0\x8F\xBF\xBF"), bads(4));  // overlong
  EXPECT_EQ(repair_utf8("\xED\xA0\x80"), bads(3));      // surrogate
  EXPECT_EQ(repair_utf8("\xF4\x90\x80\x80"), bads(4));  // past U+10FFFF
  EXPECT_EQ(repair_utf8("\xF5\x80\x80\x80"), bads(4));
}

TEST(RepairUtf8, TextCutInACharacterEndsInOneReplacement) {
  EXPECT_EQ(repair_utf8("a\xE2\x82"), "a" + kBad);
  EXPECT_EQ(repair_utf8("a\xF0\x9F\x98"), "a" + kBad);
  EXPECT_EQ(repair_utf8("a\xC3"), "a" + kBad);
  EXPECT_EQ(repair_utf8("\xE2\x82z"), kBad + "z");
}

TEST(Utf8Stream, CharacterInPiecesAppearsWhenItIsComplete) {
  Utf8Stream stream;
  EXPECT_EQ(stream.push("a\xF0"), "a");
  EXPECT_EQ(stream.push("\x9F"), "");
  EXPECT_EQ(stream.push("\x98"), "");
  EXPECT_EQ(stream.push("\x80z"), "😀z");
  EXPECT_EQ(stream.finish(), "");
}

TEST(Utf8Stream, UnfinishedCharacterIsReplacedAtTheEnd) {
  Utf8Stream stream;
  EXPECT_EQ(stream.push("\xE2\x82"), "");
  EXPECT_EQ(stream.finish(), kBad);
  EXPECT_EQ(stream.finish(), "");
  EXPECT_EQ(stream.push("ok"), "ok");
}

TEST(Utf8Stream, ByteThatBreaksACharacterIsNotSwallowed) {
  Utf8Stream stream;
  EXPECT_EQ(stream.push("\xE2\x82"), "");
  EXPECT_EQ(stream.push("\xE2\x82\xAC"), kBad + "€");
}

TEST(Utf8Stream, AnySplitOfAnyBytesGivesWhatRepairGives) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 4000; ++round) {
    std::string bytes;
    if (round % 2 == 0) bytes = test::random_text(random, random() % 12);
    for (std::size_t i = random() % 10; i > 0; --i) {
      constexpr std::string_view kEdges =
          "\x41\x7F\x80\x8F\x90\x9F\xA0\xBF\xC1\xC2\xDF\xE0\xE1\xED\xEF\xF0\xF1\xF4\xF5\xFF";
      bytes.insert(random() % (bytes.size() + 1), 1, kEdges[random() % kEdges.size()]);
    }
    Utf8Stream stream;
    std::string streamed;
    for (std::size_t i = 0; i < bytes.size();) {
      const std::size_t size = 1 + random() % 4;
      streamed += stream.push(std::string_view(bytes).substr(i, size));
      i += size;
    }
    streamed += stream.finish();
    ASSERT_EQ(streamed, repair_utf8(bytes)) << "round " << round;
    ASSERT_EQ(repair_utf8(streamed), streamed) << "round " << round;
  }
}

}  // namespace
}  // namespace lpu::model
