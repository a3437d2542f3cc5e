// Lines that a person types, with editing and history, or lines of a pipe. Relies on libedit for the former.
#pragma once

#include <optional>
#include <string>

namespace lpu::cli {

class LineReader {
 public:
  LineReader();
  /// The next line without its end; nullopt at the end of the input or after Ctrl-C.
  std::optional<std::string> next(const std::string& prompt);
  [[nodiscard]] bool is_terminal() const { return is_terminal_; }

 private:
  bool is_terminal_;
};

}  // namespace lpu::cli
