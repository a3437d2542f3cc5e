// Attention's and the feed-forward part's chains: query, key, value, mix, swiglu (docs/numbers.md §7, §8, §10).
// Relies on hls/engine for every operation and on rows.hpp. K and V are written by one thread: neighbouring lanes share
// bytes of a tile, and there are few of them.
#include <cmath>

#include "hls/engine/kv_quantise.hpp"
#include "hls/engine/rope.hpp"
#include "hls/engine/softmax.hpp"
#include "hls/engine/swiglu.hpp"
#include "hls/golden/execute.hpp"
#include "hls/golden/rows.hpp"

namespace lpu {
namespace golden {
namespace {

/// Rows × 1/rms (+ bias).
class ScaledRows {
 public:
  ScaledRows(State& state, const contract::VectorFields& f, std::uint32_t iteration)
      : rows_(state, f, iteration),
        scale_(state.scales[f.scale_register]),
        bias_(f.has_bias != 0 ? state.constants.data() + strided(f.bias_address, f.bias_stride, iteration) : nullptr) {}

  /// values: [count] of rows from `first` on.
  void fetch(std::uint32_t first, std::uint32_t count, float* values, engine::Status& status) const {
    rows_.convert(first, count, values, status);
    for (std::uint32_t i = 0; i < count; ++i) {
      values[i] = engine::multiply(values[i], scale_, status);
      if (bias_ != nullptr) values[i] = engine::add(values[i], bias_[first + i], status);
    }
  }

