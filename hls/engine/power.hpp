// 2^f for a fraction f = 0…65535 in 0.16, as 65,536…131,071 in 1.16, by a table of 128 lines (docs/numbers.md §5).
// Absolute error: kPowerErrorUnits in tables_data.hpp. Latency: kTableCycles. Relies on tables.hpp.
#pragma once

#include "hls/engine/tables.hpp"

namespace lpu {
namespace engine {

inline std::int32_t power_of_two_fraction(std::uint32_t fraction) {
  const std::int32_t rest = static_cast<std::int32_t>(fraction & ((1u << kPowerRestBits) - 1));
  return interpolate(kPowerTable[fraction >> kPowerRestBits], rest, kPowerRestBits);
}

}  // namespace engine
}  // namespace lpu
