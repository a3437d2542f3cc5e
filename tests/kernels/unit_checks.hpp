// Runs the softmax unit and the vector chains, and computes the same results by calling hls/engine directly.
// Shared by the GoogleTest program and the plain bench that an HLS tool runs; relies on the kernels' tops.
#pragma once

#include <cstdint>
#include <vector>

#include "hls/engine/convert.hpp"
#include "hls/engine/rms_norm.hpp"
#include "hls/engine/softmax.hpp"
#include "hls/engine/swiglu.hpp"
#include "hls/kernels/tops.hpp"

namespace lpu {
namespace kernels {

constexpr int kBlock = contract::kBlockValues;

/// Everything a unit gives out, as integers, so that two runs are compared as a whole.
using Results = std::vector<std::int64_t>;

inline void append(Results& results, const engine::Block& block) {
  for (const std::int16_t mantissa : block.mantissas) results.push_back(mantissa);
  results.push_back(block.offset);
}

struct Scores {
  int positions = 0;
  int exponent = 0;
  std::vector<engine::Int128> sums;         ///< [positions]
  std::vector<std::uint16_t> value_scales;  ///< [positions]
};

inline Results engine_softmax(const Scores& in) {
  Results results;
  engine::Status status;
  std::vector<engine::SoftmaxBlock> blocks;
  for (int first = 0; first < in.positions; first += kBlock) {
    engine::Weight weights[kBlock];
    const int unmasked = in.positions - first < kBlock ? in.positions - first : kBlock;
    for (int j = 0; j < unmasked; ++j) {
      const std::size_t position = static_cast<std::size_t>(first + j);
      const std::int32_t score = engine::score_to_fixed(in.sums[position], in.exponent, status);
      weights[j] = engine::softmax_weight(score, in.value_scales[position]);
    }
    blocks.push_back(engine::softmax_block(weights, unmasked));
    for (const std::int16_t mantissa : blocks.back().mantissas) results.push_back(mantissa);
    results.push_back(blocks.back().exponent);
  }
  const engine::SoftmaxRow row = engine::combine(blocks.data(), static_cast<int>(blocks.size()));
  results.push_back(row.exponent);
  results.push_back(row.exponent - row.whole);
  results.push_back(engine::bits_from_float(engine::softmax_inverse(row, status)));
  results.push_back(status.saturations);
  return results;
}

template <int Lanes, typename Top>
Results kernel_softmax(Top top, const Scores& in) {
  hls::stream<ScoreBeat<Lanes>> scores;
  hls::stream<WeightBlock> blocks;
  const int at_once = Lanes > kBlock ? Lanes : kBlock;
  const int padded = (in.positions + at_once - 1) / at_once * at_once;
  for (int first = 0; first < padded; first += Lanes) {
    ScoreBeat<Lanes> beat;
    for (int lane = 0; lane < Lanes; ++lane) {
      const bool inside = first + lane < in.positions;
      const std::size_t position = static_cast<std::size_t>(first + lane);
      // What stands in masked places must not matter: the largest score that there is.
      beat.sums[lane] = inside ? in.sums[position] : engine::shift_left(1, 86);
      beat.value_scales[lane] = inside ? in.value_scales[position] : std::uint16_t(65535);
    }
    scores.write(beat);
  }
  std::int32_t largest = 0;
  std::int32_t difference = 0;
  float inverse = 0;
  std::uint32_t saturations = 0;
  top(in.positions, in.exponent, scores, blocks, largest, difference, inverse, saturations);
  Results results;
  for (int first = 0; first < padded; first += kBlock) {
    const WeightBlock block = blocks.read();
    if (first >= in.positions) continue;  // an empty block that fills a beat
    for (const std::int16_t mantissa : block.mantissas) results.push_back(mantissa);
    results.push_back(block.exponent);
  }
  results.push_back(largest);
  results.push_back(difference);
  results.push_back(engine::bits_from_float(inverse));
  results.push_back(saturations);
  return results;
}

/// Rows of sums for a vector chain.
struct Rows {
  std::vector<engine::Int128> sums;    ///< [rows]
  std::vector<std::int8_t> exponents;  ///< [rows]
};

template <int Lanes>
void write_rows(const Rows& in, hls::stream<RowBeat<Lanes>>& out) {
  const int rows = static_cast<int>(in.sums.size());
  for (int first = 0; first < rows; first += Lanes) {
    RowBeat<Lanes> beat;
    for (int lane = 0; lane < Lanes; ++lane) {
      const bool inside = first + lane < rows;
      beat.sums[lane] = inside ? in.sums[static_cast<std::size_t>(first + lane)] : engine::shift_left(1, 86);
      beat.exponents[lane] = inside ? in.exponents[static_cast<std::size_t>(first + lane)] : std::int8_t(127);
    }
    out.write(beat);
  }
}

inline float row_value(const Rows& in, std::size_t row, engine::Status& status) {
  return engine::convert(in.sums[row], engine::sum_exponent(in.exponents[row]), status);
}

inline void append_blocks(Results& results, std::vector<float> values, engine::Status& status) {
  values.resize((values.size() + kBlock - 1) / kBlock * kBlock);
  for (std::size_t first = 0; first < values.size(); first += kBlock) {
    append(results, engine::quantise(&values[first], status));
  }
}

struct ResidualInput {
  Rows rows;                 ///< sums that started at the old residual
  std::vector<float> gains;  ///< [values]
  float epsilon = 1e-5f;
};

inline Results engine_residual(const ResidualInput& in) {
  Results results;
  engine::Status status;
  std::vector<float> products;
  engine::Int128 squares = 0;
  for (std::size_t i = 0; i < in.gains.size(); ++i) {
    const float value = row_value(in.rows, i, status);
    results.push_back(engine::bits_from_float(value));
    squares = squares + engine::square_term(value, status);
    products.push_back(engine::multiply(value, in.gains[i], status));
  }
  append_blocks(results, products, status);
  const float factor = engine::inverse_width_factor(static_cast<int>(in.gains.size()));
  results.push_back(engine::bits_from_float(engine::norm_scale(squares, factor, in.epsilon, status)));
  results.push_back(status.saturations);
  return results;
}

template <int Lanes, int Beats, typename Top>
Results kernel_residual(Top top, const ResidualInput& in) {
  hls::stream<RowBeat<Lanes>> rows;
  hls::stream<engine::Block> blocks;
  static float residual[Beats][Lanes];
  static float gains[Beats][Lanes];
  const int values = static_cast<int>(in.gains.size());
  for (int i = 0; i < values; ++i) {
    gains[i / Lanes][i % Lanes] = in.gains[static_cast<std::size_t>(i)];
  }
  write_rows<Lanes>(in.rows, rows);
  float scale = 0;
  std::uint32_t saturations = 0;
  top(values, engine::inverse_width_factor(values), in.epsilon, rows, residual, gains, blocks, scale, saturations);
  Results results;
  for (int i = 0; i < values; ++i) results.push_back(engine::bits_from_float(residual[i / Lanes][i % Lanes]));
  for (int first = 0; first < values; first += kBlock) append(results, blocks.read());
  results.push_back(engine::bits_from_float(scale));
  results.push_back(saturations);
  return results;
}

/// in.sums: gate and up in turn, [2 × values].
inline Results engine_swiglu(const Rows& in, float scale) {
  Results results;
  engine::Status status;
  std::vector<float> values;
  for (std::size_t i = 0; i < in.sums.size(); i += 2) {
    const float gate = engine::multiply(row_value(in, i, status), scale, status);
    const float up = engine::multiply(row_value(in, i + 1, status), scale, status);
    values.push_back(engine::swiglu(gate, up, status));
  }
  append_blocks(results, values, status);
  results.push_back(status.saturations);
  return results;
}

template <int Lanes, typename Top>
Results kernel_swiglu(Top top, const Rows& in, float scale) {
  hls::stream<RowBeat<Lanes>> rows;
  hls::stream<engine::Block> blocks;
  const int values = static_cast<int>(in.sums.size() / 2);
  write_rows<Lanes>(in, rows);
  std::uint32_t saturations = 0;
  top(values, scale, rows, blocks, saturations);
  Results results;
  for (int first = 0; first < values; first += kBlock) append(results, blocks.read());
  results.push_back(saturations);
  return results;
}

}  // namespace kernels
}  // namespace lpu
