// A layer's matrices as bursts and vector operations. See lower.hpp.
#include "host/compiler/lower.hpp"

#include <algorithm>
#include <numeric>

namespace lpu::compiler {

using namespace contract;  // fields and opcodes are this file's vocabulary

namespace {

std::uint32_t divide_up(std::uint32_t value, std::uint32_t by) { return (value + by - 1) / by; }

constexpr const char* kDown = "down";     ///< the matrix whose result is a layer's
constexpr std::uint32_t kMostPieces = 8;  ///< bursts or drains a matrix is cut into: the program memory is small

struct Range {
  std::uint32_t first, count;
};

/// [0, total) in at most `wanted` ranges whose borders are multiples of `align`.
std::vector<Range> pieces(std::uint32_t total, std::uint32_t align, std::uint32_t wanted) {
  const std::uint32_t units = divide_up(total, align),
                      step = divide_up(units, std::max(1u, std::min(wanted, units))) * align;
  std::vector<Range> out;
  for (std::uint32_t at = 0; at < total; at += step) out.push_back({at, std::min(step, total - at)});
  return out;
}

class LayerBuilder {
 public:
  LayerBuilder(const Layout& layout, std::uint32_t layer, std::uint32_t iterations, const LayerPlan& plan)
      : l_(layout),
        g_(layout.geometry),
        p_(layout.layers[layer]),
        next_(layout.layers[std::min<std::size_t>(layer + (iterations > 1 ? 1 : 0), layout.layers.size() - 1)]),
        plan_(plan),
        pitch_(g_.lanes / static_cast<std::uint32_t>(layout.hardware.vector_lanes)),
        chunk_(layout.accumulator_chunk) {}

  std::vector<Operation> build();

 private:
  std::uint32_t take_accumulators(std::uint32_t count) {
    const std::uint32_t first = accumulator_;
    accumulator_ = (accumulator_ + count) % static_cast<std::uint32_t>(l_.hardware.accumulator_entries);
    return first;
  }
  /// Row groups that hold whole multiples of `rows`.
  std::uint32_t align_to(std::uint32_t rows) const { return std::lcm(rows, g_.lanes) / g_.lanes; }

  MatvecFields burst(const MatrixPlace& m, const MatrixPlace& next, Range row_groups, Range sets,
                     std::uint32_t activation, std::uint32_t accumulator) const;
  void add_matvec(const MatvecFields& fields, const char* name) {
    Operation op;
    op.instruction.common.opcode = static_cast<std::uint32_t>(Opcode::kMatvec);
    op.instruction.matvec = fields;
    op.name = name;
    out_.push_back(std::move(op));
  }
  void add_columns(const MatrixPlace& m, const MatrixPlace& next, Range rows, std::uint32_t column_sets,
                   std::uint32_t activation, std::uint32_t accumulator, const char* name);
  void add_rows(const MatrixPlace& m, const MatrixPlace& next, Range rows, Range part, std::uint32_t column_sets,
                std::uint32_t activation, std::uint32_t accumulator, const char* name);
  VectorFields drain(const MatrixPlace& m, const MatrixPlace& next, Range rows, std::uint32_t accumulator) const;
  void add_vector(Opcode opcode, const VectorFields& fields, const char* name) {
    Operation op;
    op.instruction.common.opcode = static_cast<std::uint32_t>(opcode);
    op.instruction.vector = fields;
    op.name = name;
    slow_down(op.instruction);
    out_.push_back(std::move(op));
  }
  /// Lets rows enter as slowly as it takes for no two results of the instruction to meet at a port.
  void slow_down(Instruction& in) const {
    VectorFields& v = in.vector;
    const Places places(l_);
    const std::uint32_t slices = g_.lanes / static_cast<std::uint32_t>(l_.hardware.vector_lanes),
                        pitch = v.pitch_cycles;
    // The group of V's words goes by the position's block, that of its scales doesn't: all pairs of the two are seen.
    const std::uint32_t lengths =
        in.opcode() == Opcode::kValue ? std::min(g_.groups_per_segment, g_.context_blocks) : 1;
    const auto meets = [&] {
      for (std::uint32_t blocks = 1; blocks <= lengths; ++blocks)
        if (meets_itself(footprint_of(in, l_, places, blocks))) return true;
      return false;
    };
    for (v.slice_cycles = 1; v.slice_cycles < 255; ++v.slice_cycles) {
      v.pitch_cycles = std::max(pitch, slices * v.slice_cycles);
      if (!meets()) return;
    }
  }

