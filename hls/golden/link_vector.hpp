// A vector on its way between cards: a residual, block by block, with the cycles in which its blocks change hands.
// It exists so that a group can pass between machines what the links would carry. Relies on nothing.
#pragma once

#include <cstdint>
#include <vector>

namespace lpu {
namespace golden {

struct LinkVector {
  std::vector<float> values;          ///< [32 × blocks]; empty where the sender has only its time to tell
  std::vector<std::uint64_t> cycles;  ///< [blocks] of the phase: handed to the link, or there to be taken
};

}  // namespace golden
}  // namespace lpu
