// Numbers that the scoreboard's files share. Relies on nothing.
#pragma once

#include <cstdint>

namespace lpu {
namespace golden {

constexpr std::uint32_t kNever = 0xFFFFFFFFu;                  ///< a sum that no burst has finished
constexpr std::uint64_t kMostCycles = std::uint64_t{1} << 30;  ///< of one token
/// Cycles of a port that are remembered: uses of one port by older instructions are never further ahead than a unit's
/// own pipeline, and the units' clocks drift apart by less than this inside a token's data dependences.
constexpr std::uint64_t kPortWindow = 8192;

}  // namespace golden
}  // namespace lpu
