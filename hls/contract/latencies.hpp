// How many cycles each step of the machine takes: the interface between compiler, golden card and RTL.
// Part of the contract: C++14, relies on nothing. docs/latencies.md says which registers each number counts and why a
// pipeline of that depth can run at the clocks of hardware_config.hpp.
#pragma once

namespace lpu {
namespace contract {

// ---- building blocks
constexpr int kConvertCycles = 4;   ///< accumulator to binary32: sign and leading zeros, shift (2), round
constexpr int kMultiplyCycles = 4;  ///< binary32 multiply
constexpr int kAddCycles = 5;       ///< binary32 add
constexpr int kQuantiseCycles = 4;  ///< largest of 32 exponents (one-hot OR, then priority: 2), shift, round
constexpr int kWriteCycles = 1;     ///< into a memory; visible in the cycle after
constexpr int kTableCycles = 5;     ///< look-up (2), interpolate (multiply 2, add 1)

// ---- MVU
constexpr int kMatvecCycles = 20;  ///< a beat's issue to its sum in the accumulator, readable
// ---- VPU chains: from the cycle in which values enter to the cycle in which the result can be read
constexpr int kResidualCycles = kConvertCycles + kWriteCycles;  ///< the old residual is in the sum (numbers.md §4)
constexpr int kResidualBlockCycles = kConvertCycles + kMultiplyCycles + kQuantiseCycles + kWriteCycles;
/// lane memory (3), lane multiplexer (2), plane and slice registers (2), × scale (1), + minimum (1), into the chain
/// (1); then as the residual
constexpr int kEmbedFetchCycles = 3 + 2 + 2 + 1 + 1 + 1;
constexpr int kNormCycles =
    kConvertCycles + 1 + 4 + 6 + kConvertCycles + kMultiplyCycles + kAddCycles + kTableCycles + 1;
///< last value's entry to 1/rms: binary32, fixed point (1), square (4), sum (6), binary32, × 1/n, + epsilon, rsqrt
constexpr int kRotaryCycles = kMultiplyCycles + kAddCycles;
constexpr int kBiasCycles = kAddCycles;  ///< added to query, key and value chains that have a bias
constexpr int kQueryCycles = kConvertCycles + kMultiplyCycles + kRotaryCycles + kQuantiseCycles + kWriteCycles;
/// largest magnitude (3), × 1/127 (multiply), round up (1), reciprocal (table), multiply, round (1)
constexpr int kFitCycles = 3 + kMultiplyCycles + 1 + kTableCycles + kMultiplyCycles + 1;
constexpr int kKeyCycles =
    kConvertCycles + kMultiplyCycles + kRotaryCycles + kFitCycles + 4;           ///< up to 3 words written
constexpr int kValueCycles = kConvertCycles + kMultiplyCycles + kFitCycles + 6;  ///< read, modify, write of 2 words
/// V's scale becomes K's side bits: K's word is read in the cycle so long before V's words are readable, and written
constexpr int kValueScaleReadCycles = 7;
constexpr int kValueScaleWriteCycles = 5;  ///< in this one (two after the read); readable in the cycle after
constexpr int kMixCycles = kConvertCycles + kMultiplyCycles + kQuantiseCycles + kWriteCycles;
/// binary32, × 1/rms, gate to fixed point (2), sigmoid (table), its leading zeros (1), × gate·up, quantise
constexpr int kSwigluCycles =
    kConvertCycles + kMultiplyCycles + 2 + kTableCycles + 1 + kMultiplyCycles + kQuantiseCycles + kWriteCycles;
/// last logit's entry to the next token's id, where its embedding's address needs it: logit (convert, × scale),
/// × 1/temperature, + noise (2), greatest of 32 (5), running greatest (1), choice, token / lanes, × words, address (4)
constexpr int kLogitCycles = kConvertCycles + kMultiplyCycles + kMultiplyCycles + 2 + 5 + 1 + 4;
/// A place in the queue of noise becomes free, or a token starts, in the cycle in which a slice takes its noise: asked
/// for (1), random numbers (31), logarithms (16); noise_clock.hpp
constexpr int kNoiseCycles = 1 + 31 + 16;
constexpr int kNoiseTakeCycles = kConvertCycles + kMultiplyCycles + kMultiplyCycles;  ///< so long after its entry
// ---- SMX
/// fixed point (2), 2^f (table), × V's scale (3), exponent (1), maximum of 32 (3), shift and round (2), write
constexpr int kSoftmaxBlockCycles = 2 + kTableCycles + 3 + 1 + 3 + 2 + kWriteCycles;
constexpr int kSoftmaxRowCycles = kSoftmaxBlockCycles + 1;  ///< the row's largest exponent, known to the MVU
constexpr int kReciprocalCycles = 2 + kTableCycles + 6 + 2 + kConvertCycles + kTableCycles + kWriteCycles;  ///< 1/z
// ---- KV ports
constexpr int kValuePortCycles = 4;  ///< two words read, two written, per row group of a V column
/// A lane word's new value may be readable so long after an older read of it, at the earliest: array and output
/// register see a write in between.
constexpr int kWordReuseCycles = 2;
// ---- sequencer
/// MVU and SMX issue nothing in the first cycles of a token: what follows from its position is worked out in them.
constexpr int kIssueLeadCycles = 8;

static_assert(kMatvecCycles >= 2, "a beat needs at least a memory read and an accumulation");
static_assert(kResidualBlockCycles > kResidualCycles, "a block is quantised from the residual that was just written");
static_assert(kValueScaleReadCycles > kValuePortCycles && kValueScaleWriteCycles > kValuePortCycles,
              "a scale's port cycles come before those of its head's words");
static_assert(kSoftmaxRowCycles > kSoftmaxBlockCycles, "a row ends after its last block");

}  // namespace contract
}  // namespace lpu
