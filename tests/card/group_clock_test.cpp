// When the phases of a group run: small cases worked by hand, and many random ones against a simulation that looks for
// each phase's first possible cycle by trying.
#include "host/card/group_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <vector>

namespace lpu::test {
namespace {

using card::PhaseTime;

// 10 cycles a block, 101 cycles of 1 ns a hop and 7 of receiver and deskew: with header (1) and sender (4), a vector's
// first block can be taken 15 + 108·hops cycles after it was handed over.
constexpr int kClockMhz = 1000;
constexpr contract::LinkConfig kLink = {"test", "", 102400, 61, 40};
constexpr std::uint64_t kFirst = 15, kHop = 108;

struct CardTimes {
  PhaseTime embedding, layers, head;
};

struct Started {
  std::vector<std::uint64_t> embedding, layers, head;
  bool operator==(const Started&) const = default;
};

class Recorder final : public card::GroupPhases {
 public:
  explicit Recorder(std::vector<CardTimes> times) : times_(std::move(times)) {
    started.embedding.resize(times_.size());
    started.layers.resize(times_.size());
    started.head.resize(times_.size());
  }
  PhaseTime embedding(std::size_t card, std::uint64_t start) override {
    started.embedding[card] = start;
    return times_[card].embedding;
  }
  PhaseTime layers(std::size_t card, std::uint64_t start) override {
    started.layers[card] = start;
    return times_[card].layers;
  }
  PhaseTime head(std::size_t card, std::uint64_t start) override {
    started.head[card] = start;
    return times_[card].head;
  }
  Started started;

