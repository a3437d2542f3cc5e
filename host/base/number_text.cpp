// See number_text.hpp.
#include "host/base/number_text.hpp"

#include <fmt/format.h>

namespace lpu {
namespace {

/// Three significant digits.
std::string three_digits(double value) {
  return value < 10    ? fmt::format("{:.2f}", value)
         : value < 100 ? fmt::format("{:.1f}", value)
                       : fmt::format("{:.0f}", value);
}

}  // namespace

std::string grouped_text(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr double kThousand = 1000;
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  double value = static_cast<double>(bytes) / kThousand;
  for (const char* unit : {"kB", "MB", "GB"}) {
    if (value < 999.5) return three_digits(value) + " " + unit;
    value /= kThousand;
  }
  return three_digits(value) + " TB";
}

std::string seconds_text(double seconds) {
  for (const char* unit : {"s", "ms", "µs"}) {
    if (seconds >= 0.9995) return three_digits(seconds) + " " + unit;
    seconds *= 1000;
  }
  return three_digits(seconds) + " ns";
}

std::string percent_text(double share) { return fmt::format("{:.1f} %", share * 100); }

}  // namespace lpu
