// Writes the traffic of vector instructions: rows enter slice by slice as docs/isa.md says, and hls/engine says what
// must come out, in which cycle. Relies on vector_bench.hpp, random_numbers.hpp.
#pragma once

#include "hls/contract/instructions.hpp"
#include "hls/contract/latencies.hpp"
#include "hls/engine/accumulate.hpp"
#include "hls/engine/best_logits.hpp"
#include "hls/engine/gumbel.hpp"
#include "hls/engine/kv_quantise.hpp"
#include "hls/engine/rms_norm.hpp"
#include "hls/engine/rope.hpp"
#include "hls/engine/softmax.hpp"
#include "hls/engine/swiglu.hpp"
#include "tests/cosim/random_numbers.hpp"
#include "tests/cosim/vpu/vector_bench.hpp"

namespace lpu {
namespace cosim {

using contract::Opcode;
using engine::Int128;

/// How an instruction's numbers are drawn.
struct Style {
  int lowest_field = 117, highest_field = 137;  ///< of converted values, where exponents allow
  bool zeros = false;                           ///< every sum is zero
  bool extreme = false;                         ///< any sum with any exponent: saturations, flushes
  int gap = 0;                                  ///< most empty cycles between slices
  std::vector<float> exact = {};                ///< if given: these values in turn, and a scale of one
  int grid = 1000;                              ///< if not 1000: the grid exponent of K and V
};

class Script {
 public:
  Script(int vector_lanes, std::uint64_t seed, Cycle first_cycle = 0)
      : lanes_(static_cast<std::size_t>(vector_lanes)), random_(seed), now_(first_cycle) {}

  Traffic traffic;
  engine::Status status;
  float inverse_width = engine::inverse_width_factor(576), epsilon = 1e-5f;

  bool samples = false;  ///< temperature above zero
  float inverse_temperature = 1.25f;

  Random& random() { return random_; }
  void wait(Cycle cycles) { now_ += cycles; }
  void finish() { traffic.end = now_ + 80; }

  void residual(std::size_t rows, bool starts, bool ends, const Style& style) {
    const Draw draw = drawn(rows, style, contract::kWindowLow - contract::kMinimumFractionBits);
    std::vector<float> block, gains(rows);
    if (starts) squares_ = 0;
    for (float& gain : gains) gain = style.extreme ? random_.any_number() : random_.number(120, 130);
    if (!style.exact.empty()) gains.assign(rows, 0.0009765625f);  // far inside the blocks' window
    slices(Opcode::kResidual, draw, style, 32, [&](Entry& entry, std::size_t first, std::size_t count, Cycle cycle) {
      entry.start = starts && first == 0;
      entry.end = ends && first + count == rows;
      if (!entry.lanes) return;
      Lanes& out = traffic.residuals[cycle + contract::kResidualCycles - contract::kWriteCycles];
      out.lanes = entry.lanes;
      std::vector<float>& gain_port = traffic.gains[cycle + contract::kConvertCycles];
      gain_port.assign(lanes_, 1.0f);
      out.values.assign(lanes_, 0.0f);
      for (std::size_t i = 0; i < count; ++i) {
        const float value = converted(draw, first + i);
        out.values[i] = value;
        gain_port[i] = gains[first + i];
        block.push_back(engine::multiply(value, gains[first + i], status));
        squares_ += engine::square_term(value, status);
      }
      end_block(entry, block, traffic.norm_blocks, cycle + contract::kResidualBlockCycles);
      if (entry.end)
        traffic.scales[cycle + contract::kNormCycles - contract::kWriteCycles] =
            engine::norm_scale(squares_, inverse_width, epsilon, status);
    });
  }

