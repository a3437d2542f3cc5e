// The two sizes at which the sequencer is tested: queues of four, where everything stalls, and of the default depth.
// Relies on the models that CMakeLists.txt makes.
#pragma once

#include <gtest/gtest.h>

#include "Vsequencer_32.h"
#include "Vsequencer_4.h"

namespace lpu {
namespace cosim {

struct Four {
  using Module = Vsequencer_4;
  static constexpr int kEntries = 4;
  static constexpr std::uint32_t kInstructions = 200, kDelays = 3000;
};
struct ThirtyTwo {
  using Module = Vsequencer_32;
  static constexpr int kEntries = 32;
  static constexpr std::uint32_t kInstructions = 256, kDelays = 4096;
};
using Sizes = ::testing::Types<Four, ThirtyTwo>;

}  // namespace cosim
}  // namespace lpu
