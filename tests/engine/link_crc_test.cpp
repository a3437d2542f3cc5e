// The check of vectors between cards: the polynomial's published values, and what it must find.
#include "hls/engine/link_crc.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace lpu {
namespace engine {
namespace {

std::uint32_t crc_of_bytes(const std::vector<std::uint8_t>& bytes) {
  std::uint32_t state = contract::kLinkCrcStart;
  for (const std::uint8_t byte : bytes) state = link_crc_add(state, byte, 8);
  return link_crc_end(state);
}

TEST(LinkCrc, CheckValueIsThePublishedOne) {
  EXPECT_EQ(crc_of_bytes({'1', '2', '3', '4', '5', '6', '7', '8', '9'}), 0xe3069283u);
}

TEST(LinkCrc, ExamplesOfRfc3720AreMet) {
  std::vector<std::uint8_t> bytes(32, 0);
  EXPECT_EQ(crc_of_bytes(bytes), 0x8a9136aau);
  bytes.assign(32, 0xff);
  EXPECT_EQ(crc_of_bytes(bytes), 0x62a8ab43u);
  for (std::size_t i = 0; i < 32; ++i) bytes[i] = static_cast<std::uint8_t>(i);
  EXPECT_EQ(crc_of_bytes(bytes), 0x46dd794eu);
}

TEST(LinkCrc, WordIsItsBytesLowestFirst) {
  const std::uint32_t words[] = {0x34333231u, 0x38373635u};
  EXPECT_EQ(link_crc(words, 2), crc_of_bytes({'1', '2', '3', '4', '5', '6', '7', '8'}));
}

TEST(LinkCrc, UpToThreeFlippedBitsOfTheLongestVectorAreFound) {
  std::mt19937_64 random(1);
  std::vector<std::uint32_t> words(2 + static_cast<std::size_t>(contract::kMaxLinkBlocks) * contract::kBlockValues);
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random());
  const int count = static_cast<int>(words.size());
  const std::uint32_t right = link_crc(words.data(), count);
  for (int flips = 1; flips <= 3; ++flips)
    for (int i = 0; i < 5; ++i) {
      std::vector<std::uint32_t> wrong = words;
      for (int flip = 0; flip < flips; ++flip) wrong[random() % words.size()] ^= 1u << (random() % 32);
      EXPECT_EQ(link_crc(wrong.data(), count) == right, wrong == words);
    }
}

TEST(LinkHeader, QuartersXorToOnesAndFieldsAreInTheirPlaces) {
  const std::uint64_t header = contract::link_header(0xa, 2048, 0xbeef);
  EXPECT_EQ(header & 0xffff, static_cast<std::uint64_t>(contract::kLinkMagic));
  EXPECT_EQ(header >> 16 & 0xfff, 2048u);
  EXPECT_EQ(header >> 28 & 0xf, 0xau);
  EXPECT_EQ(header >> 32 & 0xffff, 0xbeefu);
  EXPECT_EQ((header ^ header >> 16 ^ header >> 32 ^ header >> 48) & 0xffff, 0xffffu);
}

}  // namespace
}  // namespace engine
}  // namespace lpu
