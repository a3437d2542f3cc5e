// The residual chain: embedding, sums + residual, or another card's residual → residual, the next norm's blocks, the
// sum of squares, 1/rms (docs/numbers.md §6). Relies on hls/engine; rows come in whole blocks, so blocks may be spread
// over threads.
#include <algorithm>

#include "hls/engine/block_dot.hpp"
#include "hls/engine/rms_norm.hpp"
#include "hls/golden/execute.hpp"
#include "hls/golden/rows.hpp"

namespace lpu {
namespace golden {
namespace {

/// Runs the chain; fetch(first, count, values, status) gives the residual's new values, [count].
template <typename Fetch>
void chain(State& state, const contract::VectorFields& f, std::uint32_t iteration, Fetch fetch) {
  const float* gains = state.constants.data() + strided(f.gain_address, f.gain_stride, iteration);
  float* sent = nullptr;  // [rows]
  if (f.receivers != 0) {
    std::vector<float>& all = *state.token.sent;
    all.resize(std::max<std::size_t>(all.size(), f.first_row + f.rows));
    sent = all.data() + f.first_row;
  }
  std::vector<engine::Int128> squares(state.pool.parts(), 0);
  for_blocks(state, (f.rows + 31) / 32, 32,
             [&](std::uint32_t first, std::uint32_t end, unsigned part, engine::Status& status) {
               engine::Int128 sum = 0;
               for (std::uint32_t block = first; block < end; ++block) {
                 float values[contract::kBlockValues], gained[contract::kBlockValues] = {};
                 const std::uint32_t base = 32 * block, count = std::min(f.rows - base, 32u);
                 fetch(base, count, values, status);
                 for (std::uint32_t i = 0; i < count; ++i) {
                   state.residual[f.first_row + base + i] = values[i];
                   if (sent != nullptr) sent[base + i] = values[i];
                   gained[i] = engine::multiply(values[i], gains[base + i], status);
                   sum += engine::square_term(values[i], status);
                 }
                 store(engine::quantise(gained, status), &state.linear(f.destination, f.first_row / 32 + block));
               }
               squares[part] = sum;
             });
  if (f.starts_norm != 0) state.norm_sum = 0;
  for (const engine::Int128 sum : squares) state.norm_sum += sum;
  if (f.ends_norm != 0) {
    engine::Status status;
    const float factor = engine::inverse_width_factor(static_cast<int>(state.shape.width));
    state.scales[f.scale_register] = engine::norm_scale(state.norm_sum, factor, state.shape.norm_epsilon, status);
    state.token.saturations += status.saturations;
  }
}

}  // namespace

void execute_residual(State& state, const contract::VectorFields& f, std::uint32_t iteration) {
  const Rows rows(state, f, iteration);
  chain(state, f, iteration, [&](std::uint32_t first, std::uint32_t count, float* values, engine::Status& status) {
    rows.convert(first, count, values, status);
  });
}

void execute_receive(State& state, const contract::VectorFields& f, std::uint32_t iteration) {
  const std::vector<float>& received = state.token.received->values;
  chain(state, f, iteration, [&](std::uint32_t first, std::uint32_t count, float* values, engine::Status&) {
    std::copy_n(received.begin() + f.first_row + first, count, values);
  });
}

void execute_embed(State& state, const contract::VectorFields& f, std::uint32_t iteration) {
  if (!state.shape.holds(static_cast<std::uint32_t>(state.token.token))) return;
  const std::size_t token = static_cast<std::uint32_t>(state.token.token) - state.shape.first_id;
  const std::size_t lane = token % state.lanes, row_group = token / state.lanes;
  const std::uint64_t words = strided(f.memory_address, f.memory_stride, iteration) + row_group * f.row_group_words;
  const std::uint64_t minimums = f.minimum_address + row_group * (f.row_group_words / f.nibbles);
  const int exponent =
      state.exponents[(strided(f.exponent_address, f.exponent_stride, iteration) + row_group) * state.lanes + lane] -
      contract::kMinimumFractionBits;
  const std::uint32_t top = 1u << (4 * f.nibbles);
  chain(state, f, iteration, [&](std::uint32_t first, std::uint32_t count, float* values, engine::Status& status) {
    const std::size_t group = first / 32 % state.groups, set = first / 32 / state.groups;
    const std::uint64_t address = words + set * f.nibbles;
    const std::int32_t scale = engine::scale_value(state.memory.side_bits(address, group, lane), f.signed_scale != 0);
    const std::uint16_t minimum = f.has_minimum != 0 ? state.memory.minimum(minimums + set, group, lane) : 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint32_t code = 0;
      for (std::uint32_t n = 0; n < f.nibbles; ++n) code |= state.memory.nibble(address + n, group, lane, i) << (4 * n);
      const std::int32_t q = static_cast<std::int32_t>(code) -
                             (f.signed_code != 0 && code >= top / 2 ? static_cast<std::int32_t>(top) : 0);
      values[i] = engine::convert(
          engine::block_term(q, scale, 1, engine::minimum_mantissa(minimum), engine::minimum_shift(minimum)), exponent,
          status);
    }
  });
}

}  // namespace golden
}  // namespace lpu
