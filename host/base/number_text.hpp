// Numbers as people read them. Relies on fmt.
#pragma once

#include <cstdint>
#include <string>

namespace lpu {

/// 18700 as "18,700".
std::string grouped_text(std::uint64_t value);
/// 98362432 as "98.4 MB"; decimal units, as disks and model files are sold.
std::string bytes_text(std::uint64_t bytes);
/// 0.0000721 as "72.1 µs"; s, ms, µs or ns, three digits.
std::string seconds_text(double seconds);
/// 0.7484 as "74.8 %".
std::string percent_text(double share);

}  // namespace lpu
