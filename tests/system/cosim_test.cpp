// `lpu cosim` and `--card rtl` from the outside: equal runs, faults found and told, JSON keys, refusals. Skipped where
// the core's library isn't built.
#include <filesystem>

#include "tests/system/program.hpp"

namespace lpu::test {
namespace {

using testing::HasSubstr;

class Cosim : public Program {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(std::filesystem::path(OPENLPU_PROGRAM).parent_path() / "liblpu_rtl_tiny.so"))
      GTEST_SKIP() << "no RTL model: scripts/build.sh --target rtl-tiny";
  }
};

TEST_F(Cosim, EqualTokensEndWithSuccess) {
  const Outcome outcome = lpu("cosim $B --tokens 3 --prompt-ids 5,9 --quiet");
  EXPECT_EQ(outcome.code, 0) << outcome.err << outcome.out;
  EXPECT_THAT(outcome.out, testing::AllOf(HasSubstr("3 tokens in lockstep"), HasSubstr("differing values 0, differing "
                                                                                       "cycles 0")));
  EXPECT_EQ(outcome.err, "");
}

TEST_F(Cosim, JsonHasItsKeys) {
  const Outcome outcome = lpu("cosim $B --tokens 2 --prompt hi --temperature 0.5 --seed 3 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json json = outcome.json();
  EXPECT_EQ(json["tokens"], 2);
  EXPECT_GT(json["instructions"], 50);
  EXPECT_GT(json["writes"], json["instructions"]);
  EXPECT_EQ(json["differing_values"], 0);
  EXPECT_EQ(json["differing_cycles"], 0);
  EXPECT_TRUE(json["first_mismatch"].is_null());
  EXPECT_EQ(json["jitter_cycles"], 0);
  EXPECT_EQ(json["predicted_cycles"], json["measured_cycles"]);
  EXPECT_EQ(json["measured_cycles"].size(), 2u);
}

TEST_F(Cosim, FaultIsFoundAndTold) {
  const Outcome outcome = lpu("cosim $B --tokens 2 --inject delay:2:+1 --json");
  EXPECT_EQ(outcome.code, 6) << outcome.err;
  const nlohmann::json found = outcome.json()["first_mismatch"];
  for (const char* key : {"what", "program_counter", "opcode", "layer", "matrix", "token", "position", "place",
                          "address", "element", "expected", "got", "cycle_expected", "cycle_got", "core_cycle"})
    EXPECT_TRUE(found.contains(key)) << key;
  EXPECT_EQ(found["what"], "cycle");
  EXPECT_EQ(found["program_counter"], 2);
  EXPECT_EQ(found["cycle_got"].get<int>(), found["cycle_expected"].get<int>() + 1);
  const Outcome text = lpu("cosim $B --tokens 2 --inject delay:2:+1");
  EXPECT_EQ(text.code, 6);
  EXPECT_THAT(text.out, testing::AllOf(HasSubstr("first mismatch"), HasSubstr("--waveform FILE.fst")));
}

TEST_F(Cosim, FaultThatChangesNothingIsToldAsSuch) {
  // The last row of RoPE belongs to the context's last position, which two tokens don't reach.
  const nlohmann::json manifest = nlohmann::json::parse(read_bytes(place() / "b" / "manifest.json"));
  const std::int64_t pairs =
      manifest["shape"]["context_tokens"].get<std::int64_t>() * manifest["shape"]["head_size"].get<std::int64_t>() / 2;
  const std::string fault = " --inject rope:" + std::to_string(pairs - 1) + ":3";
  const Outcome text = lpu("cosim $B --tokens 2" + fault);
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("the fault changed nothing that was compared"));
  EXPECT_EQ(lpu("cosim $B --tokens 2 --json" + fault).json()["fault_found"], false);
  EXPECT_EQ(lpu("cosim $B --tokens 2 --json --inject delay:2:+1").json()["fault_found"], true);
  const Outcome none = lpu("cosim $B --tokens 1 --json");
  EXPECT_TRUE(none.json()["fault_found"].is_null());
  EXPECT_EQ(none.json()["interrupted"], false);
  EXPECT_GT(none.json()["cycles_per_second"], 0);
  const Outcome unwritten = lpu("cosim $B --tokens 1 --inject activation:0:1023:0");
  EXPECT_EQ(unwritten.code, 0) << unwritten.err;
  EXPECT_THAT(unwritten.out, HasSubstr("the fault changed nothing at all"));
}

