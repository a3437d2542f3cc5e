// Who watches a token on the golden machine: every instruction's issue cycle, every write with the cycle from which on
// it can be read, and a call after each instruction, when its values stand in the machine's state. It exists for
// lockstep with other cards; a machine that nobody watches keeps no record. Relies on walk.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "hls/golden/walk.hpp"

namespace lpu {
namespace golden {

/// The places of docs/isa.md. What `first` and `second` of a write mean: kAccumulator entry, segment; kBlock bank,
/// address; kResidual first row of the slice, 0; kWord address, group; kScale register, 0; kExponent and kInverse
/// round, segment.
enum class PlaceKind : std::uint32_t { kAccumulator, kBlock, kResidual, kWord, kScale, kExponent, kInverse };

struct TimedRun {
  Step step;
  std::uint64_t issue = 0;  ///< cycle of the token
};
struct TimedWrite {
  PlaceKind kind = PlaceKind::kAccumulator;
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::uint64_t ready =
      0;                  ///< first cycle in which it can be read; kNever of scoreboard_limits.hpp: a sum not finished
  std::uint32_t run = 0;  ///< from 0, in the order of meaning
};

class Observer {
 public:
  virtual ~Observer() = default;
  /// The token's times, before any value changes.
  virtual void timed(const std::vector<TimedRun>& runs, const std::vector<TimedWrite>& writes) = 0;
  /// Run number `run` has been executed.
  virtual void executed(std::uint32_t run) = 0;
};

}  // namespace golden
}  // namespace lpu