  void set_bias(VectorFields& v, std::uint32_t address, std::uint32_t next_address) const {
    v.has_bias = l_.qkv_bias;
    if (!l_.qkv_bias) return;
    v.bias_address = address;
    v.bias_stride = next_address - address;
  }
  void project();
  void add_query(std::uint32_t accumulator);
  void add_key(std::uint32_t accumulator);
  void add_value(std::uint32_t accumulator);
  void attend();
  void score(std::uint32_t round);
  void mix(std::uint32_t round);
  void add_residual(const MatrixPlace& m, const MatrixPlace& next, std::uint32_t activation, std::uint32_t column_sets,
                    std::uint32_t gain, std::uint32_t next_gain, std::uint32_t destination,
                    std::uint32_t scale_register, const char* name);
  void gate_up();

  const Layout& l_;
  const Geometry& g_;
  const LayerPlace& p_;
  const LayerPlace& next_;
  const LayerPlan& plan_;
  std::uint32_t pitch_, chunk_;
  std::uint32_t accumulator_ = 0;
  std::vector<Operation> out_;
};

MatvecFields LayerBuilder::burst(const MatrixPlace& m, const MatrixPlace& next, Range row_groups, Range sets,
                                 std::uint32_t activation, std::uint32_t accumulator) const {
  MatvecFields f;
  const std::uint32_t words = static_cast<std::uint32_t>(m.format.nibbles);
  f.weight_address = m.address + row_groups.first * m.row_group_words() + sets.first * words;
  f.weight_stride = next.address - m.address;
  if (m.format.has_minimum) {
    f.minimum_address = m.minimum_address + row_groups.first * m.sets + sets.first;
    f.minimum_stride = next.minimum_address - m.minimum_address;
  }
  f.row_groups = row_groups.count;
  f.column_sets = sets.count;
  f.row_group_words = m.row_group_words();
  f.column_set_words = words;
  f.nibbles = words;
  f.signed_code = m.format.signed_code;
  f.signed_scale = m.format.signed_scale;
  f.has_minimum = m.format.has_minimum;
  f.activation_address = activation + sets.first;
  f.segments = 1;
  f.accumulator = accumulator;
  f.start = sets.first == 0;
  f.finish = sets.first + sets.count == m.sets;
  if (&m == &p_.out || &m == &p_.down) {  // what these make is added to the residual
    f.adds_residual = f.start;
    f.residual_row = row_groups.first * g_.lanes;
    f.exponent_address = m.exponent_address + row_groups.first;
    f.exponent_stride = next.exponent_address - m.exponent_address;
  }
  return f;
}

void LayerBuilder::add_columns(const MatrixPlace& m, const MatrixPlace& next, Range rows, std::uint32_t column_sets,
                               std::uint32_t activation, std::uint32_t accumulator, const char* name) {
  for (const Range& sets : pieces(std::min(column_sets, m.sets), 1, kMostPieces))
    add_matvec(burst(m, next, rows, sets, activation, accumulator), name);
}

void LayerBuilder::add_rows(const MatrixPlace& m, const MatrixPlace& next, Range rows, Range part,
                            std::uint32_t column_sets, std::uint32_t activation, std::uint32_t accumulator,
                            const char* name) {
  if (column_sets >= m.sets) return;
  MatvecFields f =
      burst(m, next, {rows.first + part.first, part.count}, {column_sets, m.sets - column_sets}, activation,
            (accumulator + part.first) % static_cast<std::uint32_t>(l_.hardware.accumulator_entries));
  f.row_major = 1;
  add_matvec(f, name);
}

VectorFields LayerBuilder::drain(const MatrixPlace& m, const MatrixPlace& next, Range rows,
                                 std::uint32_t accumulator) const {
  VectorFields v;
  v.accumulator = accumulator % static_cast<std::uint32_t>(l_.hardware.accumulator_entries);
  v.row_groups = rows.count;
  v.pitch_cycles = pitch_;
  v.first_row = rows.first * g_.lanes;
  v.rows = std::min(m.rows, (rows.first + rows.count) * g_.lanes) - v.first_row;
  v.segments = g_.segments;
  v.head_blocks = g_.head_blocks;
  v.exponent_address = m.exponent_address + rows.first;
  v.exponent_stride = next.exponent_address - m.exponent_address;
  return v;
}

void LayerBuilder::add_query(std::uint32_t accumulator) {
  const std::uint32_t round_rows = g_.segments * l_.shape.head_size;
  const std::uint32_t align = align_to(round_rows);
  for (const Range& part : pieces(p_.query.row_groups, align, kMostPieces)) {
    add_rows(p_.query, next_.query, {0, p_.query.row_groups}, part, plan_.qkv_column_sets, l_.activation.attention,
             accumulator, "query");
    VectorFields v = drain(p_.query, next_.query, part, accumulator + part.first);
    set_bias(v, p_.query_bias + v.first_row, next_.query_bias + v.first_row);
    v.destination = l_.activation.query;
    add_vector(Opcode::kQuery, v, "query");
  }
}

void LayerBuilder::add_key(std::uint32_t accumulator) {
  const Range all{0, p_.key.row_groups};
  add_rows(p_.key, next_.key, all, all, plan_.qkv_column_sets, l_.activation.attention, accumulator, "key");
  VectorFields v = drain(p_.key, next_.key, all, accumulator);
  set_bias(v, p_.key_bias, next_.key_bias);
  v.memory_address = p_.key_cache;
  v.memory_stride = next_.key_cache - p_.key_cache;
  v.slot_words = g_.key_slot_words;
  v.row_group_words = g_.key_row_group_words;
  v.nibbles = g_.key_nibbles;
  v.grid_address = p_.key_grid;
  v.grid_stride = next_.key_grid - p_.key_grid;
  add_vector(Opcode::kKey, v, "key");
}

void LayerBuilder::add_value(std::uint32_t accumulator) {
  const Range all{0, p_.value.row_groups};
  add_rows(p_.value, next_.value, all, all, plan_.qkv_column_sets, l_.activation.attention, accumulator, "value");
  VectorFields v = drain(p_.value, next_.value, all, accumulator);
  set_bias(v, p_.value_bias, next_.value_bias);
  v.memory_address = p_.value_cache;
  v.memory_stride = next_.value_cache - p_.value_cache;
  v.slot_words = g_.value_slot_words;
  v.row_group_words = g_.value_row_group_words;
  v.key_address = p_.key_cache;
  v.key_slot_words = g_.key_slot_words;
  v.key_row_group_words = g_.key_row_group_words;
  v.grid_address = p_.value_grid;
  v.grid_stride = next_.value_grid - p_.value_grid;
  add_vector(Opcode::kValue, v, "value");
}

void LayerBuilder::project() {
  const std::uint32_t columns = plan_.qkv_column_sets, activation = l_.activation.attention;
  const std::uint32_t key = take_accumulators(p_.key.row_groups), value = take_accumulators(p_.value.row_groups);
  const std::uint32_t query = take_accumulators(p_.query.row_groups);
  for (const Range& sets : pieces(std::min(columns, p_.query.sets), 1, kMostPieces)) {
    add_matvec(burst(p_.key, next_.key, {0, p_.key.row_groups}, sets, activation, key), "key");
    add_matvec(burst(p_.value, next_.value, {0, p_.value.row_groups}, sets, activation, value), "value");
    add_matvec(burst(p_.query, next_.query, {0, p_.query.row_groups}, sets, activation, query), "query");
  }
  add_key(key);
  if (plan_.value_before_query) add_value(value);
  add_query(query);
  if (!plan_.value_before_query) add_value(value);
}

void LayerBuilder::score(std::uint32_t round) {
  const std::uint32_t slot = round / g_.queries_per_kv, entry = take_accumulators(g_.key_row_groups);
  MatvecFields f;
  f.weight_address = p_.key_cache + slot * g_.key_slot_words;
  f.weight_stride = next_.key_cache - p_.key_cache;
  f.row_groups = g_.key_row_groups;
  f.column_sets = g_.key_sets;
  f.row_group_words = g_.key_row_group_words;
  f.column_set_words = g_.key_nibbles;
  f.length_dimension = static_cast<std::uint32_t>(LengthDimension::kRowGroups);
  f.row_major = 1;
  f.nibbles = g_.key_nibbles;
  f.signed_code = 1;
  f.keeps_value_scale = 1;
  f.round = round;
  f.activation_address = l_.activation.query + round * g_.key_sets;
  f.segments = g_.segments;
  f.accumulator = entry;
  f.start = f.finish = 1;
  add_matvec(f, "scores");

  Operation op;
  op.instruction.common.opcode = static_cast<std::uint32_t>(Opcode::kSoftmax);
  SoftmaxFields& s = op.instruction.softmax;
  s.accumulator = entry;
  s.segments = g_.segments;
  s.pitch_cycles =
      g_.segments * g_.lanes / static_cast<std::uint32_t>(softmax_rate(l_.hardware, static_cast<int>(g_.segments)));
  s.slot = slot;
  s.destination = l_.activation.softmax + round * g_.value_sets;
  s.round = round;
  s.grid_address = p_.key_grid;
  s.grid_stride = next_.key_grid - p_.key_grid;
  op.name = "softmax";
  out_.push_back(std::move(op));
}

void LayerBuilder::mix(std::uint32_t round) {
  const std::uint32_t slot = round / g_.queries_per_kv, entry = take_accumulators(g_.value_row_groups);
  MatvecFields f;
  f.weight_address = p_.value_cache + slot * g_.value_slot_words;
  f.weight_stride = next_.value_cache - p_.value_cache;
  f.row_groups = g_.value_row_groups;
  f.column_sets = g_.value_sets;
  f.row_group_words = g_.value_row_group_words;
  f.column_set_words = 2;
  f.length_dimension = static_cast<std::uint32_t>(LengthDimension::kColumnSets);
  f.row_major = 1;
  f.nibbles = 2;
  f.signed_code = 1;
  f.unit_scale = 1;
  f.relative_exponents = 1;
  f.round = round;
  f.activation_address = l_.activation.softmax + round * g_.value_sets;
  f.segments = g_.segments;
  f.accumulator = entry;
  f.start = f.finish = 1;
  add_matvec(f, "mix");

  VectorFields v;
  v.accumulator = entry;
  v.row_groups = g_.value_row_groups;
  v.pitch_cycles = pitch_;
  v.rows = l_.shape.head_size;
  v.first_row = round * g_.segments * l_.shape.head_size;
  v.segments = g_.segments;
  v.head_blocks = g_.head_blocks;
  v.destination = l_.activation.heads;
  v.round = round;
  v.slot = slot;
  v.grid_address = p_.value_grid;
  v.grid_stride = next_.value_grid - p_.value_grid;
  add_vector(Opcode::kMix, v, "mix");
}

void LayerBuilder::attend() {
  const std::uint32_t lag = std::min(plan_.lag, g_.rounds);
  for (std::uint32_t i = 0; i < g_.rounds + lag; ++i) {
    if (i < g_.rounds) score(i);
    if (i >= lag) mix(i - lag);
  }
}

void LayerBuilder::add_residual(const MatrixPlace& m, const MatrixPlace& next, std::uint32_t activation,
                                std::uint32_t column_sets, std::uint32_t gain, std::uint32_t next_gain,
                                std::uint32_t destination, std::uint32_t scale_register, const char* name) {
  const std::uint32_t align = align_to(kBlockValues);
  const std::uint32_t chunk = std::max(align, chunk_ / align * align);
  for (std::uint32_t first = 0; first < m.row_groups; first += chunk) {
    const Range rows{first, std::min(chunk, m.row_groups - first)};
    const std::uint32_t entry = take_accumulators(rows.count);
    add_columns(m, next, rows, column_sets, activation, entry, name);
    const std::uint32_t wanted =
        std::min(kMostPieces, std::max(1u, rows.count / std::max(1u, g_.groups * kBlockValues / g_.lanes)));
    add_rows(m, next, rows, {0, rows.count}, column_sets, activation, entry, name);
    for (const Range& part : pieces(rows.count, align, wanted)) {
      VectorFields v = drain(m, next, {first + part.first, part.count}, entry + part.first);
      v.gain_address = gain + v.first_row;
      v.gain_stride = next_gain - gain;
      v.destination = destination;
      v.scale_register = scale_register;
      v.starts_norm = v.first_row == 0;
      v.ends_norm = v.first_row + v.rows == m.rows;
      add_vector(Opcode::kResidual, v, name);
    }
  }
}

void LayerBuilder::gate_up() {
  const MatrixPlace& m = p_.gate_up;
  const std::uint32_t align = align_to(2 * kBlockValues), chunk = std::max(align, chunk_ / align * align);
  for (std::uint32_t first = 0; first < m.row_groups; first += chunk) {
    const Range rows{first, std::min(chunk, m.row_groups - first)};
    const std::uint32_t entry = take_accumulators(rows.count);
    add_columns(m, next_.gate_up, rows, plan_.gate_up_column_sets, l_.activation.ffn, entry, "gate_up");
    add_rows(m, next_.gate_up, rows, {0, rows.count}, plan_.gate_up_column_sets, l_.activation.ffn, entry, "gate_up");
    for (const Range& part : pieces(rows.count, align, kMostPieces)) {
      VectorFields v = drain(m, next_.gate_up, {first + part.first, part.count}, entry + part.first);
      v.scale_register = 1;
      v.destination = l_.activation.hidden;
      add_vector(Opcode::kSwiglu, v, "gate_up");
    }
  }
}

std::vector<Operation> LayerBuilder::build() {
  project();
  attend();
  add_residual(p_.out, next_.out, l_.activation.heads, plan_.out_column_sets, p_.ffn_gain, next_.ffn_gain,
               l_.activation.ffn, 1, "out");
  gate_up();
  add_residual(p_.down, next_.down, l_.activation.hidden, plan_.down_column_sets, p_.next_gain, next_.next_gain,
               l_.activation.attention, 0, kDown);
  return std::move(out_);
}

}  // namespace

void send_residual(std::vector<Operation>& layer, Receivers receivers) {
  for (Operation& op : layer)
    if (op.instruction.opcode() == Opcode::kResidual && op.name == kDown)
      op.instruction.vector.receivers = static_cast<std::uint32_t>(receivers);
}

std::vector<Operation> lower_layer(const Layout& layout, std::uint32_t layer, std::uint32_t iterations,
                                   const LayerPlan& plan) {
  return LayerBuilder(layout, layer, iterations, plan).build();
}

}  // namespace lpu::compiler
