// See group_time.hpp.
#include "host/compiler/group_time.hpp"

#include <algorithm>
#include <utility>

namespace lpu::compiler {

namespace {

/// The same cycles counted from the first.
std::vector<std::uint64_t> since_first(std::vector<std::uint64_t> cycles) {
  const std::uint64_t first = cycles.front();
  for (std::uint64_t& cycle : cycles) cycle -= first;
  return cycles;
}

}  // namespace

GroupTimer::GroupTimer(const model::Model& model, const GroupOptions& options, std::vector<CardShare> shares,
                       std::vector<KnownOrders>& known, std::uint32_t effort)
    : options_(options), shares_(std::move(shares)), link_(options.link, options.cards[0].hardware.clock_mhz) {
  known.resize(shares_.size());
  for (std::size_t k = 0; k < shares_.size(); ++k) {
    layouts_.push_back(std::make_unique<Layout>(
        place(model, options.cards[k].hardware, options.common.context_tokens, options.common.kv_bits, shares_[k])));
    // Cards of one kind share what was found for the first of them.
    std::size_t first = 0;
    while (options.cards[first].name != options.cards[k].name) ++first;
    schedules_.push_back(make_group_schedule(*layouts_[k], options.common, effort, link_.block_cycles(), known[first]));
  }
}

std::vector<std::uint64_t> GroupTimer::arrivals(const std::vector<std::uint64_t>& sent, std::size_t from,
                                                std::size_t to) const {
  contract::LinkClock link = link_;
  link.start_vector(contract::link_hops(from, to, shares_.size()));
  std::vector<std::uint64_t> out;
  out.reserve(sent.size());
  for (const std::uint64_t cycle : sent) out.push_back(link.arrival(cycle));
  return out;
}

std::vector<TimedCard> GroupTimer::time(std::uint32_t blocks) const {
  const std::size_t cards = shares_.size();
  std::vector<TimedCard> out(cards);
  std::vector<std::uint64_t> first;  // whoever holds the token's row
  for (std::size_t k = 0; k < cards; ++k) {
    out[k].embedding.timing = time_token(schedules_[k].embedding, *layouts_[k], blocks);
    const std::vector<std::uint64_t> from = arrivals(out[k].embedding.timing.sent, k, 0);
    first.resize(from.size());
    for (std::size_t b = 0; b < from.size(); ++b) first[b] = std::max(first[b], from[b]);
  }
  for (std::size_t k = 0; k < cards; ++k) {
    TimedPhase& layers = out[k].layers;
    layers.arrivals = since_first(k == 0 ? first : arrivals(out[k - 1].layers.timing.sent, k - 1, k));
    layers.timing = time_token(schedules_[k].layers, *layouts_[k], blocks, layers.arrivals);
  }
  for (std::size_t k = 0; k < cards; ++k) {
    TimedPhase& head = out[k].head;
    if (!shares_[k].is_last()) head.arrivals = since_first(arrivals(out[cards - 1].layers.timing.sent, cards - 1, k));
    head.timing =
        time_token(schedules_[k].head, *layouts_[k], blocks, head.arrivals, out[k].layers.timing.cycles_with_head);
  }
  return out;
}

GroupPosition GroupTimer::token(const std::vector<TimedCard>& cards) const {
  GroupPosition out;
  const std::size_t count = cards.size();
  std::vector<std::uint64_t> free;
  std::uint64_t start = 0;
  for (std::size_t k = 0; k < count; ++k) {
    free.push_back(cards[k].embedding.timing.cycles_with_head);
    start = std::max(start, arrivals(cards[k].embedding.timing.sent, k, 0).front());
    out.cards.push_back({free[k], cards[k].layers.timing.cycles_with_head, cards[k].head.timing.cycles_with_head});
    out.prompt_cycles = std::max(out.prompt_cycles, out.cards[k].embedding + out.cards[k].layers);
  }
  for (std::size_t k = 0; k < count; ++k) {
    start = std::max(start, free[k]);
    out.cards[k].layers_start = start;
    free[k] = start + out.cards[k].layers;
    if (k + 1 < count) start += arrivals(cards[k].layers.timing.sent, k, k + 1).front();
  }
  for (std::size_t k = 0; k < count; ++k) {
    out.cards[k].head_start = free[k];
    if (k + 1 < count)
      out.cards[k].head_start =
          std::max(free[k], start + arrivals(cards[count - 1].layers.timing.sent, count - 1, k).front());
  }
  for (std::size_t from = 0; from < count; ++from)
    for (std::size_t to = 0; to < count; ++to)
      if (from != to)
        out.cycles =
            std::max(out.cycles, arrivals({out.cards[from].head_start + out.cards[from].head}, from, to).front() +
                                     static_cast<std::uint64_t>(contract::kLinkPickCycles));
  return out;
}

}  // namespace lpu::compiler
