// Long lockstep runs: a thousand tokens of a small model, and SmolLM2 on the array of 64 × 6. Label `slow`; the latter
// is skipped without the model file or without the model of `virtual` (scripts/build.sh --target rtl-virtual).
#include "host/cosim/lockstep.hpp"
#include "tests/card/rtl_fixture.hpp"

namespace lpu::test {
namespace {

void expect_equal(const cosim::Report& report, std::uint64_t tokens) {
  EXPECT_EQ(report.tokens, tokens);
  EXPECT_EQ(report.differing_values, 0u);
  EXPECT_EQ(report.differing_cycles, 0u);
  EXPECT_FALSE(report.first_mismatch.has_value()) << report.first_mismatch->place;
  EXPECT_EQ(report.predicted_cycles, report.measured_cycles);
}

using RtlSlow = RtlTest;

TEST_F(RtlSlow, ThousandTokensDifferInNothing) {
  cosim::Options options;
  options.prompt = {5, 9};
  options.tokens = 1000;
  options.temperature = 1;
  expect_equal(cosim::run(bundle_, options), 1000);
}

TEST_F(RtlSlow, FourTokensOfSmolLm2DifferInNothing) {
  const std::optional<std::filesystem::path> file = smollm2();
  if (!file) GTEST_SKIP() << "no SmolLM2 in models/: scripts/get_model.sh";
  if (!has_rtl("virtual")) GTEST_SKIP() << "no RTL model: scripts/build.sh --target rtl-virtual";
  compiler::CompileOptions compile;
  compile.hardware = compiler::find_hardware("virtual");
  compile.hardware_name = "virtual";
  compile.context_tokens = 256;
  compiler::compile(*model::Model::open(*file), compile, place_.path() / "smollm2", std::nullopt);
  cosim::Options options;
  options.prompt = {504, 3575};
  options.tokens = 4;
  expect_equal(cosim::run(bundle::Bundle::open(place_.path() / "smollm2"), options), 4);
}

}  // namespace
}  // namespace lpu::test
