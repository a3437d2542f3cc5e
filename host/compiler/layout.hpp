// Step 1, place: where every tensor, cache, constant and activation lies on one card.
//
// Weights: a matrix of R rows and B blocks takes ⌈R/lanes⌉ row groups × ⌈B/groups⌉ column sets × nibbles words, row
// group by row group. Layers lie one after another, so that layers of one kind differ by a constant stride. K and V
// follow the weights: K by position (a row group of positions holds a head's blocks), V transposed (a row group of head
// rows holds blocks of 32 positions). Rows are permuted where that makes neighbours useful: Q by rounds of heads, gate
// and up in turn, half-split RoPE interleaved. Relies on host/model for shapes and hls/contract for the machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hls/contract/program.hpp"
#include "host/compiler/report.hpp"
#include "host/model/model.hpp"

namespace lpu::compiler {

/// How a matrix's blocks are coded in lane words (numbers.md §2).
struct MatrixFormat {
  int nibbles = 1;
  bool signed_code = false;
  bool signed_scale = false;
  bool has_minimum = false;
  bool operator==(const MatrixFormat&) const = default;
};

/// The code that a tensor type gets on this hardware; by the type alone, so that an estimate needs no data.
MatrixFormat format_for(model::TensorType type, const contract::HardwareConfig& hardware);
/// A code that holds both.
MatrixFormat common_format(const MatrixFormat& a, const MatrixFormat& b);
std::string describe(const MatrixFormat& format);

struct MatrixPlace {
  MatrixFormat format;
  std::uint32_t rows = 0;
  std::uint32_t blocks = 0;  ///< columns / 32
  std::uint32_t row_groups = 0;
  std::uint32_t sets = 0;
  std::uint32_t address = 0;           ///< lane words
  std::uint32_t minimum_address = 0;   ///< minimum words
  std::uint32_t exponent_address = 0;  ///< exponent words
  [[nodiscard]] std::uint32_t row_group_words() const { return sets * static_cast<std::uint32_t>(format.nibbles); }
  [[nodiscard]] std::uint64_t words() const { return std::uint64_t{row_groups} * row_group_words(); }
  [[nodiscard]] std::uint64_t minimums() const { return format.has_minimum ? std::uint64_t{row_groups} * sets : 0; }
};

struct LayerPlace {
  MatrixPlace key, query, value, out, gate_up, down;
  std::uint32_t key_cache = 0;  ///< lane words
  std::uint32_t value_cache = 0;
  std::uint32_t key_grid = 0;  ///< exponent words
  std::uint32_t value_grid = 0;
  std::uint32_t ffn_gain = 0;   ///< constants: [width]
  std::uint32_t next_gain = 0;  ///< constants: the next layer's attention norm, or the output norm
  std::uint32_t query_bias = 0, key_bias = 0, value_bias = 0;  ///< constants
  [[nodiscard]] bool same_kind(const LayerPlace& other) const;
};

/// Everything that follows from the hardware and the model's shape.
struct Geometry {
  std::uint32_t lanes, groups, segments, groups_per_segment;
  std::uint32_t width_blocks, ffn_blocks, head_blocks;
  std::uint32_t rounds;            ///< heads / segments
  std::uint32_t slots;             ///< kv_heads / segments
  std::uint32_t queries_per_kv;    ///< heads / kv_heads
  std::uint32_t context_blocks;    ///< ⌈context/32⌉
  std::uint32_t key_sets;          ///< ⌈head_blocks / groups per segment⌉
  std::uint32_t value_sets;        ///< ⌈context_blocks / groups per segment⌉
  std::uint32_t key_row_groups;    ///< of positions
  std::uint32_t value_row_groups;  ///< of head rows
  std::uint32_t key_nibbles;
  std::uint32_t key_row_group_words;    ///< lane words of a row group of positions, one K/V slot
  std::uint32_t key_slot_words;         ///< of all positions
  std::uint32_t value_row_group_words;  ///< lane words of a row group of head rows, one K/V slot
  std::uint32_t value_slot_words;
  Geometry(const contract::HardwareConfig& hardware, const contract::ModelShape& shape);
  /// Row of the query matrix (and column of attention_out) at place `index` of the round-major order → row in the
  /// file's order.
  [[nodiscard]] std::uint32_t query_row_in_file(std::uint32_t index, std::uint32_t head_size) const;
};

struct ActivationPlace {
  std::uint32_t attention, query, softmax, heads, ffn, hidden;  ///< addresses in each bank
  std::uint32_t blocks;                                         ///< depth used
};

/// What one card of a group holds: some of the layers, and some rows of embedding and head.
struct CardShare {
  std::uint32_t index = 0;  ///< in the order in which a token visits the cards
  std::uint32_t cards = 1;
  std::uint32_t first_layer = 0;
  std::uint32_t layers = 0;
  std::uint32_t first_id = 0;  ///< a multiple of the lanes
  std::uint32_t ids = 0;
  [[nodiscard]] bool is_of_group() const { return cards > 1; }
  [[nodiscard]] bool is_last() const { return index + 1 == cards; }
};
/// All of a model on one card.
CardShare whole_model(const model::Model& model);

struct Layout {
  contract::HardwareConfig hardware;
  contract::ModelShape shape;
  CardShare share;
  Geometry geometry;
  std::vector<LayerPlace> layers{};
  MatrixPlace head{};
  MatrixPlace embedding{};  ///< equals head when tied
  bool tied_head = false;
  bool qkv_bias = false;
  std::uint32_t first_gain = 0;  ///< constants: the first layer's attention norm
  std::uint32_t head_gain = 0;   ///< constants: the output norm, where another card's residual comes for the head
  ActivationPlace activation{};
  std::uint64_t weight_words = 0;
  std::uint64_t kv_words = 0;
  std::uint64_t minimum_words = 0;
  std::uint64_t exponent_words = 0;
  std::uint64_t constant_values = 0;
  std::uint64_t rope_pairs = 0;
  std::uint32_t accumulator_chunk = 0;  ///< most row groups of a matrix that are in flight
};

/// Throws Error(kBadInput/kUsage) for what no amount of memory would cure (rounds, address widths, context beyond the
/// model's).
Layout place(const model::Model& model, const contract::HardwareConfig& hardware, std::uint32_t context_tokens,
             std::uint32_t kv_bits, const CardShare& share);
inline Layout place(const model::Model& model, const contract::HardwareConfig& hardware, std::uint32_t context_tokens,
                    std::uint32_t kv_bits) {
  return place(model, hardware, context_tokens, kv_bits, whole_model(model));
}

/// Use against capacity of every memory but the program's.
std::vector<MemoryUse> memory_use(const Layout& layout);

}  // namespace lpu::compiler
