// Groups of cards as the compiler plans them: who holds what, what a token takes, and what is refused and how.
#include "host/compiler/group.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

#include "host/base/error.hpp"
#include "host/compiler/group_share.hpp"
#include "tests/support/test_models.hpp"

namespace lpu::compiler {
namespace {

using testing::HasSubstr;

GroupOptions options_for(const std::string& hardware, std::uint32_t context) {
  GroupOptions out;
  out.common.hardware_name = hardware;
  out.common.context_tokens = context;
  out.cards = find_cards(hardware);
  out.link = find_link("aurora-25g");
  return out;
}

std::string refusal(const std::function<void()>& work, ExitCode code) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return "";
}

TEST(GroupNames, CountsAndSumsOfCardsAreCards) {
  EXPECT_EQ(find_cards("u55c").size(), 1u);
  const std::vector<GroupCard> cards = find_cards("2xu55c+1xu250+u250:16x2");
  ASSERT_EQ(cards.size(), 4u);
  EXPECT_EQ(cards[0].name, "u55c");
  EXPECT_EQ(cards[1].name, "u55c");
  EXPECT_EQ(cards[2].name, "u250");
  EXPECT_EQ(cards[3].hardware.lanes, 16);
}

TEST(GroupNames, WhatIsNoGroupIsRefused) {
  const auto refused = [](const std::string& name) { return refusal([&] { find_cards(name); }, ExitCode::kUsage); };
  EXPECT_THAT(refused("0xu55c"), HasSubstr("from 1 to 64"));
  EXPECT_THAT(refused("65xu55c"), HasSubstr("from 1 to 64"));
  EXPECT_THAT(refused("99999999999999999999xu55c"), HasSubstr("from 1 to 64"));
  EXPECT_THAT(refused("40xu55c+40xu55c"), HasSubstr("at most 64 cards"));
  EXPECT_THAT(refused("u55c+kv260"), HasSubstr("one clock frequency"));
  EXPECT_NE(refused("u55c+"), "");
  EXPECT_NE(refused("3x"), "");
  EXPECT_THAT(refusal([] { find_link("string"); }, ExitCode::kUsage), HasSubstr("aurora-25g, udp-100g"));
}

TEST(GroupPlan, LayersAndIdsAreHeldOnceByCardsThatHoldThem) {
  const auto model = model::Model::open(test::model("five_layers"));
  for (const std::string hardware : {"2xtiny", "3xtiny", "5xtiny"}) {
    const GroupOptions options = options_for(hardware, 64);
    for (const HeadSplit split : {HeadSplit::kAllCards, HeadSplit::kLastCard}) {
      std::uint32_t layer = 0, id = 0;
      for (const CardShare& share : share_model(*model, options, split)) {
        EXPECT_EQ(share.first_layer, layer) << hardware;
        EXPECT_EQ(share.first_id, id) << hardware;
        EXPECT_GE(share.layers, 1u);
        EXPECT_GE(share.ids, 1u);
        EXPECT_EQ(share.first_id % 4, 0u) << "ids are cut where a row group starts";
        EXPECT_TRUE(holds(*model, options, share));
        layer += share.layers;
        id += share.ids;
      }
      EXPECT_EQ(layer, model->shape().layers);
      EXPECT_EQ(id, model->shape().vocabulary);
    }
  }
}

TEST(GroupPlan, IdsOfUnequalCardsAreCutWhereARowGroupStartsOnEach) {
  const auto model = model::Model::open(test::model("odd_shape"));
  ASSERT_NE(model->shape().vocabulary % 16, 0u) << "else no cut could be wrong";
  for (const std::string hardware : {"tiny:16x4+tiny:2x1", "tiny:2x1+tiny:16x4", "tiny:16x4+2xtiny:2x1"}) {
    const GroupReport report = estimate_group(*model, options_for(hardware, 32));
    std::uint32_t id = 0;
    for (const GroupCardReport& card : report.cards) {
      EXPECT_EQ(card.share.first_id, id) << hardware;
      EXPECT_EQ(card.share.first_id % 16, 0u) << hardware;
      id += card.share.ids;
    }
    EXPECT_EQ(id, model->shape().vocabulary) << hardware;
  }
}

TEST(GroupPlan, ChosenSplitIsTheFastestLookedAt) {
  const auto model = model::Model::open(test::model("five_layers"));
  const GroupReport report = estimate_group(*model, options_for("3xtiny", 64));
  ASSERT_TRUE(report.fits);
  ASSERT_EQ(report.positions.size(), 3u);
  EXPECT_EQ(report.positions.back().position, 63u);
  EXPECT_EQ(report.positions.back().cycles, report.cycles_per_token);
  std::size_t chosen = 0;
  for (const Alternative& a : report.alternatives) {
    EXPECT_TRUE(a.cycles == 0 || report.cycles_per_token <= a.cycles) << a.what;
    if (!a.chosen) continue;
    ++chosen;
    EXPECT_EQ(a.cycles, report.cycles_per_token);
  }
  EXPECT_EQ(chosen, 1u);
}

TEST(GroupPlan, SlowerLinkTakesItsHopsMore) {
  const auto model = model::Model::open(test::model("five_layers"));
  GroupOptions options = options_for("3xtiny", 64);
  const std::uint64_t fast = estimate_group(*model, options).cycles_per_token;
  options.link.latency_ns += 1000;  // 100 cycles of 100 MHz
  // To card 0, to card 1, to card 2, to the heads of the others, and the best to all; of the one before the last a part
  // comes back, since the last card, which has the residual at once, takes more rows of the head.
  const std::uint64_t slow = estimate_group(*model, options).cycles_per_token;
  EXPECT_LE(slow, fast + 5 * 100);
  EXPECT_GT(slow, fast + 4 * 100);
}

TEST(GroupPlan, WhatDoesNotFitIsToldByCardWithTheSmallestChange) {
  const auto model = model::Model::open(test::model("five_layers"));
  GroupOptions options = options_for("2xtiny", 64);
  const std::uint64_t used = memory_use(place(*model, options.cards[0].hardware, 64, 8,
                                              share_model(*model, options, HeadSplit::kAllCards)[0]))[0]
                                 .used_depth;
  for (GroupCard& card : options.cards) card.hardware.lane_words = static_cast<int>(used) * 3 / 4;
  const GroupReport report = estimate_group(*model, options);
  EXPECT_FALSE(report.fits);
  ASSERT_GE(report.misfits.size(), 2u);
  EXPECT_THAT(report.misfits[0], HasSubstr("card 0 (tiny), lane memory"));
  EXPECT_THAT(report.misfits.back(), HasSubstr("it would fit with 1 more tiny"));
  EXPECT_THAT(refusal([&] { compile_group(*model, options, "nowhere"); }, ExitCode::kDoesNotFit),
              HasSubstr("it would fit with 1 more tiny"));
}

TEST(GroupPlan, MoreCardsThanLayersAreRefused) {
  const auto model = model::Model::open(test::model("five_layers"));
  EXPECT_THAT(refusal([&] { estimate_group(*model, options_for("6xtiny", 64)); }, ExitCode::kDoesNotFit),
              HasSubstr("has 5 layers for 6 cards"));
}

TEST(GroupPlan, SmallestGroupIsTheFirstThatHolds) {
  const auto model = model::Model::open(test::model("five_layers"));
  EXPECT_EQ(smallest_group(*model, options_for("tiny", 64), "tiny"), "tiny");
}

}  // namespace
}  // namespace lpu::compiler
