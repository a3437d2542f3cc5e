// Divergences from logits; see divergence.hpp for the definitions.
#include "host/reference/divergence.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "host/base/error.hpp"

namespace lpu::reference {

std::vector<double> log_softmax(std::span<const float> logits) {
  if (logits.empty()) fail(ExitCode::kInternal, "a divergence was asked for without logits");
  for (std::size_t token = 0; token < logits.size(); ++token) {
    if (!std::isfinite(logits[token])) {
      fail(ExitCode::kInternal, "the logit of token {} is {}, which is no number to compare", token, logits[token]);
    }
  }
  const auto largest = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - largest);
  const double log_sum = std::log(sum);
  std::vector<double> result(logits.size());
  std::transform(logits.begin(), logits.end(), result.begin(),
                 [largest, log_sum](float logit) { return (static_cast<double>(logit) - largest) - log_sum; });
  return result;
}

std::size_t top_token(std::span<const float> logits) {
  return static_cast<std::size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

namespace {

void check_target(std::size_t target, std::size_t vocabulary) {
  if (target >= vocabulary) fail(ExitCode::kInternal, "token {} is outside the {} logits", target, vocabulary);
}

double kl_of(const std::vector<double>& reference, const std::vector<double>& test) {
  if (reference.size() != test.size()) {
    fail(ExitCode::kInternal, "distributions over {} and {} tokens can't be compared", reference.size(), test.size());
  }
  double sum = 0;
  for (std::size_t token = 0; token < reference.size(); ++token) {
    sum += std::exp(reference[token]) * (reference[token] - test[token]);
  }
  return sum;
}

}  // namespace

double negative_log_likelihood(std::span<const float> logits, std::size_t target) {
  check_target(target, logits.size());
  return -log_softmax(logits)[target];
}

double kl_divergence(std::span<const float> reference, std::span<const float> test) {
  return kl_of(log_softmax(reference), log_softmax(test));
}

void DivergenceTotals::add(std::span<const float> reference, std::span<const float> test, std::size_t target) {
  check_target(target, std::min(reference.size(), test.size()));
  const std::vector<double> reference_logs = log_softmax(reference);
  const std::vector<double> test_logs = log_softmax(test);
  kl_nats_.push_back(kl_of(reference_logs, test_logs));
  reference_nats_ -= reference_logs[target];
  test_nats_ -= test_logs[target];
  if (top_token(reference) == top_token(test)) ++same_top_;
}

DivergenceSummary DivergenceTotals::summary() const {
  if (kl_nats_.empty()) fail(ExitCode::kInternal, "a divergence was asked for without positions");
  const std::size_t count = kl_nats_.size();
  const auto positions = static_cast<double>(count);
  std::vector<double> sorted = kl_nats_;
  std::sort(sorted.begin(), sorted.end());
  return {.positions = count,
          .reference_perplexity = std::exp(reference_nats_ / positions),
          .test_perplexity = std::exp(test_nats_ / positions),
          .mean_kl_nats = std::accumulate(sorted.begin(), sorted.end(), 0.0) / positions,
          .median_kl_nats = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2,
          .p99_kl_nats = sorted[(count * 99 + 99) / 100 - 1],
          .same_top_share = static_cast<double>(same_top_) / positions};
}

}  // namespace lpu::reference
