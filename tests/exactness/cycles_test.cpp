// Promise P2 on the golden card: the cycles that the compiler predicts are the cycles that the card counts, for every
// model shape and array, at every position and with every legal order. The scoreboard shares no code with the
// compiler's timing.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "tests/exactness/compiled.hpp"
#include "tests/support/test_models.hpp"

namespace lpu::test {
namespace {

constexpr std::uint64_t kSeed = 7;

void expect_predicted_cycles(const Compiled& compiled, std::uint32_t positions) {
  const std::uint32_t vocabulary = compiled.bundle().shape().vocabulary;
  const auto machine = compiled.machine(1);
  const std::vector<std::int32_t> tokens = random_tokens(positions, vocabulary, kSeed);
  for (std::uint32_t position = 0; position < positions; ++position) {
    golden::StepOptions options;
    options.want_logits = position % 3 != 1;
    const golden::StepResult result = machine->step(tokens[position], position, options);
    ASSERT_EQ(result.cycles, compiled.predicted(position, options.want_logits)) << "position " << position;
    ASSERT_EQ(result.saturations, 0u) << "position " << position;
  }
}

class CyclesOfModel : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(CyclesOfModel, PredictedEqualMeasured) {
  const auto [name, hardware] = GetParam();
  CompileFor how;
  how.hardware = hardware;
  how.context_tokens = 64;  // the shortest context among the test models
  const Compiled compiled(model(name), how);
  expect_predicted_cycles(compiled, 64);
}

std::string name_of(const testing::TestParamInfo<std::tuple<const char*, const char*>>& info) {
  std::string text = std::string(std::get<0>(info.param)) + "_on_" + std::get<1>(info.param);
  for (char& c : text)
    if (c == ':') c = '_';
  return text;
}

INSTANTIATE_TEST_SUITE_P(
    Models, CyclesOfModel,
    testing::Combine(testing::Values("q4_0", "q4_1", "q8_0", "q4_k", "qwen2_q8_0", "odd_shape", "odd_shape_f32",
                                     "one_kv_head", "all_kv_heads", "head_64", "head_128", "wide_heads", "one_layer"),
                     testing::Values("tiny", "virtual", "virtual:8x1", "virtual:16x2", "virtual:2x3", "virtual:64x4",
                                     "virtual:96x3", "virtual:1024x1")),
    name_of);

/// Logits that come faster than their noise: 64 a cycle, 50,001 after a body of a few hundred cycles.
TEST(Cycles, OfLogitsThatWaitForTheirNoisePredictedEqualMeasured) {
  for (const char* hardware : {"virtual", "virtual:64x4", "virtual:1024x1"}) {
    CompileFor how;
    how.hardware = hardware;
    how.context_tokens = 64;
    SCOPED_TRACE(hardware);
    expect_predicted_cycles(Compiled(model("many_tokens"), how), 4);
  }
}

TEST(Cycles, Of12BitKeysPredictedEqualMeasured) {
  for (const char* hardware : {"tiny", "virtual"}) {
    CompileFor how;
    how.hardware = hardware;
    how.kv_bits = 12;
    expect_predicted_cycles(Compiled(model("q4_1"), how), 70);
  }
}

TEST(Cycles, OfRandomOrdersPredictedEqualMeasured) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CompileFor how;
    how.hardware = seed % 2 == 0 ? "tiny" : "virtual:16x4";
    how.context_tokens = 64;
    how.order_seed = seed;
    SCOPED_TRACE(seed);
    expect_predicted_cycles(Compiled(model("tied_q4_1"), how), 40);
  }
}

}  // namespace
}  // namespace lpu::test
