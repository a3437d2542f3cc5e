// Step 4, time: issue cycles for operations in program order, each as early as places, ports and queues allow.
// Relies on operation.hpp and the contract's noise_clock.hpp. The golden card times the same program with code of its
// own; the two must agree.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hls/contract/noise_clock.hpp"
#include "host/compiler/operation.hpp"

namespace lpu::compiler {

class Timeline {
 public:
  /// arrivals: [blocks of the vector that is received] cycles from which on each is there; empty where none is.
  /// noise_lead: cycles before the first of these from which on noise is made.
  Timeline(const Places& places, const contract::HardwareConfig& hardware, std::vector<std::uint64_t> arrivals = {},
           std::uint64_t noise_lead = 0);
  /// The earliest legal issue cycle of the next operation; the state moves on.
  std::uint64_t issue(const Footprint& footprint);
  /// Everything so far repeats for so many cycles more, which nobody steps through.
  void skip(std::uint64_t cycles) { skipped_ += cycles; }
  /// The cycle in which everything so far can be read.
  [[nodiscard]] std::uint64_t end() const { return end_ + skipped_; }
  /// The cycle after the unit's last issue + occupancy, where nothing was skipped.
  [[nodiscard]] std::uint32_t unit_free(contract::Unit unit) const {
    return unit_free_[static_cast<std::size_t>(unit)];
  }

 private:
  [[nodiscard]] std::uint32_t noise_from(const Footprint& footprint) const;
  [[nodiscard]] bool ports_free(const Footprint& footprint, std::uint32_t cycle) const;
  struct PlaceState {
    std::uint32_t ready = 0;
    std::uint32_t read_until = 0;  ///< cycle after the last read
  };
  std::vector<PlaceState> places_;
  std::vector<std::vector<std::uint64_t>> ports_;  ///< [port] one bit a cycle
  std::array<std::uint32_t, contract::kUnits> unit_free_{};
  std::vector<std::uint64_t> arrivals_;
  contract::NoiseClock noise_;  ///< in cycles of the token; all others leave out what was skipped
  std::uint64_t skipped_ = 0;
  std::uint32_t end_ = 0;
};

}  // namespace lpu::compiler