 private:
  std::vector<CardTimes> times_;
};

using Numbers = std::vector<std::uint64_t>;

struct Expected {
  bool with_head;
  Numbers embedding, layers, head;
  std::uint64_t cycles;
};

void expect_tokens(const std::vector<CardTimes>& times, const std::vector<Expected>& tokens) {
  card::GroupClock clock(kLink, kClockMhz, times.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    Recorder recorder(times);
    EXPECT_EQ(clock.token(tokens[i].with_head, recorder), tokens[i].cycles) << i;
    EXPECT_EQ(recorder.started.embedding, tokens[i].embedding) << i;
    EXPECT_EQ(recorder.started.layers, tokens[i].layers) << i;
    if (tokens[i].with_head) {
      EXPECT_EQ(recorder.started.head, tokens[i].head) << i;
    }
  }
}

TEST(GroupClock, TwoCardsFourPromptTokensThenOneMore) {
  const CardTimes times = {{50, 20}, {1000, 900}, {300, 0}};
  // Every hop of two cards takes 123. A prompt: card 0 runs E(0) from 0, card 1 E(0) and E(1).
  expect_tokens({times, times},
                {// E(0) is there at 0 + 20 + 123 = 143 > 50 + 50; its residual at 143 + 900 + 123 = 1166.
                 {false, {0, 0}, {143, 1166}, {}, 1143},
                 // Card 0 is free at 1143, slot of E(2) 1143; E(1) was there long before. Card 1: residual at 2216,
                 // free at 2166 and its slot until 2216.
                 {false, {93, 50}, {1193, 2216}, {}, 1050},
                 {false, {1143, 1116}, {2243, 3266}, {}, 1050},
                 // The last has a head, so no slot: card 0 at 3243, card 1 when the residual is there: 3243 + 1023 =
                 // 4266, and it is free then. Its head follows at 5266; the residual is sent at 5166 and with card 0 at
                 // 5289. Card 0's best is handed over at 5589 and there at 5712; then 4 to pick.
                 {true, {2193, 2166}, {3243, 4266}, {5289, 5266}, 5716 - 3243},
                 // All from 5716: +143, +1166, card 1's head +2166, card 0's +2189, end +2189 + 300 + 127.
                 {true, {5716, 5716}, {5859, 6882}, {7905, 7882}, 2616}});
}

TEST(GroupClock, ThreeCardsWhoseSlowestSetsThePace) {
  const CardTimes fast = {{50, 20}, {400, 350}, {100, 0}};
  const CardTimes slow = {{50, 20}, {700, 650}, {200, 0}};
  expect_tokens({fast, slow, fast},
                {// Hops of three cards are all 1: 123.
                 {false, {0, 0, 0}, {143, 616, 1389}, {}, 543},
                 // Card 1 is free at 1316, with its slot at 1366; card 2 has the residual at 1366 + 773.
                 {false, {93, 50, 50}, {593, 1366, 2139}, {}, 450},
                 {false, {543, 566, 100}, {1043, 2116, 2889}, {}, 450},
                 // Card 0 is free at 1443, but the row may come from card 2: 1339 + 143.
                 {true, {993, 1316, 1339}, {1482, 2816, 3589}, {4062, 4062, 3989}, 4389 - 1443},
                 {true, {4389, 4389, 4389}, {4532, 5005, 5778}, {6251, 6251, 6178}, 6578 - 4389}});
}

TEST(GroupClock, WholeTokenBetweenOppositeCardsOfARingTakesTwoHops) {
  const CardTimes times = {{50, 20}, {1000, 900}, {300, 0}};
  // Card 2 may hold the row: 20 + 15 + 216. Its place in the ring also delays its best: 231 + 4.
  const std::uint64_t first = 251, residual = 1023;
  const std::uint64_t last = first + 3 * residual;
  expect_tokens({times, times, times, times}, {{true,
                                                {0, 0, 0, 0},
                                                {first, first + residual, first + 2 * residual, last},
                                                {last + 1023, last + 1131, last + 1023, last + 1000},
                                                last + 1131 + 300 + 235}});
}

TEST(GroupClock, ResetStartsAgainAtZero) {
  const CardTimes times = {{50, 20}, {1000, 900}, {300, 0}};
  card::GroupClock clock(kLink, kClockMhz, 2);
  Recorder phases({times, times});
  const std::uint64_t first = clock.token(false, phases);
  EXPECT_NE(clock.token(false, phases), first);
  clock.reset();
  EXPECT_EQ(clock.token(false, phases), first);
  EXPECT_EQ(phases.started.embedding, (Numbers{0, 0}));
}

TEST(GroupClock, PhaseThatFailsChangesNothing) {
  struct Failing final : card::GroupPhases {
    PhaseTime embedding(std::size_t, std::uint64_t) override { return {50, 20}; }
    PhaseTime layers(std::size_t card, std::uint64_t) override {
      if (card == 1) throw std::runtime_error("hazard");
      return {1000, 900};
    }
    PhaseTime head(std::size_t, std::uint64_t) override { return {300, 0}; }
  } failing;
  const CardTimes times = {{50, 20}, {1000, 900}, {300, 0}};
  card::GroupClock clock(kLink, kClockMhz, 2), other(kLink, kClockMhz, 2);
  Recorder phases({times, times});
  EXPECT_EQ(clock.token(false, phases), other.token(false, phases));
  EXPECT_THROW(clock.token(true, failing), std::runtime_error);
  EXPECT_EQ(clock.token(true, phases), other.token(true, phases));
}

/// A card's cycles as a strip on which phases are laid down, one after another, at the first place that is possible.
class Strip {
 public:
  /// Lays down `before` + `length` cycles so that the latter begin at `earliest` or later; returns where they begin.
  std::uint64_t lay(std::uint64_t before, std::uint64_t earliest, std::uint64_t length) {
    std::uint64_t start = before;
    while (start < earliest || start - before < end_) ++start;
    end_ = start + length;
    return start;
  }
  void skip_to(std::uint64_t cycle) { end_ = cycle; }
  [[nodiscard]] std::uint64_t end() const { return end_; }

