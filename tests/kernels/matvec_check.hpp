// Runs the matrix-vector kernel on a matrix kept row by row, and computes the same sums by calling hls/engine directly.
// Shared by the GoogleTest program and the plain bench that an HLS tool runs; relies on the kernels' tops.
#pragma once

#include <cstdint>
#include <vector>

#include "hls/engine/accumulate.hpp"
#include "hls/engine/align.hpp"
#include "hls/engine/block_dot.hpp"
#include "hls/kernels/tops.hpp"

namespace lpu {
namespace kernels {

struct TestMatrix {
  int rows = 0;
  int blocks = 0;  ///< of 32 columns
  int nibbles = 1;
  bool signed_code = false;
  bool signed_scale = false;
  bool has_minimum = false;
  std::vector<std::uint8_t> words;      ///< [rows][blocks][nibbles][16]
  std::vector<std::uint16_t> scales;    ///< [rows][blocks]
  std::vector<std::uint16_t> minimums;  ///< [rows][blocks]
  std::vector<float> residual;          ///< [rows] that the sums start at; empty: at zero
  std::vector<std::int8_t> exponents;   ///< [rows] used with the residual only

  std::size_t block_index(int row, int block) const { return static_cast<std::size_t>(row) * blocks + block; }
  const std::uint8_t* block_words(int row, int block) const {
    return &words[block_index(row, block) * nibbles * engine::kWordDataBytes];
  }
};

/// [rows] exact sums, block after block, and the number of saturations.
inline std::vector<engine::Int128> engine_sums(const TestMatrix& matrix, const std::vector<engine::Block>& vector) {
  std::vector<engine::Int128> sums(static_cast<std::size_t>(matrix.rows), engine::Int128(0));
  engine::Status status;
  for (int row = 0; row < matrix.rows; ++row) {
    if (!matrix.residual.empty()) {
      const std::size_t i = static_cast<std::size_t>(row);
      sums[i] = engine::align(matrix.residual[i], engine::sum_exponent(matrix.exponents[i]), status);
    }
    for (int block = 0; block < matrix.blocks; ++block) {
      const engine::Block& a = vector[static_cast<std::size_t>(block)];
      const std::uint16_t minimum = matrix.has_minimum ? matrix.minimums[matrix.block_index(row, block)] : 0;
      const std::int32_t dot =
          engine::block_dot(matrix.block_words(row, block), matrix.nibbles, matrix.signed_code, a.mantissas);
      const engine::Int128 term = engine::block_term(
          dot, engine::scale_value(matrix.scales[matrix.block_index(row, block)], matrix.signed_scale),
          engine::block_sum(a.mantissas), engine::minimum_mantissa(minimum), engine::minimum_shift(minimum));
      engine::Int128& sum = sums[static_cast<std::size_t>(row)];
      sum = engine::accumulate(sum, term, a.offset);
    }
  }
  sums.push_back(engine::Int128(status.saturations));
  return sums;
}

/// Word `nibble` of a block; zero beyond the matrix. Side bits only in the first.
inline WeightWord word_of(const TestMatrix& matrix, int row, int block, int nibble) {
  WeightWord word = {0, 0, 0};
  if (row >= matrix.rows || block >= matrix.blocks) return word;
  const std::uint8_t* bytes = matrix.block_words(row, block) + nibble * engine::kWordDataBytes;
  for (int i = 0; i < 8; ++i) {
    word.low |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
    word.high |= static_cast<std::uint64_t>(bytes[8 + i]) << (8 * i);
  }
  // Only the first word's side bits are the scale; the others must be ignored.
  word.side = nibble == 0 ? matrix.scales[matrix.block_index(row, block)] : static_cast<std::uint16_t>(0xa5a5);
  return word;
}

/// [rows] sums by the kernel, and its saturations. load: also write the matrix into the kernel's memories (they keep it
/// between calls).
template <int Lanes, typename Top>
std::vector<engine::Int128> kernel_sums(Top top, int groups, const TestMatrix& matrix,
                                        const std::vector<engine::Block>& vector, bool load) {
  hls::stream<WeightWord> weights;
  hls::stream<std::uint16_t> minimums;
  hls::stream<engine::Block> activations;
  hls::stream<StartBeat<Lanes>> starts;
  hls::stream<SumBeat<Lanes>> out;
  const int row_groups = (matrix.rows + Lanes - 1) / Lanes;
  const int column_sets = (matrix.blocks + groups - 1) / groups;
  const int new_words = load ? row_groups * column_sets * matrix.nibbles : 0;
  const int new_minimums = load && matrix.has_minimum ? row_groups * column_sets : 0;
  for (int address = 0; address < new_words; ++address) {
    const int nibble = address % matrix.nibbles;
    const int set = address / matrix.nibbles % column_sets;
    const int row_group = address / matrix.nibbles / column_sets;
    for (int group = 0; group < groups; ++group) {
      for (int lane = 0; lane < Lanes; ++lane) {
        const int row = row_group * Lanes + lane;
        const int block = set * groups + group;
        weights.write(word_of(matrix, row, block, nibble));
        if (nibble == 0 && matrix.has_minimum) {
          const bool inside = row < matrix.rows && block < matrix.blocks;
          minimums.write(inside ? matrix.minimums[matrix.block_index(row, block)] : std::uint16_t(0));
        }
      }
    }
  }
  for (int block = 0; block < column_sets * groups; ++block) {
    activations.write(block < matrix.blocks ? vector[static_cast<std::size_t>(block)] : engine::Block());
  }
  const bool adds_residual = !matrix.residual.empty();
  for (int row_group = 0; adds_residual && row_group < row_groups; ++row_group) {
    StartBeat<Lanes> beat;
    for (int lane = 0; lane < Lanes; ++lane) {
      const std::size_t row = static_cast<std::size_t>(row_group * Lanes + lane);
      const bool inside = row < matrix.residual.size();
      beat.values[lane] = inside ? matrix.residual[row] : 0.0f;
      beat.exponents[lane] = inside ? matrix.exponents[row] : std::int8_t(0);
    }
    starts.write(beat);
  }
  std::uint32_t saturations = 0;
  top(new_words, new_minimums, row_groups, column_sets, matrix.nibbles, matrix.signed_code, matrix.signed_scale,
      matrix.has_minimum, adds_residual, weights, minimums, activations, starts, out, saturations);
  // The count of saturations stands behind the sums.
  std::vector<engine::Int128> sums;
  for (int row_group = 0; row_group < row_groups; ++row_group) {
    const SumBeat<Lanes> beat = out.read();
    for (int lane = 0; lane < Lanes && row_group * Lanes + lane < matrix.rows; ++lane) sums.push_back(beat.sums[lane]);
  }
  sums.push_back(engine::Int128(saturations));
  return sums;
}

inline std::vector<engine::Int128> tiny_sums(const TestMatrix& matrix, const std::vector<engine::Block>& vector,
                                             bool load) {
  return kernel_sums<kTiny.lanes>(lpu_kernel_matvec_tiny, kTiny.column_groups, matrix, vector, load);
}
inline std::vector<engine::Int128> u55c_sums(const TestMatrix& matrix, const std::vector<engine::Block>& vector,
                                             bool load) {
  return kernel_sums<kU55c.lanes>(lpu_kernel_matvec_u55c, kU55c.column_groups, matrix, vector, load);
}

}  // namespace kernels
}  // namespace lpu
