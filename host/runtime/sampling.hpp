// How the next token is chosen. Arg-max and plain sampling by temperature are the card's own work; top-k and top-p are
// done here, from the 64 best logits and the exact sum behind log-probabilities that every card returns.
//
// Why integers: "same seed, same text, on any machine" would not survive a C library's exp(). Every weight is the
// engine's fixed-point 2^x, every comparison is one of integers, random numbers are the engine's Philox.
// Relies on hls/engine and host/card.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "host/card/card.hpp"

namespace lpu::runtime {

struct SamplingOptions {
  float temperature = 0;    ///< 0: always the likeliest token
  std::uint32_t top_k = 0;  ///< only among the k likeliest, 1…64; 0: no limit
  double top_p = 1;         ///< only among the likeliest that together reach this share; 1: no limit
  std::uint64_t seed = 0;

  [[nodiscard]] bool is_on_card() const { return temperature == 0 || (top_k == 0 && top_p >= 1); }
};

/// Error(kUsage) for values out of range, or limits that a temperature of 0 would ignore.
void check(const SamplingOptions& options);

/// Draws from `best` (best first, not empty). The candidates are the `top_k` first of those that are needed to reach
/// `top_p` of the model's own distribution (temperature 1; at most 64, whatever they reach); the temperature then
/// weighs them.
std::int32_t sample(const SamplingOptions& options, std::uint32_t position, std::span<const card::Candidate> best,
                    const std::array<std::uint64_t, contract::kLogSumBuckets>& log_sum);

}  // namespace lpu::runtime
