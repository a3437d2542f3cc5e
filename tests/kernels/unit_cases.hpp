// Random cases of the softmax unit and the vector chains, made alike for the GoogleTest program and the plain bench.
#pragma once

#include "tests/kernels/random_data.hpp"
#include "tests/kernels/unit_checks.hpp"

namespace lpu {
namespace kernels {

/// Scores between −spread and spread in base 2; sums have 40 fraction bits.
inline Scores random_scores(RandomData& random, int positions, int spread) {
  Scores scores;
  scores.positions = positions;
  scores.exponent = -40;
  for (int p = 0; p < positions; ++p) {
    const engine::Int128 high = engine::shift_left(random.integer(-spread * 1024, spread * 1024), 30);
    const engine::Int128 low = random.sum(24);
    scores.sums.push_back(high + low);
    scores.value_scales.push_back(static_cast<std::uint16_t>(random.integer(1, 65535)));
  }
  return scores;
}

/// Sums whose values lie around 1.
inline Rows random_rows(RandomData& random, int rows) {
  Rows result;
  for (int i = 0; i < rows; ++i) {
    result.sums.push_back(random.sum(48));
    result.exponents.push_back(static_cast<std::int8_t>(random.integer(-24, -14)));
  }
  return result;
}

inline ResidualInput random_residual(RandomData& random, int values) {
  ResidualInput in;
  in.rows = random_rows(random, values);
  for (int i = 0; i < values; ++i) {
    in.gains.push_back(random.number(-4, 2));
  }
  return in;
}

}  // namespace kernels
}  // namespace lpu
