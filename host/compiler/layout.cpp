// Addresses of everything, handed out in one pass. See layout.hpp.
#include "host/compiler/layout.hpp"

#include <algorithm>

#include "hls/contract/memory_map.hpp"
#include "host/base/error.hpp"

namespace lpu::compiler {

using contract::ceil_divide;
using model::TensorType;

namespace {

std::uint32_t divide_up(std::uint32_t value, std::uint32_t by) { return (value + by - 1) / by; }

/// Hands out addresses; sums are kept in 64 bits and checked against the fields' widths at the end.
struct Cursor {
  std::uint64_t at = 0;
  std::uint32_t take(std::uint64_t count) {
    const std::uint64_t here = at;
    at += count;
    return static_cast<std::uint32_t>(here);
  }
};

struct Cursors {
  Cursor words, minimums, exponents, constants;
};

MatrixPlace place_matrix(const MatrixFormat& format, std::uint32_t rows, std::uint32_t columns, const Geometry& g,
                         Cursors& cursors) {
  MatrixPlace m;
  m.format = format;
  m.rows = rows;
  m.blocks = columns / contract::kBlockValues;
  m.row_groups = divide_up(rows, g.lanes);
  m.sets = divide_up(m.blocks, g.groups);
  m.address = cursors.words.take(m.words());
  m.minimum_address = cursors.minimums.take(m.minimums());
  m.exponent_address = cursors.exponents.take(m.row_groups);
  return m;
}

}  // namespace

MatrixFormat format_for(TensorType type, const contract::HardwareConfig& hardware) {
  const MatrixFormat eight_bits{2, true, false, false};
  switch (type) {
    case TensorType::kQ4_0:
      return {1, true, true, false};
    case TensorType::kQ5_0:
      return {2, true, true, false};
    case TensorType::kQ4_1:
    case TensorType::kQ4_K:
      return hardware.has_minimum ? MatrixFormat{1, false, false, true} : eight_bits;
    case TensorType::kQ5_1:
    case TensorType::kQ5_K:
      return hardware.has_minimum ? MatrixFormat{2, true, false, true} : eight_bits;
    case TensorType::kF32:
    case TensorType::kF16:
    case TensorType::kBF16:
    case TensorType::kQ8_0:
    case TensorType::kQ6_K:
      return eight_bits;
  }
  fail(ExitCode::kInternal, "tensor type {} has no code", static_cast<unsigned>(type));
}

MatrixFormat common_format(const MatrixFormat& a, const MatrixFormat& b) {
  if (a == b) return a;
  return {2, true, a.signed_scale || b.signed_scale, a.has_minimum || b.has_minimum};
}

std::string describe(const MatrixFormat& format) {
  return fmt::format("{} bits{}", 4 * format.nibbles, format.has_minimum ? " + minimum" : "");
}

bool LayerPlace::same_kind(const LayerPlace& other) const {
  return key.format == other.key.format && query.format == other.query.format && value.format == other.value.format &&
         out.format == other.out.format && gate_up.format == other.gate_up.format && down.format == other.down.format;
}

Geometry::Geometry(const contract::HardwareConfig& hardware, const contract::ModelShape& shape) {
  lanes = static_cast<std::uint32_t>(hardware.lanes);
  groups = static_cast<std::uint32_t>(hardware.column_groups);
  segments =
      static_cast<std::uint32_t>(contract::segments_for(hardware.column_groups, static_cast<int>(shape.kv_heads)));
  groups_per_segment = groups / segments;
  width_blocks = shape.width / contract::kBlockValues;
  ffn_blocks = shape.ffn_width / contract::kBlockValues;
  head_blocks = shape.head_size / contract::kBlockValues;
  rounds = shape.heads / segments;
  slots = shape.kv_heads / segments;
  queries_per_kv = shape.heads / shape.kv_heads;
  context_blocks = divide_up(shape.context_tokens, contract::kBlockValues);
  key_sets = divide_up(head_blocks, groups_per_segment);
  value_sets = divide_up(context_blocks, groups_per_segment);
  key_row_groups = divide_up(context_blocks * contract::kBlockValues, lanes);
  value_row_groups = divide_up(shape.head_size, lanes);
  key_nibbles = shape.kv_bits == 12 ? 3 : 2;
  key_row_group_words = key_sets * key_nibbles;
  key_slot_words = key_row_groups * key_row_group_words;
  value_row_group_words = value_sets * 2;
  value_slot_words = value_row_groups * value_row_group_words;
}

std::uint32_t Geometry::query_row_in_file(std::uint32_t index, std::uint32_t head_size) const {
  const std::uint32_t place = index / head_size;  // round · segments + segment
  const std::uint32_t round = place / segments;
  const std::uint32_t kv_head = (round / queries_per_kv) * segments + place % segments;
  return (kv_head * queries_per_kv + round % queries_per_kv) * head_size + index % head_size;
}

namespace {

contract::ModelShape shape_of(const model::Model& model, std::uint32_t context_tokens, std::uint32_t kv_bits) {
  const model::Hyperparameters& h = model.shape();
  contract::ModelShape shape;
  shape.layers = h.layers;
  shape.width = h.width;
  shape.heads = h.heads;
  shape.kv_heads = h.kv_heads;
  shape.head_size = h.head_size;
  shape.ffn_width = h.ffn_width;
  shape.vocabulary = h.vocabulary;
  shape.context_tokens = context_tokens;
  shape.kv_bits = kv_bits;
  shape.norm_epsilon = h.norm_epsilon;
  return shape;
}

void place_layer(const model::Layer& layer, const model::Hyperparameters& h, Layout& layout, Cursors& cursors) {
  const Geometry& g = layout.geometry;
  const contract::HardwareConfig& hw = layout.hardware;
  const auto format = [&](const model::Tensor* tensor) { return format_for(tensor->type, hw); };
  LayerPlace p;
  p.key = place_matrix(format(layer.key), h.kv_heads * h.head_size, h.width, g, cursors);
  p.query = place_matrix(format(layer.query), h.heads * h.head_size, h.width, g, cursors);
  p.value = place_matrix(format(layer.value), h.kv_heads * h.head_size, h.width, g, cursors);
  p.out = place_matrix(format(layer.attention_out), h.width, h.heads * h.head_size, g, cursors);
  p.gate_up = place_matrix(common_format(format(layer.gate), format(layer.up)), 2 * h.ffn_width, h.width, g, cursors);
  p.down = place_matrix(format(layer.down), h.width, h.ffn_width, g, cursors);
  p.key_grid = cursors.exponents.take(divide_up(h.kv_heads, g.lanes));
  p.value_grid = cursors.exponents.take(divide_up(h.kv_heads, g.lanes));
  p.ffn_gain = cursors.constants.take(h.width);
  p.next_gain = cursors.constants.take(h.width);
  if (h.qkv_bias) {
    p.query_bias = cursors.constants.take(std::uint64_t{h.heads} * h.head_size);
    p.key_bias = cursors.constants.take(std::uint64_t{h.kv_heads} * h.head_size);
    p.value_bias = cursors.constants.take(std::uint64_t{h.kv_heads} * h.head_size);
  }
  layout.layers.push_back(p);
}

ActivationPlace place_activations(const Geometry& g, const contract::ModelShape& shape) {
  Cursor cursor;
  ActivationPlace a{};
  a.attention = cursor.take(divide_up(g.width_blocks, g.groups));
  a.query = cursor.take(std::uint64_t{g.rounds} * g.key_sets);
  a.softmax = cursor.take(std::uint64_t{g.rounds} * g.value_sets);
  a.heads = cursor.take(divide_up(shape.heads * g.head_blocks, g.groups));
  a.ffn = cursor.take(divide_up(g.width_blocks, g.groups));
  a.hidden = cursor.take(divide_up(g.ffn_blocks, g.groups));
  a.blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(cursor.at, UINT32_MAX));
  return a;
}

/// Accumulators that a layer can't do without: Q, K and V stand beside each other until they are taken; a round's
/// scores, a head's sums, and the rows that make a whole block must fit at once.
std::uint32_t least_accumulators(const Layout& layout) {
  const Geometry& g = layout.geometry;
  std::uint32_t needed =
      std::max({g.key_row_groups, g.value_row_groups, divide_up(2 * contract::kBlockValues, g.lanes)});
  for (const LayerPlace& p : layout.layers)
    needed = std::max(needed, p.key.row_groups + p.value.row_groups + p.query.row_groups);
  return needed;
}

void check_accumulators(const model::Model& model, const Layout& layout) {
  const auto entries = static_cast<std::uint32_t>(layout.hardware.accumulator_entries);
  const std::uint32_t needed = least_accumulators(layout);
  if (needed > entries)
    fail(ExitCode::kDoesNotFit,
         "{}: a layer keeps {} row groups of sums at once, the hardware has accumulator_entries {}; give it {} or "
         "more, or more lanes",
         model.file().path().string(), needed, entries, needed);
}

void check_limits(const model::Model& model, const Layout& layout) {
  const std::string file = model.file().path().string();
  const contract::ModelShape& s = layout.shape;
  if (s.context_tokens < 1) fail(ExitCode::kUsage, "--context {}: must be at least 1 token", s.context_tokens);
  if (s.context_tokens > model.shape().context_limit_tokens)
    fail(ExitCode::kDoesNotFit, "{}: the model's context is {} tokens, {} were asked for; use --context {} or less",
         file, model.shape().context_limit_tokens, s.context_tokens, model.shape().context_limit_tokens);
  if (s.kv_bits != 8 && s.kv_bits != 12) fail(ExitCode::kUsage, "--kv-bits {}: must be 8 or 12", s.kv_bits);
  if (layout.geometry.rounds > contract::kMaxRounds)
    fail(ExitCode::kDoesNotFit,
         "{}: {} heads on {} segments of the array take {} rounds, {} registers exist; use an array whose column "
         "groups share a "
         "larger divisor with the {} K/V heads",
         file, s.heads, layout.geometry.segments, layout.geometry.rounds, contract::kMaxRounds, s.kv_heads);
}

}  // namespace