TEST_F(Cosim, InterruptedRunSaysAfterHowManyTokens) {
  const std::string run = "timeout --preserve-status -s INT 2 " OPENLPU_PROGRAM " cosim $B --tokens 100000 ";
  const Outcome text = shell(run + "--quiet");
  EXPECT_EQ(text.code, 130) << text.err;
  EXPECT_THAT(text.out, testing::ContainsRegex("interrupted after [0-9,]+ of 100,000 tokens"));
  const Outcome json = shell(run + "--json");
  EXPECT_EQ(json.code, 130) << json.err;
  EXPECT_EQ(json.json()["interrupted"], true);
  EXPECT_EQ(json.json()["tokens"], json.json()["measured_cycles"].size());
}

TEST_F(Cosim, MissingModelHasAnotherCodeThanAMismatch) {
  const Outcome compiled = lpu("compile $M --hardware kv260 --context 64 -o $D/kv260 --quiet");
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  if (!std::filesystem::exists(std::filesystem::path(OPENLPU_PROGRAM).parent_path() / "liblpu_rtl_kv260.so"))
    expect_refused("cosim $D/kv260 --tokens 1", 5, {"isn't built", "OPENLPU_RTL_PATH", "rtl-kv260"});
  const Outcome array = lpu("compile $M --hardware tiny:8x1 --context 64 -o $D/array --quiet");
  ASSERT_EQ(array.code, 0) << array.err;
  expect_refused("cosim $D/array --tokens 1", 3, {"8 lanes x 1 groups", "named configurations only"});
}

TEST_F(Cosim, ErrorOfTheCoreIsASentence) {
  expect_refused("cosim $B --tokens 1 --inject opcode:3:13", 6, {"The rtl card stopped", "instruction 3", "opcode"});
}

TEST_F(Cosim, BadRequestsAreRefused) {
  expect_refused("cosim $B --tokens 1 --inject rust:1:2", 2, {"--inject", "rust"});
  expect_refused("cosim $B --tokens 1 --prompt a --prompt-ids 1", 2, {"one way"});
  expect_refused("cosim $B --tokens 1 --prompt-ids 1,x", 2, {"--prompt-ids"});
  expect_refused("cosim $B --tokens 1 --prompt-ids 99999", 2, {"99999"});
  expect_refused("cosim $B --tokens 1 --prompt-ids \"\"", 2, {"--prompt-ids"});
  expect_refused("cosim $B --tokens 1 --inject \"\"", 2, {"--inject"});
  expect_refused("cosim $B --tokens 1 --waveform \"\"", 2, {"--waveform"});
  expect_refused("cosim $B --tokens 2 --prompt-ids 1,2,3", 2, {"3 tokens", "--tokens 2"});
  expect_refused("cosim $B", 2, {"--tokens"});
}

TEST_F(Cosim, RunOnTheRtlCardSaysWhatTheGoldenCardSays) {
  const Outcome golden = lpu("run $B --tokens 5,9 --max-tokens 3 --json");
  const Outcome rtl = lpu("run $B --tokens 5,9 --max-tokens 3 --json --card rtl");
  ASSERT_EQ(rtl.code, 0) << rtl.err;
  EXPECT_EQ(rtl.json()["card_name"], "rtl");
  for (const char* key : {"token_ids", "measured_cycles", "predicted_cycles", "busy_beats"})
    EXPECT_EQ(rtl.json()[key], golden.json()[key]) << key;
}

}  // namespace
}  // namespace lpu::test
