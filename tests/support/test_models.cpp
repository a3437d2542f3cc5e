// Runs scripts/make_test_model.py; see test_models.hpp. The script writes to a name of this process's own, which is
// then renamed: a reader sees a whole file or none, whoever else makes the same one.
#include "tests/support/test_models.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <vector>

#include "host/base/error.hpp"

extern char** environ;

namespace lpu::test {
namespace {

void run(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  int status = -1;
  const bool started = ::posix_spawn(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) == 0;
  if (!started || ::waitpid(child, &status, 0) != child || status != 0) {
    throw std::runtime_error(fmt::format("failed: {}", fmt::join(words, " ")));
  }
}

}  // namespace

std::filesystem::path model(const std::string& name) {
  const std::filesystem::path script = std::filesystem::path(OPENLPU_SOURCE_DIR) / "scripts/make_test_model.py";
  const std::filesystem::path folder = std::filesystem::path(OPENLPU_BUILD_DIR) / "test_models";
  const std::filesystem::path path = folder / (name + ".gguf");
  std::error_code missing;
  const auto made = std::filesystem::last_write_time(path, missing);
  if (!missing && made > std::filesystem::last_write_time(script)) return path;
  std::filesystem::create_directories(folder);
  const std::filesystem::path own = folder / fmt::format("{}.{}.part", name, ::getpid());
  run({OPENLPU_PYTHON, script.string(), "--name", name, "-o", own.string()});
  std::filesystem::rename(own, path);
  return path;
}

std::optional<std::filesystem::path> smollm2() {
  const std::filesystem::path path =
      std::filesystem::path(OPENLPU_SOURCE_DIR) / "models/SmolLM2-135M-Instruct.Q4_1.gguf";
  return std::filesystem::exists(path) ? std::optional(path) : std::nullopt;
}

}  // namespace lpu::test