 private:
  Rows rows_;
  float scale_;
  const float* bias_;
};

/// A block of 32 rows of one head, rotated at the token's position. first: row in the instruction, pair: of the block's
/// first row in its head. values: [32].
void rotated_block(const State& state, const ScaledRows& rows, std::uint32_t first, std::size_t pair, float* values,
                   engine::Status& status) {
  const float* angles =
      state.rope.data() + (std::size_t{state.token.position} * (state.shape.head_size / 2) + pair) * 2;
  rows.fetch(first, 32, values, status);
  for (std::uint32_t i = 0; i < 32; i += 2) engine::rotate(values[i], values[i + 1], angles[i], angles[i + 1], status);
}

float largest_magnitude(const float* values, std::size_t count) {
  float largest = 0;
  for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(values[i]));
  return largest;
}

}  // namespace

void execute_query(State& state, const contract::VectorFields& f, std::uint32_t iteration) {
  const ScaledRows rows(state, f, iteration);
  const std::size_t part = state.groups / f.segments, head_blocks = f.head_blocks;
  for_blocks(state, f.rows / 32, 32, [&](std::uint32_t first, std::uint32_t end, unsigned, engine::Status& status) {
    for (std::uint32_t i = first; i < end; ++i) {
      const std::size_t block = f.first_row / 32 + i, b = block % head_blocks, head = block / head_blocks;
      float values[contract::kBlockValues];
      rotated_block(state, rows, 32 * i, b * 16, values, status);
      const std::size_t bank = head % f.segments * part + b % part;
      const std::size_t address = f.destination + head / f.segments * ((head_blocks + part - 1) / part) + b / part;
      store(engine::quantise(values, status), &state.activation(bank, address));
    }
  });
}

void execute_key(State& state, const contract::VectorFields& f, std::uint32_t iteration) {
  const ScaledRows rows(state, f, iteration);
  const std::size_t part = state.groups / f.segments, head_blocks = f.head_blocks;
  const std::size_t row_group = state.token.position / state.lanes, lane = state.token.position % state.lanes;
  const std::uint64_t base = strided(f.memory_address, f.memory_stride, iteration) + row_group * f.row_group_words;
  const std::uint64_t grids = strided(f.grid_address, f.grid_stride, iteration);
  const int limit = engine::code_limit(static_cast<int>(4 * f.nibbles));
  engine::Status status;
  for (std::uint32_t i = 0; i < f.rows / 32; ++i) {
    const std::size_t block = f.first_row / 32 + i, b = block % head_blocks, head = block / head_blocks;
    float values[contract::kBlockValues];
    rotated_block(state, rows, 32 * i, b * 16, values, status);
    const engine::Fit fitted = engine::fit(largest_magnitude(values, 32), limit, state.grid(grids, head), status);
    const std::size_t group = head % f.segments * part + b % part;
    const std::uint64_t address = base + head / f.segments * f.slot_words + b / part * f.nibbles;
    for (unsigned column = 0; column < 32; ++column) {
      const unsigned code = static_cast<unsigned>(engine::kv_code(values[column], fitted, limit, status));
      for (unsigned n = 0; n < f.nibbles; ++n)
        state.memory.set_nibble(address + n, group, lane, column, code >> (4 * n));
    }
    state.memory.set_side_bits(address, group, lane, fitted.scale);
  }
  state.token.saturations += status.saturations;
}

void execute_value(State& state, const contract::VectorFields& f, std::uint32_t iteration) {
  const ScaledRows rows(state, f, iteration);
  const std::uint32_t head_size = state.shape.head_size;
  const std::size_t part = state.groups / f.segments, block = state.token.position / 32;
  const unsigned column = state.token.position % 32;
  const std::uint64_t base = strided(f.memory_address, f.memory_stride, iteration) + block / part * 2;
  const std::uint64_t key_base = strided(f.key_address, f.memory_stride, iteration) +
                                 state.token.position / state.lanes * f.key_row_group_words + 1;
  const std::uint64_t grids = strided(f.grid_address, f.grid_stride, iteration);
  const int limit = engine::code_limit(contract::kKvMantissaBits);
  std::vector<float> values(head_size);
  engine::Status status;
  for (std::uint32_t first = 0; first < f.rows; first += head_size) {
    const std::size_t head = (f.first_row + first) / head_size, slot = head / f.segments;
    rows.fetch(first, head_size, values.data(), status);
    const engine::Fit fitted =
        engine::fit(largest_magnitude(values.data(), head_size), limit, state.grid(grids, head), status);
    const std::size_t first_group = head % f.segments * part;
    for (std::uint32_t d = 0; d < head_size; ++d) {
      const unsigned code = static_cast<unsigned>(engine::kv_code(values[d], fitted, limit, status));
      const std::uint64_t address = base + slot * f.slot_words + d / state.lanes * f.row_group_words;
      state.memory.set_nibble(address, first_group + block % part, d % state.lanes, column, code);
      state.memory.set_nibble(address + 1, first_group + block % part, d % state.lanes, column, code >> 4);
    }
    state.memory.set_side_bits(key_base + slot * f.key_slot_words, first_group, state.token.position % state.lanes,
                               fitted.scale);
  }
  state.token.saturations += status.saturations;
}

void execute_mix(State& state, const contract::VectorFields& f, std::uint32_t iteration) {
  const std::uint64_t grids = strided(f.grid_address, f.grid_stride, iteration);
  const std::uint32_t head_blocks = f.rows / 32;
  for_blocks(state, head_blocks * f.segments, 32,
             [&](std::uint32_t first, std::uint32_t end, unsigned, engine::Status& status) {
               for (std::uint32_t i = first; i < end; ++i) {
                 const std::size_t segment = i / head_blocks, row = i % head_blocks * 32;
                 const RoundRegister& round = state.rounds[f.round * state.groups + segment];
                 const int grid = state.grid(grids, f.slot * f.segments + segment);
                 float values[contract::kBlockValues];
                 for (std::size_t d = row; d < row + 32; ++d)
                   values[d - row] =
                       engine::mix_value(state.entry_sums(f.accumulator + d / state.lanes, segment)[d % state.lanes],
                                         grid, round.difference, round.inverse, status);
                 store(engine::quantise(values, status), &state.linear(f.destination, f.first_row / 32 + i));
               }
             });
}

void execute_swiglu(State& state, const contract::VectorFields& f, std::uint32_t iteration) {
  const Rows rows(state, f, iteration);
  const float scale = state.scales[f.scale_register];
  for_blocks(state, (f.rows + 63) / 64, 64,
             [&](std::uint32_t first, std::uint32_t end, unsigned, engine::Status& status) {
               for (std::uint32_t block = first; block < end; ++block) {
                 float sums[2 * contract::kBlockValues], values[contract::kBlockValues] = {};
                 const std::uint32_t count = std::min(f.rows - 64 * block, 64u);
                 rows.convert(64 * block, count, sums, status);
                 for (std::uint32_t i = 0; i < count; i += 2) {
                   const float gate = engine::multiply(sums[i], scale, status);
                   const float up = engine::multiply(sums[i + 1], scale, status);
                   values[i / 2] = engine::swiglu(gate, up, status);
                 }
                 store(engine::quantise(values, status), &state.linear(f.destination, f.first_row / 64 + block));
               }
             });
}

}  // namespace golden
}  // namespace lpu
