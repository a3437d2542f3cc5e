// A program with SmolLM2-135M's shapes on a 64 × 6 array (4-bit layers with minimums, 8-bit head, context 256), one
// instruction after another: a realistic load for the micro-benchmark and for tests of threads, not a good schedule.
// Relies on tests/support/program_builder.hpp.
#pragma once

#include "tests/support/program_builder.hpp"

namespace lpu::golden::testing {

/// Numbers of a model, so that tests can take a small one of the same form. Everything divides the array.
struct LlamaShapes {
  contract::ModelShape model;
  contract::HardwareConfig config;
  std::uint32_t segments;

  std::uint32_t lanes() const { return static_cast<std::uint32_t>(config.lanes); }
  std::uint32_t groups() const { return static_cast<std::uint32_t>(config.column_groups); }
  std::uint32_t part() const { return groups() / segments; }
  std::uint32_t row_groups(std::uint32_t rows) const { return (rows + lanes() - 1) / lanes(); }
  std::uint32_t sets(std::uint32_t columns) const { return (columns / 32 + groups() - 1) / groups(); }
  std::uint32_t head_blocks() const { return model.head_size / 32; }
  std::uint32_t head_sets() const { return (head_blocks() + part() - 1) / part(); }
  std::uint32_t context_blocks() const { return (model.context_tokens + 31) / 32; }
  std::uint32_t query_rows() const { return model.heads * model.head_size; }
  std::uint32_t key_rows() const { return model.kv_heads * model.head_size; }
  std::uint32_t slots() const { return model.kv_heads / segments; }
  std::uint32_t rounds() const { return model.heads / segments; }

  std::uint32_t qkv_words() const { return row_groups(query_rows() + 2 * key_rows()) * sets(model.width); }
  std::uint32_t output_words() const { return row_groups(model.width) * sets(query_rows()); }
  std::uint32_t up_words() const { return row_groups(2 * model.ffn_width) * sets(model.width); }
  std::uint32_t down_words() const { return row_groups(model.width) * sets(model.ffn_width); }
  std::uint32_t layer_words() const { return qkv_words() + output_words() + up_words() + down_words(); }
  std::uint32_t head_words() const { return row_groups(model.vocabulary) * sets(model.width) * 2; }
  std::uint32_t key_slot_words() const { return row_groups(model.context_tokens) * head_sets() * 2; }
  std::uint32_t value_row_words() const { return (context_blocks() + part() - 1) / part() * 2; }
  std::uint32_t value_slot_words() const { return row_groups(model.head_size) * value_row_words(); }
  std::uint32_t layer_kv_words() const { return slots() * (key_slot_words() + value_slot_words()); }
  std::uint32_t weights() const { return model.layers * layer_words() + head_words(); }
  std::uint32_t layer_exponents() const {
    return row_groups(query_rows() + 2 * key_rows()) + 2 * row_groups(model.width) + row_groups(2 * model.ffn_width) +
           2;
  }
  std::uint32_t exponents() const { return model.layers * layer_exponents() + row_groups(model.vocabulary); }
  std::uint32_t constants() const { return (2 * model.layers + 1) * model.width; }
};

inline LlamaShapes smollm2_shapes() {
  LlamaShapes s;
  s.config = contract::kHardwareConfigs[contract::kHardwareConfigCount - 1];
  s.model.layers = 30;
  s.model.width = 576;
  s.model.heads = 9;
  s.model.kv_heads = 3;
  s.model.head_size = 64;
  s.model.ffn_width = 1536;
  s.model.vocabulary = 49152;
  s.model.context_tokens = 256;
  s.model.norm_epsilon = 1e-5f;
  s.segments = 3;
  return s;
}

/// The image that fits llama_program(): random words, and K/V grids on which values of about 1 fit.
struct LlamaImage : lpu::testing::TestImage {
  LlamaImage(const LlamaShapes& s, unsigned seed)
      : lpu::testing::TestImage(s.config, s.weights(), s.model.layers * s.layer_kv_words(),
                                s.model.layers * s.layer_words(), s.exponents(), s.constants(),
                                s.model.context_tokens * s.model.head_size / 2, seed) {
    for (std::uint32_t layer = 0; layer < s.model.layers; ++layer) {
      const std::size_t grids = ((layer + 1) * s.layer_exponents() - 2) * std::size_t{s.lanes()};
      std::fill_n(exponents.begin() + static_cast<std::ptrdiff_t>(grids), 2 * s.lanes(),
                  static_cast<std::uint8_t>(-18));
    }
  }
};

contract::Program llama_program(const LlamaShapes& shapes);

}  // namespace lpu::golden::testing
