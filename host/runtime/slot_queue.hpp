// Who may use a card now, and who waits, in the order of arrival. A card serves a fixed number of sessions (slots; one
// today); everyone beyond waits and knows the place.
//
// Only the order is kept here, no clock and no thread: a benchmark drives it by card time, a server by requests under
// its own lock. Relies on nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

namespace lpu::runtime {

class SlotQueue {
 public:
  using Ticket = std::uint64_t;
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

  /// Error(kInternal) for no slots.
  explicit SlotQueue(std::size_t slots, std::size_t most_waiting = kNoLimit);

  /// Takes a free slot, or else the last place in the queue; nullopt when `most_waiting` wait already.
  std::optional<Ticket> join();
  /// Gives up a slot or a place. Returns who has got the slot that became free, if anyone. Error(kInternal) for a
  /// ticket that isn't in use.
  std::optional<Ticket> leave(Ticket ticket);

  /// 0: has a slot; 1: next in the queue, and so on. Error(kInternal) for a ticket that isn't in use.
  [[nodiscard]] std::size_t place(Ticket ticket) const;
  /// Which slot, from 0; nullopt for one who waits.
  [[nodiscard]] std::optional<std::size_t> slot(Ticket ticket) const;
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  [[nodiscard]] std::size_t slots() const { return holders_.size(); }
  [[nodiscard]] std::size_t free_slots() const;

 private:
  std::vector<std::optional<Ticket>> holders_;  ///< [slots]
  std::deque<Ticket> waiting_;                  ///< the first is next
  std::size_t most_waiting_;
  Ticket next_ticket_ = 0;
};

}  // namespace lpu::runtime
