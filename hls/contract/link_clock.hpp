// The links between cards, and when what one card sends is there for another (docs/several_cards.md): a vector goes in
// blocks of 32 binary32 values, in order, each as soon as it is made and the stream is free. A card's phase starts in
// the cycle in which its vector's first block is there, so that two clocks only drift apart while one vector passes.
// Part of the contract: C++14, relies on link.hpp. Compiler and golden group both plan and check by it.
#pragma once

#include <cstdint>

#include "hls/contract/link.hpp"
#include "hls/contract/number_formats.hpp"

namespace lpu {
namespace contract {

/// A kind of link as it is declared: what the cable and its core do.
struct LinkConfig {
  const char* name;
  const char* note;    ///< one sentence for people: what it is, where the figures are from
  int megabits_per_s;  ///< payload of one direction
  int latency_ns;      ///< one way, core to core
  int jitter_ns;       ///< how much later a block may come: waited for always
};

constexpr LinkConfig kLinkConfigs[] = {
    {"aurora-25g", "Aurora 64B/66B on four lanes of 25.78 Gb/s, direct cable: about 0.14 us one way", 100000, 140, 7},
    {"udp-100g", "UDP over 100G Ethernet, direct cable: measured 0.54 us one way, within 40 ns", 96000, 540, 40},
};
constexpr int kLinkConfigCount = sizeof(kLinkConfigs) / sizeof(kLinkConfigs[0]);

constexpr int kLinkStreamBits = 256;  ///< of the AXI-Stream between core and link, in the card's clock
constexpr int kLinkDeskewCycles = 4;  ///< that a block waits, always: two clocks 200 ppm apart, for 20,000 cycles
constexpr int kLinkPickCycles = 4;    ///< the last card's best logit there to the next token's id
/// A block's hand-over to its first beat on the stream: behind the header, or out of the queue.
constexpr int kLinkStartCycles = kLinkSendCycles + link_header_beats(kLinkStreamBits);

/// First fault of a link as a sentence, or nullptr.
constexpr const char* fault_of(const LinkConfig& link) {
  if (link.megabits_per_s < 1 || link.megabits_per_s > 100000000) return "megabits_per_s must be 1 to 100000000";
  if (link.latency_ns < 0 || link.latency_ns > 1000000) return "latency_ns must be 0 to 1000000";
  if (link.jitter_ns < 0 || link.jitter_ns > 1000000) return "jitter_ns must be 0 to 1000000";
  return nullptr;
}

/// Links from one card of a ring to another, the shorter way round; to itself it takes as long as to a neighbour.
constexpr std::uint64_t link_hops(std::uint64_t from, std::uint64_t to, std::uint64_t cards) {
  const std::uint64_t up = (to + cards - from) % cards, down = cards - up;
  return up == 0 ? 1 : up < down ? up : down;
}

/// What a link is in cycles of the cards' clock.
class LinkClock {
 public:
  LinkClock(const LinkConfig& link, int clock_mhz)
      : block_cycles_(largest(static_cast<std::uint64_t>(link_block_beats(kLinkStreamBits)),
                              up(static_cast<std::uint64_t>(kLinkBlockBits) * static_cast<std::uint64_t>(clock_mhz),
                                 static_cast<std::uint64_t>(link.megabits_per_s)))),
        hop_cycles_(cycles(link.latency_ns, clock_mhz) + cycles(link.jitter_ns, clock_mhz) + kLinkReceiveCycles +
                    kLinkTakeCycles + kLinkDeskewCycles) {}

  /// Cycles from one block of a vector to the next, at the least.
  std::uint64_t block_cycles() const { return block_cycles_; }
  /// A new vector, over so many links one after another.
  void start_vector(std::uint64_t hops) {
    hops_ = hops;
    first_ = true;
  }
  /// The cycle from which on the vector's next block, handed over in cycle `cycle` of the sender, can be taken.
  std::uint64_t arrival(std::uint64_t cycle) {
    std::uint64_t starts = cycle + kLinkStartCycles;
    if (!first_ && starts < free_) starts = free_;
    first_ = false;
    free_ = starts + block_cycles_;
    return free_ + hops_ * hop_cycles_;
  }

 private:
  static std::uint64_t largest(std::uint64_t a, std::uint64_t b) { return a > b ? a : b; }
  static std::uint64_t up(std::uint64_t value, std::uint64_t by) { return (value + by - 1) / by; }
  static std::uint64_t cycles(int nanoseconds, int clock_mhz) {
    return up(static_cast<std::uint64_t>(nanoseconds) * static_cast<std::uint64_t>(clock_mhz), 1000);
  }

  std::uint64_t block_cycles_;
  std::uint64_t hop_cycles_;
  std::uint64_t hops_ = 1;
  std::uint64_t free_ = 0;
  bool first_ = true;
};

}  // namespace contract
}  // namespace lpu
