// Writes tokens of random vector instructions and what must come of each, in which cycle. Values: hls/golden executes
// every instruction on a State; cycles and places: docs/isa.md, "VPU: entries", counted here once more. Instructions
// issue as early as docs/isa.md lets them, or later; a scale register or a bank's port moves one back by a cycle.
// Relies on hls/golden, random_numbers.hpp.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "hls/contract/hardware_config.hpp"
#include "hls/contract/latencies.hpp"
#include "hls/golden/execute.hpp"
#include "tests/cosim/vpu_whole/vpu_world.hpp"

namespace lpu {
namespace cosim {

using contract::Opcode;
using contract::VectorFields;

class VpuScript : public VpuWorld {
 public:
  VpuScript(const VpuSize& size, std::uint64_t seed, std::uint32_t head_blocks, bool has_bias)
      : VpuWorld(size, seed, head_blocks), has_bias_(has_bias) {}

  VpuTraffic traffic;

  /// A token of an embedding, `count` instructions of all kinds, and `logits` instructions of logits.
  void token(int count, int logits, bool samples) {
    VpuToken next;
    next.follows = chosen_ >= 0 && random_.one_in(2);
    next.start = std::max<Cycle>(ready_, contract::kIssueLeadCycles + 4) + (next.follows ? 0 : random_.between(0, 9));
    next.token = next.follows ? static_cast<std::uint32_t>(chosen_) : draw(0, kVocabulary - 1);
    next.position = draw(0, kContext - 1);
    next.samples = samples;
    next.inverse_temperature = random_.number(124, 128);
    if (next.inverse_temperature < 0) next.inverse_temperature = -next.inverse_temperature;
    next.seed = random_.bits(64);
    state_.token = golden::TokenState();
    state_.token.token = static_cast<std::int32_t>(next.token);
    state_.token.position = next.position;
    state_.token.blocks = next.position / 32 + 1;
    state_.token.samples = samples;
    state_.token.inverse_temperature = next.inverse_temperature;
    state_.token.seed = next.seed;
    logits_.assign(kVocabulary, 0.0f);
    state_.token.logits = logits_.data();
    free_ = next.start;
    chosen_ = -1;
    embed();
    free_ = std::max(free_, next.start + 1 + contract::kIssueLeadCycles);
    for (int i = 0; i < count; ++i) any();
    free_ = std::max(free_, next.start + kNoiseLead);
    for (int i = 0, row = static_cast<int>(first_logit_row); i < logits; ++i) row = this->logits(row, i + 1 == logits);
    next.saturates = state_.token.saturations != 0;
    traffic.tokens.push_back(next);
    traffic.end = ready_ + 20;
  }
  /// The next token starts so much later.
  void wait(Cycle cycles) { ready_ += cycles; }

 private:
  static constexpr Cycle kNoiseLead = 40;  ///< from a token's start to its first logits: the queue has noise then
  static constexpr Cycle kChoice = 21, kLogitShown = contract::kConvertCycles + contract::kMultiplyCycles;

  struct Slice {
    Cycle at;  ///< after the issue
    std::uint32_t segment, row, count;
  };
  struct Place {
    std::uint64_t bank, address;
  };

