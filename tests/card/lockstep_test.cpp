// The comparison itself, without a core: a token played as monitor ports is found equal, and every kind of difference
// in it is found, named and counted. Faults on the command line. Relies on monitor_player.hpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "host/cosim/events.hpp"
#include "host/cosim/injection.hpp"
#include "host/cosim/names.hpp"
#include "tests/card/monitor_player.hpp"
#include "tests/card/rtl_fixture.hpp"

namespace lpu::test {
namespace {

using cosim::Checker;
using cosim::Expectation;
using cosim::Kind;
using testing::HasSubstr;

class Lockstep : public testing::Test {
 protected:
  static bundle::Bundle& bundle() {
    static TemporaryPlace place;
    static bundle::Bundle made = compiled("tied_q4_1", place.path() / "b");
    return made;
  }
  static Expectation token(std::uint32_t position = 3, bool with_head = true) {
    golden::Machine machine(bundle().hardware(), bundle().shape(), bundle().program(), bundle().image(), 1);
    golden::StepOptions options;
    options.want_logits = with_head;
    return cosim::expect(machine, bundle(), 7, position, options);
  }
  /// Plays `shown` to a checker that expects `expected`, to the token's end.
  static Checker play(const Expectation& expected, const Expectation& shown) {
    Checker checker;
    checker.begin(expected);
    MonitorPlayer player(bundle().hardware(), shown);
    cosim::Events events(bundle().hardware());
    for (std::uint64_t cycle = 0; cycle <= player.cycles() + 2; ++cycle) {
      events.take(player.show(cycle), cycle, checker);
      checker.reached(cycle);
    }
    checker.end();
    return checker;
  }
  /// The same without ports, which show one place of a kind in a cycle.
  static Checker feed(const Expectation& expected, const Expectation& shown) {
    Checker checker;
    checker.begin(expected);
    std::multimap<std::uint64_t, const cosim::Expected*> by_cycle;
    for (const cosim::Expected& item : shown.items) by_cycle.emplace(item.cycle, &item);
    for (auto item = by_cycle.begin(); item != by_cycle.end();) {
      const std::uint64_t cycle = item->first;
      for (; item != by_cycle.end() && item->first == cycle; ++item)
        checker.take(item->second->place, cycle,
                     {shown.values.data() + item->second->value_at, item->second->value_words});
      checker.reached(cycle);
    }
    checker.end();
    return checker;
  }
  /// A late item of this kind.
  static std::size_t item_of(const Expectation& expectation, Kind kind) {
    std::size_t found = expectation.items.size();
    for (std::size_t i = 0; i < expectation.items.size(); ++i)
      if (expectation.items[i].place.kind == kind && (expectation.items[i].has_value || kind == Kind::kIssue))
        found = i;
    return found;
  }
};

constexpr Kind kKinds[] = {Kind::kAccumulator, Kind::kBlock,   Kind::kResidual, Kind::kWord, Kind::kScale,
                           Kind::kExponent,    Kind::kInverse, Kind::kLogit,    Kind::kIssue};

TEST_F(Lockstep, TokenIsEqualToItself) {
  for (const std::uint32_t position : {0U, 31U, 32U}) {
    const Expectation expected = token(position);
    const Checker checker = play(expected, expected);
    EXPECT_TRUE(checker.mismatches().empty())
        << checker.mismatches().front().what << " of " << name_of(checker.mismatches().front().place, 4);
    EXPECT_EQ(checker.instructions(), expected.runs.size());
    EXPECT_EQ(checker.writes(), expected.items.size());
  }
}

TEST_F(Lockstep, EveryKindOfPlaceIsExpectedInAToken) {
  std::set<Kind> kinds;
  for (const cosim::Expected& item : token().items) kinds.insert(item.place.kind);
  EXPECT_EQ(kinds.size(), std::size(kKinds));
}

TEST_F(Lockstep, PromptTokenHasNoLogits) {
  const Expectation expected = token(3, false);
  EXPECT_EQ(item_of(expected, Kind::kLogit), expected.items.size());
  EXPECT_TRUE(play(expected, expected).mismatches().empty());
}

TEST_F(Lockstep, OneBitOfEachKindOfPlaceIsFound) {
  const Expectation expected = token();
  for (const Kind kind : kKinds) {
    if (kind == Kind::kIssue) continue;
    Expectation shown = expected;
    const cosim::Expected& item = shown.items[item_of(shown, kind)];
    shown.values[item.value_at + item.value_words - 1] ^= 1U;
    const Checker checker = play(expected, shown);
    ASSERT_EQ(checker.mismatches().size(), 1u) << static_cast<int>(kind);
    EXPECT_EQ(checker.mismatches()[0].what, "value");
    EXPECT_EQ(checker.mismatches()[0].place, item.place);
    EXPECT_EQ(checker.mismatches()[0].run, item.run);
    EXPECT_NE(checker.mismatches()[0].expected, checker.mismatches()[0].got);
    EXPECT_EQ(checker.differing_values(), 1u);
    EXPECT_EQ(checker.differing_cycles(), 0u);
  }
}

TEST_F(Lockstep, OneCycleEarlyOrLateIsFoundForEachKind) {
  const Expectation expected = token();
  for (const Kind kind : kKinds) {
    if (kind == Kind::kLogit) continue;
    Expectation shown = expected;
    cosim::Expected& item = shown.items[item_of(shown, kind)];
    ++item.cycle;
    const Checker late = feed(expected, shown);
    ASSERT_EQ(late.mismatches().size(), 1u) << static_cast<int>(kind);
    EXPECT_EQ(late.mismatches()[0].what, "cycle") << "missing at first, then late";
    EXPECT_EQ(late.mismatches()[0].place, item.place);
    EXPECT_EQ(late.mismatches()[0].cycle_got, item.cycle);
    EXPECT_EQ(late.differing_cycles(), 1u);
    item.cycle -= 2;
    const Checker early = feed(expected, shown);
    ASSERT_FALSE(early.mismatches().empty()) << static_cast<int>(kind);
    EXPECT_EQ(early.mismatches()[0].what, "cycle");
    EXPECT_EQ(early.mismatches()[0].cycle_got, item.cycle);
    EXPECT_EQ(early.mismatches()[0].cycle_expected, item.cycle + 1);
  }
}

TEST_F(Lockstep, MissingAndUnexpectedWritesAreFound) {
  const Expectation expected = token();
  for (const Kind kind : kKinds) {
    Expectation fewer = expected;
    const std::size_t at = item_of(fewer, kind);
    const cosim::Expected item = fewer.items[at];
    fewer.items.erase(fewer.items.begin() + static_cast<std::ptrdiff_t>(at));
    const Checker missing = play(expected, fewer);
    ASSERT_FALSE(missing.mismatches().empty()) << static_cast<int>(kind);
    EXPECT_EQ(missing.mismatches()[0].what, "missing");
    EXPECT_EQ(missing.mismatches()[0].place, item.place);
    if (kind == Kind::kExponent || kind == Kind::kInverse) continue;  // with others of its round, or not at all
    const Checker unexpected = play(fewer, expected);
    ASSERT_FALSE(unexpected.mismatches().empty()) << static_cast<int>(kind);
    EXPECT_EQ(unexpected.mismatches()[0].what, "unexpected");
    EXPECT_FALSE(unexpected.mismatches()[0].has_run);
  }
}

TEST_F(Lockstep, KeysLaterWordsMayKeepTheirSideBits) {
  const Expectation expected = token();
  Expectation shown = expected;
  std::size_t changed = 0;
  for (const cosim::Expected& item : shown.items)
    if (item.place.kind == Kind::kWord && item.ignores_side_bits) {
      shown.values[item.value_at + 4] = 0x1234;
      ++changed;
    }
  EXPECT_GT(changed, 0u);
  EXPECT_TRUE(play(expected, shown).mismatches().empty());
}

TEST_F(Lockstep, InstructionsHaveTheirLayersAndMatrices) {
  std::set<std::string> matrices;
  std::set<std::uint32_t> layers;
  const Expectation expected = token();
  for (const golden::TimedRun& run : expected.runs) {
    const cosim::RunName name = cosim::name_of(bundle().program(), bundle().hardware(), run.step);
    EXPECT_NE(name.matrix, "") << "instruction " << run.step.index;
    matrices.insert(name.matrix);
    if (name.layer) layers.insert(*name.layer);
  }
  EXPECT_EQ(matrices, (std::set<std::string>{"embedding", "query", "key", "value", "scores", "softmax", "mix", "out",
                                             "gate_up", "down", "head"}));
  EXPECT_EQ(layers.size(), bundle().shape().layers);
}

TEST_F(Lockstep, InjectionsNameTheirBytes) {
  const cosim::Injection weight = cosim::parse_injection("weight:2:9", bundle());
  ASSERT_EQ(weight.image.size(), 1u);
  EXPECT_EQ(weight.image[0].byte, 2u * 8 * contract::kWordBytes + 1);
  EXPECT_EQ(weight.image[0].flip, 2u);
  const cosim::Injection activation = cosim::parse_injection("activation:1:5:336", bundle());
  ASSERT_TRUE(activation.activation.has_value());
  EXPECT_EQ(activation.activation->address, 5u);
  EXPECT_FALSE(cosim::parse_injection("delay:1:+1", bundle()).image.empty());
  EXPECT_FALSE(cosim::parse_injection("opcode:0:15", bundle()).image.empty());
}

TEST_F(Lockstep, BadInjectionIsASentence) {
  for (const char* text : {"", "weight", "weight:1", "weight:x:1", "weight:1:1152", "weight:99999999:0", "opcode:0:16",
                           "opcode:99999:1", "delay:0:-99999", "activation:2:0:0", "rust:1:2", "weight:1:2:3"})
    EXPECT_THAT(refusal_of([&] { (void)cosim::parse_injection(text, bundle()); }, ExitCode::kUsage),
                testing::AllOf(HasSubstr("--inject"), HasSubstr("lpu cosim --help")))
        << text;
}

}  // namespace
}  // namespace lpu::test
