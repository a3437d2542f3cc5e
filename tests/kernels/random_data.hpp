// Random inputs of the kernels from a fixed seed: the same on every machine, with and without a test framework.
#pragma once

#include <cstdint>
#include <random>

#include "hls/engine/binary32.hpp"
#include "tests/kernels/matvec_check.hpp"

namespace lpu {
namespace kernels {

class RandomData {
 public:
  explicit RandomData(std::uint32_t seed) : generator_(seed) {}

  int integer(int low, int high) {
    return low + static_cast<int>(generator_() % (static_cast<std::uint32_t>(high - low) + 1u));
  }
  float number(int low_exponent, int high_exponent) {
    const std::uint32_t field = static_cast<std::uint32_t>(integer(low_exponent, high_exponent) + engine::kFloatBias);
    return engine::float_from_bits((generator_() & 0x807fffffu) | (field << 23));
  }
  engine::Int128 sum(int bits) {
    engine::Int128 value = 0;
    for (int i = 0; i < bits; i += 16) value = value * engine::Int128(65536) + engine::Int128(integer(-32768, 32767));
    return value;
  }
  engine::Block block() {
    engine::Block result;
    for (std::int16_t& mantissa : result.mantissas) mantissa = static_cast<std::int16_t>(integer(-511, 511));
    result.offset = static_cast<std::uint8_t>(integer(0, 31));
    return result;
  }
  /// A residual for the matrix, near its sums in size, and rows' exponents.
  void add_residual(TestMatrix& matrix) {
    for (int row = 0; row < matrix.rows; ++row) {
      matrix.residual.push_back(number(-20, 10));
      matrix.exponents.push_back(static_cast<std::int8_t>(integer(-20, -5)));
    }
  }
  TestMatrix matrix(int rows, int blocks, int nibbles, bool is_signed, bool has_minimum) {
    TestMatrix result;
    result.rows = rows;
    result.blocks = blocks;
    result.nibbles = nibbles;
    result.signed_code = is_signed;
    result.signed_scale = is_signed;
    result.has_minimum = has_minimum;
    const std::size_t count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(blocks);
    for (std::size_t i = 0; i < count * static_cast<std::size_t>(nibbles) * engine::kWordDataBytes; ++i) {
      result.words.push_back(static_cast<std::uint8_t>(integer(0, 255)));
    }
    for (std::size_t i = 0; i < count; ++i) {
      result.scales.push_back(static_cast<std::uint16_t>(integer(0, 65535)));
      result.minimums.push_back(static_cast<std::uint16_t>(integer(0, 65535)));
    }
    return result;
  }

 private:
  std::mt19937 generator_;
};

}  // namespace kernels
}  // namespace lpu
