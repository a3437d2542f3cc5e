// Cards by name, and the golden card behind the interface that all cards share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/error.hpp"
#include "host/card/card.hpp"
#include "host/compiler/compiler.hpp"
#include "tests/bundle/small_bundle.hpp"
#include "tests/support/test_models.hpp"

namespace lpu::test {
namespace {

using testing::HasSubstr;

class GoldenCard : public testing::Test {
 protected:
  static bundle::Bundle make(const std::filesystem::path& folder) {
    compiler::CompileOptions options;
    options.hardware = compiler::find_hardware("tiny");
    options.hardware_name = "tiny";
    options.context_tokens = 64;
    compiler::compile(*model::Model::open(model("tied_q4_1")), options, folder, std::nullopt);
    return bundle::Bundle::open(folder);
  }
  /// Token i at position i; the last step's logits.
  static std::vector<float> logits_after(card::Card& card, std::uint32_t tokens) {
    std::vector<float> logits;
    for (std::uint32_t i = 0; i < tokens; ++i) {
      card::TokenRequest request;
      request.token = static_cast<std::int32_t>(i);
      request.position = i;
      request.want_next = i + 1 == tokens;
      if (request.want_next) request.logits = &logits;
      card.step(request);
    }
    return logits;
  }

  TemporaryPlace place_;
  bundle::Bundle bundle_ = make(place_.path() / "b");
  std::unique_ptr<card::Card> card_ = card::open_card("golden", bundle_, {2, true});
};

TEST_F(GoldenCard, UnknownNameListsTheCards) {
  try {
    (void)card::open_card("silver", bundle_, {});
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("silver"), HasSubstr("golden")));
  }
}

TEST_F(GoldenCard, EveryStepTakesThePredictedCycles) {
  for (std::uint32_t position = 0; position < 64; ++position) {
    card::TokenRequest request;
    request.token = static_cast<std::int32_t>(position);
    request.position = position;
    request.want_next = position % 3 == 0;
    const auto& predicted =
        request.want_next ? bundle_.program().cycles_with_head : bundle_.program().cycles_without_head;
    EXPECT_EQ(card_->step(request).cycles, predicted[position / 32]) << position;
  }
}

TEST_F(GoldenCard, ResetForgetsTheSession) {
  const std::vector<float> first = logits_after(*card_, 5);
  card_->reset();
  EXPECT_EQ(logits_after(*card_, 5), first);
}

TEST_F(GoldenCard, ThreadsAndFastDotsChangeNoBit) {
  const std::vector<float> logits = logits_after(*card_, 6);
  ASSERT_EQ(logits.size(), bundle_.shape().vocabulary);
  for (const card::CardOptions& options :
       {card::CardOptions{1, false}, card::CardOptions{1, true}, card::CardOptions{3, true}})
    EXPECT_EQ(logits_after(*card::open_card("golden", bundle_, options), 6), logits);
}

TEST_F(GoldenCard, BestLogitsAreThoseOfTheWholeRow) {
  std::vector<float> logits;
  card::TokenRequest request;
  request.token = 65;
  request.logits = &logits;
  const card::TokenResult result = card_->step(request);
  std::vector<std::int32_t> ids(logits.size());
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i);
  std::stable_sort(ids.begin(), ids.end(), [&](std::int32_t a, std::int32_t b) {
    return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
  });
  ASSERT_EQ(result.best.size(), 64u);
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(result.best[i].id, ids[i]);
    EXPECT_EQ(result.best[i].logit, logits[static_cast<std::size_t>(ids[i])]);
  }
  EXPECT_EQ(result.next, ids[0]);
}

TEST_F(GoldenCard, PromptTokenHasNoNext) {
  card::TokenRequest request;
  request.want_next = false;
  const card::TokenResult result = card_->step(request);
  EXPECT_EQ(result.next, -1);
  EXPECT_TRUE(result.best.empty());
}

TEST_F(GoldenCard, RequestOutOfRangeStopsTheCard) {
  card::TokenRequest request;
  request.position = 64;
  EXPECT_THROW(card_->step(request), Error);
  request.position = 0;
  request.token = 320;
  try {
    card_->step(request);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kCard);
  }
}

TEST_F(GoldenCard, BundleWithoutMeaningIsRefused) {
  bundle::write(place_.path() / "nonsense", small_contents());
  const bundle::Bundle nonsense = bundle::Bundle::open(place_.path() / "nonsense");
  try {
    const auto card = card::open_card("golden", nonsense, {1, true});
    card->step({});
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kCard);
  }
}

}  // namespace
}  // namespace lpu::test
