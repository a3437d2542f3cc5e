// Widths and limits of every number that crosses a unit's border; their meaning is in docs/numbers.md.
// Part of the contract: C++14, relies on nothing. rtl/lpu_pkg.sv and docs/isa.md are printed from these constants.
#pragma once

#include <cstdint>

namespace lpu {
namespace contract {

// ---- blocks: 32 values along a row
constexpr int kBlockValues = 32;

// ---- lane memory word: 32 nibbles and 16 side bits
constexpr int kWordDataBits = 128;
constexpr int kWordSideBits = 16;
constexpr int kWordBits = kWordDataBits + kWordSideBits;
constexpr int kWordBytes = kWordBits / 8;  ///< of one lane in a memory image
static_assert(kWordDataBits == 4 * kBlockValues, "a word holds one nibble for each value of a block");
static_assert(kWordBits % 72 == 0, "a word fills whole 72-bit URAM and BRAM words, parity bits included");
constexpr int kUltraRamWords = 4096;  ///< depth of UltraRAM (URAM288)

// ---- segments: each has accumulators of its own, wide as all lanes, for every K/V head that works side by side
constexpr int kMaxSegments = 4;

// ---- minimum word: 12-bit signed mantissa (low bits), 4-bit left shift (high bits)
constexpr int kMinimumMantissaBits = 12;
constexpr int kMinimumShiftBits = 4;
constexpr int kMinimumBytes = (kMinimumMantissaBits + kMinimumShiftBits) / 8;
/// A row's unit is 2^row_exponent / 2^kMinimumFractionBits, so that minimums finer than a scale's last bit stay exact.
constexpr int kMinimumFractionBits = 4;

// ---- activations: block floating point
constexpr int kMantissaBits = 10;
constexpr int kMantissaMax = (1 << (kMantissaBits - 1)) - 1;  ///< ±511
constexpr int kWindowBinades = 32;                            ///< a block's exponent is an offset 0…31 in its window
constexpr int kExponentBits = 5;
static_assert((1 << kExponentBits) == kWindowBinades, "an exponent offset names each binade of the window");
/// Low end of the window (exponent of a mantissa's last bit) of every activation vector but the softmax weights,
/// whose exponents are relative to their row's largest.
constexpr int kWindowLow = -24;

/// As memories and ports hold it: a whole number rather than an offset, since softmax weights have exponents relative
/// to their row's largest, and a wholly masked block has −65536.
constexpr int kBlockExponentBits = 17;
constexpr int kActivationBlockBits = kBlockValues * kMantissaBits + kBlockExponentBits;

// ---- sums
constexpr int kScaleBits = 16;
constexpr int kAccumulatorBits =
    88;  ///< 12-bit K: 11+9+5+16+4+31+3 = 79; 8-bit weights: 7+9+5+16+4+31 = 72, + log2(blocks)
constexpr int kMaxColumns = 65536;   ///< 72 + log2(65536/32) = 83 bits and a sign
constexpr int kRowExponentBits = 8;  ///< signed
constexpr int kRowExponentMin = -128;
constexpr int kRowExponentMax = 127;

// ---- KV cache
constexpr int kKvMantissaBits = 8;  ///< V, and K unless the bundle asks for 12
constexpr int kKvMantissaBitsWide = 12;
constexpr int kKvScaleMax = 65535;

// ---- softmax: scores in fixed point, base 2
constexpr int kScoreFractionBits = 16;
constexpr int kScoreBits = 32;  ///< saturating
constexpr int kPowerBits = 17;  ///< 2^f in 1.16, 65536…131071
constexpr int kPowerFractionBits = 16;
constexpr int kSoftmaxDepth = 31;  ///< binades below the largest that still count

// ---- RMSNorm: squares of the residual in fixed point
constexpr int kSquareFractionBits = 14;
constexpr int kSquareBits = 32;  ///< saturating: ±131072

// ---- head and sampling
constexpr int kBestLogits = 64;      ///< returned for top-k, top-p and log-probabilities
constexpr int kLogSumBuckets = 256;  ///< one exact sum per integer part of a logit in base 2, −128…127
constexpr int kLogSumLow = -128;
constexpr int kNoiseLanes = 8;          ///< ids whose sampling noise is made in a cycle, if a slice has as many
constexpr int kNoiseQueueSlices = 512;  ///< slices of noise that are made ahead (noise_clock.hpp)

}  // namespace contract
}  // namespace lpu
