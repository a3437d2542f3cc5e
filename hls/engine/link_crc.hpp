// The check of a vector between cards: CRC-32C over 32-bit words, lowest bit first (hls/contract/link.hpp names the
// polynomial and its source). One bit a step, as the definition has it: the RTL's parallel form is held to this one.
// Relies on hls/contract only.
#pragma once

#include <cstdint>

#include "hls/contract/link.hpp"

namespace lpu {
namespace engine {

/// The register after the low `bits` bits of `value`, 1…32, lowest first.
constexpr std::uint32_t link_crc_add(std::uint32_t state, std::uint32_t value, int bits = 32) {
  for (int bit = 0; bit < bits; ++bit) {
    const bool differs = ((state ^ (value >> bit)) & 1u) != 0;
    state = (state >> 1) ^ (differs ? contract::kLinkCrcPolynomial : 0u);
  }
  return state;
}

/// What the trailer holds, from the register after the last word.
constexpr std::uint32_t link_crc_end(std::uint32_t state) { return ~state; }

/// Of `count` words.
constexpr std::uint32_t link_crc(const std::uint32_t* words, int count) {
  std::uint32_t state = contract::kLinkCrcStart;
  for (int i = 0; i < count; ++i) state = link_crc_add(state, words[i]);
  return link_crc_end(state);
}

}  // namespace engine
}  // namespace lpu
