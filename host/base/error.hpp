// The one exception type of the host side: a sentence for a person, and the exit code that the program ends with.
// Relies on nothing. Every message says what is wrong, where (file, field, offset), and what to do.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace lpu {

/// Exit codes of the `lpu` program; documented in README.md and `lpu --help`.
enum class ExitCode : int {
  kSuccess = 0,
  kInternal = 1,      ///< a defect of ours
  kUsage = 2,         ///< wrong command line
  kBadInput = 3,      ///< a file or a text that can't be used: damaged, unsupported, not UTF-8
  kDoesNotFit = 4,    ///< model, context or prompt too large for the hardware or the model
  kIo = 5,            ///< the system refused: unwritable folder, full disk, missing file or RTL model
  kCard = 6,          ///< the card stopped with an error (hazard, saturation, stale contract)
  kInterrupted = 130  ///< Ctrl-C
};

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}
  [[nodiscard]] ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// Throws an Error whose sentence is formatted by fmt.
template <typename... Args>
[[noreturn]] void fail(ExitCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace lpu
