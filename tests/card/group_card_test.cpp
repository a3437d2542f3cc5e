// A group of golden cards: the bits of one card, whatever the number of cards; the cycles that were predicted; and
// errors that name the card.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include "hls/golden/machine.hpp"
#include "host/base/error.hpp"
#include "host/card/card.hpp"
#include "host/compiler/compiler.hpp"
#include "host/compiler/group.hpp"
#include "host/cosim/lockstep.hpp"
#include "host/runtime/session.hpp"
#include "tests/bundle/small_group.hpp"
#include "tests/support/test_models.hpp"

namespace lpu::test {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr std::uint32_t kContextTokens = 64;
constexpr std::int32_t kTokens = 40;

compiler::CompileOptions options_for(const std::string& hardware) {
  compiler::CompileOptions options;
  options.hardware_name = hardware;
  options.context_tokens = kContextTokens;
  return options;
}

bundle::Bundle single(const fs::path& file, const fs::path& folder) {
  compiler::CompileOptions options = options_for("tiny");
  options.hardware = compiler::find_hardware("tiny");
  compiler::compile(*model::Model::open(file), options, folder, std::nullopt);
  return bundle::Bundle::open(folder);
}

bundle::Bundle group(const fs::path& file, const std::string& hardware, const std::string& link,
                     const fs::path& folder) {
  const compiler::GroupOptions options{options_for(hardware), compiler::find_cards(hardware),
                                       compiler::find_link(link)};
  compiler::compile_group(*model::Model::open(file), options, folder);
  return bundle::Bundle::open(folder);
}

/// What a session leaves that must not depend on the number of cards.
struct Told {
  std::vector<std::vector<float>> logits;
  std::vector<std::int32_t> next;
  std::vector<std::array<std::uint64_t, contract::kLogSumBuckets>> log_sums;
  std::vector<std::vector<std::int32_t>> best;
  bool operator==(const Told&) const = default;
};

/// Tokens of three prompt tokens, then what the card says; every seventh without head.
Told run(card::Card& card, std::uint32_t vocabulary, float temperature) {
  Told told;
  std::int32_t token = 1;
  for (std::int32_t i = 0; i < kTokens; ++i) {
    std::vector<float> logits;
    card::TokenRequest request;
    request.token = token;
    request.position = static_cast<std::uint32_t>(i);
    request.want_next = i >= 3 && i % 7 != 0;
    request.temperature = temperature;
    request.seed = 11;
    request.logits = request.want_next ? &logits : nullptr;
    const card::TokenResult result = card.step(request);
    token = request.want_next ? result.next
                              : static_cast<std::int32_t>((97 * static_cast<std::uint32_t>(i) + 250) % vocabulary);
    std::vector<std::int32_t> best;
    for (const card::Candidate& one : result.best) best.push_back(one.id);
    told.logits.push_back(std::move(logits));
    told.next.push_back(result.next);
    told.log_sums.push_back(result.log_sum);
    told.best.push_back(std::move(best));
  }
  return told;
}

struct Case {
  const char* model;
  const char* hardware;
  const char* link;
};

fs::path file_of(const std::string& name) {
  return name == "openlpu-tiny" ? fs::path(OPENLPU_TINY_MODEL_FOLDER) / "openlpu-tiny.gguf" : model(name);
}

class GroupOf : public testing::TestWithParam<Case> {
 protected:
  TemporaryPlace place_;
  bundle::Bundle single_ = single(file_of(GetParam().model), place_.path() / "one");
  bundle::Bundle group_ =
      group(file_of(GetParam().model), GetParam().hardware, GetParam().link, place_.path() / "group");
};

TEST_P(GroupOf, CardsGivesTheBitsOfOne) {
  const auto one = card::open_card("golden", single_, {2});
  const auto all = card::open_card("golden", group_, {2});
  for (const float temperature : {0.0F, 1.3F}) {
    one->reset();
    all->reset();
    const Told expected = run(*one, single_.shape().vocabulary, temperature);
    const Told found = run(*all, single_.shape().vocabulary, temperature);
    EXPECT_EQ(found.next, expected.next) << temperature;
    EXPECT_TRUE(found.logits == expected.logits) << temperature;
    EXPECT_TRUE(found.log_sums == expected.log_sums) << temperature;
    EXPECT_EQ(found.best, expected.best) << temperature;
  }
}

TEST_P(GroupOf, CardsTakesThePredictedCycles) {
  const auto card = card::open_card("golden", group_, {2});
  runtime::Session session(*card, group_);
  runtime::GenerateOptions options;
  options.max_tokens = 6;
  std::vector<std::int32_t> prompt;
  for (std::int32_t i = 0; i < 35; ++i) prompt.push_back(i * 8 % 280);
  runtime::Generation first = session.generate(prompt, options);
  EXPECT_EQ(first.measured_cycles, first.predicted_cycles);
  EXPECT_EQ(first.measured_cycles.size(), 40u);
  // A token alone, from a group at rest, takes what the compiler says; the first generated one follows a prompt.
  const auto& alone = group_.program().cycles_with_head;
  for (std::size_t i = 35; i < 40; ++i) EXPECT_EQ(first.measured_cycles[i], alone[1]) << i;
  // In a prompt the cards work side by side.
  EXPECT_LT(first.measured_cycles[20], alone[0]);
  // The conversation goes on, then starts anew.
  prompt.insert(prompt.end(), first.tokens.begin(), first.tokens.end());
  prompt.push_back(5);
  prompt.push_back(6);
  const runtime::Generation second = session.generate(prompt, options);
  EXPECT_EQ(second.reused_tokens, 40u);
  EXPECT_EQ(second.measured_cycles, second.predicted_cycles);
  prompt.resize(35);
  const runtime::Generation third = session.generate(prompt, options);
  EXPECT_EQ(third.tokens, first.tokens);
  EXPECT_EQ(third.measured_cycles, first.measured_cycles);
  EXPECT_EQ(third.predicted_cycles, first.predicted_cycles);
  EXPECT_EQ(third.busy_beats, first.busy_beats);
}

INSTANTIATE_TEST_SUITE_P(Cards, GroupOf,
                         testing::Values(Case{"openlpu-tiny", "2xtiny", "aurora-25g"},
                                         Case{"odd_shape", "3xtiny", "udp-100g"},
                                         Case{"five_layers", "2xtiny", "udp-100g"},
                                         Case{"five_layers", "3xtiny", "aurora-25g"},
                                         Case{"five_layers", "4xtiny", "aurora-25g"}),
                         [](const auto& parameter) {
                           std::string name = std::string(parameter.param.model) + "_" + parameter.param.hardware;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

void expect_error(ExitCode code, const std::function<void()>& action, const std::string& part) {
  try {
    action();
    ADD_FAILURE() << "accepted: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

/// The first card's layers send when the second's may take it, and not a cycle later.
TEST(GroupLink, BlocksThatComeACycleLateAreAHazard) {
  const TemporaryPlace place;
  const bundle::Bundle all = group(model("five_layers"), "2xtiny", "aurora-25g", place.path() / "g");
  const auto machine = [&](std::size_t k) {
    const bundle::Bundle& card = all.cards()[k];
    return std::make_unique<golden::Machine>(card.hardware(), card.shape(), card.program(), card.image(), 1);
  };
  const auto first = machine(0), second = machine(1);
  golden::LinkVector start{std::vector<float>(all.shape().width, 0.25F), {}};
  start.cycles.assign((all.shape().width + 31) / 32, 0);
  golden::LinkVector sent = first->run(contract::Phase::kLayers, 1, 0, {}, &start).sent;
  ASSERT_EQ(sent.values.size(), all.shape().width);
  ASSERT_EQ(sent.cycles.size(), start.cycles.size());
  contract::LinkClock link(all.plan().link, all.hardware().clock_mhz);
  link.start_vector(contract::link_hops(0, 1, 2));
  for (std::uint64_t& cycle : sent.cycles) cycle = link.arrival(cycle);
  const std::uint64_t phase = sent.cycles.front();
  for (std::uint64_t& cycle : sent.cycles) cycle -= phase;
  EXPECT_NO_THROW((void)second->run(contract::Phase::kLayers, 1, 0, {}, &sent));
  for (std::uint64_t& cycle : sent.cycles) ++cycle;
  try {
    (void)second->run(contract::Phase::kLayers, 1, 0, {}, &sent);
    FAIL() << "a block was taken before it was there";
  } catch (const golden::Fault& fault) {
    EXPECT_THAT(fault.what(),
                HasSubstr("(receive, iteration 0) takes block 0 from the link at cycle 0, but it is there "
                          "from cycle 1 on"));
  }
  sent.values.pop_back();
  EXPECT_THROW((void)second->run(contract::Phase::kLayers, 1, 0, {}, &sent), golden::Fault);
  EXPECT_THROW((void)second->run(contract::Phase::kLayers, 1, 0, {}, nullptr), golden::Fault);
}

class GroupInForm : public testing::Test {
 protected:
  GroupInForm() { bundle::write_group(place_.path() / "g", small_group()); }
  TemporaryPlace place_;
};

TEST_F(GroupInForm, ProgramWithoutMeaningIsRefusedByTheCardsNumber) {
  const bundle::Bundle bundle = bundle::Bundle::open(place_.path() / "g");
  expect_error(
      ExitCode::kCard, [&] { (void)card::open_card("golden", bundle, {1}); },
      "Card 0 of 3 of the golden group stopped: ");
}

TEST_F(GroupInForm, VerilatedCoreHasNoLinks) {
  const bundle::Bundle bundle = bundle::Bundle::open(place_.path() / "g");
  expect_error(
      ExitCode::kUsage, [&] { (void)card::open_card("rtl", bundle, {1}); }, "the Verilated core has no links yet");
}

TEST_F(GroupInForm, LockstepIsForOneCard) {
  const bundle::Bundle bundle = bundle::Bundle::open(place_.path() / "g");
  cosim::Options options;
  options.prompt = {1};
  expect_error(
      ExitCode::kUsage, [&] { (void)cosim::run(bundle, options); }, "the Verilated core has no links yet");
  expect_error(
      ExitCode::kUsage, [&] { (void)cosim::run(bundle.cards()[2], options); }, "is one card of a group");
}

TEST_F(GroupInForm, OneCardAloneNamesTheGroupsFolder) {
  const fs::path folder = fs::canonical(place_.path() / "g");
  for (const fs::path& card : {folder / "card1", folder / "card1/", folder / "card0/../card1"}) {
    const bundle::Bundle bundle = bundle::Bundle::open(card);
    for (const char* name : {"golden", "rtl"})
      expect_error(
          ExitCode::kUsage, [&] { (void)card::open_card(name, bundle, {1}); },
          "one card of a group, which runs no tokens alone; give the group's folder, " + folder.string());
  }
}

}  // namespace
}  // namespace lpu::test