CardShare whole_model(const model::Model& model) {
  CardShare share;
  share.layers = model.shape().layers;
  share.ids = model.shape().vocabulary;
  return share;
}

Layout place(const model::Model& model, const contract::HardwareConfig& hardware, std::uint32_t context_tokens,
             std::uint32_t kv_bits, const CardShare& share) {
  const model::Hyperparameters& h = model.shape();
  contract::ModelShape shape = shape_of(model, context_tokens, kv_bits);
  if (share.is_of_group()) {
    shape.layers = share.layers;
    shape.first_id = share.first_id;
    shape.ids = share.ids;
  }
  Layout layout{hardware, shape, share, Geometry(hardware, shape)};
  layout.tied_head = h.tied_head;
  layout.qkv_bias = h.qkv_bias;
  check_limits(model, layout);
  const Geometry& g = layout.geometry;

  Cursors cursors;
  layout.first_gain = cursors.constants.take(h.width);
  for (std::uint32_t i = 0; i < share.layers; ++i)
    place_layer(model.layers()[share.first_layer + i], h, layout, cursors);
  if (share.is_of_group() && !share.is_last()) layout.head_gain = cursors.constants.take(h.width);
  layout.head = place_matrix(format_for(model.head().type, hardware), share.ids, h.width, g, cursors);
  layout.embedding = h.tied_head
                         ? layout.head
                         : place_matrix(format_for(model.embedding().type, hardware), share.ids, h.width, g, cursors);
  // K and V lie above the words that the lanes' second ports only load.
  const std::uint64_t weight_only = static_cast<std::uint64_t>(contract::weight_only_words(hardware));
  if (cursors.words.at < weight_only) cursors.words.take(weight_only - cursors.words.at);
  layout.weight_words = cursors.words.at;
  check_accumulators(model, layout);

  const std::uint64_t key_words = std::uint64_t{g.slots} * g.key_slot_words;
  const std::uint64_t value_words = std::uint64_t{g.slots} * g.value_slot_words;
  for (LayerPlace& layer : layout.layers) {
    layer.key_cache = cursors.words.take(key_words);
    layer.value_cache = cursors.words.take(value_words);
  }
  layout.kv_words = cursors.words.at - layout.weight_words;
  layout.minimum_words = cursors.minimums.at;
  layout.exponent_words = cursors.exponents.at;
  layout.constant_values = cursors.constants.at;
  layout.rope_pairs = std::uint64_t{context_tokens} * (h.head_size / 2);
  layout.activation = place_activations(g, shape);
  layout.accumulator_chunk = static_cast<std::uint32_t>(hardware.accumulator_entries) / 2;
  return layout;
}