  // ---- instructions
  VectorFields fields(std::uint32_t rows) {
    VectorFields f;
    f.accumulator = draw(0, static_cast<std::uint32_t>(size_.entries) - 1);
    f.rows = rows;
    f.row_groups = (rows + lanes_ - 1) / lanes_;
    f.slice_cycles = draw(1, 3);
    f.pitch_cycles = (lanes_ / vector_lanes_ - 1) * f.slice_cycles + 1 + (random_.one_in(2) ? 0 : draw(0, 5));
    f.exponent_address = draw(0, 40);
    f.exponent_stride = draw(0, 20);
    f.scale_register = draw(0, 1);
    f.gain_address = 32 * draw(0, 20);
    f.gain_stride = 32 * draw(0, 4);
    f.bias_address = 32 * draw(0, 20);
    f.bias_stride = 32 * draw(0, 4);
    f.grid_address = draw(0, 100);
    f.grid_stride = draw(0, 20);
    f.has_bias = has_bias_ ? 1 : 0;
    f.head_blocks = head_blocks_;
    f.segments = draw(1, groups_);
    while (!contract::may_have_segments(static_cast<int>(groups_), f.segments)) --f.segments;
    f.destination = draw(0, 3);
    f.round = draw(0, 63);
    return f;
  }
  std::vector<Slice> slices(const VectorFields& f, std::uint32_t segments) const {
    std::vector<Slice> all;
    for (std::uint32_t j = 0; j < segments; ++j)
      for (std::uint32_t row = 0; row < f.rows; row += vector_lanes_)
        all.push_back({static_cast<Cycle>((j * f.row_groups + row / lanes_) * f.pitch_cycles +
                                          row % lanes_ / vector_lanes_ * f.slice_cycles),
                       j, row, std::min(vector_lanes_, f.rows - row)});
    return all;
  }
  Place linear(const VectorFields& f, std::uint64_t block) const {
    return {block % groups_, f.destination + block / groups_};
  }

  void any() {
    if (random_.one_in(3)) free_ += random_.between(0, 20);
    switch (random_.between(0, 5)) {
      case 0:
        return residual();
      case 1:
        return query();
      case 2:
        return key();
      case 3:
        return value();
      case 4:
        return mix();
      default:
        return swiglu();
    }
  }

