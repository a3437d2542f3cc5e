// Runs the built program as a user would and keeps what it says. Relies on a POSIX shell.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "tests/bundle/small_bundle.hpp"
#include "tests/support/test_models.hpp"

namespace lpu::test {

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// Tests share a place of their own, in which `$B` is a bundle of the random model `$M` for `tiny`, context 64.
class Program : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    place_ = new TemporaryPlace;
    ::setenv("M", model("tied_q4_1").c_str(), 1);
    ::setenv("B", (place_->path() / "b").c_str(), 1);
    ::setenv("D", place_->path().c_str(), 1);
    const Outcome compiled = lpu("compile $M --hardware tiny --context 64 -o $B --quiet");
    ASSERT_EQ(compiled.code, 0) << compiled.err;
  }
  static void TearDownTestSuite() {
    delete place_;
    place_ = nullptr;
  }

  static Outcome shell(const std::string& command) {
    const auto path = [](const char* name) { return place_->path() / name; };
    const std::string whole =
        "( " + command + " ) >" + path("stdout").string() + " 2>" + path("stderr").string() + " </dev/null";
    const int status = std::system(whole.c_str());
    Outcome outcome;
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    outcome.out = read_bytes(path("stdout"));
    // Progress comes after two seconds: whether it does is the machine's business, not a test's.
    static const std::regex kProgress("[^\n]* [0-9]+ % \\([0-9]+ s\\)\n");
    outcome.err = std::regex_replace(read_bytes(path("stderr")), kProgress, "");
    return outcome;
  }
  static Outcome lpu(const std::string& arguments) { return shell(OPENLPU_PROGRAM " " + arguments); }

  /// Refused with this code and one sentence on standard error, and nothing on standard output; with --json, where the
  /// command has it, the same as one object.
  static void expect_refused(const std::string& arguments, int code, std::initializer_list<std::string> parts) {
    const Outcome outcome = lpu(arguments);
    EXPECT_EQ(outcome.code, code) << arguments << "\n" << outcome.err;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_THAT(outcome.err, testing::StartsWith("lpu: ")) << arguments;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    for (const std::string& part : parts) EXPECT_THAT(outcome.err, testing::HasSubstr(part)) << arguments;
    static const std::regex kHasJson("(inspect|compile|estimate|run|evaluate|cosim)( .*)?");
    if (!std::regex_match(arguments, kHasJson)) return;
    const Outcome json = lpu(arguments + " --json");
    EXPECT_EQ(json.code, code) << arguments;
    const nlohmann::json object = nlohmann::json::parse(json.out, nullptr, false);
    ASSERT_TRUE(object.is_object()) << arguments << "\n" << json.out;
    EXPECT_EQ(object.size(), 2u) << object;
    EXPECT_EQ(object.value("exit_code", -1), code) << arguments;
    EXPECT_EQ("lpu: " + object.value("error", "") + "\n", json.err) << arguments;
  }
  static const std::filesystem::path& place() { return place_->path(); }

 private:
  static inline TemporaryPlace* place_ = nullptr;
};

}  // namespace lpu::test
