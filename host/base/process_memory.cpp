// See process_memory.hpp. Lines look like "VmRSS:     1234 kB", where kB means 1,024 bytes.
#include "host/base/process_memory.hpp"

#include <fstream>
#include <sstream>
#include <string>

namespace lpu {

ProcessMemory process_memory() {
  ProcessMemory result;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    std::istringstream fields(line);
    std::string name;
    std::uint64_t kibibytes = 0;
    if (!(fields >> name >> kibibytes)) continue;
    if (name == "VmRSS:") result.resident_bytes = kibibytes * 1024;
    if (name == "VmHWM:") result.peak_bytes = kibibytes * 1024;
  }
  return result;
}

}  // namespace lpu
