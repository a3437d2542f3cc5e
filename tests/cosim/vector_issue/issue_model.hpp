// What lpu_vector_issue must show in which cycle, worked out slice by slice from the instruction's fields with the
// formulas of docs/isa.md ("VPU: entries"), the same that hls/golden's scoreboard checks schedules by: divisions and
// remainders, no counters. Relies on hls/contract.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "hls/contract/instructions.hpp"
#include "hls/contract/latencies.hpp"

namespace lpu {
namespace cosim {

using Cycle = std::uint64_t;
using contract::Opcode;

constexpr Cycle kLead = contract::kIssueLeadCycles;
constexpr Cycle kExponentLead = 3, kAccumulatorLead = 2, kGainDelay = 1, kBiasDelay = 5;

struct Machine {
  std::uint64_t lanes, groups, vector_lanes, accumulator_entries;

  std::uint64_t slices() const { return lanes / vector_lanes; }
  std::uint64_t set_values() const { return 32 * groups; }
};

struct Step {
  Cycle issue = 0;
  Opcode opcode = Opcode::kResidual;
  contract::VectorFields fields;
  std::uint64_t iteration = 0;
};

/// A token from its first cycle on.
struct Token {
  Cycle start = 0;
  std::uint64_t position = 0;
};

struct Script {
  std::vector<Token> tokens;  ///< in order; the first one starts in cycle 0 at the latest
  std::vector<Step> steps;    ///< in order
  Cycle end = 0;              ///< first cycle in which nothing can come any more

  const Token& token(Cycle cycle) const {
    std::size_t at = 0;
    while (at + 1 < tokens.size() && tokens[at + 1].start <= cycle) ++at;
    return tokens[at];
  }
};

struct AccumulatorRead {
  std::uint64_t segment, entry, slice;
};

struct ExpectedEntry {
  Opcode opcode;
  std::uint64_t lanes, slot, row, slice, segment, scale_register, round;
  bool block_end, start, end, has_bias, wide;
  bool has_grid = false, has_block = false, has_key = false;
  std::uint64_t grid_lane = 0;                   ///< where has_grid
  std::uint64_t bank = 0, address = 0;           ///< where has_block
  std::uint64_t key_group = 0, key_address = 0;  ///< where has_key
  std::uint64_t nibbles, row_step, head_blocks;
};

struct Expected {
  std::map<Cycle, std::uint64_t> exponents, grids, gains, biases, ropes;  ///< requests' addresses
  std::map<Cycle, AccumulatorRead> accumulators;
  std::map<Cycle, ExpectedEntry> entries;
};

/// First cycle in which another instruction may issue (isa.md), and the cycle after the last entry.
inline Cycle next_issue(const Machine& machine, const Step& step) {
  const contract::VectorFields& f = step.fields;
  if (step.opcode == Opcode::kEmbed) return step.issue + f.column_sets * f.pitch_cycles + contract::kEmbedFetchCycles;
  const Cycle entries = (step.opcode == Opcode::kMix ? f.segments : 1) * f.row_groups;
  return step.issue + (entries - 1) * f.pitch_cycles + (machine.slices() - 1) * f.slice_cycles + 1;
}

class Model {
 public:
  Model(const Machine& machine, const Script& script) : machine_(machine), script_(script) {
    for (const Step& step : script.steps) add(step);
  }
  const Expected& expected() const { return expected_; }

 private:
  static std::uint64_t strided(std::uint64_t base, std::uint64_t stride, std::uint64_t iteration, int bits) {
    return (base + stride * iteration) & ((std::uint64_t{1} << bits) - 1);
  }
  static std::uint64_t address(std::uint64_t value) { return value & 0xffffff; }

  void add(const Step& step) {
    const contract::VectorFields& f = step.fields;
    const std::uint64_t slice_rows = machine_.vector_lanes;
    if (step.opcode == Opcode::kEmbed) {
      for (std::uint64_t row = 0; row < f.rows; row += slice_rows)
        slice(step, 0, row,
              step.issue + contract::kEmbedFetchCycles + row / machine_.set_values() * f.pitch_cycles +
                  row % machine_.set_values() / slice_rows);
      return;
    }
    const std::uint64_t segments = step.opcode == Opcode::kMix ? f.segments : 1;
    for (std::uint64_t j = 0; j < segments; ++j)
      for (std::uint64_t row = 0; row < f.rows; row += slice_rows)
        slice(step, j, row,
              step.issue + (j * f.row_groups + row / machine_.lanes) * f.pitch_cycles +
                  row % machine_.lanes / slice_rows * f.slice_cycles);
  }