  /// Query or key; rows: a multiple of 32.
  void rotated(Opcode kind, std::size_t rows, bool has_bias, bool wide, const Style& style) {
    const Draw draw = drawn(rows, style, contract::kWindowLow - contract::kMinimumFractionBits);
    std::vector<float> block;
    const int grid = style.grid != 1000 ? style.grid : random_.between(-24, 4);
    const Cycle bias_cycles = has_bias ? contract::kBiasCycles : 0;
    slices(kind, draw, style, 32, [&](Entry& entry, std::size_t first, std::size_t count, Cycle cycle) {
      entry.has_bias = has_bias;
      entry.wide = wide;
      entry.grid = grid;
      const std::vector<float> cosines = angles(style), sines = angles(style);
      traffic.cosines[cycle + kProduct + bias_cycles] = cosines;
      traffic.sines[cycle + kProduct + bias_cycles] = sines;
      std::vector<float> values = projected(draw, entry, first, count, cycle, style);
      for (std::size_t i = 0; i < count; i += 2)
        engine::rotate(values[i], values[i + 1], cosines[i / 2], sines[i / 2], status);
      block.insert(block.end(), values.begin(), values.end());
      if (kind == Opcode::kQuery)
        return end_block(entry, block, traffic.queries, cycle + contract::kQueryCycles + bias_cycles);
      if (entry.block_end) {
        const int limit = engine::code_limit(wide ? 12 : 8);
        const engine::Fit fitted = engine::fit(largest(block), limit, grid, status);
        traffic.keys[cycle + contract::kKeyCycles - kKeyWrite + bias_cycles] = coded(block, 0, fitted, limit);
        block.clear();
      }
    });
  }

  void value(std::size_t heads, std::size_t head_size, bool has_bias, const Style& style) {
    const Draw draw = drawn(heads * head_size, style, contract::kWindowLow - contract::kMinimumFractionBits);
    std::vector<float> head;
    int grid = 0;
    const Cycle bias_cycles = has_bias ? contract::kBiasCycles : 0;
    slices(Opcode::kValue, draw, style, 32, [&](Entry& entry, std::size_t first, std::size_t count, Cycle cycle) {
      entry.has_bias = has_bias;
      entry.start = first % head_size == 0;
      entry.end = (first + count) % head_size == 0;
      if (entry.start) grid = style.extreme ? random_.between(-128, 127) : random_.between(-24, 4);
      if (style.grid != 1000) grid = style.grid;
      entry.grid = grid;
      const std::vector<float> values = projected(draw, entry, first, count, cycle, style);
      head.insert(head.end(), values.begin(), values.end());
      if (!entry.end) return;
      const engine::Fit fitted = engine::fit(largest(head), 127, grid, status);
      for (std::size_t b = 0; b < head_size / 32; ++b)
        traffic.values[cycle + contract::kValueCycles - kValueWrite + bias_cycles + b] =
            coded(head, static_cast<unsigned>(b), fitted, 127);
      head.clear();
    });
  }

  void mix(std::size_t rows, const Style& style) {
    const int difference = random_.between(16, 32);
    Draw draw = drawn(rows, style, difference + engine::kMixExponent - contract::kMinimumFractionBits);
    for (int& exponent : draw.exponents) exponent = draw.exponents[0];  // one head, one grid
    std::vector<float> block;
    slices(Opcode::kMix, draw, style, 32, [&](Entry& entry, std::size_t first, std::size_t count, Cycle cycle) {
      for (std::size_t i = 0; i < count; ++i)
        block.push_back(engine::mix_value(draw.sums[first + i], draw.exponents[0], difference, draw.scale, status));
      end_block(entry, block, traffic.mixes, cycle + contract::kMixCycles);
    });
  }

  void swiglu(std::size_t pairs, const Style& style) {
    const Draw draw = drawn(2 * pairs, style, contract::kWindowLow - contract::kMinimumFractionBits);
    std::vector<float> block;
    slices(Opcode::kSwiglu, draw, style, 64, [&](Entry& entry, std::size_t first, std::size_t count, Cycle cycle) {
      for (std::size_t i = 0; i < count; i += 2) {
        const float gate = scaled(draw, first + i), up = scaled(draw, first + i + 1);
        block.push_back(engine::swiglu(gate, up, status));
      }
      end_block(entry, block, traffic.swiglus, cycle + contract::kSwigluCycles);
    });
  }

