// program.bin: a card's timed instructions, loops, delay table and cycle tables.
//
// Byte layout (u32 = 32 bits, little-endian; nothing in between, nothing after):
//   1. u32 magic "LPPG"   2. u32 instructions   3. u32 loops   4. u32 delay rows   5. u32 length steps = ⌈context/32⌉
//   6. u32 length rows R: 2, a card alone, or 3, a card of a group
//   7. u32 [loops × kLoopWords]                 loops, packed by hls/contract/instructions.hpp
//   8. u32 [instructions × kInstructionWords]   instructions, packed likewise
//   9. u32 [delay rows × length steps]          cycles, row after row
//  10. u32 [R × length steps]                   cycles by ⌈(position + 1)/32⌉ − 1: of a token with the head and without
//                                               it; of a card of a group, those of Phase::kEmbedding, kLayers, kHead
// Relies on hls/contract. Every count is checked against its limit and the file's size before anything is allocated.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "hls/contract/program.hpp"

namespace lpu::bundle {

/// Error(kInternal) for a field that doesn't fit its width.
std::vector<std::byte> program_bytes(const contract::Program& program);

/// name: what errors call the file. Error(kBadInput) names field and offset. What it returns is a program in form:
/// known opcodes, loops that cover it and have phases where the card is of a group, delay rows that are there. Whether
/// its addresses and times are sound, the card checks.
contract::Program parse_program(std::span<const std::byte> bytes, const contract::HardwareConfig& hardware,
                                std::uint32_t context_tokens, const std::string& name);

}  // namespace lpu::bundle
