// The program of smollm2_shapes.hpp, instruction by instruction in the order of a Llama layer.
// Relies on the serial schedule of ProgramBuilder::add().
#include "tests/golden/smollm2_shapes.hpp"

namespace lpu::golden::testing {
namespace {

using contract::Instruction;
using contract::Opcode;
using lpu::testing::instruction;

class Writer {
 public:
  explicit Writer(const LlamaShapes& shapes) : s(shapes), out(shapes.config, shapes.model.context_tokens) {
    vector_pitch = s.lanes() / static_cast<std::uint32_t>(s.config.vector_lanes);
  }

  contract::Program run() {
    embed();
    out.loop(s.model.layers);
    layer();
    out.loop(1, true);
    head();
    return out.build();
  }

 private:
  Instruction weights(std::uint32_t address, std::uint32_t rows, std::uint32_t columns, std::uint32_t activations,
                      std::uint32_t accumulator) const {
    Instruction in = instruction(Opcode::kMatvec);
    in.matvec.weight_address = in.matvec.minimum_address = address;
    in.matvec.weight_stride = in.matvec.minimum_stride = s.layer_words();
    in.matvec.row_groups = s.row_groups(rows);
    in.matvec.column_sets = s.sets(columns);
    in.matvec.row_group_words = in.matvec.column_sets;
    in.matvec.column_set_words = in.matvec.nibbles = 1;
    in.matvec.row_major = in.matvec.has_minimum = in.matvec.segments = in.matvec.start = in.matvec.finish = 1;
    in.matvec.activation_address = activations;
    in.matvec.accumulator = accumulator;
    return in;
  }

  Instruction onto_residual(Instruction in, std::uint32_t exponent) const {
    in.matvec.adds_residual = 1;
    in.matvec.exponent_address = exponent;
    in.matvec.exponent_stride = s.layer_exponents();
    return in;
  }

  Instruction rows(Opcode opcode, std::uint32_t accumulator, std::uint32_t count, std::uint32_t exponent) const {
    Instruction in = instruction(opcode);
    in.vector.accumulator = accumulator;
    in.vector.row_groups = s.row_groups(count);
    in.vector.pitch_cycles = vector_pitch;
    in.vector.rows = count;
    in.vector.segments = s.segments;
    in.vector.head_blocks = s.head_blocks();
    in.vector.exponent_address = exponent;
    in.vector.exponent_stride = s.layer_exponents();
    in.vector.grid_address = s.layer_exponents() - 2;
    in.vector.grid_stride = s.layer_exponents();
    in.vector.memory_stride = s.layer_kv_words();
    return in;
  }

  void norm(Instruction& in, std::uint32_t gain, std::uint32_t scale_register) const {
    in.vector.gain_address = gain;
    in.vector.gain_stride = 2 * s.model.width;
    in.vector.destination = kNormed;
    in.vector.scale_register = scale_register;
    in.vector.starts_norm = in.vector.ends_norm = 1;
  }

  void embed() {
    Instruction in = rows(Opcode::kEmbed, 0, s.model.width, s.model.layers * s.layer_exponents());
    norm(in, 0, 0);
    in.vector.memory_address = s.model.layers * s.layer_words();
    in.vector.row_group_words = s.sets(s.model.width) * 2;
    in.vector.nibbles = 2;
    in.vector.signed_code = 1;
    in.vector.column_sets = s.sets(s.model.width);
    in.vector.pitch_cycles = 32 * s.groups() / static_cast<std::uint32_t>(s.config.vector_lanes);
    out.add(in);
  }

  void layer() {
    const std::uint32_t width = s.model.width, heads = s.row_groups(s.query_rows()), keys = s.row_groups(s.key_rows());
    out.add(weights(0, s.query_rows() + 2 * s.key_rows(), width, kNormed, 0));
    Instruction query = rows(Opcode::kQuery, 0, s.query_rows(), 0);
    query.vector.destination = kQueries;
    out.add(query);
    Instruction key = rows(Opcode::kKey, heads, s.key_rows(), heads);
    key.vector.memory_address = s.weights();
    key.vector.slot_words = s.key_slot_words();
    key.vector.row_group_words = s.head_sets() * 2;
    key.vector.nibbles = 2;
    out.add(key);
    Instruction value = rows(Opcode::kValue, heads + keys, s.key_rows(), heads + keys);
    value.vector.memory_address = s.weights() + s.slots() * s.key_slot_words();
    value.vector.slot_words = s.value_slot_words();
    value.vector.row_group_words = s.value_row_words();
    value.vector.key_address = s.weights();
    value.vector.key_slot_words = s.key_slot_words();
    value.vector.key_row_group_words = s.head_sets() * 2;
    value.vector.grid_address += 1;
    // One row group of V after another, so that two heads of one group never meet at its second port, the cycles of
    // their scales included.
    value.vector.pitch_cycles = std::max(vector_pitch, 4 * s.row_groups(s.model.head_size) + 3);
    out.add(value);
    for (std::uint32_t round = 0; round < s.rounds(); ++round) attention(round);

    std::uint32_t exponent = heads + 2 * keys, address = s.qkv_words();
    out.add(onto_residual(weights(address, width, s.query_rows(), kMixed, 0), exponent));
    Instruction residual = rows(Opcode::kResidual, 0, width, exponent);
    norm(residual, width, 1);
    out.add(residual);
    exponent += s.row_groups(width);
    address += s.output_words();
    out.add(weights(address, 2 * s.model.ffn_width, width, kNormed, 0));
    Instruction swiglu = rows(Opcode::kSwiglu, 0, 2 * s.model.ffn_width, exponent);
    swiglu.vector.destination = kFeedForward;
    swiglu.vector.scale_register = 1;
    out.add(swiglu);
    exponent += s.row_groups(2 * s.model.ffn_width);
    address += s.up_words();
    out.add(onto_residual(weights(address, width, s.model.ffn_width, kFeedForward, 0), exponent));
    residual = rows(Opcode::kResidual, 0, width, exponent);
    norm(residual, 2 * width, 0);
    out.add(residual);
  }

