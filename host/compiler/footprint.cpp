// Each opcode's reads, writes and ports in time: docs/isa.md's tables as the compiler uses them. See operation.hpp.
#include <algorithm>

#include "hls/contract/latencies.hpp"
#include "host/compiler/operation.hpp"

namespace lpu::compiler {

using namespace contract;  // the contract's constants are this file's vocabulary

namespace {

std::uint32_t divide_up(std::uint32_t value, std::uint32_t by) { return (value + by - 1) / by; }

struct Builder {
  const Layout& layout;
  const Places& places;
  const Geometry& g;
  std::uint32_t blocks;
  std::uint32_t vector_lanes;
  Footprint out{};

  Builder(const Layout& l, const Places& p, std::uint32_t b)
      : layout(l),
        places(p),
        g(l.geometry),
        blocks(b),
        vector_lanes(static_cast<std::uint32_t>(l.hardware.vector_lanes)) {}

  void read(std::uint32_t place, std::uint32_t first, std::uint32_t last) { out.reads.push_back({place, first, last}); }
  void write(std::uint32_t place, std::uint32_t ready) { write(place, ready, ready); }
  void write(std::uint32_t place, std::uint32_t change, std::uint32_t ready) {
    out.writes.push_back({place, change, ready});
    out.end = std::max(out.end, ready);
  }
  /// Lane words of a cache, the first written by the group's second port in cycle `written`: no older read in this
  /// cycle or later.
  void write_words(std::uint32_t place, std::uint32_t written, std::uint32_t ready) {
    write(place, written + 2 - kWordReuseCycles, ready);
  }
  /// An activation block: one write port a bank, used in the cycle before the block can be read.
  void write_block(std::uint32_t bank, std::uint32_t address, std::uint32_t ready) {
    write(places.activation(bank, address), ready);
    out.ports.push_back({places.bank_port(bank), ready - 1});
  }
  void write_linear(std::uint32_t base, std::uint32_t block, std::uint32_t ready) {
    write_block(block % g.groups, base + block / g.groups, ready);
  }

  /// Cycle in which local row j of the instruction enters the vector unit.
  std::uint32_t entry(const VectorFields& v, std::uint32_t row) const {
    return row / g.lanes * v.pitch_cycles + row % g.lanes / vector_lanes * v.slice_cycles;
  }
  /// Cycles in which a row group's slices enter.
  std::uint32_t entry_cycles(const VectorFields& v) const { return (g.lanes / vector_lanes - 1) * v.slice_cycles + 1; }
  void enter_rows(const VectorFields& v, std::uint32_t entries) {
    for (std::uint32_t r = 0; r < v.row_groups; ++r)
      for (std::uint32_t s = 0; s < entries / v.row_groups; ++s) {
        const std::uint32_t at = (s * v.row_groups + r) * v.pitch_cycles;
        read(places.accumulator(v.accumulator + r), at, at + entry_cycles(v) - 1);
      }
    out.occupied = entries * v.pitch_cycles - (v.pitch_cycles - entry_cycles(v));
  }