  /// Finds the issue cycle, executes, hands the instruction over. blocks: (cycle after the issue, place) of each.
  Cycle issue(Opcode opcode, const VectorFields& f, const std::vector<Slice>& slices, bool reads_scale,
              bool writes_scale, const std::vector<std::pair<Cycle, Place>>& blocks, Cycle length) {
    TimedInstruction timed;
    timed.instruction.common.opcode = static_cast<std::uint32_t>(opcode);
    timed.instruction.vector = f;
    timed.iteration = draw(0, 3);
    const Cycle last = slices.back().at;
    Cycle at = free_;
    const auto fits = [&] {
      for (const auto& [after, place] : blocks)
        if (traffic.blocks.count({at + after, place.bank}) != 0) return false;
      if (reads_scale && at < scale_ready_[f.scale_register]) return false;
      return !writes_scale || at + last + contract::kNormCycles > scale_read_[f.scale_register];
    };
    while (!fits()) ++at;
    golden::execute(state_, timed.instruction, timed.iteration);
    for (const auto& [after, place] : blocks) {
      traffic.blocks[{at + after, place.bank}] = {place.address, state_.activation(place.bank, place.address)};
      shown(at + after);
    }
    if (reads_scale) scale_read_[f.scale_register] = std::max(scale_read_[f.scale_register], at + last);
    if (writes_scale) {
      const Cycle cycle = at + last + contract::kNormCycles - 1;
      traffic.scales[cycle] = {f.scale_register, state_.scales[f.scale_register]};
      scale_ready_[f.scale_register] = cycle + 1;
      shown(cycle);
    }
    traffic.instructions[at] = timed;
    free_ = at + length;
    ready_ = std::max(ready_, free_);
    iteration_ = timed.iteration;
    return at;
  }
  Cycle length(const VectorFields& f, std::uint32_t segments) const {
    return segments * f.row_groups * f.pitch_cycles -
           (f.pitch_cycles - ((lanes_ / vector_lanes_ - 1) * f.slice_cycles + 1));
  }
  void shown(Cycle cycle) {
    traffic.landed.insert(cycle);
    ready_ = std::max(ready_, cycle + 1);
  }
  std::vector<std::pair<Cycle, Place>> linear_blocks(const VectorFields& f, const std::vector<Slice>& all,
                                                     std::uint32_t block_rows, Cycle latency) const {
    std::vector<std::pair<Cycle, Place>> blocks;
    for (const Slice& slice : all) {
      const std::uint32_t end = slice.row + slice.count;
      if (end % block_rows == 0 || end == f.rows)
        blocks.push_back(
            {slice.at + latency - 1, linear(f, (f.first_row + slice.segment * f.rows + slice.row) / block_rows)});
    }
    return blocks;
  }
  void residual_chain(Opcode opcode, const VectorFields& f, const std::vector<Slice>& all, Cycle length) {
    const Cycle at = issue(opcode, f, all, false, f.ends_norm != 0,
                           linear_blocks(f, all, 32, contract::kResidualBlockCycles), length);
    for (const Slice& slice : all) {
      LaneValues& out = traffic.residuals[at + slice.at + contract::kResidualCycles - 1];
      out.row = f.first_row + slice.row;
      out.lanes = (1u << slice.count) - 1;
      for (std::uint32_t i = 0; i < slice.count; ++i) out.values.push_back(state_.residual[out.row + i]);
      shown(at + slice.at + contract::kResidualCycles - 1);
    }
  }
  void embed() {
    VectorFields f = fields(0);
    const std::uint32_t set = 32 * groups_;
    f.nibbles = draw(1, 3);
    f.column_sets = draw(1, 2);
    f.rows = draw((f.column_sets - 1) * set + 1, f.column_sets * set);
    f.pitch_cycles = std::max(f.nibbles, set / vector_lanes_) + (random_.one_in(2) ? 0 : draw(0, 5));
    f.row_group_words = 0;  // few words, many rows: see below
    f.memory_address = draw(0, 40);
    f.minimum_address = draw(0, 40);
    if (random_.one_in(2) && kVocabulary / lanes_ <= 16) f.row_group_words = draw(0, 2);
    f.memory_address = std::min(f.memory_address, kWords - 8 - f.row_group_words * (kVocabulary / lanes_));
    f.minimum_address = std::min(f.minimum_address, kWords - 8 - f.row_group_words * (kVocabulary / lanes_));
    f.exponent_address = draw(0, 20);
    f.memory_stride = 0;
    f.signed_code = draw(0, 1);
    f.signed_scale = draw(0, 1);
    f.has_minimum = draw(0, 1);
    f.starts_norm = 1;
    f.ends_norm = 1;
    std::vector<Slice> all;
    for (std::uint32_t row = 0; row < f.rows; row += vector_lanes_)
      all.push_back({contract::kEmbedFetchCycles + row / set * f.pitch_cycles + row % set / vector_lanes_, 0, row,
                     std::min(vector_lanes_, f.rows - row)});
    residual_chain(Opcode::kEmbed, f, all, f.column_sets * f.pitch_cycles + contract::kEmbedFetchCycles);
    const Cycle at = free_ - f.column_sets * f.pitch_cycles - contract::kEmbedFetchCycles;
    const std::uint64_t row = static_cast<std::uint32_t>(state_.token.token) / lanes_;
    for (std::uint32_t c = 0; c < f.column_sets; ++c) {
      if (f.has_minimum != 0)
        traffic.minimum_reads[at + c * f.pitch_cycles] = f.minimum_address + row * (f.row_group_words / f.nibbles) + c;
      for (std::uint32_t n = 0; n < f.nibbles; ++n)
        traffic.embed_reads[at + c * f.pitch_cycles + n] =
            f.memory_address + row * f.row_group_words + c * f.nibbles + n;
    }
  }
  void residual() {
    VectorFields f = fields(draw(1, 128));
    f.first_row = 32 * draw(0, 8);
    f.starts_norm = draw(0, 1);
    f.ends_norm = draw(0, 1);
    residual_chain(Opcode::kResidual, f, slices(f, 1), length(f, 1));
  }
  void query() {
    VectorFields f = fields(32 * draw(1, 4));
    f.first_row = 32 * draw(0, 8);
    const std::uint32_t part = groups_ / f.segments;
    const std::vector<Slice> all = slices(f, 1);
    std::vector<std::pair<Cycle, Place>> blocks;
    for (const Slice& slice : all) {
      if ((slice.row + slice.count) % 32 != 0) continue;
      const std::uint32_t block = (f.first_row + slice.row) / 32, b = block % head_blocks_, head = block / head_blocks_;
      blocks.push_back({slice.at + contract::kQueryCycles + bias_cycles() - 1,
                        {head % f.segments * part + b % part,
                         f.destination + head / f.segments * ((head_blocks_ + part - 1) / part) + b / part}});
    }
    issue(Opcode::kQuery, f, all, true, false, blocks, length(f, 1));
  }
  void key_places(VectorFields& f) {
    f.memory_address = kWords + draw(0, 100);
    f.memory_stride = draw(0, 50);
    f.slot_words = draw(30, 60) + 4 * 32 * head_blocks_ / lanes_;
    f.key_address = kWords + 1500 + draw(0, 100);
    f.key_slot_words = draw(1, 20);
    f.key_row_group_words = draw(0, 5);
  }
  void key() {
    VectorFields f = fields(32 * draw(1, 4));
    f.first_row = 32 * draw(0, 8);
    f.nibbles = draw(2, 3);
    key_places(f);
    f.row_group_words = draw(f.nibbles * head_blocks_, f.nibbles * head_blocks_ + 4);
    const std::uint32_t part = groups_ / f.segments, position = state_.token.position;
    const std::vector<Slice> all = slices(f, 1);
    const Cycle at = issue(Opcode::kKey, f, all, true, false, {}, length(f, 1));
    for (const Slice& slice : all) {
      if ((slice.row + slice.count) % 32 != 0) continue;
      const std::uint32_t block = (f.first_row + slice.row) / 32, b = block % head_blocks_, head = block / head_blocks_;
      KeyCodes& out = traffic.keys[at + slice.at + contract::kKeyCycles - 4 + bias_cycles()];
      out.group = head % f.segments * part + b % part;
      out.address = f.memory_address + iteration_ * f.memory_stride + position / lanes_ * f.row_group_words +
                    head / f.segments * f.slot_words + b / part * f.nibbles;
      out.nibbles = f.nibbles;
      for (unsigned column = 0; column < 32; ++column)
        out.codes.push_back(code(out.address, out.group, column, f.nibbles));
      out.scale = state_.memory.side_bits(out.address, out.group, position % lanes_);
      ready_ = std::max(ready_, at + slice.at + contract::kKeyCycles + bias_cycles());
    }
  }
  /// Two's complement of the nibbles of a position's K code.
  int code(std::uint64_t address, std::uint64_t group, unsigned column, std::uint32_t nibbles) const {
    int value = 0;
    for (std::uint32_t n = 0; n < nibbles; ++n)
      value |= static_cast<int>(state_.memory.nibble(address + n, group, state_.token.position % lanes_, column))
               << (4 * n);
    return value >= 1 << (4 * nibbles - 1) ? value - (1 << (4 * nibbles)) : value;
  }
  void value() {
    const std::uint32_t head_size = 32 * head_blocks_, heads = draw(1, head_blocks_ > 2 ? 2 : 4);
    VectorFields f = fields(head_size * heads);
    f.first_row = head_size * draw(0, 3);
    key_places(f);
    f.row_group_words = draw(2, 4);
    const std::uint32_t part = groups_ / f.segments, position = state_.token.position, block = position / 32;
    const std::vector<Slice> all = slices(f, 1);
    const Cycle at = issue(Opcode::kValue, f, all, true, false, {}, length(f, 1));
    for (const Slice& slice : all) {
      if ((slice.row + slice.count) % head_size != 0) continue;
      const std::uint32_t head = (f.first_row + slice.row) / head_size, slot = head / f.segments;
      const Cycle early = at + slice.at + bias_cycles() + contract::kValueCycles - contract::kValueScaleReadCycles - 1;
      ValueHead& out = traffic.heads[early];
      out.key_group = head % f.segments * part;
      out.group = out.key_group + block % part;
      out.address = f.memory_address + iteration_ * f.memory_stride + slot * f.slot_words + block / part * 2;
      out.row_step = f.row_group_words;
      out.key_address = f.key_address + iteration_ * f.memory_stride + position / lanes_ * f.key_row_group_words + 1 +
                        slot * f.key_slot_words;
      out.head_blocks = head_blocks_;
      for (std::uint32_t b = 0; b < head_blocks_; ++b) value_codes(out, early + 2 + b, b);
      ready_ = std::max<Cycle>(ready_, early + contract::kValueScaleReadCycles + 1 +
                                           contract::kValuePortCycles * ((head_size + lanes_ - 1) / lanes_ - 1));
    }
  }
  void value_codes(const ValueHead& head, Cycle cycle, std::uint32_t b) {
    const std::uint32_t position = state_.token.position;
    ValueCodes& codes = traffic.values[cycle];
    codes.block = b;
    for (std::uint32_t d = 32 * b; d < 32 * b + 32; ++d) {
      const std::uint64_t word = head.address + d / lanes_ * head.row_step;
      const unsigned low = state_.memory.nibble(word, head.group, d % lanes_, position % 32),
                     high = state_.memory.nibble(word + 1, head.group, d % lanes_, position % 32);
      codes.codes.push_back(static_cast<std::int8_t>(low | high << 4));
    }
    codes.scale = state_.memory.side_bits(head.key_address, head.key_group, position % lanes_);
  }
  void mix() {
    VectorFields f = fields(32 * head_blocks_);
    f.first_row = 32 * draw(0, 4);
    f.slot = draw(0, 10);
    const std::vector<Slice> all = slices(f, f.segments);
    issue(Opcode::kMix, f, all, false, false, linear_blocks(f, all, 32, contract::kMixCycles), length(f, f.segments));
  }
  void swiglu() {
    VectorFields f = fields(2 * draw(1, 80));
    f.first_row = 64 * draw(0, 4);
    const std::vector<Slice> all = slices(f, 1);
    issue(Opcode::kSwiglu, f, all, true, false, linear_blocks(f, all, 64, contract::kSwigluCycles), length(f, 1));
  }
  /// Rows from `row` on; the row behind them.
  int logits(int row, bool last) {
    VectorFields f = fields(vector_lanes_ * draw(1, 20) - (last ? draw(0, vector_lanes_ - 1) : 0));
    f.first_row = static_cast<std::uint32_t>(row);
    const std::vector<Slice> all = slices(f, 1);
    const Cycle at = issue(Opcode::kLogits, f, all, true, false, {}, length(f, 1));
    // Buckets are the golden card's own: what saturates in them isn't the vector processor's.
    engine::Status in_buckets;
    engine::LogSum buckets;
    for (std::uint32_t i = 0; i < f.rows; ++i) buckets.insert(logits_[f.first_row + i], in_buckets);
    state_.token.saturations -= in_buckets.saturations;
    for (const Slice& slice : all) {
      LaneValues& out = traffic.logits[at + slice.at + kLogitShown];
      out.row = f.first_row + slice.row;
      out.lanes = (1u << slice.count) - 1;
      for (std::uint32_t i = 0; i < slice.count; ++i) out.values.push_back(logits_[out.row + i]);
    }
    chosen_ = state_.token.samples ? static_cast<std::int64_t>(state_.token.best_key_id)
                                   : static_cast<std::int64_t>(state_.token.best.ids[0]);
    traffic.nexts[at + all.back().at + kChoice] = static_cast<std::uint32_t>(chosen_);
    shown(at + all.back().at + contract::kLogitCycles - 1);
    return row + static_cast<int>(f.rows);
  }
  Cycle bias_cycles() const { return has_bias_ ? contract::kBiasCycles : 0; }

  bool has_bias_;
  std::vector<float> logits_;
  std::uint32_t iteration_ = 0;
  Cycle free_ = 0, ready_ = 0;  ///< earliest next issue; cycle in which all that was made can be read
  Cycle scale_ready_[2] = {0, 0}, scale_read_[2] = {-1, -1};
  std::int64_t chosen_ = -1;
};

}  // namespace cosim
}  // namespace lpu
