// When the sampling noise of a token's slices is there (docs/isa.md, "Noise"): it is made ahead, in the order of the
// slices, noise_lanes() ids a cycle, as far as the queue has room, from the token's start on. A kLogits slice enters no
// earlier, whether the token is sampled or not, so that a schedule serves both. The golden card's clock checks it, the
// compiler plans by it; the RTL is rtl/vpu/lpu_noise_queue.sv.
// Part of the contract: C++14, relies on hardware_config.hpp and latencies.hpp.
#pragma once

#include <cstdint>

#include "hls/contract/hardware_config.hpp"
#include "hls/contract/latencies.hpp"

namespace lpu {
namespace contract {

/// Cycles count from the token's start; in the head phase of a card of a group from the phase's start, and the noise is
/// made from the start of the token's layers phase on, `lead` cycles before at the least.
class NoiseClock {
 public:
  explicit NoiseClock(const HardwareConfig& config)
      : slice_cycles_(static_cast<std::uint64_t>(config.vector_lanes / noise_lanes(config))) {}

  void start_token(std::uint64_t lead = 0) {
    lead_ = lead;
    slices_ = 0;
    made_ = kNoiseCycles - kNoiseTakeCycles;
  }
  /// The first cycle in which the token's next slice may enter.
  std::uint64_t available() const {
    const std::uint64_t cycle = next();
    return cycle > lead_ ? cycle - lead_ : 0;
  }
  /// The next slice enters: its place in the queue serves the slice kNoiseQueueSlices after it.
  void enter(std::uint64_t cycle) {
    made_ = next();
    entries_[slices_++ % kNoiseQueueSlices] = cycle + lead_;
  }

 private:
  /// available(), counted from the start of the making.
  std::uint64_t next() const {
    const std::uint64_t place = slices_ < kNoiseQueueSlices ? 0 : entries_[slices_ % kNoiseQueueSlices] + kNoiseCycles;
    return (place > made_ ? place : made_) + slice_cycles_;
  }

  std::uint64_t lead_ = 0;
  std::uint64_t slice_cycles_;
  std::uint64_t slices_ = 0;                              ///< that have entered
  std::uint64_t made_ = kNoiseCycles - kNoiseTakeCycles;  ///< available() of the newest of them
  std::uint64_t entries_[kNoiseQueueSlices] = {};         ///< cycles of the newest entries
};

}  // namespace contract
}  // namespace lpu
