// Who has a slot, who waits, and who is next.
#include "host/runtime/slot_queue.hpp"

#include <gtest/gtest.h>

#include "host/base/error.hpp"

namespace lpu::test {
namespace {

using runtime::SlotQueue;

TEST(SlotQueue, OneSlotServesInOrderOfArrival) {
  SlotQueue queue(1);
  const auto first = queue.join().value();
  const auto second = queue.join().value();
  const auto third = queue.join().value();
  EXPECT_EQ(queue.place(first), 0u);
  EXPECT_EQ(queue.place(second), 1u);
  EXPECT_EQ(queue.place(third), 2u);
  EXPECT_EQ(queue.waiting(), 2u);
  EXPECT_EQ(queue.leave(first), second);
  EXPECT_EQ(queue.place(second), 0u);
  EXPECT_EQ(queue.place(third), 1u);
  EXPECT_EQ(queue.leave(second), third);
  EXPECT_EQ(queue.leave(third), std::nullopt);
  EXPECT_EQ(queue.free_slots(), 1u);
}

TEST(SlotQueue, SlotThatBecomesFreeGoesToTheNext) {
  SlotQueue queue(2);
  const auto a = queue.join().value();
  const auto b = queue.join().value();
  const auto c = queue.join().value();
  EXPECT_EQ(queue.slot(a), 0u);
  EXPECT_EQ(queue.slot(b), 1u);
  EXPECT_EQ(queue.slot(c), std::nullopt);
  EXPECT_EQ(queue.leave(b), c);
  EXPECT_EQ(queue.slot(c), 1u);
  EXPECT_EQ(queue.slot(a), 0u);
  EXPECT_EQ(queue.leave(a), std::nullopt);
  EXPECT_EQ(queue.free_slots(), 1u);
  EXPECT_EQ(queue.slot(queue.join().value()), 0u);
}

TEST(SlotQueue, OneWhoStopsWaitingMovesTheOthersUp) {
  SlotQueue queue(1);
  const auto first = queue.join().value();
  const auto second = queue.join().value();
  const auto third = queue.join().value();
  EXPECT_EQ(queue.leave(second), std::nullopt);
  EXPECT_EQ(queue.place(third), 1u);
  EXPECT_EQ(queue.leave(first), third);
}

TEST(SlotQueue, FullQueueTakesNobody) {
  SlotQueue queue(1, 1);
  const auto first = queue.join().value();
  ASSERT_TRUE(queue.join());
  EXPECT_EQ(queue.join(), std::nullopt);
  queue.leave(first);
  EXPECT_TRUE(queue.join());
}

TEST(SlotQueue, TicketThatIsNotInUseIsADefect) {
  EXPECT_THROW(SlotQueue(0), Error);
  SlotQueue queue(1);
  const auto ticket = queue.join().value();
  queue.leave(ticket);
  EXPECT_THROW(queue.leave(ticket), Error);
  EXPECT_THROW(static_cast<void>(queue.place(ticket)), Error);
  EXPECT_NE(queue.join().value(), ticket);
}

}  // namespace
}  // namespace lpu::test
