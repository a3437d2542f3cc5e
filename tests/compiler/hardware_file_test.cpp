// Hardware by name, with another array, and from a file: what is accepted, and the sentence for everything else.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "host/base/error.hpp"
#include "host/compiler/compiler.hpp"

namespace lpu::compiler {
namespace {

/// The sentence and exit code of a name that must be refused.
std::pair<std::string, ExitCode> refusal(const std::string& name) {
  try {
    find_hardware(name);
  } catch (const Error& error) {
    return {error.what(), error.code()};
  }
  return {"accepted", ExitCode::kSuccess};
}

class HardwareFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "openlpu-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& text) const {
    const std::filesystem::path path = folder_ / "board.json";
    std::ofstream(path) << text;
    return path.string();
  }
  std::filesystem::path folder_;
};

TEST(FindHardware, ArrayOverrideChangesTheArrayAndWhatFollows) {
  const contract::HardwareConfig config = find_hardware("virtual:16x2");
  EXPECT_EQ(config.lanes, 16);
  EXPECT_EQ(config.column_groups, 2);
  EXPECT_EQ(config.vector_lanes, contract::default_vector_lanes(16, 2));
  EXPECT_EQ(config.softmax_lanes, contract::default_softmax_lanes(16, 2));
  EXPECT_EQ(config.lane_words, find_hardware("virtual").lane_words);
}

TEST(FindHardware, UnknownNameListsTheNames) {
  const auto [sentence, code] = refusal("u56c");
  EXPECT_EQ(code, ExitCode::kUsage);
  EXPECT_NE(sentence.find("u55c"), std::string::npos) << sentence;
}

TEST(FindHardware, BadArraysAreUsageErrors) {
  for (const char* name :
       {"virtual:", "virtual:16", "virtual:x2", "virtual:16x", "virtual:0x2", "virtual:3x2", "virtual:48x2",
        "virtual:16x0", "virtual:16x999", "virtual:-1x2", "virtual:16x2x2", "virtual:99999999999x1", ":16x2"})
    EXPECT_EQ(refusal(name).second, ExitCode::kUsage) << name;
}

TEST_F(HardwareFile, MinimalFileIsCompletedByDefaults) {
  const contract::HardwareConfig config =
      find_hardware(write(R"({"lanes": 32, "column_groups": 3, "clock_mhz": 200, "lane_words": 2048})"));
  EXPECT_EQ(config.lanes, 32);
  EXPECT_EQ(config.minimum_words, 2048);
  EXPECT_EQ(config.clock_mhz, 200);
  EXPECT_EQ(contract::fault_of(config), nullptr);
}

TEST_F(HardwareFile, EachFaultNamesFileAndField) {
  const struct {
    const char* text;
    const char* names;
    ExitCode code;
  } cases[] = {
      {"{", "not JSON", ExitCode::kBadInput},
      {"[]", "object", ExitCode::kBadInput},
      {R"({"column_groups": 3, "clock_mhz": 200, "lane_words": 2048})", "'lanes' is missing", ExitCode::kBadInput},
      {R"({"lanes": 32, "column_groups": 3, "clock_mhz": 200})", "'lane_words' is missing", ExitCode::kBadInput},
      {R"({"lanes": "32", "column_groups": 3, "clock_mhz": 200, "lane_words": 2048})", "'lanes' must be",
       ExitCode::kBadInput},
      {R"({"lanes": -2, "column_groups": 3, "clock_mhz": 200, "lane_words": 2048})", "'lanes' must be",
       ExitCode::kBadInput},
      {R"({"lanes": 1e30, "column_groups": 3, "clock_mhz": 200, "lane_words": 2048})", "'lanes' must be",
       ExitCode::kBadInput},
      {R"({"lanes": 0, "column_groups": 3, "clock_mhz": 200, "lane_words": 2048})", "lanes", ExitCode::kUsage},
      {R"({"lanes": 32, "column_groups": 0, "clock_mhz": 200, "lane_words": 2048})", "column_groups", ExitCode::kUsage},
      {R"({"lanes": 32, "column_groups": 3, "clock_mhz": 200, "lane_words": 2048, "has_minimum": 1})", "'has_minimum'",
       ExitCode::kBadInput},
      {R"({"lanes": 32, "column_groups": 3, "clock_mhz": 200, "lane_words": 2048, "lines": 1})", "'lines' is unknown",
       ExitCode::kBadInput},
      {R"({"lanes": 32, "column_groups": 3, "clock_mhz": 0, "lane_words": 2048})", "clock_mhz", ExitCode::kUsage},
  };
  for (const auto& test : cases) {
    const auto [sentence, code] = refusal(write(test.text));
    EXPECT_EQ(code, test.code) << test.text;
    EXPECT_NE(sentence.find(test.names), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("board.json"), std::string::npos) << sentence;
  }
}

TEST_F(HardwareFile, MissingFileIsAnErrorOfTheSystem) {
  EXPECT_EQ(refusal((folder_ / "absent.json").string()).second, ExitCode::kIo);
}

}  // namespace
}  // namespace lpu::compiler
