// `lpu run`, `chat` and `evaluate`.
#include <cmath>
#include <span>

#include "host/bundle/checksum.hpp"
#include "tests/system/program.hpp"

namespace lpu::test {
namespace {

using testing::HasSubstr;

TEST_F(Program, RunHasTheDocumentedKeys) {
  const Outcome outcome = lpu("run $B --card golden --tokens 65,66,67 --max-tokens 5 --ignore-end --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const nlohmann::json json = outcome.json();
  EXPECT_TRUE(json.at("text").is_string());
  EXPECT_EQ(json.at("token_ids").size(), 5u);
  EXPECT_EQ(json.at("prompt_token_ids"), nlohmann::json({65, 66, 67}));
  EXPECT_EQ(json.at("end_reason"), "max_tokens");
  EXPECT_EQ(json.at("predicted_cycles").size(), 7u);  // 3 + 5 − 1 steps
  EXPECT_EQ(json.at("predicted_cycles"), json.at("measured_cycles"));
  EXPECT_EQ(json.at("jitter_cycles"), 0);
  for (const char* time : {"card", "wall"}) {
    for (const char* key : {"ttft_s", "tpot_s", "decode_tokens_per_s", "e2e_tokens_per_s"})
      EXPECT_GT(json.at(time).at(key).get<double>(), 0) << time << " " << key;
  }
  std::uint64_t first = 0;
  for (int i = 0; i < 3; ++i) first += json.at("measured_cycles").at(static_cast<std::size_t>(i)).get<std::uint64_t>();
  EXPECT_DOUBLE_EQ(json.at("card").at("ttft_s"), static_cast<double>(first) / 100e6);
  EXPECT_GT(json.at("mac_utilisation"), 0);
  EXPECT_LT(json.at("mac_utilisation"), 1);
  EXPECT_GT(json.at("resident_card_bytes"), 0);
  EXPECT_GT(json.at("process_resident_bytes"), 0);
}

TEST_F(Program, OneTokenHasNoTimePerOutputToken) {
  const nlohmann::json json = lpu("run $B --prompt Hi --max-tokens 1 --json").json();
  EXPECT_TRUE(json.at("wall").at("tpot_s").is_null());
  EXPECT_TRUE(json.at("card").at("decode_tokens_per_s").is_null());
}

TEST_F(Program, TextIsOnStandardOutputAndTheTableBeside) {
  const Outcome outcome = lpu("run $B --prompt Hello --max-tokens 4 --ignore-end");
  EXPECT_EQ(outcome.code, 0);
  const nlohmann::json json = lpu("run $B --prompt Hello --max-tokens 4 --ignore-end --json").json();
  EXPECT_EQ(outcome.out, json.at("text").get<std::string>() + "\n");
  for (const char* part : {"TTFT", "decode tokens/s", "card time", "wall time", "MAC utilisation", "resident memory"})
    EXPECT_THAT(outcome.err, HasSubstr(part));
  EXPECT_EQ(lpu("run $B --prompt Hello --max-tokens 4 --quiet").err, "");
}

TEST_F(Program, ContextIsFilledUnlessToldOtherwise) {
  const nlohmann::json json = lpu("run $B --tokens 65,66 --ignore-end --json").json();
  EXPECT_EQ(json.at("end_reason"), "length");
  EXPECT_EQ(json.at("token_ids").size(), 63u);
}

TEST_F(Program, PromptFileIsThePrompt) {
  write_bytes(place() / "prompt.txt", "Hello");
  EXPECT_EQ(lpu("run $B --prompt-file $D/prompt.txt --max-tokens 3 --quiet").out,
            lpu("run $B --prompt Hello --max-tokens 3 --quiet").out);
}

TEST_F(Program, SameSeedSameText) {
  const auto text = [](const std::string& options) {
    const Outcome outcome = lpu("run $B --prompt Hello --max-tokens 20 --ignore-end --quiet " + options);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  };
  for (const std::string limits : {"", "--top-k 20 ", "--top-p 0.9 "}) {
    const std::string options = "--temperature 1.5 " + limits;
    EXPECT_EQ(text(options + "--seed 3 --threads 1"), text(options + "--seed 3 --threads 2"));
    EXPECT_NE(text(options + "--seed 3"), text(options + "--seed 4"));
  }
}

TEST_F(Program, LogitsAreARowPerGeneratedToken) {
  const Outcome outcome = lpu("run $B --prompt Hello --max-tokens 3 --ignore-end --json --logits $D/logits.bin");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string bytes = read_bytes(place() / "logits.bin");
  ASSERT_EQ(bytes.size(), std::size_t{3} * 320 * sizeof(float));
  std::vector<float> rows(std::size_t{3} * 320);
  std::memcpy(rows.data(), bytes.data(), bytes.size());
  for (std::size_t i = 0; i < 3; ++i) {
    const auto row = rows.begin() + static_cast<std::ptrdiff_t>(i * 320);
    EXPECT_EQ(std::max_element(row, row + 320) - row, outcome.json().at("token_ids").at(i).get<std::ptrdiff_t>());
  }
}

TEST_F(Program, LogitsOfAFailedRunAreNotLeftHalf) {
  const Outcome outcome = shell("ulimit -f 1; " OPENLPU_PROGRAM
                                " run $B --prompt Hello --max-tokens 9 --ignore-end --quiet --logits $D/big.bin");
  EXPECT_EQ(outcome.code, 5) << outcome.err;
  for (const auto& entry : std::filesystem::directory_iterator(place()))
    EXPECT_THAT(entry.path().filename().string(), testing::Not(testing::StartsWith("big")));
  EXPECT_EQ(lpu("run $B --prompt Hello --max-tokens 2 --quiet --logits /dev/null").code, 0);
}

TEST_F(Program, PromptsThatCannotBeRunAreRefused) {
  expect_refused("run $B --prompt ''", 2, {"prompt is empty"});
  expect_refused("run $B", 2, {"exactly one way"});
  expect_refused("run $B --prompt a --tokens 1", 2, {"exactly one way"});
  expect_refused("run $B --tokens 1,2,320", 2, {"Token 2", "320", "0 to 319"});
  expect_refused("run $B --tokens 1,-2", 2, {"Token 1", "-2"});
  for (const std::string tokens : {"1,,2", "1,", "x", "1;2", "99999999999999999999"})
    expect_refused("run $B --tokens '" + tokens + "'", 2, {"--tokens"});
  expect_refused("run $B --prompt-file $D/none.txt", 5, {"none.txt"});
  const std::string long_text(300, 'x');
  expect_refused("run $B --prompt " + long_text, 4, {"tokens", "context holds 64", "--context"});
  expect_refused("run $B --chat --prompt " + long_text, 4, {"only 64 fit"});
}

TEST_F(Program, OptionsThatContradictAreRefused) {
  expect_refused("run $B --tokens 1 --chat", 2, {"--chat", "--tokens"});
  expect_refused("run $B --prompt a --system b", 2, {"--chat"});
  expect_refused("run $B --prompt a --top-k 5", 2, {"temperature"});
  expect_refused("run $B --prompt a --temperature -1", 2, {"temperature"});
  expect_refused("run $B --prompt a --temperature 1 --top-k 65", 2, {"top-k", "64"});
  expect_refused("run $B --prompt a --temperature 1 --top-p 2", 2, {"top-p"});
  expect_refused("run $B --prompt a --max-tokens 0", 2, {"--max-tokens"});
  expect_refused("run $B --prompt a --card silver", 2, {"silver", "golden"});
  expect_refused("run $B --prompt a --chat --template klingon", 2, {"klingon", "chatml"});
}

TEST_F(Program, BundlesThatAreNoneAreRefused) {
  expect_refused("run $D/none --prompt a", 5, {"none", "no such folder"});
  expect_refused("run $D --prompt a", 3, {"manifest.json"});
  shell("cp -r $B $D/cut && truncate -s -1 $D/cut/lane_words.bin");
  expect_refused("run $D/cut --prompt a", 3, {"lane_words.bin", "compile the model again"});
  shell("cp -r $B $D/bit && printf x | dd of=$D/bit/program.bin bs=1 seek=100 conv=notrunc");
  expect_refused("run $D/bit --prompt a", 3, {"program.bin", "damaged"});
}

TEST_F(Program, VocabularyThatIsNotTheTokenizersIsToldAlikeByEveryCommand) {
  shell("cp -r $B $D/words");
  nlohmann::ordered_json manifest = nlohmann::ordered_json::parse(read_bytes(place() / "words" / "manifest.json"));
  manifest["shape"]["vocabulary"] = 321;
  const std::string text = manifest.dump();
  write_bytes(place() / "words" / "manifest.json", text);
  write_bytes(place() / "words" / "manifest.crc32",
              bundle::crc32_text(bundle::crc32_of(std::as_bytes(std::span(text)))) + "\n");
  write_bytes(place() / "prose.txt", "a text");
  for (const char* command :
       {"run $D/words --tokens 1", "cosim $D/words --tokens 1", "cosim $D/words --tokens 9 --prompt a", "chat $D/words",
        "evaluate $D/words --text $D/prose.txt --window 4"})
    expect_refused(command, 3, {"tokenizer.gguf: holds 320 tokens, but the bundle's model has 321"});
}

TEST_F(Program, InterruptEndsTheTextAndTheSummaryStillComes) {
  // The fifo keeps the program at its first token until the signal is there.
  const Outcome outcome =
      shell("mkfifo $D/fifo; " OPENLPU_PROGRAM
            " run $B --prompt Hello --ignore-end --logits $D/fifo & P=$!; exec 3<$D/fifo; sleep 0.2; "
            "kill -INT $P; cat <&3 >/dev/null; wait $P");
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_THAT(outcome.err, testing::AllOf(HasSubstr("interrupted"), HasSubstr("TTFT")));
}

TEST_F(Program, ChatAnswersEveryLineOfAPipe) {
  const Outcome outcome =
      shell("printf 'Hello\\n/help\\n/nonsense\\nAnd?\\nMore?\\n/reset\\nBack\\n/quit\\nnever\\n' | " OPENLPU_PROGRAM
            " chat $B --max-tokens 4");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, testing::AllOf(HasSubstr("tokens/s"), HasSubstr("/reset"), HasSubstr("/nonsense"),
                                          HasSubstr("forgotten")));
  std::size_t answers = 0;
  for (std::size_t at = 0; (at = outcome.err.find("wall time", at)) != std::string::npos; ++at) ++answers;
  EXPECT_EQ(answers, 4u);
}

TEST_F(Program, ChatEndsWithItsInputAndSaysWhenAMessageIsTooLong) {
  const Outcome outcome =
      shell("printf '" + std::string(300, 'y') + "\\nHi\\n' | " OPENLPU_PROGRAM " chat $B --max-tokens 4");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, testing::AllOf(HasSubstr("shorten it"), HasSubstr("tokens/s")));
}

TEST_F(Program, EvaluateHasTheDocumentedKeys) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "line " + std::to_string(i * i) + " of a text\n";
  write_bytes(place() / "text.txt", text);
  const Outcome outcome = lpu("evaluate $B --text $D/text.txt --reference $M --window 32 --windows 3 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const nlohmann::json json = outcome.json();
  EXPECT_EQ(json.at("windows"), 3);
  EXPECT_EQ(json.at("positions"), 3 * 15);
  EXPECT_GT(json.at("perplexity"), 1);
  EXPECT_NEAR(json.at("perplexity").get<double>() / json.at("reference_perplexity").get<double>(), 1, 0.05);
  EXPECT_GE(json.at("kl_mean"), 0);
  EXPECT_LT(json.at("kl_mean"), 0.02);
  EXPECT_LE(json.at("kl_median"), json.at("kl_p99"));
  EXPECT_GT(json.at("same_top"), 0.8);
  const nlohmann::json alone = lpu("evaluate $B --text $D/text.txt --window 32 --windows 3 --json").json();
  EXPECT_EQ(alone.at("perplexity"), json.at("perplexity"));
  EXPECT_TRUE(alone.at("kl_mean").is_null());
  EXPECT_THAT(lpu("evaluate $B --text $D/text.txt --window 32 --windows 1").out, HasSubstr("perplexity"));
}

TEST_F(Program, EvaluateRefusesWhatItCannotScore) {
  write_bytes(place() / "short.txt", "a");
  write_bytes(place() / "other.txt", std::string(4000, 'a') + " b");
  expect_refused("evaluate $B --text $D/short.txt --window 32", 2, {"short.txt", "--window"});
  expect_refused("evaluate $B --text $D/short.txt", 4, {"512", "--context 512"});
  expect_refused("evaluate $B --text $D/none.txt --window 32", 5, {"none.txt"});
  ::setenv("OTHER", model("odd_shape").c_str(), 1);
  expect_refused("evaluate $B --text $D/other.txt --window 32 --reference $OTHER", 2, {"another shape"});
}

}  // namespace
}  // namespace lpu::test
