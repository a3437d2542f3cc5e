// The instruction set: every instruction's fields and widths, written once. rtl/lpu_pkg.sv and docs/isa.md are printed
// from the lists below; the packing here is the byte format of a bundle's program.
// Part of the contract: C++14, relies on number_formats.hpp. What each instruction does and when: docs/isa.md.
#pragma once

#include <cstdint>

#include "hls/contract/number_formats.hpp"

namespace lpu {
namespace contract {

/// Units with an in-order queue each. A program is one list in the order of its meaning; an instruction goes to its
/// unit's queue and issues `delay` cycles after the instruction before it in that queue.
enum class Unit : std::uint32_t { kMvu = 0, kVpu = 1, kSmx = 2 };
constexpr int kUnits = 3;

enum class Opcode : std::uint32_t {
  kMatvec = 0,    ///< MVU: a burst of beats, row groups × column sets
  kEmbed = 1,     ///< VPU: a token's row of the embedding → residual, first norm's blocks
  kResidual = 2,  ///< VPU: sums (that started at the residual) → residual, next norm's blocks, sum of squares
  kQuery = 3,     ///< VPU: sums × 1/rms (+ bias), rotated → activation blocks, by segment
  kKey = 4,       ///< VPU: sums × 1/rms (+ bias), rotated, fitted → K in the lanes' memories
  kValue = 5,     ///< VPU: sums × 1/rms (+ bias), fitted → V's column and V's scale
  kMix = 6,       ///< VPU: weighted sums × 1/z → activation blocks
  kSwiglu = 7,    ///< VPU: pairs of rows (gate, up) × 1/rms → silu(gate)·up → activation blocks
  kLogits = 8,    ///< VPU: sums × 1/rms → logits, best 64, log-sum buckets, Gumbel-max
  kSoftmax = 9,   ///< SMX: scores of one round → softmax weights' blocks, largest exponent, 1/z
  kReceive = 10   ///< VPU: a vector from the link → residual, next norm's blocks, sum of squares
};
constexpr int kOpcodes = 11;

/// Which cards get a residual's new values over the link, block by block, as they are made (kEmbed, kResidual).
enum class Receivers : std::uint32_t { kNobody = 0, kFirstCard = 1, kNextCard = 2, kOtherCards = 3 };

/// The part of a token that a loop belongs to. A card alone has but the whole token; a card of a group runs three
/// parts, each with a time of its own, from the cycle in which it starts (docs/several_cards.md).
enum class Phase : std::uint32_t {
  kToken = 0,      ///< all of it, the head in loops flagged is_head
  kEmbedding = 1,  ///< the token's row, on the card that holds it → first card
  kLayers = 2,     ///< the card's layers
  kHead = 3        ///< the card's rows of the head
};
constexpr int kPhases = 4;

/// Which count of a matvec follows the context: none, row groups (scores: ⌈32·blocks/lanes⌉), column sets (weighted
/// sums: ⌈blocks/groups per segment⌉), where blocks = ⌈(position + 1)/32⌉.
enum class LengthDimension : std::uint32_t { kNone = 0, kRowGroups = 1, kColumnSets = 2 };

// The lists below are applied to names and widths, which parentheses would spoil.
// NOLINTBEGIN(bugprone-macro-parentheses)

// X(name, bits). A stride is added once per iteration of the loop that holds the instruction.
#define LPU_COMMON_FIELDS(X)                                                                          \
  X(opcode, 4)                                                                                        \
  X(delay, 24)          /* cycles after the unit's instruction before; or a row of the delay table */ \
  X(delay_by_length, 1) /* delay is a row of the delay table, indexed by blocks − 1 */

#define LPU_MATVEC_FIELDS(X)                                                                                          \
  X(weight_address, 24) /* words, of the burst's first row group and set */                                           \
  X(weight_stride, 24)                                                                                                \
  X(minimum_address, 24) /* minimum words, likewise */                                                                \
  X(minimum_stride, 24)                                                                                               \
  X(row_groups, 16)                                                                                                   \
  X(column_sets, 16)                                                                                                  \
  X(row_group_words, 20) /* words from one row group to the next */                                                   \
  X(column_set_words, 8) /* words from one column set to the next: nibbles */                                         \
  X(length_dimension, 2)                                                                                              \
  X(row_major, 1)    /* 1: all sets of a row group, then the next row group; 0: all row groups of a set */            \
  X(nibbles, 2)      /* words of a block: 1 (4 bits), 2 (8 bits), 3 (12 bits), lowest nibble first */                 \
  X(signed_code, 1)  /* the top nibble is two's complement */                                                         \
  X(signed_scale, 1) /* side bits are a signed scale */                                                               \
  X(has_minimum, 1)                                                                                                   \
  X(unit_scale, 1) /* V: the scale is 1, side bits are ignored */                                                     \
  X(keeps_value_scale,                                                                                                \
    1) /* scores: the second word's side bits (V's scale) go along with the sum, from the first group of a segment */ \
  X(relative_exponents, 1) /* activations are softmax weights of `round` */                                           \
  X(round, 6)                                                                                                         \
  X(activation_address, 16) /* in each bank, of the burst's first set */                                              \
  X(segments, 9)            /* the sum runs over column_groups / segments groups */                                   \
  X(accumulator, 12)        /* entry of the first row group */                                                        \
  X(adds_residual, 1)       /* the burst's first set starts the sums at the residual, in the rows' units */           \
  X(residual_row, 20)       /* first row's index in the residual */                                                   \
  X(exponent_address, 24)   /* row exponents, for the residual's units: word of the first row group */                \
  X(exponent_stride, 24)                                                                                              \
  X(start, 1)  /* the burst's first set starts the sums at zero */                                                    \
  X(finish, 1) /* the burst's last set completes the sums */

#define LPU_VECTOR_FIELDS(X)                                                                                        \
  X(accumulator, 12)  /* entry of the first row group */                                                            \
  X(row_groups, 16)   /* per segment */                                                                             \
  X(pitch_cycles, 12) /* from one row group's entry to the next's (kEmbed: from one column set's) */                \
  X(slice_cycles, 8)  /* from one slice of vector_lanes rows to the next, inside a row group */                     \
  X(rows, 20)         /* valid rows of all row groups together (kMix: of one segment) */                            \
  X(first_row, 20)    /* index of the first row in its matrix */                                                    \
  X(segments, 9)                                                                                                    \
  X(head_blocks, 4)       /* blocks of 32 in a head */                                                              \
  X(exponent_address, 24) /* row exponents: word of the first row group */                                          \
  X(exponent_stride, 24)                                                                                            \
  X(has_bias, 1)                                                                                                    \
  X(bias_address, 27) /* constants: value of first row */                                                           \
  X(bias_stride, 24)                                                                                                \
  X(gain_address, 27) /* constants: value of first row of the next norm's gains */                                  \
  X(gain_stride, 24)                                                                                                \
  X(destination, 16)    /* activation address in each bank, of block 0 of the whole vector */                       \
  X(scale_register, 1)  /* 1/rms that is read, or written when ends_norm */                                         \
  X(starts_norm, 1)     /* the sum of squares starts at zero */                                                     \
  X(ends_norm, 1)       /* the sum of squares is complete: 1/rms is made */                                         \
  X(round, 6)           /* kMix: register of 1/z */                                                                 \
  X(slot, 9)            /* kMix: its K/V heads are slot·segments … */                                            \
  X(memory_address, 24) /* lane words: kKey: K of slot 0; kValue: V of slot 0; kEmbed: the table */                 \
  X(memory_stride, 24)                                                                                              \
  X(slot_words, 24) /* lane words from one K/V slot to the next */                                                  \
  X(row_group_words,                                                                                                \
    20)         /* lane words from one row group to the next (positions of K, head rows of V, rows of the table) */ \
  X(nibbles, 2) /* words of a block: kKey, kEmbed */                                                                \
  X(key_address, 24) /* kValue: K of slot 0, whose second word's side bits take V's scale */                        \
  X(key_slot_words, 24)                                                                                             \
  X(key_row_group_words, 20)                                                                                        \
  X(column_sets, 16)     /* kEmbed */                                                                               \
  X(signed_code, 1)      /* kEmbed */                                                                               \
  X(signed_scale, 1)     /* kEmbed */                                                                               \
  X(has_minimum, 1)      /* kEmbed */                                                                               \
  X(minimum_address, 24) /* kEmbed */                                                                               \
  X(grid_address, 24)    /* kKey, kValue, kMix: exponent word of the heads' static grids (lane = K/V head) */       \
  X(grid_stride, 24)                                                                                                \
  X(receivers, 2) /* kEmbed, kResidual: who gets the new residual over the link */

#define LPU_SOFTMAX_FIELDS(X)                                           \
  X(accumulator, 12) /* entry of the first row group of scores */       \
  X(segments, 9)                                                        \
  X(pitch_cycles, 16) /* from one row group's entry to the next's */    \
  X(slot, 9)          /* K/V heads slot·segments … of the grids */   \
  X(destination, 16)  /* activation address in each bank */             \
  X(round, 6)         /* register of the largest exponent and of 1/z */ \
  X(grid_address, 24) /* exponent word of K's static grids */           \
  X(grid_stride, 24)

#define LPU_DECLARE_FIELD(name, bits) std::uint32_t name = 0;
struct CommonFields {
  LPU_COMMON_FIELDS(LPU_DECLARE_FIELD)
};
struct MatvecFields {
  LPU_MATVEC_FIELDS(LPU_DECLARE_FIELD)
};
struct VectorFields {
  LPU_VECTOR_FIELDS(LPU_DECLARE_FIELD)
};
struct SoftmaxFields {
  LPU_SOFTMAX_FIELDS(LPU_DECLARE_FIELD)
};
#undef LPU_DECLARE_FIELD

/// One instruction; which of the three bodies is meant follows from the opcode.
struct Instruction {
  CommonFields common;
  MatvecFields matvec;
  VectorFields vector;
  SoftmaxFields softmax;

