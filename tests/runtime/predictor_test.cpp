// What the next token is said to take, on a card alone and on a group: worked by hand from declared times.
#include "host/runtime/predictor.hpp"

#include <gtest/gtest.h>

#include "tests/bundle/small_group.hpp"

namespace lpu::test {
namespace {

TEST(Predictor, CardAloneTakesWhatItsProgramSays) {
  const TemporaryPlace place;
  bundle::write(place.path() / "b", small_contents());
  runtime::Predictor predictor(bundle::Bundle::open(place.path() / "b"));
  EXPECT_EQ(predictor.token(31, true), 1000u);
  EXPECT_EQ(predictor.token(32, true), 1100u);
  EXPECT_EQ(predictor.token(33, false), 800u);
  EXPECT_EQ(predictor.token(0, false), 700u);
}

TEST(Predictor, GroupTakesWhatItsCardsAndLinksSay) {
  // Phases of 100, 200 and 300 cycles (from position 32 on 9 more); card k sends its embedding at 40 + k (1 more), its
  // residual at 190 + k (5 more). At 100 MHz a block takes 4 cycles, a hop 14 + 1 + 7: 31 with header and sender.
  const TemporaryPlace place;
  bundle::write_group(place.path() / "g", small_group());
  runtime::Predictor predictor(bundle::Bundle::open(place.path() / "g"));
  // Layers at 100, 100 + 190 + 31 = 321, 321 + 191 + 31 = 543; residual sent at 735, heads at 766, 766, 743; the best
  // of the first two at 1066 + 31, and 4 to pick.
  EXPECT_EQ(predictor.token(0, true), 1101u);
  EXPECT_EQ(predictor.token(1, true), 1101u);
  // From 109 on: 109, 335, 562; sent at 759, heads at 790; 790 + 309 + 35.
  EXPECT_EQ(predictor.token(32, true), 1134u);
  predictor.reset();
  // A prompt: card 0 runs E(0), E(1), L(0), and E(2), L(1), while the others do theirs.
  EXPECT_EQ(predictor.token(0, false), 400u);
  EXPECT_EQ(predictor.token(1, false), 300u);
  EXPECT_EQ(predictor.token(2, false), 300u);
}

}  // namespace
}  // namespace lpu::test
