// Random numbers that reach the corners of binary32 and of wide sums: every cosimulation of the vector unit draws from
// here. A fixed seed always, and one from the clock that is printed when a test fails (OPENLPU_SEED repeats it).
// Relies on nothing but the standard library and hls/engine's integers.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>

#include "hls/engine/binary32.hpp"
#include "hls/engine/integers.hpp"

namespace lpu {
namespace cosim {

constexpr std::uint64_t kFixedSeed = 20260101;

/// OPENLPU_SEED, or the time.
inline std::uint64_t fresh_seed() {
  const char* given = std::getenv("OPENLPU_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t bits(int count) { return count == 0 ? 0 : engine_() >> (64 - count); }
  /// lowest…highest, both included.
  int between(int lowest, int highest) {
    return lowest + static_cast<int>(engine_() % static_cast<std::uint64_t>(highest - lowest + 1));
  }
  bool one_in(int count) { return between(1, count) == 1; }

  /// A finite number with its exponent field in the range; often with few fraction bits, so that ties happen.
  float number(int lowest_field, int highest_field) {
    const std::uint32_t field = static_cast<std::uint32_t>(between(lowest_field, highest_field));
    std::uint32_t fraction = static_cast<std::uint32_t>(bits(23));
    if (one_in(3)) fraction &= ~((1u << between(0, 23)) - 1);
    if (one_in(16)) fraction = one_in(2) ? 0 : 0x7fffffu;
    return engine::float_from_bits((static_cast<std::uint32_t>(bits(1)) << 31) | (field << 23) | fraction);
  }
  /// Any finite number: everywhere, near one, or a corner (zeros, subnormals, the smallest and the largest).
  float any_number() {
    static constexpr std::uint32_t kCorners[] = {0x00000000u, 0x80000000u, 0x00000001u, 0x807fffffu, 0x00800000u,
                                                 0x80800001u, 0x7f7fffffu, 0xff7fffffu, 0x3f800000u, 0xbf800000u};
    if (one_in(8)) return engine::float_from_bits(kCorners[between(0, 9)]);
    return one_in(2) ? number(0, 254) : number(110, 140);
  }

  /// A signed sum of up to `width` bits: any length alike, powers of two and their neighbours among them.
  engine::Int128 sum(int width) {
    const int length = between(0, width - 1);
    engine::UInt128 value = (static_cast<engine::UInt128>(engine_()) << 64) | engine_();
    value = length == 0 ? 0 : value >> (128 - length);
    if (one_in(6)) value = static_cast<engine::UInt128>(1) << (length == 0 ? 0 : length - 1);
    if (one_in(12)) value += 1;
    const engine::Int128 magnitude = static_cast<engine::Int128>(value);
    return one_in(2) ? static_cast<engine::Int128>(-magnitude) : magnitude;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace cosim
}  // namespace lpu
