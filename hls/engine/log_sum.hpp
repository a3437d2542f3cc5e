// The sum behind log-probabilities (docs/numbers.md §11): Σ 2^(logit·log2 e) kept as one exact integer per whole
// exponent, so that any order and any split over cards gives the same buckets. The host takes the logarithm
// (log_sum_host.hpp). Runs behind the logits within kLogitCycles. Relies on power.hpp, rounding.hpp,
// number_formats.hpp.
#pragma once

#include <cstdint>

#include "hls/contract/number_formats.hpp"
#include "hls/engine/power.hpp"
#include "hls/engine/rounding.hpp"

namespace lpu {
namespace engine {

constexpr std::uint32_t kLog2OfEBits = 0x3fb8aa3bu;  ///< RNE(log2(e)) as binary32

struct LogSum {
  std::uint64_t buckets[contract::kLogSumBuckets] = {};  ///< [256] Σ T of the logits with whole exponent −128 + index

  void insert(float logit, Status& status) {
    const float in_base_two = multiply(logit, float_from_bits(kLog2OfEBits), status);
    // Below 2^5 bits of whole number the narrow way gives the same; logits are nearly always there.
    const bool is_small = exponent_field(in_base_two) < kFloatBias + 5;
    const std::int32_t magnitude = magnitude_to_fixed(in_base_two, contract::kScoreFractionBits);
    const bool negative = (bits_from_float(in_base_two) & kSignBit) != 0;
    const std::int32_t fixed = is_small ? (negative ? -magnitude : magnitude)
                                        : saturate32(float_to_fixed(in_base_two, contract::kScoreFractionBits), status);
    const std::int32_t whole = fixed >> contract::kScoreFractionBits;
    const std::int32_t index = whole - contract::kLogSumLow;
    if (index < 0) return;
    const std::int32_t highest = contract::kLogSumBuckets - 1;
    buckets[index > highest ? highest : index] +=
        static_cast<std::uint64_t>(power_of_two_fraction(static_cast<std::uint32_t>(fixed) & 0xffffu));
  }

  /// Another card's part.
  void merge(const LogSum& other) {
    for (int i = 0; i < contract::kLogSumBuckets; ++i) {
      buckets[i] += other.buckets[i];
    }
  }
};

}  // namespace engine
}  // namespace lpu
