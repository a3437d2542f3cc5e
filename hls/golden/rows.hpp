// Rows on their way from the accumulators into a vector chain: conversion, shared by every opcode of the VPU, and the
// way blocks of rows are spread over threads. Relies on hls/engine and state.hpp.
#pragma once

#include <algorithm>
#include <vector>

#include "hls/engine/accumulate.hpp"
#include "hls/engine/convert.hpp"
#include "hls/engine/quantise.hpp"
#include "hls/golden/state.hpp"
#include "hls/golden/walk.hpp"

namespace lpu {
namespace golden {

constexpr std::uint32_t kShareRows = 96;  ///< below this many rows an instruction stays on one thread

/// The rows of one instruction (segment 0), in lane order.
class Rows {
 public:
  Rows(State& state, const contract::VectorFields& fields, std::uint32_t iteration)
      : state_(state),
        lanes_(static_cast<std::uint32_t>(state.lanes)),
        accumulator_(fields.accumulator),
        exponents_(state.exponents.data() +
                   strided(fields.exponent_address, fields.exponent_stride, iteration) * state.lanes) {}

  /// Dot products of rows first…first + count − 1 as binary32. values: [count].
  void convert(std::uint32_t first, std::uint32_t count, float* values, engine::Status& status) const {
    std::uint32_t row_group = first / lanes_, lane = first % lanes_;
    const std::int8_t* exponents = exponents_ + first;
    for (std::uint32_t done = 0; done < count; lane = 0, ++row_group) {
      const std::uint32_t stop = std::min(done + (lanes_ - lane), count);
      const engine::Int128* sums = state_.entry_sums(accumulator_ + row_group, 0) + lane - done;
      for (; done < stop; ++done)
        values[done] = engine::convert(sums[done], engine::sum_exponent(exponents[done]), status);
    }
  }

 private:
  State& state_;
  std::uint32_t lanes_;
  std::uint32_t accumulator_;
  const std::int8_t* exponents_;  ///< [rows], row groups one after another
};

/// Calls work(first, end, part, status) for ranges of 0…count, on several threads when that pays.
template <typename Work>
void for_blocks(State& state, std::uint32_t count, std::uint32_t rows_each, Work work) {
  std::vector<engine::Status> statuses(state.pool.parts());
  const auto range = [&](std::size_t first, std::size_t end, unsigned part) {
    engine::Status status;
    work(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end), part, status);
    statuses[part] = status;
  };
  if (std::uint64_t{count} * rows_each < kShareRows)
    range(0, count, 0);
  else
    state.pool.run(count, range);
  for (const engine::Status& status : statuses) state.token.saturations += status.saturations;
}

inline void store(const engine::Block& block, ActivationBlock* to) {
  std::copy(block.mantissas, block.mantissas + contract::kBlockValues, to->mantissas);
  to->offset = block.offset;
  to->exponent = block.offset;
}

}  // namespace golden
}  // namespace lpu
