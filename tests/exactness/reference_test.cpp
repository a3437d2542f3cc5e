// Is it the right function at all? The card's logits against the independent fp32 decoder, for every tensor type and
// architecture. A tolerance stands here because the yardstick is floating point; NaN fails it.
#include <gtest/gtest.h>

#include <cmath>

#include "host/reference/decoder.hpp"
#include "tests/exactness/compiled.hpp"
#include "tests/support/test_models.hpp"

namespace lpu::test {
namespace {

constexpr std::uint32_t kTokens = 40;

/// Mean KL(reference ‖ card) in nats over all positions.
double mean_divergence(const std::vector<float>& reference, const std::vector<float>& card, std::size_t vocabulary) {
  double total = 0;
  const std::size_t rows = reference.size() / vocabulary;
  for (std::size_t row = 0; row < rows; ++row) {
    const float* a = reference.data() + row * vocabulary;
    const float* b = card.data() + row * vocabulary;
    const auto log_sum = [&](const float* x) {
      double largest = x[0], sum = 0;
      for (std::size_t i = 0; i < vocabulary; ++i) largest = std::max(largest, double(x[i]));
      for (std::size_t i = 0; i < vocabulary; ++i) sum += std::exp(x[i] - largest);
      return largest + std::log(sum);
    };
    const double za = log_sum(a), zb = log_sum(b);
    for (std::size_t i = 0; i < vocabulary; ++i) total += std::exp(a[i] - za) * ((a[i] - za) - (b[i] - zb));
  }
  return total / static_cast<double>(rows);
}

class AgainstReference : public testing::TestWithParam<const char*> {};

TEST_P(AgainstReference, MeanDivergenceIsSmall) {
  CompileFor how;
  how.context_tokens = 64;
  const Compiled compiled(model(GetParam()), how);
  const std::uint32_t vocabulary = compiled.bundle().shape().vocabulary;
  const std::vector<std::int32_t> tokens = random_tokens(kTokens, vocabulary, 3);
  const std::vector<float> card = run_tokens(*compiled.machine(1), tokens, vocabulary);
  const reference::Decoder decoder(model::Model::open(model(GetParam())), 1);
  const std::vector<float> expected = decoder.logits(tokens, 0);
  ASSERT_EQ(expected.size(), card.size());
  const double divergence = mean_divergence(expected, card, vocabulary);
  EXPECT_TRUE(divergence < 0.004)
      << divergence;  // 8-bit activations alone would give 0.01; a wrong operation gives 0.1 and more
}

INSTANTIATE_TEST_SUITE_P(Models, AgainstReference,
                         testing::Values("f32", "f16", "bf16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q4_k", "q5_k",
                                         "q6_k", "tied_q4_1", "tied_q8_0", "qwen2_q8_0", "qwen2_tied_q4_1",
                                         "qwen2_q4_k", "odd_shape", "odd_shape_f32", "one_kv_head", "all_kv_heads",
                                         "head_64", "head_128", "wide_heads", "one_layer", "rope_factors",
                                         "rope_linear"),
                         [](const auto& parameter) { return std::string(parameter.param); });

}  // namespace
}  // namespace lpu::test
