// `lpu inspect`, `compile`, `estimate` and the program itself.
#include <fstream>

#include "hls/contract/describe.hpp"
#include "tests/system/program.hpp"

namespace lpu::test {
namespace {

using testing::HasSubstr;

TEST_F(Program, VersionNamesTheContract) {
  const Outcome outcome = lpu("--version");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, testing::StartsWith("lpu "));
  EXPECT_THAT(outcome.out, HasSubstr("contract " + contract::contract_hash_text()));
}

TEST_F(Program, EverySubcommandTeachesWithAnExample) {
  const Outcome all = lpu("--help");
  EXPECT_EQ(all.code, 0);
  EXPECT_THAT(all.out, HasSubstr("Exit codes"));
  for (const std::string command : {"inspect", "compile", "estimate", "run", "chat", "evaluate"}) {
    EXPECT_THAT(all.out, HasSubstr(command));
    const Outcome help = lpu(command + " --help");
    EXPECT_EQ(help.code, 0) << command;
    EXPECT_THAT(help.out, HasSubstr("Example")) << command;
    EXPECT_THAT(help.out, HasSubstr("\n  lpu " + command)) << command;
  }
}

TEST_F(Program, WrongCommandLineIsAUsageError) {
  expect_refused("", 2, {"subcommand", "--help"});
  expect_refused("fly", 2, {"fly"});
  expect_refused("inspect", 2, {"MODEL is required", "lpu inspect --help"});
  expect_refused("run $B --prompt x --wings 2", 2, {"--wings"});
  expect_refused("compile $M --hardware tiny --context 64", 2, {"--output"});
  expect_refused("compile $M --hardware tiny --context none -o $D/x", 2, {"--context"});
  expect_refused("compile $M --hardware tiny --context 64 --kv-bits 10 -o $D/x", 2, {"--kv-bits"});
}

TEST_F(Program, InspectTellsWhatTheFileHolds) {
  const Outcome text = lpu("inspect $M");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, testing::AllOf(HasSubstr("Q4_1"), HasSubstr("chatml"), HasSubstr("Supported")));
  const nlohmann::json json = lpu("inspect $M --json").json();
  EXPECT_EQ(json.at("architecture"), "llama");
  EXPECT_EQ(json.at("shape").at("vocabulary"), 320);
  EXPECT_EQ(json.at("shape").at("tied_head"), true);
  EXPECT_EQ(json.at("chat_template"), "chatml");
  EXPECT_EQ(json.at("supported"), true);
  EXPECT_TRUE(json.at("unsupported").empty());
  EXPECT_FALSE(json.at("tensor_types").empty());
  EXPECT_TRUE(json.at("tokenizer").is_string());
}

TEST_F(Program, InspectSaysWhyAModelIsNotSupported) {
  std::string bytes = read_bytes(std::getenv("M"));
  const std::size_t at = bytes.find("llama");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 5, "mamba");
  write_bytes(place() / "other.gguf", bytes);
  const Outcome outcome = lpu("inspect $D/other.gguf --json");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.json().at("supported"), false);
  EXPECT_THAT(outcome.json().at("unsupported").at(0).get<std::string>(), HasSubstr("mamba"));
  expect_refused("compile $D/other.gguf --hardware tiny --context 64 -o $D/x", 3, {"mamba", "llama"});
}

TEST_F(Program, FilesThatAreNoModelsAreRefused) {
  write_bytes(place() / "text.gguf", "this is no model, but long enough to be looked at");
  expect_refused("inspect $D/text.gguf", 3, {"text.gguf"});
  expect_refused("inspect $D/missing.gguf", 5, {"missing.gguf"});
  expect_refused("estimate $D --hardware tiny --context 64", 5, {"folder"});
}

TEST_F(Program, EstimateAndCompileHaveTheDocumentedKeys) {
  for (const std::string command : {"estimate $M --hardware tiny --context 64 --json",
                                    "compile $M --hardware tiny --context 64 -o $D/again --json"}) {
    const Outcome outcome = lpu(command);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    const nlohmann::json json = outcome.json();
    EXPECT_EQ(json.at("fits"), true);
    EXPECT_EQ(json.at("hardware"), "tiny");
    EXPECT_EQ(json.at("context_tokens"), 64);
    const std::uint64_t cycles = json.at("cycles_per_token");
    EXPECT_GT(cycles, 0u);
    EXPECT_EQ(json.at("cycles_by_position").size(), 3u);
    EXPECT_EQ(json.at("cycles_by_position").back().at("position"), 63);
    EXPECT_EQ(json.at("cycles_by_position").back().at("cycles"), cycles);
    EXPECT_DOUBLE_EQ(json.at("microseconds_per_token"), static_cast<double>(cycles) / 100);
    EXPECT_DOUBLE_EQ(json.at("mac_utilisation"), json.at("useful_beats").get<double>() / static_cast<double>(cycles));
    EXPECT_TRUE(json.at("idle_cycles").is_object());
    for (const auto& [name, memory] : json.at("memory").items())
      EXPECT_LE(memory.at("used_bytes"), memory.at("capacity_bytes")) << name;
    EXPECT_FALSE(json.at("memory").empty());
  }
}

