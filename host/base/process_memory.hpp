// How much memory this process holds, as the system counts it. Relies on Linux's /proc/self/status.
#pragma once

#include <cstdint>

namespace lpu {

struct ProcessMemory {
  std::uint64_t resident_bytes = 0;  ///< now; 0 where the system doesn't say
  std::uint64_t peak_bytes = 0;      ///< the most so far
};

ProcessMemory process_memory();

}  // namespace lpu
