// What travels on the kernels' streams: one element a cycle. Relies on hls/engine for blocks and wide integers.
#pragma once

#include <cstdint>

#include "hls/engine/integers.hpp"
#include "hls/engine/quantise.hpp"

namespace lpu {
namespace kernels {

/// A lane's memory word, 144 bits: 32 nibbles (columns 0…15, 16…31, lowest nibble first) and the side bits.
struct WeightWord {
  std::uint64_t low;
  std::uint64_t high;
  std::uint16_t side;
};

/// What a row group's sums start at: residual values, with the exponents of the rows that they join.
template <int Lanes>
struct StartBeat {
  float values[Lanes];           ///< [lanes]
  std::int8_t exponents[Lanes];  ///< [lanes]
};

/// The finished sums of a row group.
template <int Lanes>
struct SumBeat {
  engine::Int128 sums[Lanes];  ///< [lanes]
};

/// The sums of as many rows as the vector unit takes in a cycle, with their rows' exponents.
template <int Lanes>
struct RowBeat {
  engine::Int128 sums[Lanes];    ///< [vector lanes]
  std::int8_t exponents[Lanes];  ///< [vector lanes]
};

/// The scores of as many positions as the softmax unit takes in a cycle, with V's scales.
template <int Lanes>
struct ScoreBeat {
  engine::Int128 sums[Lanes];         ///< [softmax lanes]
  std::uint16_t value_scales[Lanes];  ///< [softmax lanes]
};

/// 32 softmax weights with their block's exponent, or engine::kEmptyExponent.
struct WeightBlock {
  std::int16_t mantissas[contract::kBlockValues];  ///< [32]
  std::int32_t exponent;
};

}  // namespace kernels
}  // namespace lpu
