// SmolLM2's logits hash to one committed value on every array, order, thread count, build type and sanitizer.
// Skipped where models/ doesn't hold the file (scripts/get_model.sh smollm2-135m).
#include <gtest/gtest.h>

#include "tests/exactness/compiled.hpp"
#include "tests/support/test_models.hpp"

namespace lpu::test {
namespace {

constexpr std::uint64_t kHash = 1507005640442767424u;

// "The capital of France is" and what follows, by the model itself.
const std::vector<std::int32_t> kPrompt = {504, 3575, 282, 4649, 314};
constexpr std::uint32_t kTokens = 20;

std::uint64_t hash_on(const std::filesystem::path& file, const CompileFor& how, unsigned threads) {
  const Compiled compiled(file, how);
  const std::uint32_t vocabulary = compiled.bundle().shape().vocabulary;
  const auto machine = compiled.machine(threads);
  std::vector<std::int32_t> tokens = kPrompt;
  std::vector<float> logits(std::size_t{kTokens} * vocabulary);
  for (std::uint32_t position = 0; position < kTokens; ++position) {
    golden::StepOptions options;
    options.logits = logits.data() + std::size_t{position} * vocabulary;
    const golden::StepResult result = machine->step(tokens[position], position, options);
    EXPECT_EQ(result.cycles, compiled.predicted(position, true)) << position;
    EXPECT_EQ(result.saturations, 0u) << position;
    if (position + 1 == tokens.size()) tokens.push_back(result.next_token);
  }
  EXPECT_EQ(tokens[kPrompt.size()], 7042);  // " Paris"
  return hash_of(logits);
}

class SmolLm2OnArray : public testing::TestWithParam<const char*> {};

TEST_P(SmolLm2OnArray, LogitsHashToTheCommittedValue) {
  const auto file = smollm2();
  if (!file) GTEST_SKIP() << "models/SmolLM2-135M-Instruct.Q4_1.gguf is absent: scripts/get_model.sh smollm2-135m";
  CompileFor how;
  how.hardware = GetParam();
  EXPECT_EQ(hash_on(*file, how, 2), kHash);
}

INSTANTIATE_TEST_SUITE_P(Arrays, SmolLm2OnArray,
                         testing::Values("virtual", "virtual:16x2", "virtual:8x1", "virtual:384x1"),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           for (char& c : name)
                             if (c == ':') c = '_';
                           return name;
                         });

TEST(SmolLm2, LogitsDontDependOnOrderAndThreads) {
  const auto file = smollm2();
  if (!file) GTEST_SKIP() << "models/SmolLM2-135M-Instruct.Q4_1.gguf is absent: scripts/get_model.sh smollm2-135m";
  CompileFor how;
  how.hardware = "virtual";
  how.order_seed = 99;
  EXPECT_EQ(hash_on(*file, how, 1), kHash);
  how.order_seed = 100;
  EXPECT_EQ(hash_on(*file, how, 3), kHash);
}

TEST(SmolLm2, EncodingIsLossless) {
  const auto file = smollm2();
  if (!file) GTEST_SKIP() << "models/SmolLM2-135M-Instruct.Q4_1.gguf is absent: scripts/get_model.sh smollm2-135m";
  CompileFor how;
  how.hardware = "virtual";
  const Compiled compiled(*file, how);
  ASSERT_EQ(compiled.report().encoding.size(), 2u);
  for (const compiler::EncodingError& error : compiled.report().encoding)
    EXPECT_TRUE(error.lossless) << error.tensor_type;
}

}  // namespace
}  // namespace lpu::test