  void matvec(const MatvecFields& m);
  void residual(const VectorFields& v);
  void embed(const VectorFields& v);
  void receive(const VectorFields& v);
  void residual_results(const VectorFields& v, std::uint32_t values, const std::vector<std::uint32_t>& block_entry);
  void query(const VectorFields& v);
  void key(const VectorFields& v);
  void value(const VectorFields& v);
  void mix(const VectorFields& v);
  void swiglu(const VectorFields& v);
  void logits(const VectorFields& v);
  void softmax(const SoftmaxFields& s);
};

void Builder::matvec(const MatvecFields& m) {
  const MatvecExtent extent = extent_of(m, g, blocks);
  const std::uint32_t rows = extent.row_groups, sets = extent.column_sets, words = m.nibbles;
  const auto beat = [&](std::uint32_t r, std::uint32_t c) {
    return (m.row_major ? r * sets + c : c * rows + r) * words;
  };
  out.beats = rows * sets * words;
  out.occupied = out.beats;
  const bool weighted_sum = m.length_dimension == static_cast<std::uint32_t>(LengthDimension::kColumnSets);
  const bool scores = m.length_dimension == static_cast<std::uint32_t>(LengthDimension::kRowGroups);
  for (std::uint32_t c = 0; c < sets; ++c)
    for (std::uint32_t bank = 0; bank < g.groups; ++bank)
      read(places.activation(bank, m.activation_address + c), beat(0, c), beat(rows - 1, c) + words - 1);
  for (std::uint32_t r = 0; r < rows; ++r) {
    const std::uint32_t first = beat(r, 0) + words - 1, last = beat(r, sets - 1) + words - 1;
    const std::uint32_t ready = last + kMatvecCycles;
    out.writes.push_back({places.accumulator(m.accumulator + r), m.start ? first + kMatvecCycles - 1 : ready, ready});
    out.end = std::max(out.end, ready);
  }
  if (m.adds_residual && m.start)
    for (std::uint32_t r = 0; r < rows; ++r) {
      const std::uint32_t first = m.residual_row + r * g.lanes, end = std::min(first + g.lanes, layout.shape.width);
      for (std::uint32_t b = first / kBlockValues; b * kBlockValues < end; ++b)
        read(places.residual(b), beat(r, 0), beat(r, 0));
    }
  if (m.relative_exponents) read(places.exponent_register(m.round), 0, out.beats - 1);
  if (scores) {
    // The new position lies in one of the last block's row groups; which one depends on the position.
    const std::uint32_t slot = m.round / g.queries_per_kv;
    const std::uint32_t newest = beat((blocks - 1) * kBlockValues / g.lanes, 0);
    for (std::uint32_t segment = 0; segment < g.segments; ++segment)
      read(places.key_cache(slot * g.segments + segment), newest, out.beats - 1);
    read(places.value_scales(slot), newest, out.beats - 1);
  }
  if (weighted_sum) {
    const std::uint32_t slot = m.round / g.queries_per_kv;
    read(places.value_cache(slot), beat(0, (blocks - 1) / g.groups_per_segment), out.beats - 1);
  }
}

void Builder::residual_results(const VectorFields& v, std::uint32_t values,
                               const std::vector<std::uint32_t>& block_entry) {
  const std::uint32_t first_block = v.first_row / kBlockValues;
  std::uint32_t last_entry = 0;
  for (std::uint32_t b = 0; b < values / kBlockValues; ++b) {
    write(places.residual(first_block + b), block_entry[b] + kResidualCycles);
    write_linear(v.destination, first_block + b, block_entry[b] + kResidualBlockCycles);
    last_entry = std::max(last_entry, block_entry[b]);
    if (v.receivers != 0) out.sent.push_back(block_entry[b] + kResidualCycles);
  }
  out.first_block = first_block;
  if (v.ends_norm) write(places.scale_register(v.scale_register), last_entry + kNormCycles);
}

void Builder::residual(const VectorFields& v) {
  enter_rows(v, v.row_groups);
  std::vector<std::uint32_t> block_entry;
  for (std::uint32_t b = 0; b < v.rows / kBlockValues; ++b)
    block_entry.push_back(entry(v, b * kBlockValues + kBlockValues - 1));
  residual_results(v, v.rows, block_entry);
}

void Builder::receive(const VectorFields& v) {
  out.occupied = v.row_groups * v.pitch_cycles - (v.pitch_cycles - entry_cycles(v));
  std::vector<std::uint32_t> block_entry;
  for (std::uint32_t b = 0; b < v.rows / kBlockValues; ++b) {
    out.received.push_back(entry(v, b * kBlockValues));
    block_entry.push_back(entry(v, b * kBlockValues + kBlockValues - 1));
  }
  residual_results(v, v.rows, block_entry);
}

void Builder::embed(const VectorFields& v) {
  std::vector<std::uint32_t> block_entry;
  for (std::uint32_t b = 0; b < v.rows / kBlockValues; ++b) {
    const std::uint32_t set = b / g.groups, last_value = (b % g.groups + 1) * kBlockValues - 1;
    block_entry.push_back(set * v.pitch_cycles + kEmbedFetchCycles + last_value / vector_lanes);
  }
  residual_results(v, v.rows, block_entry);
  out.mvu_port_until = (v.column_sets - 1) * v.pitch_cycles + v.nibbles;
  out.occupied = v.column_sets * v.pitch_cycles + kEmbedFetchCycles;
}

void Builder::query(const VectorFields& v) {
  enter_rows(v, v.row_groups);
  read(places.scale_register(v.scale_register), 0, out.occupied - 1);
  for (std::uint32_t b = 0; b < v.rows / kBlockValues; ++b) {
    const std::uint32_t block = v.first_row / kBlockValues + b;  // of all heads, round-major
    const std::uint32_t segment = block / v.head_blocks % g.segments, round = block / (v.head_blocks * g.segments);
    const std::uint32_t in_head = block % v.head_blocks;
    write_block(segment * g.groups_per_segment + in_head % g.groups_per_segment,
                v.destination + round * g.key_sets + in_head / g.groups_per_segment,
                entry(v, b * kBlockValues + kBlockValues - 1) + kQueryCycles + (v.has_bias ? kBiasCycles : 0));
  }
}

void Builder::key(const VectorFields& v) {
  enter_rows(v, v.row_groups);
  read(places.scale_register(v.scale_register), 0, out.occupied - 1);
  for (std::uint32_t b = 0; b < v.rows / kBlockValues; ++b) {
    const std::uint32_t block = v.first_row / kBlockValues + b, head = block / v.head_blocks;
    const std::uint32_t group = head % g.segments * g.groups_per_segment + block % v.head_blocks % g.groups_per_segment;
    const std::uint32_t ready =
        entry(v, b * kBlockValues + kBlockValues - 1) + kKeyCycles + (v.has_bias ? kBiasCycles : 0);
    write_words(places.key_cache(head), ready - v.nibbles, ready);
    for (std::uint32_t n = 1; n <= v.nibbles; ++n) out.ports.push_back({places.cache_port(group), ready - n});
  }
}

void Builder::value(const VectorFields& v) {
  enter_rows(v, v.row_groups);
  read(places.scale_register(v.scale_register), 0, out.occupied - 1);
  const std::uint32_t head_size = v.head_blocks * kBlockValues;
  for (std::uint32_t h = 0; h < v.rows / head_size; ++h) {
    const std::uint32_t head = v.first_row / head_size + h, slot = head / g.segments;
    const std::uint32_t group = head % g.segments * g.groups_per_segment + (blocks - 1) % g.groups_per_segment;
    const std::uint32_t fitted = entry(v, (h + 1) * head_size - 1) + kValueCycles + (v.has_bias ? kBiasCycles : 0);
    for (std::uint32_t r = 0; r < g.value_row_groups; ++r) {
      const std::uint32_t ready = fitted + r * kValuePortCycles;
      write_words(places.value_cache(slot), ready - 2, ready);
      for (std::uint32_t n = 1; n <= kValuePortCycles; ++n) out.ports.push_back({places.cache_port(group), ready - n});
    }
    // V's scale goes into a word of K, which must be there before: the port reads it and writes it again.
    const std::uint32_t scale_group = head % g.segments * g.groups_per_segment;
    const std::uint32_t reads = fitted - kValueScaleReadCycles, writes = fitted - kValueScaleWriteCycles;
    read(places.key_cache(head), reads, reads);
    for (const std::uint32_t cycle : {reads, writes}) out.ports.push_back({places.cache_port(scale_group), cycle});
    write_words(places.value_scales(slot), writes, writes + 1);
  }
}

void Builder::mix(const VectorFields& v) {
  enter_rows(v, v.row_groups * v.segments);
  read(places.reciprocal_register(v.round), 0, out.occupied - 1);
  for (std::uint32_t s = 0; s < v.segments; ++s)
    for (std::uint32_t b = 0; b < v.rows / kBlockValues; ++b) {
      const std::uint32_t at = s * v.row_groups * v.pitch_cycles + entry(v, b * kBlockValues + kBlockValues - 1);
      write_linear(v.destination, (v.first_row + s * v.rows) / kBlockValues + b, at + kMixCycles);
    }
}

void Builder::swiglu(const VectorFields& v) {
  enter_rows(v, v.row_groups);
  read(places.scale_register(v.scale_register), 0, out.occupied - 1);
  for (std::uint32_t b = 0; b < v.rows / (2 * kBlockValues); ++b)
    write_linear(v.destination, v.first_row / (2 * kBlockValues) + b,
                 entry(v, (b + 1) * 2 * kBlockValues - 1) + kSwigluCycles);
}

void Builder::logits(const VectorFields& v) {
  enter_rows(v, v.row_groups);
  read(places.scale_register(v.scale_register), 0, out.occupied - 1);
  for (std::uint32_t row = 0; row < v.rows; row += vector_lanes) out.logits.push_back(entry(v, row));
  out.end = std::max<std::uint32_t>(out.end, out.logits.back() + kLogitCycles);
}

void Builder::softmax(const SoftmaxFields& s) {
  const std::uint32_t rate = static_cast<std::uint32_t>(softmax_rate(layout.hardware, static_cast<int>(g.segments)));
  const std::uint32_t row_groups = divide_up(blocks * kBlockValues, g.lanes), per_segment = g.lanes / rate;
  const auto entry_of = [&](std::uint32_t segment, std::uint32_t position) {
    return position / g.lanes * s.pitch_cycles + segment * per_segment + position % g.lanes / rate;
  };
  for (std::uint32_t r = 0; r < row_groups; ++r)
    read(places.accumulator(s.accumulator + r), r * s.pitch_cycles, r * s.pitch_cycles + g.segments * per_segment - 1);
  out.occupied = row_groups * s.pitch_cycles - (s.pitch_cycles - g.segments * per_segment);
  const std::uint32_t last_entry = out.occupied - 1, row_end = last_entry + kSoftmaxRowCycles;
  for (std::uint32_t segment = 0; segment < g.segments; ++segment)
    for (std::uint32_t b = 0; b < divide_up(blocks, g.groups_per_segment) * g.groups_per_segment; ++b)
      write_block(segment * g.groups_per_segment + b % g.groups_per_segment, s.destination + b / g.groups_per_segment,
                  b < blocks ? entry_of(segment, b * kBlockValues + kBlockValues - 1) + kSoftmaxBlockCycles : row_end);
  write(places.exponent_register(s.round), row_end);
  write(places.reciprocal_register(s.round), last_entry + kReciprocalCycles);
}

}  // namespace

Places::Places(const Layout& layout)
    : activation_depth_(layout.activation.blocks),
      accumulator_depth_(static_cast<std::uint32_t>(layout.hardware.accumulator_entries)),
      groups_(layout.geometry.groups) {
  accumulators_ = groups_ * activation_depth_;
  residuals_ = accumulators_ + accumulator_depth_;
  scales_ = residuals_ + layout.geometry.width_blocks;
  rounds_ = scales_ + 3;
  keys_ = rounds_ + 2 * layout.geometry.rounds;
  caches_ = keys_ + layout.geometry.slots * layout.geometry.segments;
  count_ = caches_ + 2 * layout.geometry.slots;
}

MatvecExtent extent_of(const MatvecFields& fields, const Geometry& geometry, std::uint32_t blocks) {
  switch (static_cast<LengthDimension>(fields.length_dimension)) {
    case LengthDimension::kRowGroups:
      return {divide_up(blocks * kBlockValues, geometry.lanes), fields.column_sets};
    case LengthDimension::kColumnSets:
      return {fields.row_groups, divide_up(blocks, geometry.groups_per_segment)};
    case LengthDimension::kNone:
      break;
  }
  return {fields.row_groups, fields.column_sets};
}

bool meets_itself(const Footprint& footprint) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> uses;
  for (const PortUse& use : footprint.ports) uses.emplace_back(use.port, use.cycle);
  std::sort(uses.begin(), uses.end());
  return std::adjacent_find(uses.begin(), uses.end()) != uses.end();
}

Footprint footprint_of(const Instruction& instruction, const Layout& layout, const Places& places,
                       std::uint32_t blocks) {
  Builder builder(layout, places, blocks);
  builder.out.unit = unit_of(instruction.opcode());
  switch (instruction.opcode()) {
    case Opcode::kMatvec:
      builder.matvec(instruction.matvec);
      break;
    case Opcode::kEmbed:
      builder.embed(instruction.vector);
      break;
    case Opcode::kResidual:
      builder.residual(instruction.vector);
      break;
    case Opcode::kQuery:
      builder.query(instruction.vector);
      break;
    case Opcode::kKey:
      builder.key(instruction.vector);
      break;
    case Opcode::kValue:
      builder.value(instruction.vector);
      break;
    case Opcode::kMix:
      builder.mix(instruction.vector);
      break;
    case Opcode::kSwiglu:
      builder.swiglu(instruction.vector);
      break;
    case Opcode::kLogits:
      builder.logits(instruction.vector);
      break;
    case Opcode::kSoftmax:
      builder.softmax(instruction.softmax);
      break;
    case Opcode::kReceive:
      builder.receive(instruction.vector);
      break;
  }
  return std::move(builder.out);
}

}  // namespace lpu::compiler