std::vector<MemoryUse> memory_use(const Layout& l) {
  const contract::HardwareConfig& hw = l.hardware;
  const auto memory = [](const char* name, const char* unit, std::uint64_t used, std::int64_t capacity,
                         std::int64_t bytes) {
    const auto depth = static_cast<std::uint64_t>(capacity), each = static_cast<std::uint64_t>(bytes);
    return MemoryUse{name, unit, used, depth, used * each, depth * each};
  };
  const auto region = [&](const char* name, const char* unit, std::uint64_t used, contract::Region which) {
    return memory(name, unit, used, contract::capacity_elements(which, hw), contract::element_bytes(which, hw));
  };
  return {
      region("lane", "words of 144 bits per lane", l.weight_words + l.kv_words, contract::Region::kLaneWords),
      region("minimum", "words of 16 bits per lane", l.minimum_words, contract::Region::kMinimumWords),
      region("exponent", "row groups of 8-bit exponents", l.exponent_words, contract::Region::kExponents),
      region("constant", "binary32 gains and biases", l.constant_values, contract::Region::kConstants),
      region("rope", "cosine and sine pairs", l.rope_pairs, contract::Region::kRope),
      memory("activation", "blocks per column group", l.activation.blocks, hw.activation_blocks,
             hw.column_groups * contract::kActivationBlockBits / 8),
      memory("residual", "binary32 values", l.shape.width, hw.residual_values, contract::kConstantBytes),
  };
}

}  // namespace lpu::compiler
