// The token's ends: its embedding, and the head that streams into arg-max. See lower.hpp.
#include <algorithm>

#include "host/compiler/lower.hpp"

namespace lpu::compiler {

using namespace contract;  // fields and opcodes are this file's vocabulary

namespace {

constexpr std::uint32_t kReceivePieces = 4;   ///< instructions that take a received vector
constexpr std::uint32_t kHeadWaitBeats = 64;  ///< more than any latency from a layer's last beat to its last block

/// Row groups first…first + count − 1 of the head times column sets set…set + sets − 1.
Operation head_product(const Layout& layout, std::uint32_t first, std::uint32_t count, std::uint32_t set,
                       std::uint32_t sets, std::uint32_t entry) {
  const MatrixPlace& m = layout.head;
  const auto words = static_cast<std::uint32_t>(m.format.nibbles);
  Operation op;
  op.name = "head";
  op.instruction.common.opcode = static_cast<std::uint32_t>(Opcode::kMatvec);
  MatvecFields& f = op.instruction.matvec;
  f.weight_address = m.address + first * m.row_group_words() + set * words;
  f.minimum_address = m.format.has_minimum ? m.minimum_address + first * m.sets + set : 0;
  f.row_groups = count;
  f.column_sets = sets;
  f.row_group_words = m.row_group_words();
  f.column_set_words = f.nibbles = words;
  f.row_major = set + sets == m.sets;
  f.signed_code = m.format.signed_code;
  f.signed_scale = m.format.signed_scale;
  f.has_minimum = m.format.has_minimum;
  f.activation_address = layout.activation.attention + set;
  f.segments = 1;
  f.accumulator = entry;
  f.start = set == 0;
  f.finish = set + sets == m.sets;
  return op;
}

/// Their logits, paced as the product finishes, so that the first ones leave before the last row group is done.
Operation head_result(const Layout& layout, std::uint32_t first, std::uint32_t count, std::uint32_t pace_cycles,
                      std::uint32_t entry) {
  const Geometry& g = layout.geometry;
  Operation op;
  op.name = "head";
  op.instruction.common.opcode = static_cast<std::uint32_t>(Opcode::kLogits);
  VectorFields& v = op.instruction.vector;
  v.accumulator = entry;
  v.row_groups = count;
  v.slice_cycles = 1;
  v.pitch_cycles = std::max(g.lanes / static_cast<std::uint32_t>(layout.hardware.vector_lanes), pace_cycles);
  v.first_row = layout.share.first_id + first * g.lanes;
  v.rows = std::min(layout.head.rows, (first + count) * g.lanes) - first * g.lanes;
  v.segments = g.segments;
  v.head_blocks = g.head_blocks;
  v.exponent_address = layout.head.exponent_address + first;
  return op;
}

}  // namespace

std::vector<Operation> lower_embedding(const Layout& layout) {
  const Geometry& g = layout.geometry;
  const MatrixPlace& m = layout.embedding;
  const auto vector_lanes = static_cast<std::uint32_t>(layout.hardware.vector_lanes);
  Operation op;
  op.instruction.common.opcode = static_cast<std::uint32_t>(Opcode::kEmbed);
  op.name = "embedding";
  VectorFields& v = op.instruction.vector;
  v.memory_address = m.address;
  v.row_group_words = m.row_group_words();
  v.nibbles = static_cast<std::uint32_t>(m.format.nibbles);
  v.column_sets = m.sets;
  v.signed_code = m.format.signed_code;
  v.signed_scale = m.format.signed_scale;
  v.has_minimum = m.format.has_minimum;
  v.minimum_address = m.minimum_address;
  v.exponent_address = m.exponent_address;
  v.rows = layout.shape.width;
  v.slice_cycles = 1;
  v.pitch_cycles = std::max(v.nibbles, (kBlockValues * g.groups + vector_lanes - 1) / vector_lanes);
  v.gain_address = layout.first_gain;
  v.destination = layout.activation.attention;
  v.starts_norm = v.ends_norm = 1;
  if (layout.share.is_of_group()) v.receivers = static_cast<std::uint32_t>(Receivers::kFirstCard);
  return {op};
}

std::vector<Operation> lower_receive(const Layout& layout, std::uint32_t gain_address, std::uint64_t block_cycles) {
  const Geometry& g = layout.geometry;
  const auto vector_lanes = static_cast<std::uint32_t>(layout.hardware.vector_lanes);
  const std::uint32_t row_groups = (layout.shape.width + g.lanes - 1) / g.lanes;
  // A piece is a whole number of blocks and row groups; a few of them follow a sender that makes its blocks in bursts.
  const std::uint32_t align = std::max(1u, static_cast<std::uint32_t>(kBlockValues) / g.lanes),
                      step = std::max(align, (row_groups / kReceivePieces + align - 1) / align * align);
  const auto slice_cycles = std::min<std::uint32_t>(
      255, std::max(1u, static_cast<std::uint32_t>(block_cycles) * vector_lanes / kBlockValues));
  std::vector<Operation> out;
  for (std::uint32_t first = 0; first < row_groups; first += step) {
    Operation op;
    op.name = "receive";
    op.instruction.common.opcode = static_cast<std::uint32_t>(Opcode::kReceive);
    VectorFields& v = op.instruction.vector;
    v.row_groups = std::min(step, row_groups - first);
    v.slice_cycles = slice_cycles;
    v.pitch_cycles = g.lanes / vector_lanes * slice_cycles;
    v.first_row = first * g.lanes;
    v.rows = std::min(layout.shape.width, (first + v.row_groups) * g.lanes) - v.first_row;
    v.segments = g.segments;
    v.head_blocks = g.head_blocks;
    v.gain_address = gain_address + v.first_row;
    v.destination = layout.activation.attention;
    v.starts_norm = first == 0;
    v.ends_norm = first + v.row_groups == row_groups;
    out.push_back(std::move(op));
  }
  return out;
}

std::vector<Operation> lower_head(const Layout& layout) {
  const MatrixPlace& m = layout.head;
  const auto words = static_cast<std::uint32_t>(m.format.nibbles),
             slices = layout.geometry.lanes / static_cast<std::uint32_t>(layout.hardware.vector_lanes);
  // No more slices than noise is made ahead: a later issue then always gives every slice its noise (timeline.cpp).
  const std::uint32_t most = std::max(1u, kNoiseQueueSlices / slices),
                      chunk = std::clamp(layout.accumulator_chunk, 1u, most);
  // The first row groups start on the last layer's first results: all column sets but one go column by column, as many
  // row groups as it takes to fill the wait for the last results.
  const std::uint32_t early_sets = m.sets - 1;
  const std::uint32_t early_rows =
      early_sets == 0 ? 0 : std::min(chunk, (kHeadWaitBeats + early_sets * words - 1) / (early_sets * words));
  std::vector<Operation> out;
  for (std::uint32_t first = 0, entry = 0, count = 0; first < m.row_groups; first += count) {
    const std::uint32_t columns = first == 0 && early_rows > 0 ? early_sets : 0;
    count = std::min(columns > 0 ? early_rows : chunk, m.row_groups - first);
    if (columns > 0) out.push_back(head_product(layout, first, count, 0, columns, entry));
    out.push_back(head_product(layout, first, count, columns, m.sets - columns, entry));
    out.push_back(head_result(layout, first, count, (m.sets - columns) * words, entry));
    entry = (entry + count) % static_cast<std::uint32_t>(layout.hardware.accumulator_entries);
  }
  return out;
}

}  // namespace lpu::compiler
