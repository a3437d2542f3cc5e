// See line_reader.hpp.
#include "host/cli/line_reader.hpp"

#include <editline/readline.h>
#include <langinfo.h>
#include <unistd.h>

#include <clocale>
#include <cstdlib>
#include <iostream>

namespace lpu::cli {

LineReader::LineReader() : is_terminal_(::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1) {
  // libedit reads characters of the locale: without UTF-8 it would drop whatever isn't ASCII.
  std::setlocale(LC_CTYPE, "");
  if (std::string(::nl_langinfo(CODESET)) != "UTF-8") std::setlocale(LC_CTYPE, "C.UTF-8");
}

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
