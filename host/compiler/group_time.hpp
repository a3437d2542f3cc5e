// What a token takes on a group of cards, links included: each card's phases timed with the cycles in which what they
// receive is there, then put together (docs/several_cards.md). Relies on schedule.hpp and link_clock.hpp.
#pragma once

#include <memory>
#include <vector>

#include "host/compiler/group.hpp"
#include "host/compiler/schedule.hpp"

namespace lpu::compiler {

/// A phase's time, and when what it receives is there, counted from its start.
struct TimedPhase {
  TokenTiming timing;
  std::vector<std::uint64_t> arrivals;
};

struct TimedCard {
  TimedPhase embedding, layers, head;
};

class GroupTimer {
 public:
  GroupTimer(const model::Model& model, const GroupOptions& options, std::vector<CardShare> shares,
             std::vector<KnownOrders>& known, std::uint32_t effort);

  [[nodiscard]] const std::vector<CardShare>& shares() const { return shares_; }
  [[nodiscard]] const Layout& layout(std::size_t card) const { return *layouts_[card]; }
  [[nodiscard]] const GroupSchedule& schedule(std::size_t card) const { return schedules_[card]; }
  /// Every card's phases when `blocks` blocks of positions are attended to.
  [[nodiscard]] std::vector<TimedCard> time(std::uint32_t blocks) const;
  /// One user's token that follows another, head included, and the cycles from one prompt token to the next.
  [[nodiscard]] GroupPosition token(const std::vector<TimedCard>& cards) const;

 private:
  /// When each block of a vector that `from` sends is there at `to`, since the sending phase's start.
  [[nodiscard]] std::vector<std::uint64_t> arrivals(const std::vector<std::uint64_t>& sent, std::size_t from,
                                                    std::size_t to) const;

  const GroupOptions& options_;
  std::vector<CardShare> shares_;
  contract::LinkClock link_;
  std::vector<std::unique_ptr<Layout>> layouts_;  ///< schedules refer to them
  std::vector<GroupSchedule> schedules_;
};

}  // namespace lpu::compiler
