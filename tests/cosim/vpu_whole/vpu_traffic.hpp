// What a run of the vector processor is made of: its tokens and instructions, and everything that must be shown, by the
// cycle in which it is. vpu_script.hpp fills it in, vpu_bench.hpp compares. Relies on hls/golden's types.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "hls/contract/instructions.hpp"
#include "hls/golden/state.hpp"

namespace lpu {
namespace cosim {

using Cycle = std::int64_t;

struct VpuSize {
  int lanes, groups, vector_lanes, entries, blocks;  ///< the module's parameters
};
struct TimedInstruction {
  contract::Instruction instruction;
  std::uint32_t iteration = 0;
};
struct VpuToken {
  Cycle start = 0;
  std::uint32_t token = 0, position = 0;
  bool follows = false;  ///< its id is the module's own choice
  bool samples = false;
  float inverse_temperature = 1;
  std::uint64_t seed = 0;
  bool saturates = false;
};
struct LaneValues {
  std::uint32_t row = 0, lanes = 0;
  std::vector<float> values;  ///< [lanes that are there]
};
struct KeyCodes {
  std::uint64_t group = 0, address = 0, nibbles = 0;
  std::vector<int> codes;  ///< [32]
  std::uint16_t scale = 0;
};
struct ValueHead {
  std::uint64_t group = 0, address = 0, row_step = 0, key_group = 0, key_address = 0, head_blocks = 0;
};
struct ValueCodes {
  std::uint64_t block = 0;
  std::vector<int> codes;  ///< [32]
  std::uint16_t scale = 0;
};
/// Everything that the module shows, by the cycle in which it is shown.
struct VpuTraffic {
  std::map<Cycle, TimedInstruction> instructions;  ///< by issue
  std::vector<VpuToken> tokens;
  std::map<std::pair<Cycle, std::uint64_t>, std::pair<std::uint64_t, golden::ActivationBlock>> blocks;  ///< by bank
  std::map<Cycle, LaneValues> residuals, logits;
  std::map<Cycle, std::pair<std::uint32_t, float>> scales;
  std::map<Cycle, KeyCodes> keys;
  std::map<Cycle, ValueHead> heads;
  std::map<Cycle, ValueCodes> values;
  std::map<Cycle, std::uint32_t> nexts;
  std::map<Cycle, std::uint64_t> embed_reads, minimum_reads;
  std::set<Cycle> landed;
  Cycle end = 0;
};

}  // namespace cosim
}  // namespace lpu
