// Models for tests: small random ones that scripts/make_test_model.py makes on first use (`--list` names them), and
// SmolLM2 where somebody has put it into models/. Relies on a Python interpreter, found at configure time.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace lpu::test {

/// The random model of this name; made in the build folder unless it is there and newer than the script. Safe to call
/// from several processes at once. Throws std::runtime_error when the script fails.
std::filesystem::path model(const std::string& name);

/// models/SmolLM2-135M-Instruct.Q4_1.gguf in the source folder; nullopt when it isn't there: the test must GTEST_SKIP.
std::optional<std::filesystem::path> smollm2();

}  // namespace lpu::test
