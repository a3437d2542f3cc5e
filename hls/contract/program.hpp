// What a card is given: a program (timed instructions), a memory image, and the shape of the model they were made from.
// Part of the contract, for the host side and the golden card (C++14, std::vector allowed); no kernel includes it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hls/contract/hardware_config.hpp"
#include "hls/contract/instructions.hpp"

namespace lpu {
namespace contract {

struct ModelShape {
  std::uint32_t layers = 0;
  std::uint32_t width = 0;
  std::uint32_t heads = 0;
  std::uint32_t kv_heads = 0;
  std::uint32_t head_size = 0;
  std::uint32_t ffn_width = 0;
  std::uint32_t vocabulary = 0;
  std::uint32_t context_tokens = 0;  ///< positions that the KV cache holds
  std::uint32_t kv_bits = 8;         ///< of K's mantissas: 8 or 12
  float norm_epsilon = 0;
  /// Rows of the embedding and of the head that a card of a group holds: ids first_id … first_id + ids − 1. A card
  /// alone holds all; ids 0 stands for that.
  std::uint32_t first_id = 0;
  std::uint32_t ids = 0;

  std::uint32_t held_ids() const { return ids == 0 ? vocabulary : ids; }
  bool holds(std::uint32_t id) const { return id >= first_id && id - first_id < held_ids(); }
};

struct Program {
  std::vector<Instruction> instructions;
  std::vector<Loop> loops;
  std::uint32_t length_steps = 0;     ///< ⌈context/32⌉: columns of the delay table
  std::vector<std::uint32_t> delays;  ///< [rows × length_steps] cycles
  /// [length_steps] cycles of one token, from its start to the cycle in which the next may start; by blocks − 1.
  std::vector<std::uint32_t> cycles_with_head;
  std::vector<std::uint32_t> cycles_without_head;
  /// Of a card in a group, instead of the two: [length_steps] cycles of a phase, from its start to the cycle in which
  /// the next may start; kToken's is empty. All are empty for a card alone.
  std::array<std::vector<std::uint32_t>, kPhases> phase_cycles;
  bool is_of_group() const { return !phase_cycles[static_cast<std::size_t>(Phase::kLayers)].empty(); }
  const std::vector<std::uint32_t>& cycles_of(Phase phase) const {
    return phase_cycles[static_cast<std::size_t>(phase)];
  }
  /// Rows of lengths behind the delay table.
  std::uint32_t length_rows() const { return is_of_group() ? kPhases - 1 : 2; }
};

/// Views of a card's preloaded memories, in the order of a bundle's sections. Little-endian, as docs/card_bundle.md
/// says.
struct MemoryImage {
  const std::uint8_t* lane_words = nullptr;  ///< [lane_word_count × column_groups × lanes × kWordBytes]
  std::uint64_t lane_word_count = 0;         ///< words a lane that hold weights; KV words follow and start at zero
  std::uint64_t kv_word_count = 0;
  const std::uint8_t* minimum_words = nullptr;  ///< [minimum_word_count × column_groups × lanes × kMinimumBytes]
  std::uint64_t minimum_word_count = 0;
  const std::uint8_t* exponents = nullptr;  ///< [exponent_word_count × lanes] signed bytes
  std::uint64_t exponent_word_count = 0;
  const std::uint8_t* constants = nullptr;  ///< [constant_count] binary32: gains and biases
  std::uint64_t constant_count = 0;
  const std::uint8_t* rope = nullptr;  ///< [context × head_size/2 × 2] binary32: cosine, sine
  std::uint64_t rope_pair_count = 0;
};

}  // namespace contract
}  // namespace lpu
