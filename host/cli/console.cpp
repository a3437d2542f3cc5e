// See console.hpp.
#include "host/cli/console.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "host/base/error.hpp"

namespace lpu::cli {
namespace {

volatile sig_atomic_t interrupted = 0;

extern "C" void on_interrupt(int) {
  if (interrupted != 0) ::_exit(static_cast<int>(ExitCode::kInterrupted));
  interrupted = 1;
}

/// Characters on a screen: all bytes but those that continue a UTF-8 character.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

void put_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    fail(ExitCode::kIo, "Standard output cannot be written: {}.", std::strerror(errno));
}

std::string json_text(const Json& value) { return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

void put_json(const Json& value) { put_out(json_text(value)); }

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;  // without SA_RESTART: a read of the next line is given up
  ::sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

bool was_interrupted() { return interrupted != 0; }

void forget_interrupt() { interrupted = 0; }

void throw_if_interrupted() {
  if (was_interrupted()) fail(ExitCode::kInterrupted, "Interrupted; nothing was written.");
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - width_of(row[i]), ' ');
      line += i == 0 ? row[i] + space : "  " + space + row[i];
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

}  // namespace lpu::cli