  /// starts, ends: the token's first and last instruction of logits. ties: few different logits.
  void logits(std::size_t rows, std::uint32_t first_id, bool starts, bool ends, bool ties, const Style& style) {
    Draw draw = drawn(rows, style, contract::kWindowLow - contract::kMinimumFractionBits);
    for (std::size_t i = 0; i < rows && ties; ++i) {
      draw.sums[i] = random_.between(-1, 1);
      draw.exponents[i] = 0;
    }
    if (starts) {
      best_ = engine::BestLogits();
      has_key_ = false;
    }
    slices(Opcode::kLogits, draw, style, 32, [&](Entry& entry, std::size_t first, std::size_t count, Cycle cycle) {
      entry.start = starts && first == 0;
      entry.end = ends && first + count == rows;
      entry.row = first_id + static_cast<std::uint32_t>(first);
      Lanes& out = traffic.logits[cycle + kProduct];
      out.lanes = entry.lanes;
      out.values.assign(lanes_, 0.0f);
      for (std::size_t i = 0; i < count; ++i) {
        out.values[i] = scaled(draw, first + i);
        best_.insert(out.values[i], entry.row + static_cast<std::uint32_t>(i));
      }
      if (samples) sample(out.values, entry, count, cycle, ties);
      if (entry.end) traffic.bests[cycle + contract::kLogitCycles - kToken] = {best_.ids[0], best_.logits[0]};
    });
  }

 private:
  static constexpr Cycle kProduct = contract::kConvertCycles + contract::kMultiplyCycles;
  static constexpr Cycle kNoise = 5, kSample = 12;                    ///< after the product
  static constexpr Cycle kKeyWrite = 4, kValueWrite = 6, kToken = 8;  ///< what the core does with the result

  struct Draw {
    int offset;
    float scale;
    std::vector<Int128> sums;
    std::vector<int> exponents;
  };

