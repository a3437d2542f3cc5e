// Linear interpolation between a table's points (docs/numbers.md §5): y = base[i] + ((slope[i]·rest + half) >> shift).
// Latency: kTableCycles (look-up 2, multiply 2, add 1). The points: tables_data.hpp, printed by scripts/make_tables.py.
#pragma once

#include <cstdint>

#include "hls/engine/tables_data.hpp"

namespace lpu {
namespace engine {

/// entry: [2] base and slope (the change of y over the whole entry); rest: 0…2^shift − 1; shift ≥ 1, arithmetic.
inline std::int32_t interpolate(const std::int32_t* entry, std::int32_t rest, int shift) {
  const std::int64_t half = static_cast<std::int64_t>(1) << (shift - 1);
  const std::int64_t product = static_cast<std::int64_t>(entry[1]) * rest;
  return static_cast<std::int32_t>(entry[0] + ((product + half) >> shift));
}

}  // namespace engine
}  // namespace lpu
