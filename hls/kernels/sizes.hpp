// Named hardware configurations as compile-time constants for the kernels' templates.
// Relies on hls/contract/hardware_config.hpp.
#pragma once

#include "hls/contract/hardware_config.hpp"

namespace lpu {
namespace kernels {

constexpr bool same_name(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) {
    ++a;
    ++b;
  }
  return *a == *b;
}

/// Index of a configuration in kHardwareConfigs; one beyond the last when there is none of that name (an error when
/// used).
constexpr int config_index(const char* name) {
  int index = 0;
  while (index < contract::kHardwareConfigCount && !same_name(contract::kHardwareConfigs[index].name, name)) ++index;
  return index;
}

constexpr contract::HardwareConfig kTiny = contract::kHardwareConfigs[config_index("tiny")];
constexpr contract::HardwareConfig kU55c = contract::kHardwareConfigs[config_index("u55c")];

/// Blocks of 32 positions that a row of scores may have: what the activation banks hold, at most the widest vector.
constexpr int longest_row_blocks(const contract::HardwareConfig& config) {
  return config.activation_blocks * config.column_groups < contract::kMaxColumns / contract::kBlockValues
             ? config.activation_blocks * config.column_groups
             : contract::kMaxColumns / contract::kBlockValues;
}

}  // namespace kernels
}  // namespace lpu
