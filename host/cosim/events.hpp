// The monitor ports of the core as writes to places (rtl_model/api.hpp says what each port shows). It exists so that
// the checker knows nothing of ports. Relies on api.hpp and checker.hpp.
#pragma once

#include <cstdint>

#include "hls/contract/hardware_config.hpp"
#include "host/card/rtl_model/api.hpp"
#include "host/cosim/checker.hpp"

namespace lpu::cosim {

/// `bits` (at most 32) bits from bit `at` on.
std::uint32_t get_bits(const std::uint32_t* words, std::uint64_t at, unsigned bits);

class Events {
 public:
  explicit Events(const contract::HardwareConfig& config);

  /// Hands the events of a cycle, which is `cycle` counted from the token's start, to the checker.
  void take(const LpuRtlOutputs& out, std::uint64_t cycle, Checker& checker);

 private:
  void blocks(const LpuRtlOutputs& out, std::uint64_t ready, Checker& checker);
  void words(const LpuRtlOutputs& out, std::uint64_t ready, Checker& checker);
  void sums(const LpuRtlOutputs& out, std::uint64_t ready, Checker& checker);
  void rounds(const LpuRtlOutputs& out, std::uint64_t cycle, Checker& checker);

  std::uint32_t lanes_, groups_, vector_lanes_;
  std::vector<std::uint32_t> value_;  ///< [words of the write at hand]
};

}  // namespace lpu::cosim
