// The memories that a host fills before a program runs, and where each lies behind the card's host port.
// Part of the contract: C++14, relies on hardware_config.hpp and instructions.hpp. A bundle's sections are these
// regions' bytes.
#pragma once

#include <cstdint>

#include "hls/contract/hardware_config.hpp"
#include "hls/contract/instructions.hpp"
#include "hls/contract/number_formats.hpp"

namespace lpu {
namespace contract {

/// One 64 GiB window of the host port's byte addresses for each memory.
enum class Region : std::uint32_t {
  kLaneWords = 0,     ///< [address][column group][lane] words of kWordBytes: weights, then KV
  kMinimumWords = 1,  ///< [address][column group][lane] words of kMinimumBytes
  kExponents = 2,     ///< [word][lane] signed bytes
  kConstants = 3,     ///< binary32: gains and biases
  kRope = 4,          ///< [position][pair][2] binary32: cosine, sine
  kInstructions = 5,  ///< instruction words
  kLoops = 6,         ///< loop records
  kDelays = 7         ///< [row][length step] 32-bit cycles
};
constexpr int kRegions = 8;
constexpr int kRegionShift = 36;  ///< a region's first byte address is its number << kRegionShift
constexpr int kConstantBytes = 4;
constexpr int kRopePairBytes = 8;
constexpr int kDelayBytes = 4;

/// Bytes of one element, as the depths of HardwareConfig count them: one address of all lanes, one word of exponents,
/// one value.
constexpr std::int64_t element_bytes(Region region, const HardwareConfig& config) {
  switch (region) {
    case Region::kLaneWords:
      return static_cast<std::int64_t>(config.lanes) * config.column_groups * kWordBytes;
    case Region::kMinimumWords:
      return static_cast<std::int64_t>(config.lanes) * config.column_groups * kMinimumBytes;
    case Region::kExponents:
      return config.lanes;
    case Region::kConstants:
      return kConstantBytes;
    case Region::kRope:
      return kRopePairBytes;
    case Region::kInstructions:
      return kInstructionWords * 4;
    case Region::kLoops:
      return kLoopWords * 4;
    case Region::kDelays:
      return kDelayBytes;
  }
  return 0;
}
/// How many elements the card has room for.
constexpr std::int64_t capacity_elements(Region region, const HardwareConfig& config) {
  switch (region) {
    case Region::kLaneWords:
      return config.lane_words;
    case Region::kMinimumWords:
      return config.minimum_words;
    case Region::kExponents:
      return config.exponent_words;
    case Region::kConstants:
      return config.constant_values;
    case Region::kRope:
      return config.rope_pairs;
    case Region::kInstructions:
    case Region::kLoops:
      return config.program_instructions;
    case Region::kDelays:
      return config.delay_entries;
  }
  return 0;
}

constexpr bool every_region_fits_its_window() {
  for (int i = 0; i < kHardwareConfigCount; ++i)
    for (int r = 0; r < kRegions; ++r)
      if (element_bytes(static_cast<Region>(r), kHardwareConfigs[i]) *
              capacity_elements(static_cast<Region>(r), kHardwareConfigs[i]) >
          (static_cast<std::int64_t>(1) << kRegionShift))
        return false;
  return true;
}
static_assert(every_region_fits_its_window(),
              "each memory of each named configuration must fit its window of the host port");

}  // namespace contract
}  // namespace lpu
