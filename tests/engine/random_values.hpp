// Random numbers for the tests of the arithmetic: always the same seed, printed with every failure through SeededTest.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "hls/engine/binary32.hpp"
#include "hls/engine/integers.hpp"

namespace lpu::engine {

class SeededTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kSeed = 20240607;

  SeededTest() : trace_(__FILE__, __LINE__, "seed " + std::to_string(kSeed)), generator_(kSeed) {}

  std::uint64_t bits(int count) { return generator_() >> (64 - count); }
  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(generator_); }

  /// Any finite float whose exponent lies in low…high; −127 gives zeros and subnormals.
  float finite(int low_exponent, int high_exponent) {
    const auto field = static_cast<std::uint32_t>(integer(low_exponent, high_exponent) + kFloatBias);
    return float_from_bits(static_cast<std::uint32_t>(bits(1) << 31) | (field << kFloatFractionBits) |
                           static_cast<std::uint32_t>(bits(23)));
  }

  /// An integer of up to `most_bits` magnitude bits; the length itself is random.
  Int128 wide(int most_bits) {
    const int length = integer(0, most_bits);
    UInt128 value = (static_cast<UInt128>(generator_()) << 64) | generator_();
    value = length == 0 ? 0 : value >> (128 - length);
    return bits(1) != 0 ? -static_cast<Int128>(value) : static_cast<Int128>(value);
  }

 private:
  ::testing::ScopedTrace trace_;
  std::mt19937_64 generator_;
};

}  // namespace lpu::engine
