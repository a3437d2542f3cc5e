// See sampling.hpp.
#include "host/runtime/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "hls/engine/integers.hpp"
#include "hls/engine/log_sum.hpp"
#include "hls/engine/random.hpp"
#include "host/base/error.hpp"

namespace lpu::runtime {
namespace {

using engine::UInt128;

constexpr float kLeastTemperature = 0.01F;
constexpr float kMostTemperature = 100.0F;
constexpr int kShareBits = 20;           // of top_p as a fixed-point number
constexpr int kWeightFractionBits = 40;  // 17 + 40 bits, and 64 of them: 63 bits
constexpr int kMassFractionBits = 62;    // 17 + 62 bits, a vocabulary of 2^20 of them, times 2^20: 119 bits
/// Counter word that keeps these draws apart from the card's noise, whose word is 0.
constexpr std::uint32_t kHostStream = 1;

/// x·2^16 in base 2, as the card has it.
std::int32_t base_two(float logit, float factor) {
  engine::Status ignored;  // a logit so large is as good as the largest
  return engine::saturate32(
      engine::float_to_fixed(engine::multiply(logit, factor, ignored), contract::kScoreFractionBits), ignored);
}

/// 2^fixed in units of 2^(highest − 16 − fraction_bits), cut off below.
UInt128 power(std::int32_t fixed, std::int32_t highest, int fraction_bits) {
  const std::int32_t below = highest - (fixed >> contract::kScoreFractionBits);
  const auto mantissa =
      static_cast<UInt128>(engine::power_of_two_fraction(static_cast<std::uint32_t>(fixed) & 0xffffU));
  return below > fraction_bits ? 0 : mantissa << (fraction_bits - below);
}

/// How many of the likeliest candidates reach `top_p` of everything.
std::size_t count_for_share(double top_p, std::span<const card::Candidate> best,
                            const std::array<std::uint64_t, contract::kLogSumBuckets>& log_sum) {
  if (top_p >= 1) return best.size();
  const float log2_of_e = engine::float_from_bits(engine::kLog2OfEBits);
  const auto clamped = [](std::int32_t fixed) {  // as the buckets count what lies above them
    constexpr std::int32_t kUnit = 1 << contract::kScoreFractionBits;
    constexpr std::int32_t kMostWhole = contract::kLogSumLow + contract::kLogSumBuckets - 1;
    return fixed < (kMostWhole + 1) * kUnit ? fixed : kMostWhole * kUnit + (fixed & (kUnit - 1));
  };
  const std::int32_t highest = clamped(base_two(best.front().logit, log2_of_e)) >> contract::kScoreFractionBits;
  UInt128 whole = 0;
  for (int i = 0; i < contract::kLogSumBuckets; ++i) {
    const std::int32_t below = highest - (contract::kLogSumLow + i);
    if (below >= 0 && below <= kMassFractionBits)
      whole += static_cast<UInt128>(log_sum[static_cast<std::size_t>(i)]) << (kMassFractionBits - below);
  }
  // Exact: a product by a power of two, then truncation.
  const auto share = static_cast<std::uint64_t>(top_p * (1 << kShareBits));
  const UInt128 wanted = whole * share;
  UInt128 reached = 0;
  for (std::size_t i = 0; i < best.size(); ++i) {
    reached += power(clamped(base_two(best[i].logit, log2_of_e)), highest, kMassFractionBits);
    if (reached * (std::uint64_t{1} << kShareBits) >= wanted) return i + 1;
  }
  return best.size();
}

}  // namespace

void check(const SamplingOptions& options) {
  const float t = options.temperature;
  if (t != 0 && !(t >= kLeastTemperature && t <= kMostTemperature))
    fail(ExitCode::kUsage, "The temperature is {}, but must be 0 (always the likeliest token) or {} to {}.", t,
         kLeastTemperature, kMostTemperature);
  if (options.top_k > contract::kBestLogits)
    fail(ExitCode::kUsage, "top-k is {}, but a card returns the {} best logits; use 1 to {}, or 0 for no limit.",
         options.top_k, contract::kBestLogits, contract::kBestLogits);
  if (!(options.top_p > 0 && options.top_p <= 1))
    fail(ExitCode::kUsage, "top-p is {}, but must be above 0 and at most 1.", options.top_p);
  if (t == 0 && (options.top_k != 0 || options.top_p < 1))
    fail(ExitCode::kUsage,
         "top-k and top-p mean nothing at temperature 0; set a temperature above 0, or leave them out.");
}

std::int32_t sample(const SamplingOptions& options, std::uint32_t position, std::span<const card::Candidate> best,
                    const std::array<std::uint64_t, contract::kLogSumBuckets>& log_sum) {
  if (best.empty()) fail(ExitCode::kInternal, "The card returned no logits to sample from.");
  std::size_t count = count_for_share(options.top_p, best, log_sum);
  if (options.top_k != 0) count = std::min<std::size_t>(count, options.top_k);

  // log2(e)/τ, rounded once by IEEE arithmetic.
  const float factor = engine::float_from_bits(engine::kLog2OfEBits) / options.temperature;
  const std::int32_t highest = base_two(best.front().logit, factor) >> contract::kScoreFractionBits;
  std::vector<std::uint64_t> sums(count);  // running sums of the candidates' weights
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    sum += static_cast<std::uint64_t>(power(base_two(best[i].logit, factor), highest, kWeightFractionBits));
    sums[i] = sum;
  }
  const engine::PhiloxWords counter = {{0, position, kHostStream, 0}};
  const engine::PhiloxWords random = engine::philox4x32(counter, static_cast<std::uint32_t>(options.seed),
                                                        static_cast<std::uint32_t>(options.seed >> 32));
  const std::uint64_t number = (std::uint64_t{random.word[1]} << 32) | random.word[0];
  const auto drawn = static_cast<std::uint64_t>((static_cast<UInt128>(number) * sum) >> 64);  // 0 … sum − 1
  const auto chosen = std::upper_bound(sums.begin(), sums.end(), drawn);
  return best[static_cast<std::size_t>(chosen - sums.begin())].id;
}

}  // namespace lpu::runtime