  Draw drawn(std::size_t rows, const Style& style, int offset) {
    Draw draw{offset, style.extreme ? random_.any_number() : random_.number(121, 131), {}, {}};
    if (!style.exact.empty()) draw.scale = 1.0f;
    for (std::size_t i = 0; i < rows && !style.exact.empty(); ++i) {
      const float value = style.exact[i % style.exact.size()];
      const Int128 significand = (engine::bits_from_float(value) & 0x7fffffu) | 0x800000u;
      draw.sums.push_back(value < 0 ? static_cast<Int128>(-significand) : significand);
      draw.exponents.push_back(engine::exponent_field(value) - 150 - offset);
    }
    for (std::size_t i = draw.sums.size(); i < rows; ++i) {
      const int length = random_.between(1, 80);
      Int128 sum = static_cast<Int128>(random_.sum(length + 1));
      const int field = random_.between(style.lowest_field, style.highest_field);
      int exponent = std::clamp(field - 127 - (length - 1) - offset, -128, 127);
      if (style.extreme && random_.one_in(4)) exponent = random_.between(-128, 127);
      if (style.zeros) sum = 0;
      draw.sums.push_back(sum);
      draw.exponents.push_back(exponent);
    }
    return draw;
  }
  float converted(const Draw& draw, std::size_t row) {
    return engine::convert(draw.sums[row], draw.exponents[row] + draw.offset, status);
  }
  float scaled(const Draw& draw, std::size_t row) { return engine::multiply(converted(draw, row), draw.scale, status); }
  std::vector<float> angles(const Style& style) {
    std::vector<float> all(lanes_ / 2);
    for (float& angle : all) angle = style.extreme ? random_.any_number() : random_.number(110, 126);
    return all;
  }
  std::vector<float> projected(const Draw& draw, const Entry& entry, std::size_t first, std::size_t count, Cycle cycle,
                               const Style& style) {
    std::vector<float> values(count), biases(lanes_, 0.0f);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = scaled(draw, first + i);
      if (!entry.has_bias) continue;
      biases[i] = style.extreme ? random_.any_number() : random_.number(115, 130);
      values[i] = engine::add(values[i], biases[i], status);
    }
    if (entry.has_bias) traffic.biases[cycle + kProduct] = biases;
    return values;
  }
  void sample(const std::vector<float>& logits, const Entry& entry, std::size_t count, Cycle cycle, bool ties) {
    std::vector<std::int32_t>& noises = traffic.noises[cycle + kProduct + kNoise];
    noises.assign(lanes_, 0);
    for (std::size_t i = 0; i < count; ++i) {
      noises[i] = ties ? random_.between(-1, 1) : engine::gumbel(static_cast<std::uint32_t>(random_.bits(32)));
      const std::int64_t key = engine::sampling_key(logits[i], inverse_temperature, noises[i], status);
      const std::uint32_t id = entry.row + static_cast<std::uint32_t>(i);
      if (has_key_ && (key < key_ || (key == key_ && id > key_id_))) continue;
      has_key_ = true;
      key_ = key;
      key_id_ = id;
    }
    if (entry.end) traffic.samples[cycle + kProduct + kSample] = {key_id_, key_};
  }
  static float largest(const std::vector<float>& values) {
    float most = 0;
    for (const float value : values) most = std::max(most, std::abs(value));
    return most;
  }
  Codes coded(const std::vector<float>& values, unsigned block, const engine::Fit& fitted, int limit) {
    Codes codes{block, {}, fitted.scale};
    for (std::size_t j = 0; j < 32; ++j)
      codes.codes.push_back(engine::kv_code(values[32 * block + j], fitted, limit, status));
    return codes;
  }
  void end_block(const Entry& entry, std::vector<float>& block, std::map<Cycle, engine::Block>& to, Cycle readable) {
    if (!entry.block_end) return;
    block.resize(32, 0.0f);
    to[readable - contract::kWriteCycles] = engine::quantise(block.data(), status);
    block.clear();
  }

  /// Calls work for each slice with its entry, first row, rows and cycle. block_rows: rows that make a block.
  template <typename Work>
  void slices(Opcode kind, const Draw& draw, const Style& style, std::size_t block_rows, Work work) {
    const std::size_t rows = draw.sums.size();
    for (std::size_t first = 0; first < rows; first += lanes_) {
      const std::size_t count = std::min(lanes_, rows - first);
      Entry entry;
      entry.kind = static_cast<unsigned>(kind);
      entry.lanes = count == 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << count) - 1;
      entry.slot = static_cast<unsigned>(first % block_rows / lanes_);
      entry.block_end = (first + count) % block_rows == 0 || first + count == rows;
      entry.exponent_offset = draw.offset;
      entry.scale = draw.scale;
      for (std::size_t l = 0; l < lanes_; ++l) {
        // Lanes without a row hold what must not matter.
        entry.sums.push_back(l < count ? draw.sums[first + l] : random_.sum(88));
        entry.row_exponents.push_back(l < count ? draw.exponents[first + l] : random_.between(-128, 127));
      }
      work(entry, first, count, now_);
      traffic.entries[now_] = entry;
      now_ += 1 + static_cast<Cycle>(style.gap > 0 ? random_.between(0, style.gap) : 0);
    }
  }

  std::size_t lanes_;
  Random random_;
  Cycle now_;
  Int128 squares_ = 0;
  engine::BestLogits best_;
  bool has_key_ = false;
  std::int64_t key_ = 0;
  std::uint32_t key_id_ = 0;
};

}  // namespace cosim
}  // namespace lpu