  Opcode opcode() const { return static_cast<Opcode>(common.opcode); }
};

constexpr Unit unit_of(Opcode opcode) {
  return opcode == Opcode::kMatvec ? Unit::kMvu : opcode == Opcode::kSoftmax ? Unit::kSmx : Unit::kVpu;
}

#define LPU_ADD_BITS(name, bits) +bits
constexpr int kCommonBits = 0 LPU_COMMON_FIELDS(LPU_ADD_BITS);
constexpr int kMatvecBits = kCommonBits LPU_MATVEC_FIELDS(LPU_ADD_BITS);
constexpr int kVectorBits = kCommonBits LPU_VECTOR_FIELDS(LPU_ADD_BITS);
constexpr int kSoftmaxBits = kCommonBits LPU_SOFTMAX_FIELDS(LPU_ADD_BITS);
#undef LPU_ADD_BITS
constexpr int kInstructionBits = 640;
constexpr int kInstructionWords = kInstructionBits / 32;  ///< 32-bit words, lowest bits first, little-endian in files
static_assert(kMatvecBits <= kInstructionBits, "a matvec must fit an instruction word");
static_assert(kVectorBits <= kInstructionBits, "a vector instruction must fit an instruction word");
static_assert(kSoftmaxBits <= kInstructionBits, "a softmax instruction must fit an instruction word");

/// A part of the program that runs `iterations` times (once per layer of one kind), strides added in between.
/// Loops follow one another; the last ones, flagged is_head, are left out for prompt tokens that need no logits.
#define LPU_LOOP_FIELDS(X)                                                                                   \
  X(first_instruction, 20)                                                                                   \
  X(instruction_count, 20)                                                                                   \
  X(iterations, 16)                                                                                          \
  X(is_head, 1)                                                                                              \
  X(entry_delay_mvu,                                                                                         \
    24) /* delay-table row used by the unit's first instruction in the first iteration instead of its own */ \
  X(entry_delay_vpu, 24)                                                                                     \
  X(entry_delay_smx, 24)                                                                                     \
  X(phase, 2)
#define LPU_DECLARE_FIELD(name, bits) std::uint32_t name = 0;
struct Loop {
  LPU_LOOP_FIELDS(LPU_DECLARE_FIELD)
};
#undef LPU_DECLARE_FIELD
/// An entry_delay_* of a unit that has no instruction in the loop.
constexpr std::uint32_t kNoEntryDelay = (1u << 24) - 1;
constexpr int kLoopWords = 5;
constexpr int kMaxRounds = 64;  ///< heads / segments: registers of 1/z and of the largest exponent

// ---- packing
namespace detail {
struct BitWriter {
  std::uint32_t* words;
  int at;
  void put(std::uint32_t value, int bits) {
    for (int i = 0; i < bits; ++i, ++at) words[at / 32] |= ((value >> i) & 1u) << (at % 32);
  }
};
struct BitReader {
  const std::uint32_t* words;
  int at;
  std::uint32_t get(int bits) {
    std::uint32_t value = 0;
    for (int i = 0; i < bits; ++i, ++at) value |= ((words[at / 32] >> (at % 32)) & 1u) << i;
    return value;
  }
};
}  // namespace detail

/// Name of the first field whose value doesn't fit its width, or nullptr.
inline const char* overflowing_field(const Instruction& in) {
#define LPU_CHECK_COMMON(name, bits) \
  if (bits < 32 && (in.common.name >> (bits % 32)) != 0) return #name;
#define LPU_CHECK_MATVEC(name, bits) \
  if (bits < 32 && (in.matvec.name >> (bits % 32)) != 0) return #name;
#define LPU_CHECK_VECTOR(name, bits) \
  if (bits < 32 && (in.vector.name >> (bits % 32)) != 0) return #name;
#define LPU_CHECK_SOFTMAX(name, bits) \
  if (bits < 32 && (in.softmax.name >> (bits % 32)) != 0) return #name;
  LPU_COMMON_FIELDS(LPU_CHECK_COMMON)
  LPU_MATVEC_FIELDS(LPU_CHECK_MATVEC)
  LPU_VECTOR_FIELDS(LPU_CHECK_VECTOR)
  LPU_SOFTMAX_FIELDS(LPU_CHECK_SOFTMAX)
#undef LPU_CHECK_COMMON
#undef LPU_CHECK_MATVEC
#undef LPU_CHECK_VECTOR
#undef LPU_CHECK_SOFTMAX
  return nullptr;
}

/// words: [kInstructionWords], zeroed here.
inline void pack(const Instruction& in, std::uint32_t* words) {
  for (int i = 0; i < kInstructionWords; ++i) words[i] = 0;
  detail::BitWriter out{words, 0};
#define LPU_PUT_COMMON(name, bits) out.put(in.common.name, bits);
#define LPU_PUT_MATVEC(name, bits) out.put(in.matvec.name, bits);
#define LPU_PUT_VECTOR(name, bits) out.put(in.vector.name, bits);
#define LPU_PUT_SOFTMAX(name, bits) out.put(in.softmax.name, bits);
  LPU_COMMON_FIELDS(LPU_PUT_COMMON)
  switch (unit_of(in.opcode())) {
    case Unit::kMvu:
      LPU_MATVEC_FIELDS(LPU_PUT_MATVEC) break;
    case Unit::kVpu:
      LPU_VECTOR_FIELDS(LPU_PUT_VECTOR) break;
    case Unit::kSmx:
      LPU_SOFTMAX_FIELDS(LPU_PUT_SOFTMAX) break;
  }
#undef LPU_PUT_COMMON
#undef LPU_PUT_MATVEC
#undef LPU_PUT_VECTOR
#undef LPU_PUT_SOFTMAX
}

/// words: [kInstructionWords]. The opcode may be unknown (≥ kOpcodes): the caller checks it.
inline Instruction unpack(const std::uint32_t* words) {
  Instruction in;
  detail::BitReader from{words, 0};
#define LPU_GET_COMMON(name, bits) in.common.name = from.get(bits);
#define LPU_GET_MATVEC(name, bits) in.matvec.name = from.get(bits);
#define LPU_GET_VECTOR(name, bits) in.vector.name = from.get(bits);
#define LPU_GET_SOFTMAX(name, bits) in.softmax.name = from.get(bits);
  LPU_COMMON_FIELDS(LPU_GET_COMMON)
  switch (unit_of(in.opcode())) {
    case Unit::kMvu:
      LPU_MATVEC_FIELDS(LPU_GET_MATVEC) break;
    case Unit::kVpu:
      LPU_VECTOR_FIELDS(LPU_GET_VECTOR) break;
    case Unit::kSmx:
      LPU_SOFTMAX_FIELDS(LPU_GET_SOFTMAX) break;
  }
#undef LPU_GET_COMMON
#undef LPU_GET_MATVEC
#undef LPU_GET_VECTOR
#undef LPU_GET_SOFTMAX
  return in;
}

/// words: [kLoopWords], zeroed here.
inline void pack(const Loop& loop, std::uint32_t* words) {
  for (int i = 0; i < kLoopWords; ++i) words[i] = 0;
  detail::BitWriter out{words, 0};
#define LPU_PUT(name, bits) out.put(loop.name, bits);
  LPU_LOOP_FIELDS(LPU_PUT)
#undef LPU_PUT
}
inline Loop unpack_loop(const std::uint32_t* words) {
  Loop loop;
  detail::BitReader from{words, 0};
#define LPU_GET(name, bits) loop.name = from.get(bits);
  LPU_LOOP_FIELDS(LPU_GET)
#undef LPU_GET
  return loop;
}

// NOLINTEND(bugprone-macro-parentheses)

}  // namespace contract
}  // namespace lpu
