// Everything that the machine keeps between instructions: the places of docs/isa.md, as plain arrays.
// It exists so that each execute_*.cpp file works on one struct. Relies on hls/engine for the number types; all indices
// were checked by check_program() before the first instruction runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hls/contract/program.hpp"
#include "hls/engine/best_logits.hpp"
#include "hls/engine/integers.hpp"
#include "hls/engine/log_sum.hpp"
#include "hls/golden/lane_memory.hpp"
#include "hls/golden/link_vector.hpp"
#include "hls/golden/thread_pool.hpp"

namespace lpu {
namespace golden {

/// One block of an activation bank. A softmax weight's block carries its own exponent E_b; its offset follows from the
/// row's largest when it is read (docs/numbers.md §9).
struct ActivationBlock {
  std::int16_t mantissas[contract::kBlockValues] = {};
  std::uint8_t offset = 0;
  std::int32_t exponent = 0;
};

/// What a round of softmax leaves for its weighted sums, per segment.
struct RoundRegister {
  std::int32_t exponent = 0;    ///< E
  std::int32_t difference = 0;  ///< E − N
  float inverse = 0;            ///< 1/z
};

/// The token at work.
struct TokenState {
  std::int32_t token = 0;
  std::uint32_t position = 0;
  std::uint32_t blocks = 1;  ///< ⌈(position + 1)/32⌉
  bool fast = true;
  bool samples = false;
  float inverse_temperature = 0;
  std::uint64_t seed = 0;
  float* logits = nullptr;               ///< [vocabulary] or null
  const LinkVector* received = nullptr;  ///< what kReceive takes, or null
  std::vector<float>* sent = nullptr;    ///< where receivers' values go, in the order of blocks

  std::uint32_t saturations = 0;
  engine::BestLogits best;
  engine::LogSum buckets;
  bool has_key = false;
  std::int64_t best_key = 0;
  std::uint32_t best_key_id = 0;
};

struct State {
  contract::HardwareConfig config;
  contract::ModelShape shape;
  std::size_t lanes = 0;
  std::size_t groups = 0;
  LaneMemory memory;
  ThreadPool pool;
  std::vector<std::int8_t> exponents;        ///< [words × lanes]
  std::vector<float> constants;              ///< [constant_count]
  std::vector<float> rope;                   ///< [context][head_size/2][2]
  std::vector<ActivationBlock> activations;  ///< [groups][activation_blocks]
  std::vector<engine::Int128> sums;          ///< [accumulator_entries][groups][lanes]
  std::vector<std::uint16_t> value_scales;   ///< [accumulator_entries][groups][lanes]
  std::vector<float> residual;               ///< [residual_values]
  std::vector<RoundRegister> rounds;         ///< [kMaxRounds][groups]
  float scales[2] = {0, 0};
  engine::Int128 norm_sum = 0;
  TokenState token;

  State(const contract::HardwareConfig& hardware, const contract::ModelShape& model, const contract::MemoryImage& image,
        unsigned threads, const ImageUsed& image_used)
      : config(hardware),
        shape(model),
        lanes(static_cast<std::size_t>(hardware.lanes)),
        groups(static_cast<std::size_t>(hardware.column_groups)),
        memory(hardware, image, image_used),
        pool(threads) {}

  ActivationBlock& activation(std::size_t bank, std::size_t address) {
    return activations[bank * static_cast<std::size_t>(config.activation_blocks) + address];
  }
  /// Block of a whole vector in linear mapping.
  ActivationBlock& linear(std::size_t base, std::size_t block) {
    return activation(block % groups, base + block / groups);
  }
  /// Sums of one (entry, segment): [lanes]. The entry wraps.
  engine::Int128* entry_sums(std::size_t entry, std::size_t segment) {
    return sums.data() + entry_index(entry, segment);
  }
  std::uint16_t* entry_scales(std::size_t entry, std::size_t segment) {
    return value_scales.data() + entry_index(entry, segment);
  }
  /// Static grid exponent of a K/V head.
  int grid(std::uint64_t address, std::size_t head) const {
    return exponents[(address + head / lanes) * lanes + head % lanes];
  }

 private:
  std::size_t entry_index(std::size_t entry, std::size_t segment) const {
    return (entry % static_cast<std::size_t>(config.accumulator_entries) * groups + segment) * lanes;
  }
};

}  // namespace golden
}  // namespace lpu
