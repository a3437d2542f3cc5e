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

TEST_F(Cosim, ErrorOfTheCoreIsASentence) {
  expect_refused("cosim $B --tokens 1 --inject opcode:3:13", 6, {"The rtl card stopped", "instruction 3", "opcode"});
}

TEST_F(Cosim, BadRequestsAreRefused) {
  expect_refused("cosim $B --tokens 1 --inject rust:1:2", 2, {"--inject", "rust"});
  expect_refused("cosim $B --tokens 1 --prompt a --prompt-ids 1", 2, {"one way"});
  expect_refused("cosim $B --tokens 1 --prompt-ids 1,x", 2, {"--prompt-ids"});
  expect_refused("cosim $B --tokens 1 --prompt-ids 99999", 2, {"99999"});
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
