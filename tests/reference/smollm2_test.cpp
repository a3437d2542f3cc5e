// The reference on the real SmolLM2-135M: facts about it that any correct decoder reproduces. Skipped without the file
// (scripts/get_model.sh smollm2-135m).
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "host/reference/decoder.hpp"
#include "host/reference/divergence.hpp"
#include "tests/support/test_models.hpp"

namespace lpu::reference {
namespace {

constexpr std::array<TokenId, 5> kPrompt = {504, 3575, 282, 4649, 314};  // "The capital of France is"

class SmolLm2 : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto path = test::smollm2();
    if (!path) GTEST_SKIP() << "no SmolLM2 in models/; scripts/get_model.sh smollm2-135m gets it";
    model_ = model::Model::open(*path);
  }
  std::shared_ptr<const model::Model> model_;
};

TEST_F(SmolLm2, PromptAboutFranceGoesOnWithParis) {
  Decoder decoder(model_, 2);
  const std::size_t vocabulary = model_->shape().vocabulary;
  std::vector<float> logits(vocabulary);
  for (const TokenId token : kPrompt) decoder.step(token, logits);
  const std::string& text = model_->file().find_strings("tokenizer.ggml.tokens")->at(top_token(logits));
  EXPECT_EQ(text, "\u0120Paris");  // byte-level BPE spells a space as U+0120

  // The window must agree; the limit is about a hundred roundings of logits near 30.
  const std::vector<float> window = decoder.logits(kPrompt, kPrompt.size() - 1);
  ASSERT_EQ(window.size(), vocabulary);
  for (std::size_t token = 0; token < vocabulary; ++token) {
    ASSERT_TRUE(std::abs(window[token] - logits[token]) < 1e-3F) << "token " << token;
  }
}

}  // namespace
}  // namespace lpu::reference
