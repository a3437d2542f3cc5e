// See group_clock.hpp.
#include "host/card/group_clock.hpp"

#include <algorithm>
#include <utility>

namespace lpu::card {

GroupClock::GroupClock(const contract::LinkConfig& link, int clock_mhz, std::size_t cards) : link_(link, clock_mhz) {
  state_.cards.resize(cards);
}

void GroupClock::reset() {
  State fresh;
  fresh.cards.resize(state_.cards.size());
  state_ = std::move(fresh);
}

std::uint64_t GroupClock::arrival(std::size_t from, std::size_t to, std::uint64_t cycle) const {
  contract::LinkClock link = link_;
  link.start_vector(contract::link_hops(from, to, state_.cards.size()));
  return link.arrival(cycle);
}

std::uint64_t GroupClock::run_embeddings(State& state, bool with_head, GroupPhases& phases,
                                         std::vector<std::uint64_t>& slot_cycles) const {
  std::uint64_t there = 0;
  for (std::size_t k = 0; k < state.cards.size(); ++k) {
    CardState& card = state.cards[k];
    if (state.starts) card.slots.push_back(card.free);
    const PhaseTime time = phases.embedding(k, card.slots.front());
    slot_cycles.push_back(time.cycles);
    there = std::max(there, arrival(k, 0, card.slots.front() + time.sends));
    if (!state.starts) continue;
    card.free += time.cycles;
    // A prompt begins: the card also runs the embeddings that would have had their slots before its earlier layers.
    for (std::size_t ahead = 0; !with_head && ahead < k; ++ahead) {
      card.slots.push_back(card.free);
      card.free += time.cycles;
    }
  }
  return there;
}

std::uint64_t GroupClock::run_heads(State& state, std::uint64_t sent, GroupPhases& phases) const {
  const std::size_t count = state.cards.size(), last = count - 1;
  const auto run = [&](std::size_t k, std::uint64_t start) {
    state.cards[k].free = start + phases.head(k, start).cycles;
  };
  run(last, state.cards[last].free);
  for (std::size_t k = 0; k < last; ++k) run(k, std::max(arrival(last, k, sent), state.cards[k].free));
  std::uint64_t there = 0;
  for (std::size_t from = 0; from < count; ++from)
    for (std::size_t to = 0; to < count; ++to)
      if (to != from) there = std::max(there, arrival(from, to, state.cards[from].free));
  return there + contract::kLinkPickCycles;
}

std::uint64_t GroupClock::token(bool with_head, GroupPhases& phases) {
  State state = state_;
  std::vector<std::uint64_t> slot_cycles;  // [cards] with head: of no use, since no slots follow
  std::uint64_t there = run_embeddings(state, with_head, phases, slot_cycles);
  std::uint64_t sent = 0;
  for (std::size_t k = 0; k < state.cards.size(); ++k) {
    CardState& card = state.cards[k];
    const std::uint64_t slot = with_head ? 0 : slot_cycles[k];
    const std::uint64_t start = std::max(there, card.free + slot);
    if (!with_head) card.slots.push_back(start - slot);
    card.slots.pop_front();
    const PhaseTime time = phases.layers(k, start);
    card.free = start + time.cycles;
    sent = start + time.sends;
    if (k + 1 < state.cards.size()) there = arrival(k, k + 1, sent);
  }
  std::uint64_t end = state.cards[0].free;
  if (with_head) {
    end = run_heads(state, sent, phases);
    for (CardState& card : state.cards) card = CardState{end, {}};
  }
  state.starts = with_head;
  const std::uint64_t cycles = end - state.told;
  state.told = end;
  state_ = std::move(state);
  return cycles;
}

}  // namespace lpu::card