  /// Rows row…row + count − 1 of segment j enter in cycle e.
  void slice(const Step& step, std::uint64_t j, std::uint64_t row, Cycle e) {
    const contract::VectorFields& f = step.fields;
    const Opcode op = step.opcode;
    const bool embeds = op == Opcode::kEmbed, mixes = op == Opcode::kMix, keys = op == Opcode::kKey;
    const bool values = op == Opcode::kValue, residual = embeds || op == Opcode::kResidual;
    const bool rotates = op == Opcode::kQuery || keys, biased = (rotates || values) && f.has_bias != 0;
    const std::uint64_t count = std::min<std::uint64_t>(machine_.vector_lanes, f.rows - row);
    const std::uint64_t block_rows = op == Opcode::kSwiglu ? 64 : 32, head_size = 32 * f.head_blocks;
    const std::uint64_t matrix_row = f.first_row + j * f.rows + row;

    if (!embeds && !mixes)
      expected_.exponents[e - kExponentLead] =
          strided(f.exponent_address + row / machine_.lanes, f.exponent_stride, step.iteration, 24);
    const std::uint64_t head = mixes ? f.slot * f.segments + j : keys || values ? matrix_row / head_size : 0;
    if (mixes || keys || values)
      expected_.grids[e - kExponentLead] =
          strided(f.grid_address + head / machine_.lanes, f.grid_stride, step.iteration, 24);
    if (!embeds)
      expected_.accumulators[e - kAccumulatorLead] =
          AccumulatorRead{j, (f.accumulator + row / machine_.lanes) % machine_.accumulator_entries,
                          row % machine_.lanes / machine_.vector_lanes};
    if (residual) expected_.gains[e + kGainDelay] = strided(f.gain_address + row, f.gain_stride, step.iteration, 27);
    if (biased) expected_.biases[e + kBiasDelay] = strided(f.bias_address + row, f.bias_stride, step.iteration, 27);
    if (rotates)
      expected_.ropes[e + kBiasDelay + (biased ? contract::kBiasCycles : 0)] =
          (script_.token(step.issue).position * head_size + matrix_row % head_size) / 2;

    ExpectedEntry& entry = expected_.entries[e];
    entry.opcode = op;
    entry.lanes = (std::uint64_t{1} << count) - 1;
    entry.slot = row % block_rows / machine_.vector_lanes;
    entry.row = matrix_row & 0xfffff;
    entry.slice = row % machine_.lanes / machine_.vector_lanes;
    entry.segment = j;
    entry.scale_register = f.scale_register;
    entry.round = f.round;
    entry.block_end = (row + count) % block_rows == 0 || row + count == f.rows;
    entry.has_bias = biased;
    entry.wide = keys && f.nibbles == 3;
    entry.start = residual ? f.starts_norm != 0 && row == 0
                  : values ? row % head_size == 0
                           : op == Opcode::kLogits && logit_tokens_.insert(script_.token(e).start).second;
    entry.end = residual ? f.ends_norm != 0 && row + count == f.rows
                : values ? (row + count) % head_size == 0
                         : op == Opcode::kLogits && row + count == f.rows;
    entry.has_grid = mixes || keys || values;
    entry.grid_lane = head % machine_.lanes;
    entry.nibbles = f.nibbles;
    entry.row_step = f.row_group_words;
    entry.head_blocks = f.head_blocks;
    place(step, matrix_row, &entry);
  }

  void place(const Step& step, std::uint64_t row, ExpectedEntry* entry) const {
    const contract::VectorFields& f = step.fields;
    if (step.opcode == Opcode::kLogits) return;
    entry->has_block = true;
    if (step.opcode != Opcode::kQuery && step.opcode != Opcode::kKey && step.opcode != Opcode::kValue) {
      const std::uint64_t block = row / (step.opcode == Opcode::kSwiglu ? 64 : 32);
      entry->bank = block % machine_.groups;
      entry->address = f.destination + block / machine_.groups;
      return;
    }
    const std::uint64_t part = machine_.groups / f.segments, head = row / 32 / f.head_blocks;
    const std::uint64_t b = row / 32 % f.head_blocks, segment = head % f.segments, slot = head / f.segments;
    const std::uint64_t position = script_.token(step.issue).position;
    const std::uint64_t memory = strided(f.memory_address, f.memory_stride, step.iteration, 24);
    if (step.opcode == Opcode::kQuery) {
      entry->bank = segment * part + b % part;
      entry->address = f.destination + slot * ((f.head_blocks + part - 1) / part) + b / part;
    } else if (step.opcode == Opcode::kKey) {
      entry->bank = segment * part + b % part;
      entry->address =
          address(memory + slot * f.slot_words + position / machine_.lanes * f.row_group_words + b / part * f.nibbles);
    } else {
      entry->bank = segment * part + position / 32 % part;
      entry->address = address(memory + slot * f.slot_words + position / 32 / part * 2);
      entry->has_key = true;
      entry->key_group = segment * part;
      entry->key_address = address(strided(f.key_address, f.memory_stride, step.iteration, 24) +
                                   slot * f.key_slot_words + position / machine_.lanes * f.key_row_group_words + 1);
    }
  }

  const Machine& machine_;
  const Script& script_;
  Expected expected_;
  std::set<Cycle> logit_tokens_;  ///< tokens, by their start, that have had a slice of kLogits
};

}  // namespace cosim
}  // namespace lpu
