// `lpu bench` from the outside: the tiny model on `tiny`, alone and beside a server. Relies on
// tests/system/program.hpp.
#include "tests/system/program.hpp"

#include <cmath>

#include "host/bench/plot.hpp"
#include "tests/bench/stream_server.hpp"

namespace lpu::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class BenchProgram : public Program {
 protected:
  /// `$T` is a bundle of the tiny model, context 128.
  static void SetUpTestSuite() {
    Program::SetUpTestSuite();
    ::setenv("T", (place() / "tiny").c_str(), 1);
    const Outcome compiled = lpu("compile " OPENLPU_TINY_MODEL " --hardware tiny --context 128 -o $T --quiet");
    ASSERT_EQ(compiled.code, 0) << compiled.err;
  }
};

constexpr const char* kSmall = "bench $T --prompt-tokens 20 --prompt-deviation 4 --output-tokens 12 ";

/// Without what a clock on the wall, or this process's memory, says.
nlohmann::json of_the_card(nlohmann::json json) {
  for (const char* key : {"wall", "process_resident_bytes", "process_peak_bytes"}) json.erase(key);
  for (auto& run : json.at("runs")) run.erase("wall");
  return json;
}

TEST_F(BenchProgram, ThreeSessionsHaveTheDocumentedKeys) {
  const Outcome outcome = lpu(kSmall + std::string("--sessions 3 --requests 5 --json"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const nlohmann::json json = outcome.json();
  EXPECT_EQ(json.at("task"), "llmperf");
  EXPECT_EQ(json.at("sessions"), 3);
  EXPECT_EQ(json.at("requests"), 5);
  EXPECT_EQ(json.at("admitted"), 5);
  EXPECT_EQ(json.at("refused").size(), 0u);
  EXPECT_EQ(json.at("slots"), 1);
  EXPECT_EQ(json.at("queued"), 4);
  EXPECT_EQ(json.at("most_waiting"), 2);
  EXPECT_EQ(json.at("jitter_cycles"), 0);
  EXPECT_EQ(json.at("card").at("jitter_s"), 0);
  EXPECT_EQ(json.at("runs").size(), 5u);
  for (const char* clock : {"card", "wall"}) {
    const auto& figures = json.at(clock);
    for (const char* key : {"ttft_s", "tpot_s", "decode_tokens_per_s", "e2e_tokens_per_s", "total_tokens_per_s",
                            "queries_per_minute", "seconds"})
      EXPECT_GT(figures.at(key).get<double>(), 0) << clock << " " << key;
    EXPECT_EQ(figures.at("output_tokens"), 60);
    for (const char* key : {"ttft_s", "ttft_without_waiting_s", "tpot_s", "inter_token_s", "e2e_s"}) {
      const auto& spread = figures.at("percentiles").at(key);
      EXPECT_LE(spread.at("p50"), spread.at("p90")) << key;
      EXPECT_LE(spread.at("p90"), spread.at("p99")) << key;
      EXPECT_LE(spread.at("p99"), spread.at("p99_9")) << key;
      EXPECT_LE(spread.at("p99_9"), spread.at("max")) << key;
    }
    EXPECT_EQ(figures.at("percentiles").at("inter_token_s").at("count"), 55);
    EXPECT_GE(figures.at("percentiles").at("e2e_tokens_per_s").at("p50"),
              figures.at("percentiles").at("e2e_tokens_per_s").at("min"));
  }
}

TEST_F(BenchProgram, CardTimeIsTheCyclesOfAllRequestsInTurn) {
  const nlohmann::json json = lpu(kSmall + std::string("--sessions 3 --requests 5 --json")).json();
  std::uint64_t cycles = 0;
  double last_arrival_s = -1;
  for (const auto& run : json.at("runs")) {
    EXPECT_EQ(run.at("predicted_cycles"), run.at("measured_cycles"));
    EXPECT_DOUBLE_EQ(run.at("card").at("start_s"), static_cast<double>(cycles) / 100e6);
    cycles += run.at("measured_cycles").get<std::uint64_t>();
    EXPECT_DOUBLE_EQ(run.at("card").at("last_token_s"), static_cast<double>(cycles) / 100e6);
    EXPECT_GE(run.at("card").at("arrival_s"), last_arrival_s);
    last_arrival_s = run.at("card").at("arrival_s");
  }
  EXPECT_DOUBLE_EQ(json.at("card").at("seconds"), static_cast<double>(cycles) / 100e6);
  EXPECT_DOUBLE_EQ(json.at("card").at("total_tokens_per_s"), 60 / (static_cast<double>(cycles) / 100e6));
  EXPECT_EQ(json.at("decay").at("predicted_share"), json.at("decay").at("measured_share"));
  for (const auto& speed : json.at("speed_by_position"))
    EXPECT_EQ(speed.at("predicted_cycles"), speed.at("measured_cycles"));
}

TEST_F(BenchProgram, TwoRunsHaveTheSameCardTime) {
  const std::string command = kSmall + std::string("--sessions 3 --requests 4 --temperature 0.8 --json ");
  const nlohmann::json once = of_the_card(lpu(command + "--threads 1").json());
  EXPECT_EQ(once, of_the_card(lpu(command + "--threads 2").json()));
  EXPECT_NE(once, of_the_card(lpu(command + "--seed 2").json()));
}

TEST_F(BenchProgram, TableHasEveryFigure) {
  const Outcome outcome = lpu(kSmall + std::string("--sessions 2"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* part : {"admitted 2, refused 0", "1 waited, at most 1 at once", "card time (tiny at 100 MHz)",
                           "wall time (golden)", "TTFT", "without waiting", "TPOT", "e2e", "p99.9", "decode tokens/s",
                           "queries a minute", "jitter: measured - predicted, max - min", "of position 0"})
    EXPECT_THAT(outcome.out, HasSubstr(part));
}

TEST_F(BenchProgram, RequestsThatDoNotFitAreRefusedAndTheOthersRun) {
  const nlohmann::json json =
      lpu("bench $T --prompt-tokens 100 --prompt-deviation 30 --output-tokens 10 --requests 8 --json").json();
  EXPECT_GT(json.at("admitted"), 0);
  EXPECT_GT(json.at("refused").size(), 0u);
  EXPECT_EQ(json.at("admitted").get<std::size_t>() + json.at("refused").size(), 8u);
  EXPECT_EQ(json.at("runs").size(), json.at("admitted"));
  EXPECT_THAT(json.at("refused").at(0).at("why").get<std::string>(), HasSubstr("the bundle's holds 128"));
  for (const auto& run : json.at("runs")) EXPECT_LE(run.at("prompt_tokens"), 119);
}

TEST_F(BenchProgram, ContextTooSmallForAllIsExitCodeFour) {
  expect_refused("bench $T", 4, {"No request of 1 fits", "150 out", "holds 128", "--context"});
  expect_refused("bench $T --task long", 4, {"1000 out", "holds 128"});
}

TEST_F(BenchProgram, OptionsOutOfRangeAreRefused) {
  expect_refused("bench $T --task short", 2, {"short", "llmperf"});
  for (const std::string option : {"--sessions 0", "--sessions 11", "--requests 0", "--output-tokens 0",
                                   "--prompt-tokens -1", "--interval-s -1", "--timeout-s 0", "--temperature -1"})
    expect_refused("bench $T " + option, 2, {});
  expect_refused("bench $T --endpoint-only", 2, {"--endpoint URL"});
  expect_refused("bench $T --endpoint nonsense", 2, {"nonsense"});
  expect_refused(std::string(kSmall) + "--endpoint http://127.0.0.1:9 --api-key-env NO_SUCH_KEY", 2, {"NO_SUCH_KEY"});
}

TEST_F(BenchProgram, ServerStandsInTheSameTable) {
  StreamServer server(answer_well);
  const std::string command = kSmall + std::string("--sessions 2 --requests 3 --endpoint ") + server.url();
  const nlohmann::json json = lpu(command + " --endpoint-model theirs --json").json();
  EXPECT_EQ(json.at("endpoint_model"), "theirs");
  ASSERT_EQ(json.at("endpoint_runs").size(), 3u);
  EXPECT_EQ(json.at("endpoint_runs").at(0).at("counted_by"), "server");
  EXPECT_EQ(json.at("endpoint").at("output_tokens"), 36);
  EXPECT_EQ(json.at("runs").size(), 3u);
  EXPECT_EQ(server.bodies().size(), 3u);
  const Outcome table = lpu(command);
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("wall time (" + server.url() + ")"));
  const nlohmann::json alone = lpu(command + " --endpoint-only --json").json();
  EXPECT_FALSE(alone.contains("card"));
  EXPECT_EQ(alone.at("endpoint").at("requests"), 3);
}

TEST_F(BenchProgram, ServerThatFailsIsOneSentenceAndAnExitCode) {
  const auto refused = [](StreamServer::Answer answer, int code, const std::string& part) {
    StreamServer server(std::move(answer));
    expect_refused(kSmall + std::string("--endpoint ") + server.url(), code, {part});
  };
  refused(answer_with(404, "application/json", R"({"error":{"message":"no such model"}})"), 5, "no such model");
  refused(answer_with(200, "text/event-stream", "data: {}\n\n"), 3, "without choices");
  refused(answer_with(200, "text/event-stream", "data: {\"choices\":[{\"text\":\"a\"}]}\n\n"), 5,
          "ended an answer early");
  expect_refused(kSmall + std::string("--endpoint http://127.0.0.1:1"), 5, {"is the server running"});
}

TEST_F(BenchProgram, PlotIsAnSvgPicture) {
  if (shell("command -v gnuplot").code != 0) GTEST_SKIP() << "gnuplot isn't installed (apt-get install gnuplot-nox)";
  const Outcome outcome = lpu(kSmall + std::string("--sessions 3 --plot $D/bench.svg"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string svg = read_bytes(place() / "bench.svg");
  EXPECT_THAT(svg, StartsWith("<?xml"));
  for (const char* part : {"</svg>", "predicted, tiny", "measured, card time", "p99.9", "decode tokens/s"})
    EXPECT_THAT(svg, HasSubstr(part));
  expect_refused(kSmall + std::string("--plot $D/none/bench.svg"), 5, {"none"});
}

TEST_F(BenchProgram, PlotWithoutGnuplotSaysHowToGetIt) {
  const Outcome outcome = shell("PATH=/nowhere " OPENLPU_PROGRAM " " + std::string(kSmall) + "--plot $D/never.svg");
  EXPECT_EQ(outcome.code, 5);
  EXPECT_THAT(outcome.err, HasSubstr("apt-get install gnuplot-nox"));
  EXPECT_FALSE(std::filesystem::exists(place() / "never.svg"));
}

TEST(Plot, TitleCannotBecomeACommand) {
  if (std::system("command -v gnuplot >/dev/null") != 0) GTEST_SKIP() << "gnuplot isn't installed";
  bench::Plot plot;
  plot.title = "a\" ; system('exit 1') #`id`\n\\";
  plot.speed = {{"s", true, {{0, 1}, {1, 2}}}};
  EXPECT_THAT(bench::draw_svg(plot), HasSubstr("system"));
}

}  // namespace
}  // namespace lpu::test
