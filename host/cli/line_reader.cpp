// See line_reader.hpp.
#include "host/cli/line_reader.hpp"

#include <editline/readline.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

namespace lpu::cli {

LineReader::LineReader() : is_terminal_(::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1) {}

std::optional<std::string> LineReader::next(const std::string& prompt) {
  std::string line;
  if (!is_terminal_) {
    if (!std::getline(std::cin, line)) return std::nullopt;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    return line;
  }
  char* typed = ::readline(prompt.c_str());
  if (typed == nullptr) return std::nullopt;
  line = typed;
  std::free(typed);
  if (!line.empty()) ::add_history(line.c_str());
  return line;
}

}  // namespace lpu::cli