TEST_F(Program, CyclesOfAPositionAreItsBeatsPrologueAndIdleTogether) {
  const nlohmann::json json = lpu("estimate $M --hardware tiny --context 64 --json").json();
  for (const auto& position : json.at("cycles_by_position")) {
    std::uint64_t sum = position.at("beats").get<std::uint64_t>() + position.at("prologue_cycles").get<std::uint64_t>();
    for (const auto& [cause, cycles] : position.at("idle_cycles").items()) sum += cycles.get<std::uint64_t>();
    EXPECT_EQ(sum, position.at("cycles"));
  }
}

TEST_F(Program, EstimateAndCompileAgree) {
  const nlohmann::json estimate = lpu("estimate $M --hardware tiny --context 64 --json").json();
  const nlohmann::json compiled = lpu("compile $M --hardware tiny --context 64 -o $D/same --json").json();
  for (const char* key : {"cycles_by_position", "memory", "resident_bytes", "program_bytes", "instructions"})
    EXPECT_EQ(estimate.at(key), compiled.at(key)) << key;
}

TEST_F(Program, ModelThatDoesNotFitIsToldWhichMemoryAndWhatWouldDo) {
  ::setenv("LARGE", model("q6_k").c_str(), 1);
  std::ofstream(place() / "small.json")
      << R"({"lanes":8,"column_groups":1,"clock_mhz":100,"lane_words":2048,"has_minimum":false})";
  const Outcome outcome = lpu("estimate $LARGE --hardware $D/small.json --context 64 --json");
  EXPECT_EQ(outcome.code, 4);
  EXPECT_EQ(outcome.json().at("fits"), false);
  EXPECT_FALSE(outcome.json().at("misfits").empty());
  EXPECT_THAT(outcome.err, HasSubstr("lane"));
  expect_refused("compile $LARGE --hardware $D/small.json --context 64 -o $D/misfit", 4, {"small.json", "lane memory"});
  EXPECT_FALSE(std::filesystem::exists(place() / "misfit"));
}

TEST_F(Program, RefusalBeforeTheTableIsAnObject) {
  std::ofstream(place() / "sums.json") << R"({"lanes":2,"column_groups":1,"clock_mhz":100,"lane_words":200000,)"
                                          R"("exponent_words":200000,"accumulator_entries":8})";
  for (const char* command : {"estimate $M --hardware $D/sums.json --context 64",
                              "compile $M --hardware $D/sums.json --context 64 -o $D/sums"})
    expect_refused(command, 4, {"accumulator_entries"});
  // The word as another option's value asks for no object; one that follows an error on the command line does.
  EXPECT_EQ(lpu("run $D/none --prompt --json").out, "");
  EXPECT_EQ(lpu("run --nonsense --json").json().at("exit_code"), 2);
  EXPECT_EQ(lpu("chat $D/none --json").out, "");
}

TEST_F(Program, ContextBeyondTheModelsIsRefused) {
  expect_refused("compile $M --hardware tiny --context 5000 -o $D/x", 4, {"5000"});
  EXPECT_FALSE(std::filesystem::exists(place() / "x"));
}

TEST_F(Program, UnknownHardwareListsTheNames) {
  expect_refused("estimate $M --hardware u999 --context 64", 2, {"u999", "u55c", "virtual"});
}

TEST_F(Program, PlaceThatCannotBeWrittenIsAnErrorOfTheSystem) {
  write_bytes(place() / "file", "x");
  expect_refused("compile $M --hardware tiny --context 64 --quiet -o $D/file/b", 5, {"file/b", "writable"});
  expect_refused("compile $M --hardware tiny --context 64 --quiet -o $D/no/b", 5, {"no/b"});
}

TEST_F(Program, FullDiskLeavesNoHalfBundle) {
  const Outcome outcome =
      shell("ulimit -f 16; " OPENLPU_PROGRAM " compile $M --hardware tiny --context 64 --quiet -o $D/full");
  EXPECT_EQ(outcome.code, 5) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("disk isn't full"));
  for (const auto& entry : std::filesystem::directory_iterator(place()))
    EXPECT_THAT(entry.path().filename().string(), testing::Not(testing::StartsWith("full")));
}

TEST_F(Program, StandardOutputThatIsFullIsAnError) {
  const Outcome outcome = shell(OPENLPU_PROGRAM " inspect $M >/dev/full");
  EXPECT_EQ(outcome.code, 5);
  EXPECT_THAT(outcome.err, HasSubstr("Standard output"));
}

TEST_F(Program, TraceIsJson) {
  const Outcome outcome = lpu("estimate $M --hardware tiny --context 64 --json --trace $D/token.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json trace = nlohmann::json::parse(read_bytes(place() / "token.json"));
  EXPECT_FALSE((trace.is_array() ? trace : trace.at("traceEvents")).empty());
}

}  // namespace
}  // namespace lpu::test
