// What travels between two cards: the beats of a vector, the numbers in its header, its check, and the errors that the
// units of rtl/link stop with. A vector is `blocks` blocks of 32 binary32 values; as beats of an AXI-Stream:
//
//   header   64 bits (two beats where the stream has 32): LPU_LINK_HEADER_FIELDS, the rest of the beat zero
//   data     blocks × 1,024 bits, value 0 lowest, as many beats as that takes
//   trailer  32 bits: CRC-32C over all beats before it, padding included; the rest of the beat zero; tlast
//
// Part of the contract: C++14, relies on number_formats.hpp. Speeds and lengths of cables aren't here.
#pragma once

#include <cstdint>

#include "hls/contract/number_formats.hpp"

namespace lpu {
namespace contract {

// ---- header
// X(name, bits): the header's fields, lowest first. `kind` says what the vector is to the two programs, which agree on
// it; the units only compare it.
// NOLINTBEGIN(bugprone-macro-parentheses): applied to names
#define LPU_LINK_HEADER_FIELDS(X)                                                            \
  X(magic, 16)                                                                               \
  X(blocks, 12) /* 1…kMaxLinkBlocks */                                                     \
  X(kind, 4)                                                                                 \
  X(sequence, 16) /* number of the vector on this link, from 0 after reset, modulo 65,536 */ \
  X(parity, 16)   /* makes the header's four quarters xor to 0xffff */
// NOLINTEND(bugprone-macro-parentheses)

#define LPU_ADD_BITS(name, bits) +bits
constexpr int kLinkHeaderBits = 0 LPU_LINK_HEADER_FIELDS(LPU_ADD_BITS);
#undef LPU_ADD_BITS
static_assert(kLinkHeaderBits == 64, "a header is two words of 32 bits");
constexpr int kLinkMagic = 0x504c;  ///< the bytes "LP"
constexpr int kLinkKinds = 16;
constexpr int kLinkSequences = 1 << 16;
constexpr int kMaxLinkBlocks = 2048;  ///< kMaxColumns values
static_assert(kMaxLinkBlocks * kBlockValues == kMaxColumns, "the longest vector fits one transfer");
constexpr int kLinkBlockBits = kBlockValues * 32;

/// The header's 64 bits.
constexpr std::uint64_t link_header(std::uint32_t kind, std::uint32_t blocks, std::uint32_t sequence) {
  const std::uint64_t low = static_cast<std::uint64_t>(kLinkMagic) | (static_cast<std::uint64_t>(blocks) << 16) |
                            (static_cast<std::uint64_t>(kind) << 28) | (static_cast<std::uint64_t>(sequence) << 32);
  const std::uint64_t parity = 0xffffu ^ (low & 0xffffu) ^ (low >> 16 & 0xffffu) ^ (low >> 32 & 0xffffu);
  return low | (parity << 48);
}

// ---- check
/// CRC-32C: the polynomial of Castagnoli, Bräuer and Herrmann (IEEE Transactions on Communications 41, 1993), as in
/// iSCSI (RFC 3720, appendix B.4), here reflected: bit 31 is x^0. A word's lowest bit goes first; the register starts
/// with ones and is inverted at the end, so that "123456789" gives 0xe3069283. It finds every three flipped bits in
/// 2^31 bits; Ethernet's polynomial promises that for 91,607 only, and the longest vector has 2,097,152.
constexpr std::uint32_t kLinkCrcPolynomial = 0x82f63b78u;
constexpr std::uint32_t kLinkCrcStart = 0xffffffffu;
constexpr int kLinkCrcBits = 32;

// ---- beats, and the units' cycles
constexpr bool may_be_link_stream(int stream_bits) {
  return stream_bits == 32 || stream_bits == 64 || stream_bits == 128 || stream_bits == 256 || stream_bits == 512;
}
constexpr int link_header_beats(int stream_bits) { return stream_bits < kLinkHeaderBits ? 2 : 1; }
constexpr int link_block_beats(int stream_bits) { return kLinkBlockBits / stream_bits; }
constexpr int link_vector_beats(int stream_bits, int blocks) {
  return link_header_beats(stream_bits) + blocks * link_block_beats(stream_bits) + 1;
}
/// From the cycle in which a vector's first block is given to the send unit to its header's first beat on the stream;
/// the first data beat comes link_header_beats() later.
constexpr int kLinkSendCycles = 4;
/// From the cycle with a block's last beat on the stream to the first in which the block may be taken: without margin.
constexpr int kLinkReceiveCycles = 2;
/// From the cycle in which a block is taken to its values.
constexpr int kLinkTakeCycles = 1;
/// From the cycle with the trailer on the stream to the word that the vector is right.
constexpr int kLinkCheckCycles = 3;

// ---- errors
/// X(name, number, sentence for people: what happened, what to do). The first one stops the unit until it is reset.
#define LPU_LINK_ERRORS(X)                                                                                            \
  X(None, 0, "no error")                                                                                              \
  X(Corrupt, 1,                                                                                                       \
    "a vector came over the link with flipped bits: check cable, connectors and transceivers, then reset the group")  \
  X(Sequence, 2,                                                                                                      \
    "a vector was lost or came twice, its number isn't the expected one: check the link, then reset all its cards")   \
  X(Format, 3,                                                                                                        \
    "a vector's beats or kind or length aren't the expected ones: check that both cards run one plan, reset both")    \
  X(Late, 4,                                                                                                          \
    "a vector, a block or a check wasn't there in time: check that the other card runs, and the plan's link latency") \
  X(Overflow, 5,                                                                                                      \
    "a queue of the link was full: its depth or the plan's pace isn't right, compile the bundle for these cards")

/// What stopped a link.
#define LPU_ENUMERATOR(name, number, sentence) k##name = number,
enum class LinkError : std::uint32_t { LPU_LINK_ERRORS(LPU_ENUMERATOR) };
#undef LPU_ENUMERATOR

/// One sentence for people: what happened, and what to do.
#define LPU_SENTENCE(name, number, sentence) \
  case LinkError::k##name:                   \
    return sentence;
constexpr const char* describe(LinkError error) {
  switch (error) { LPU_LINK_ERRORS(LPU_SENTENCE) }
  return "a link reports an error number that this program doesn't know: use the program that the card came with";
}
#undef LPU_SENTENCE

}  // namespace contract
}  // namespace lpu
