// A bundle of a small random model for `tiny` and the rtl card on it. Tests that need the core are skipped, visibly,
// where its library isn't built (scripts/build.sh --target rtl-tiny). Relies on host/compiler.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "host/base/error.hpp"
#include "host/card/card.hpp"
#include "host/compiler/compiler.hpp"
#include "tests/bundle/small_bundle.hpp"
#include "tests/support/test_models.hpp"

namespace lpu::test {

constexpr std::uint32_t kContextTokens = 64;

inline bundle::Bundle compiled(const std::string& name, const std::filesystem::path& folder,
                               const std::string& hardware = "tiny", std::uint32_t kv_bits = 8) {
  compiler::CompileOptions options;
  options.hardware = compiler::find_hardware(hardware);
  options.hardware_name = hardware;
  options.context_tokens = kContextTokens;
  options.kv_bits = kv_bits;
  compiler::compile(*model::Model::open(model(name)), options, folder, std::nullopt);
  return bundle::Bundle::open(folder);
}

inline bool has_rtl(const std::string& name) {
  return std::filesystem::exists(std::filesystem::path(OPENLPU_RTL_FOLDER) / ("liblpu_rtl_" + name + ".so"));
}

/// What `work` throws as lpu::Error; "" when it throws nothing.
template <typename Work>
std::string refusal_of(const Work& work, ExitCode code) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "";
}

class RtlTest : public testing::Test {
 protected:
  void SetUp() override {
    // Another core than the build's own, where the caller names one: scripts/mutate_rtl.sh does.
    static const char* const named = std::getenv("OPENLPU_TESTED_RTL");
    ::setenv("OPENLPU_RTL_PATH", named != nullptr ? named : OPENLPU_RTL_FOLDER, 1);
    if (!has_rtl("tiny")) GTEST_SKIP() << "no RTL model: scripts/build.sh --target rtl-tiny";
  }

  TemporaryPlace place_;
  bundle::Bundle bundle_ = compiled("tied_q4_1", place_.path() / "b");
};

}  // namespace lpu::test
