// Promise P1 on the golden card: logits don't depend on array, order, thread count or the vectorised dots, bit for bit.
#include <gtest/gtest.h>

#include "tests/exactness/compiled.hpp"
#include "tests/support/test_models.hpp"

namespace lpu::test {
namespace {

constexpr std::uint64_t kSeed = 11;
constexpr std::uint32_t kTokens = 40;  // past one border of a block of positions

std::vector<float> logits_of(const std::string& name, const CompileFor& how, unsigned threads) {
  const Compiled compiled(model(name), how);
  const std::uint32_t vocabulary = compiled.bundle().shape().vocabulary;
  return run_tokens(*compiled.machine(threads), random_tokens(kTokens, vocabulary, kSeed), vocabulary);
}

class BitsOfModel : public testing::TestWithParam<const char*> {};

TEST_P(BitsOfModel, DontDependOnTheArray) {
  CompileFor how;
  how.context_tokens = 64;
  how.hardware = "virtual";
  const std::vector<float> expected = logits_of(GetParam(), how, 1);
  for (const char* hardware : {"tiny", "virtual:8x1", "virtual:16x2", "virtual:384x1", "virtual:4x8", "virtual:2x1"}) {
    how.hardware = hardware;
    EXPECT_EQ(hash_of(logits_of(GetParam(), how, 1)), hash_of(expected)) << hardware;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, BitsOfModel,
                         testing::Values("q4_0", "q4_1", "q5_1", "q8_0", "q4_k", "qwen2_tied_q4_1", "odd_shape",
                                         "all_kv_heads", "head_128"),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST(Bits, DontDependOnTheOrderOfBeats) {
  CompileFor how;
  how.context_tokens = 64;
  const std::uint64_t expected = hash_of(logits_of("tied_q4_1", how, 1));
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    how.order_seed = seed;
    EXPECT_EQ(hash_of(logits_of("tied_q4_1", how, 1)), expected) << "order seed " << seed;
  }
}

TEST(Bits, DontDependOnTheNumberOfThreads) {
  CompileFor how;
  how.context_tokens = 64;
  how.hardware = "virtual";
  const std::uint64_t expected = hash_of(logits_of("tied_q8_0", how, 1));
  for (const unsigned threads : {2u, 3u, 5u})
    EXPECT_EQ(hash_of(logits_of("tied_q8_0", how, threads)), expected) << threads;
}

TEST(Bits, AreTheSameAfterAReset) {
  const Compiled compiled(model("q4_1"), {});
  const std::uint32_t vocabulary = compiled.bundle().shape().vocabulary;
  const auto machine = compiled.machine(1);
  const std::vector<std::int32_t> tokens = random_tokens(kTokens, vocabulary, kSeed);
  const std::uint64_t first = hash_of(run_tokens(*machine, tokens, vocabulary));
  run_tokens(*machine, random_tokens(kTokens, vocabulary, kSeed + 1), vocabulary);
  machine->reset();
  EXPECT_EQ(hash_of(run_tokens(*machine, tokens, vocabulary)), first);
}

TEST(Bits, OfTwelveBitKeysDontDependOnTheArray) {
  CompileFor how;
  how.context_tokens = 64;
  how.kv_bits = 12;
  const std::uint64_t expected = hash_of(logits_of("q8_0", how, 1));
  how.hardware = "virtual";
  EXPECT_EQ(hash_of(logits_of("q8_0", how, 1)), expected);
}

}  // namespace
}  // namespace lpu::test