  void attention(std::uint32_t round) {
    const std::uint32_t slot = round % s.slots();
    Instruction scores = instruction(Opcode::kMatvec);
    scores.matvec.weight_address = s.weights() + slot * s.key_slot_words();
    scores.matvec.weight_stride = s.layer_kv_words();
    scores.matvec.column_sets = s.head_sets();
    scores.matvec.row_group_words = s.head_sets() * 2;
    scores.matvec.column_set_words = scores.matvec.nibbles = 2;
    scores.matvec.length_dimension = 1;
    scores.matvec.row_major = scores.matvec.signed_code = scores.matvec.keeps_value_scale = 1;
    scores.matvec.activation_address = kQueries + round * s.head_sets();
    scores.matvec.segments = s.segments;
    scores.matvec.start = scores.matvec.finish = 1;
    out.add(scores);
    Instruction softmax = instruction(Opcode::kSoftmax);
    softmax.softmax.segments = s.segments;
    softmax.softmax.pitch_cycles = s.segments * s.lanes() / static_cast<std::uint32_t>(s.config.softmax_lanes);
    softmax.softmax.slot = slot;
    softmax.softmax.destination = kWeights;
    softmax.softmax.round = round;
    softmax.softmax.grid_address = s.layer_exponents() - 2;
    softmax.softmax.grid_stride = s.layer_exponents();
    out.add(softmax);
    Instruction sum = instruction(Opcode::kMatvec);
    sum.matvec.weight_address = s.weights() + s.slots() * s.key_slot_words() + slot * s.value_slot_words();
    sum.matvec.weight_stride = s.layer_kv_words();
    sum.matvec.row_groups = s.row_groups(s.model.head_size);
    sum.matvec.row_group_words = s.value_row_words();
    sum.matvec.column_set_words = sum.matvec.nibbles = 2;
    sum.matvec.length_dimension = 2;
    sum.matvec.signed_code = sum.matvec.unit_scale = sum.matvec.relative_exponents = 1;
    sum.matvec.round = round;
    sum.matvec.activation_address = kWeights;
    sum.matvec.segments = s.segments;
    sum.matvec.start = sum.matvec.finish = 1;
    out.add(sum);
    Instruction mix = rows(Opcode::kMix, 0, s.model.head_size, 0);
    mix.vector.first_row = round * s.segments * s.model.head_size;
    mix.vector.destination = kMixed;
    mix.vector.round = round;
    mix.vector.slot = slot;
    mix.vector.grid_address += 1;
    out.add(mix);
  }

  void head() {
    // As many row groups at a time as half of the accumulators hold.
    const std::uint32_t all = s.row_groups(s.model.vocabulary);
    const std::uint32_t step = static_cast<std::uint32_t>(s.config.accumulator_entries) / 2;
    for (std::uint32_t first = 0; first < all; first += step) {
      const std::uint32_t count = std::min(step, all - first), row = first * s.lanes();
      const std::uint32_t last = std::min(row + count * s.lanes(), s.model.vocabulary);
      Instruction in = weights(0, count * s.lanes(), s.model.width, kNormed, 0);
      in.matvec.row_group_words = in.matvec.column_sets * 2;
      in.matvec.column_set_words = in.matvec.nibbles = 2;
      in.matvec.weight_address = s.model.layers * s.layer_words() + first * in.matvec.row_group_words;
      in.matvec.has_minimum = in.matvec.minimum_address = 0;
      in.matvec.signed_code = 1;
      out.add(in);
      Instruction logits = rows(Opcode::kLogits, 0, last - row, s.model.layers * s.layer_exponents() + first);
      logits.vector.first_row = row;
      out.add(logits);
    }
  }

  static constexpr std::uint32_t kNormed = 0, kQueries = 64, kWeights = 128, kMixed = 256, kFeedForward = 320;
  const LlamaShapes& s;
  lpu::testing::ProgramBuilder out;
  std::uint32_t vector_pitch = 0;
};

}  // namespace

contract::Program llama_program(const LlamaShapes& shapes) { return Writer(shapes).run(); }

}  // namespace lpu::golden::testing
