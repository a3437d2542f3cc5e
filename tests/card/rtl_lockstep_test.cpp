// The Verilated core in lockstep with the golden card: nothing differs in whole sessions, with biases, minimums, 8- and
// 12-bit keys, sampled and greedy; a fault that is put in is found at its instruction, or stops the core with a
// sentence.
#include "host/cosim/lockstep.hpp"
#include "tests/card/rtl_fixture.hpp"
#include "tests/support/cosim_report.hpp"

namespace lpu::test {
namespace {

using testing::HasSubstr;

class RtlLockstep : public RtlTest {
 protected:
  static cosim::Options options(std::uint64_t tokens) {
    cosim::Options options;
    options.prompt = {5, 9};
    options.tokens = tokens;
    options.threads = 1;
    return options;
  }
  cosim::Report run_with(const std::string& fault, std::uint64_t tokens = 3) {
    cosim::Options wanted = options(tokens);
    wanted.injection = cosim::parse_injection(fault, bundle_);
    return cosim::run(bundle_, wanted);
  }
};

TEST_F(RtlLockstep, OneTokenAtATimeNothingDiffers) {
  cosim::Options wanted = options(4);
  wanted.back_to_back = false;
  expect_no_difference(cosim::run(bundle_, wanted), 4);
}

TEST_F(RtlLockstep, BackToBackThroughTwoSessionsNothingDiffers) {
  expect_no_difference(cosim::run(bundle_, options(kContextTokens + 5)), kContextTokens + 5);
}

TEST_F(RtlLockstep, SampledTokensDifferInNothing) {
  cosim::Options wanted = options(6);
  wanted.temperature = 0.7F;
  wanted.seed = 99;
  expect_no_difference(cosim::run(bundle_, wanted), 6);
}

TEST_F(RtlLockstep, OtherModelsDifferInNothing) {
  for (const auto& [name, kv_bits] :
       {std::pair{"tied_q4_1", 12U}, {"qwen2_tied_q4_1", 8U}, {"odd_shape", 8U}, {"one_kv_head", 8U}}) {
    SCOPED_TRACE(name);
    const bundle::Bundle other =
        compiled(name, place_.path() / (std::string(name) + std::to_string(kv_bits)), "tiny", kv_bits);
    expect_no_difference(cosim::run(other, options(4)), 4);
  }
}

TEST_F(RtlLockstep, ChangedWeightIsFoundInItsMatrix) {
  const auto& in = bundle_.program().instructions;
  const auto burst = std::find_if(
      in.begin(), in.end(), [](const contract::Instruction& i) { return i.opcode() == contract::Opcode::kMatvec; });
  const cosim::Report report = run_with(fmt::format("weight:{}:3", burst->matvec.weight_address));
  ASSERT_TRUE(report.first_mismatch.has_value());
  EXPECT_EQ(report.first_mismatch->opcode, "matvec");
  EXPECT_EQ(report.first_mismatch->program_counter, static_cast<std::uint32_t>(burst - in.begin()));
  EXPECT_EQ(report.first_mismatch->mismatch.what, "value");
  EXPECT_NE(report.first_mismatch->matrix, "");
  EXPECT_GT(report.differing_values, 0u);
}

TEST_F(RtlLockstep, ChangedDelayIsFoundAtItsIssue) {
  const cosim::Report report = run_with("delay:2:+1");
  ASSERT_TRUE(report.first_mismatch.has_value());
  EXPECT_EQ(report.first_mismatch->mismatch.place.kind, cosim::Kind::kIssue);
  EXPECT_EQ(report.first_mismatch->program_counter, 2u);
  EXPECT_GT(report.differing_cycles, 0u);
}

TEST_F(RtlLockstep, ChangedActivationIsFoundInWhatReadsIt) {
  const cosim::Report report = run_with("activation:0:0:4");
  ASSERT_TRUE(report.first_mismatch.has_value());
  EXPECT_EQ(report.first_mismatch->opcode, "matvec");
}

TEST_F(RtlLockstep, UpperExponentBitThatNobodyReadsChangesNothingThatWasCompared) {
  for (const int bit : {325, 336}) {
    const cosim::Report report = run_with(fmt::format("activation:0:0:{}", bit));
    EXPECT_FALSE(report.first_mismatch.has_value()) << bit;
    EXPECT_TRUE(report.fault_is_in) << bit;
  }
  EXPECT_TRUE(run_with("activation:0:0:320").first_mismatch.has_value());
}

TEST_F(RtlLockstep, UnknownOpcodeStopsTheCoreWithASentence) {
  const std::string said = refusal_of([&] { (void)run_with("opcode:3:13"); }, ExitCode::kCard);
  EXPECT_THAT(said, testing::AllOf(HasSubstr("The rtl card stopped"), HasSubstr("opcode"), HasSubstr("instruction 3")));
}

TEST_F(RtlLockstep, WaveformOfAMismatchIsRecorded) {
  if (!has_rtl("tiny_trace")) GTEST_SKIP() << "no RTL model: scripts/build.sh --target rtl-tiny-trace";
  cosim::Options wanted = options(2);
  // The first one differs in the token's first cycle: the 100 cycles before it are those in which the core was loaded.
  for (const char* fault : {"delay:0:+1", "delay:2:+1"}) {
    wanted.injection = cosim::parse_injection(fault, bundle_);
    wanted.waveform = (place_.path() / (std::string(fault) + ".fst")).string();
    ASSERT_TRUE(cosim::run(bundle_, wanted).first_mismatch.has_value()) << fault;
    EXPECT_GT(std::filesystem::file_size(wanted.waveform), 1000u) << fault;
  }
}

TEST_F(RtlLockstep, WaveformOfAnErrorOfTheCoreIsRecorded) {
  if (!has_rtl("tiny_trace")) GTEST_SKIP() << "no RTL model: scripts/build.sh --target rtl-tiny-trace";
  cosim::Options wanted = options(2);
  wanted.injection = cosim::parse_injection("opcode:3:13", bundle_);
  wanted.waveform = (place_.path() / "stop.fst").string();
  const std::string said = refusal_of([&] { (void)cosim::run(bundle_, wanted); }, ExitCode::kCard);
  EXPECT_THAT(said, testing::AllOf(HasSubstr("The rtl card stopped"), HasSubstr("200 cycles"), HasSubstr("stop.fst")));
  EXPECT_GT(std::filesystem::file_size(wanted.waveform), 1000u);
}

TEST_F(RtlLockstep, InterruptedRunCountsWholeTokensOnly) {
  cosim::Options wanted = options(20);
  std::uint64_t asked = 0;
  wanted.is_interrupted = [&] { return ++asked > 3000; };
  const cosim::Report report = cosim::run(bundle_, wanted);
  EXPECT_TRUE(report.interrupted);
  EXPECT_FALSE(report.first_mismatch.has_value());
  EXPECT_GT(report.tokens, 0u);
  EXPECT_LT(report.tokens, 20u);
  EXPECT_EQ(report.tokens, report.measured_cycles.size());
}

TEST_F(RtlLockstep, CyclesOfTheTimeAreThoseAfterLoading) {
  cosim::Options wanted = options(2);
  wanted.load_through_port = true;
  const cosim::Report report = cosim::run(bundle_, wanted);
  EXPECT_FALSE(report.interrupted);
  EXPECT_GE(report.timed_cycles, report.measured_cycles[0] + report.measured_cycles[1]);
  EXPECT_LT(report.timed_cycles, report.measured_cycles[0] + report.measured_cycles[1] + 1000);
  EXPECT_GT(report.core_cycles, report.timed_cycles + 1000);
}

TEST_F(RtlLockstep, PlaceWithoutAWaveformIsRefusedBeforeTheFirstRun) {
  cosim::Options wanted = options(2);
  wanted.waveform = "/nonexistent/w.fst";
  // Without the model that records, that is what is said.
  EXPECT_THAT(refusal_of([&] { (void)cosim::run(bundle_, wanted); }, ExitCode::kIo),
              testing::AnyOf(testing::HasSubstr("--waveform"), testing::HasSubstr("rtl-tiny-trace")));
}

}  // namespace
}  // namespace lpu::test
