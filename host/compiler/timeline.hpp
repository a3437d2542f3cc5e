// Step 4, time: issue cycles for operations in program order, each as early as places, ports and queues allow.
// Relies on operation.hpp. The golden card times the same program with code of its own; the two must agree.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "host/compiler/operation.hpp"

namespace lpu::compiler {

class Timeline {
 public:
  explicit Timeline(const Places& places);
  /// The earliest legal issue cycle of the next operation; the state moves on.
  std::uint32_t issue(const Footprint& footprint);
  /// The cycle in which everything so far can be read.
  [[nodiscard]] std::uint32_t end() const { return end_; }
  /// The cycle after the unit's last issue + occupancy.
  [[nodiscard]] std::uint32_t unit_free(contract::Unit unit) const {
    return unit_free_[static_cast<std::size_t>(unit)];
  }

 private:
  [[nodiscard]] bool ports_free(const Footprint& footprint, std::uint32_t cycle) const;
  struct PlaceState {
    std::uint32_t ready = 0;
    std::uint32_t read_until = 0;  ///< cycle after the last read
  };
  std::vector<PlaceState> places_;
  std::vector<std::vector<std::uint64_t>> ports_;  ///< [port] one bit a cycle
  std::array<std::uint32_t, contract::kUnits> unit_free_{};
  std::uint32_t end_ = 0;
};

}  // namespace lpu::compiler