 private:
  std::uint64_t end_ = 0;
};

/// A whole session at once, knowing all its tokens: [tokens] started, and the time told after each.
struct Simulation {
  std::vector<Started> started;
  Numbers told;
};

std::uint64_t hops(std::size_t from, std::size_t to, std::size_t cards) {
  std::size_t up = 0, down = 0;
  for (std::size_t at = from; at != to; at = (at + 1) % cards) ++up;
  for (std::size_t at = from; at != to; at = (at + cards - 1) % cards) ++down;
  return std::max<std::size_t>(std::min(up, down), 1);
}

Simulation simulate(const std::vector<CardTimes>& times, const std::vector<bool>& with_head) {
  const std::size_t cards = times.size(), tokens = with_head.size();
  const auto there = [&](std::size_t from, std::size_t to, std::uint64_t cycle) {
    return cycle + kFirst + kHop * hops(from, to, cards);
  };
  Simulation result;
  std::vector<Strip> strips(cards);
  std::uint64_t begin = 0;
  for (std::size_t first = 0; first < tokens;) {
    // A run: tokens up to the next head. Embeddings beyond its end have slots, too.
    std::size_t last = first;
    while (last + 1 < tokens && !with_head[last]) ++last;
    const std::size_t count = last - first + 1;
    std::vector<Numbers> embedding(cards, Numbers(count + cards + 1));
    for (std::size_t k = 0; k < cards; ++k) {
      strips[k].skip_to(begin);
      const std::size_t ahead = with_head[first] ? 0 : k;
      for (std::size_t i = 0; i <= ahead; ++i) embedding[k][i] = strips[k].lay(0, 0, times[k].embedding.cycles);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const bool head = with_head[first + i];
      Started started;
      std::uint64_t residual = 0;
      for (std::size_t k = 0; k < cards; ++k) {
        started.embedding.push_back(embedding[k][i]);
        residual = std::max(residual, there(k, 0, embedding[k][i] + times[k].embedding.sends));
      }
      for (std::size_t k = 0; k < cards; ++k) {
        const std::uint64_t slot = head ? 0 : times[k].embedding.cycles;
        const std::uint64_t start = strips[k].lay(slot, residual, times[k].layers.cycles);
        if (!head) embedding[k][i + 1 + k] = start - slot;
        started.layers.push_back(start);
        residual = start + times[k].layers.sends;
        if (k + 1 < cards) residual = there(k, k + 1, residual);
      }
      if (!head) {
        started.head.resize(cards);
        result.told.push_back(strips[0].end());
      } else {
        for (std::size_t k = 0; k < cards; ++k)
          started.head.push_back(
              strips[k].lay(0, k + 1 == cards ? 0 : there(cards - 1, k, residual), times[k].head.cycles));
        begin = 0;
        for (std::size_t from = 0; from < cards; ++from)
          for (std::size_t to = 0; to < cards; ++to)
            if (from != to) begin = std::max(begin, there(from, to, strips[from].end()) + 4);
        result.told.push_back(begin);
      }
      result.started.push_back(started);
    }
    first = last + 1;
  }
  return result;
}

TEST(GroupClock, AgreesWithASimulationThatTriesEveryCycle) {
  std::mt19937 random(5);
  const auto number = [&](std::uint64_t least, std::uint64_t most) { return least + random() % (most - least + 1); };
  for (int round = 0; round < 300; ++round) {
    std::vector<CardTimes> times(number(2, 5));
    for (CardTimes& card : times) {
      card.embedding.cycles = number(5, 60);
      card.embedding.sends = number(0, card.embedding.cycles);
      card.layers.cycles = number(50, 900);
      card.layers.sends = number(0, card.layers.cycles);
      card.head.cycles = number(1, 300);
    }
    std::vector<bool> with_head(number(1, 14));
    for (std::size_t i = 0; i < with_head.size(); ++i) with_head[i] = number(0, 2) == 0;
    const Simulation expected = simulate(times, with_head);
    card::GroupClock clock(kLink, kClockMhz, times.size());
    std::uint64_t told = 0;
    for (std::size_t i = 0; i < with_head.size(); ++i) {
      Recorder recorder(times);
      told += clock.token(with_head[i], recorder);
      ASSERT_EQ(told, expected.told[i]) << "round " << round << ", token " << i;
      ASSERT_EQ(recorder.started, expected.started[i]) << "round " << round << ", token " << i;
    }
  }
}

}  // namespace
}  // namespace lpu::test
