// How far one next-token distribution is from another: the figures that `lpu evaluate` prints.
//
// Everything is taken in double from the raw logits, through log-softmax, in nats. Relies on host/base only.
// A logit that isn't finite is an error, not a number: a NaN would otherwise hide in an average.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace lpu::reference {

/// The logarithms of the probabilities, in nats. logits: [vocabulary].
std::vector<double> log_softmax(std::span<const float> logits);

/// The index of the largest logit; the smallest index when several are equal.
std::size_t top_token(std::span<const float> logits);

/// −log p(target), in nats. logits: [vocabulary].
double negative_log_likelihood(std::span<const float> logits, std::size_t target);

/// KL(reference ‖ test) in nats, never below 0 but for rounding. Both: [vocabulary].
double kl_divergence(std::span<const float> reference, std::span<const float> test);

/// What DivergenceTotals says about all positions added.
struct DivergenceSummary {
  std::size_t positions = 0;
  double reference_perplexity = 0;  ///< exp of the mean negative log likelihood of the text under the reference
  double test_perplexity = 0;
  double mean_kl_nats = 0;
  double median_kl_nats = 0;
  double p99_kl_nats = 0;     ///< the smallest value that at least 99 % of the positions don't exceed
  double same_top_share = 0;  ///< 0…1: positions at which both would choose the same token
};

/// Adds up positions of a text.
class DivergenceTotals {
 public:
  /// One position: both distributions and the token that really follows. reference, test: [vocabulary].
  void add(std::span<const float> reference, std::span<const float> test, std::size_t target);
  /// Error(kInternal) when nothing was added.
  [[nodiscard]] DivergenceSummary summary() const;

 private:
  std::vector<double> kl_nats_;  // one per position
  double reference_nats_ = 0;
  double test_nats_ = 0;
  std::size_t same_top_ = 0;
};

}  // namespace lpu::reference
