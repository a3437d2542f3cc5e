// See slot_queue.hpp.
#include "host/runtime/slot_queue.hpp"

#include <algorithm>

#include "host/base/error.hpp"

namespace lpu::runtime {

SlotQueue::SlotQueue(std::size_t slots, std::size_t most_waiting) : holders_(slots), most_waiting_(most_waiting) {
  if (slots == 0) fail(ExitCode::kInternal, "A queue without slots would never serve anyone.");
}

std::optional<SlotQueue::Ticket> SlotQueue::join() {
  const auto free = std::find(holders_.begin(), holders_.end(), std::nullopt);
  if (free != holders_.end()) {
    *free = next_ticket_;
  } else {
    if (waiting_.size() >= most_waiting_) return std::nullopt;
    waiting_.push_back(next_ticket_);
  }
  return next_ticket_++;
}

std::optional<SlotQueue::Ticket> SlotQueue::leave(Ticket ticket) {
  const auto holder = std::find(holders_.begin(), holders_.end(), ticket);
  if (holder == holders_.end()) {
    const auto waiter = std::find(waiting_.begin(), waiting_.end(), ticket);
    if (waiter == waiting_.end()) fail(ExitCode::kInternal, "Ticket {} left a queue that it isn't in.", ticket);
    waiting_.erase(waiter);
    return std::nullopt;
  }
  holder->reset();
  if (waiting_.empty()) return std::nullopt;
  *holder = waiting_.front();
  waiting_.pop_front();
  return *holder;
}

std::optional<std::size_t> SlotQueue::slot(Ticket ticket) const {
  const auto holder = std::find(holders_.begin(), holders_.end(), ticket);
  if (holder == holders_.end()) return std::nullopt;
  return static_cast<std::size_t>(holder - holders_.begin());
}

std::size_t SlotQueue::place(Ticket ticket) const {
  if (slot(ticket)) return 0;
  const auto waiter = std::find(waiting_.begin(), waiting_.end(), ticket);
  if (waiter == waiting_.end()) fail(ExitCode::kInternal, "Ticket {} has no place in the queue.", ticket);
  return static_cast<std::size_t>(waiter - waiting_.begin()) + 1;
}

std::size_t SlotQueue::free_slots() const {
  return static_cast<std::size_t>(std::count(holders_.begin(), holders_.end(), std::nullopt));
}

}  // namespace lpu::runtime
