// The hardware configurations by name: how many lanes, which clock, how deep each memory is.
// Part of the contract: C++14, relies on number_formats.hpp. A memory is counted by its ports and its depth per lane,
// not by bytes: a beat reads one word of every lane at once, so bytes that lie behind one port serve one lane only.
#pragma once

#include "hls/contract/number_formats.hpp"

namespace lpu {
namespace contract {

/// *What* the machine is. Everything else follows from it (see the functions below) or from latencies.hpp.
struct HardwareConfig {
  const char* name;
  const char* note;   ///< one sentence for people: the device, or that there is none
  int lanes;          ///< rows a beat multiplies (per column group)
  int column_groups;  ///< blocks of 32 columns a beat multiplies
  int vector_lanes;   ///< values the vector unit takes each cycle
  int softmax_lanes;  ///< scores the softmax unit takes each cycle
  bool has_minimum;   ///< whether lanes have a minimum memory (Q4_1, Q5_1, K-quants)
  int clock_mhz;
  int lane_words;            ///< depth of a lane's memory: words of 144 bits (weights and KV)
  int minimum_words;         ///< depth of a lane's minimum memory: words of 16 bits
  int accumulator_entries;   ///< row groups whose sums are kept, per lane and segment
  int activation_blocks;     ///< depth of an activation bank (one bank per column group): blocks
  int residual_values;       ///< widest model: fp32 values of the residual
  int exponent_words;        ///< row exponents: words of `lanes` bytes, one per row group
  int constant_values;       ///< norm gains and biases: fp32 values
  int rope_pairs;            ///< (cosine, sine) pairs: positions × head_size / 2
  int program_instructions;  ///< depth of the program memory
  int delay_entries;         ///< depth of the delay table: 32-bit entries
};

constexpr int largest_power_of_two(int limit) {
  int power = 1;
  while (power * 2 <= limit) power *= 2;
  return power;
}

/// The largest power of two up to `most` that divides `lanes`.
constexpr int divisor_of_lanes(int lanes, int most) {
  int power = largest_power_of_two(most);
  while (lanes % power != 0) power /= 2;
  return power;
}
/// Vector lanes that take a matrix's results as fast as they come: about lanes·groups/12, 2…32.
constexpr int default_vector_lanes(int lanes, int groups) {
  const int wanted = lanes * groups / 12 > 2 ? lanes * groups / 12 : 2;
  return divisor_of_lanes(lanes, wanted > 32 ? 32 : wanted);
}
/// Softmax lanes: scores come much faster than matrix results; about lanes·groups/4, 2…64.
constexpr int default_softmax_lanes(int lanes, int groups) {
  const int wanted = lanes * groups / 4 > 2 ? lanes * groups / 4 : 2;
  return divisor_of_lanes(lanes, wanted > 64 ? 64 : wanted);
}

// ---- the named configurations. URAM288 is 4,096 × 72 bits: two give a lane 4,096 words; four lanes share one for
// minimums. BRAM36 is 512 × 72 bits: two give a lane 512 words of weights. DP16KD (ECP5) is 1,024 × 18 bits: eight give
// a lane 1,024 words. The other depths are what leaves room: docs/fit.md counts everything. Accumulators are wide, so
// they are as deep as distributed RAM is.
constexpr HardwareConfig kHardwareConfigs[] = {
    {"tiny", "for tests and netlists: 4 x 2, no device", 4, 2, 2, 2, true, 100, 16384, 16384, 2048, 1024, 1024, 4096,
     16384, 32768, 4096, 65536},
    {"ulx3s", "Lattice ECP5-85F: 128 of 208 DP16KD hold the lanes' words", 8, 1, 2, 2, false, 80, 2048, 0, 32, 64, 512,
     512, 2048, 4096, 512, 1024},
    {"orangecrab", "Lattice ECP5-85F: as ulx3s, slower clock", 8, 1, 2, 2, false, 64, 2048, 0, 32, 64, 512, 512, 2048,
     4096, 512, 1024},
    {"kv260", "AMD K26 (XCK26): 64 URAM, 144 BRAM36, 1,248 DSP", 16, 2, 2, 8, false, 250, 4096, 0, 64, 512, 1024, 2048,
     8192, 8192, 512, 4096},
    {"zcu104", "AMD ZU7EV: 96 URAM, 312 BRAM36, 1,728 DSP", 16, 3, 4, 8, false, 250, 4096, 0, 64, 512, 2048, 2048, 8192,
     16384, 1024, 4096},
    {"u50", "AMD Alveo U50: 640 URAM, 1,344 BRAM36, 5,952 DSP", 64, 4, 16, 64, true, 300, 4096, 4096, 64, 512, 8192,
     2048, 32768, 65536, 1024, 8192},
    {"u55c", "AMD Alveo U55C: 960 URAM, 2,016 BRAM36, 9,024 DSP", 64, 6, 32, 64, true, 300, 4608, 4096, 64, 512, 8192,
     2048, 32768, 65536, 1024, 8192},
    {"u250", "AMD Alveo U250: 1,280 URAM, 2,688 BRAM36, 12,288 DSP", 64, 8, 32, 64, true, 300, 4608, 4096, 64, 512,
     8192, 2048, 32768, 65536, 1024, 8192},
    {"v80", "AMD Alveo V80 (Versal), estimate only: 1,925 URAM, 3,741 BRAM36, 10,848 DSP", 64, 8, 32, 64, true, 300,
     4608, 4096, 64, 512, 8192, 2048, 32768, 65536, 1024, 8192},
    {"virtual", "NOT A DEVICE: a U55C-class array with memory for everything on one card", 64, 6, 32, 64, true, 300,
     1 << 20, 1 << 20, 2048, 16384, 65536, 1 << 20, 1 << 24, 1 << 24, 1 << 16, 1 << 20},
};

/// First fault of a configuration as a sentence, or nullptr. Used by static_assert here, by the host for FILE.json, and
/// by elaboration checks in the RTL.
constexpr const char* fault_of(const HardwareConfig& c) {
  if (c.lanes < 2 || c.lanes > 4096 || c.lanes % 2 != 0)
    return "lanes must be even, 2 to 4096 (rows are taken in pairs)";
  if (c.lanes > 32 ? c.lanes % 32 != 0 : 32 % c.lanes != 0)
    return "lanes must divide 32 or be a multiple of 32 (a block's border is a row group's or a lane's)";
  if (c.column_groups < 1 || c.column_groups > 256) return "column_groups must be 1 to 256";
  if (c.vector_lanes < 2 || c.vector_lanes > 32 || c.vector_lanes != largest_power_of_two(c.vector_lanes))
    return "vector_lanes must be a power of two, 2 to 32 (at most one block a cycle)";
  if (c.lanes % c.vector_lanes != 0) return "vector_lanes must divide lanes";
  if (c.softmax_lanes < 1 || c.softmax_lanes > 64 || c.softmax_lanes != largest_power_of_two(c.softmax_lanes))
    return "softmax_lanes must be a power of two, 1 to 64";
  if (c.lanes % c.softmax_lanes != 0) return "softmax_lanes must divide lanes";
  if (c.clock_mhz < 1 || c.clock_mhz > 2000) return "clock_mhz must be 1 to 2000";
  if (c.lane_words < 1 || c.lane_words > (1 << 24)) return "lane_words must be 1 to 16777216";
  if (c.has_minimum ? (c.minimum_words < 1 || c.minimum_words > (1 << 24)) : c.minimum_words != 0)
    return "minimum_words must be 1 to 16777216 with has_minimum, and 0 without";
  if (c.accumulator_entries < 8 || c.accumulator_entries > 4096) return "accumulator_entries must be 8 to 4096";
  if (c.activation_blocks < 8 || c.activation_blocks > 65536) return "activation_blocks must be 8 to 65536";
  if (c.residual_values < 32 || c.residual_values > kMaxColumns) return "residual_values must be 32 to 65536";
  if (c.exponent_words < 1 || c.exponent_words > (1 << 24)) return "exponent_words must be 1 to 16777216";
  if (c.constant_values < 32 || c.constant_values > (1 << 26)) return "constant_values must be 32 to 67108864";
  if (c.rope_pairs < 16 || c.rope_pairs > (1 << 26)) return "rope_pairs must be 16 to 67108864";
  if (c.program_instructions < 64 || c.program_instructions > (1 << 16))
    return "program_instructions must be 64 to 65536";
  if (c.delay_entries < 1 || c.delay_entries > (1 << 22)) return "delay_entries must be 1 to 4194304";
  return nullptr;
}

constexpr int kHardwareConfigCount = sizeof(kHardwareConfigs) / sizeof(kHardwareConfigs[0]);
constexpr bool all_configs_sound() {
  for (int i = 0; i < kHardwareConfigCount; ++i)
    if (fault_of(kHardwareConfigs[i]) != nullptr) return false;
  return true;
}
static_assert(all_configs_sound(), "every named hardware configuration must pass fault_of()");

// ---- derived
/// Lowest lane words that hold weights only: what a memory deeper than UltraRAM has beyond a multiple of its depth lies
/// in block RAM, whose second port can only load (rtl/memory/lpu_lane_memory.sv). K and V come after them.
constexpr int weight_only_words(const HardwareConfig& config) {
  return config.lane_words > kUltraRamWords ? config.lane_words % kUltraRamWords : 0;
}
/// Whether an instruction may split the array into so many segments: equal ones, and accumulators for each.
constexpr bool may_have_segments(int column_groups, std::uint64_t segments) {
  return segments >= 1 && segments <= static_cast<std::uint64_t>(kMaxSegments) &&
         static_cast<std::uint64_t>(column_groups) % segments == 0;
}
/// Segments of the array for attention: as many K/V heads work side by side as divide both groups and heads.
constexpr int segments_for(int column_groups, int kv_heads) {
  int segments = kMaxSegments;
  while (!may_have_segments(column_groups, segments) || kv_heads % segments != 0) --segments;
  return segments;
}
/// Ids whose sampling noise is made in a cycle.
constexpr int noise_lanes(const HardwareConfig& config) {
  return config.vector_lanes < kNoiseLanes ? config.vector_lanes : kNoiseLanes;
}
/// Scores the softmax unit really takes each cycle: a bank takes one block of 32 a cycle, and a segment of one group
/// has one bank.
constexpr int softmax_rate(const HardwareConfig& config, int segments) {
  return config.softmax_lanes > kBlockValues && config.column_groups / segments < 2 ? kBlockValues
                                                                                    : config.softmax_lanes;
}
constexpr int ceil_divide(int value, int by) { return (value + by - 1) / by; }

}  // namespace contract
}  // namespace lpu
