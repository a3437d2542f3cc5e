// See progress.hpp.
#include "host/base/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace lpu {
namespace {

using namespace std::chrono_literals;

constexpr auto kSilence = 2s;  // what is done sooner needs no progress
constexpr auto kTerminalInterval = 100ms;
constexpr auto kLogInterval = 5s;

}  // namespace

Progress::Progress(bool enabled)
    : enabled_(enabled), on_terminal_(::isatty(STDERR_FILENO) == 1), begin_(Clock::now()), next_(begin_ + kSilence) {}

Progress::~Progress() { clear(); }

void Progress::update(const std::string& step, double share) {
  if (!enabled_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  const double percent = std::clamp(share, 0.0, 1.0) * 100;
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  std::fputs(fmt::format("{}{} {:.0f} % ({:.0f} s){}", on_terminal_ ? "\r\x1b[K" : "", step, percent, seconds,
                         on_terminal_ ? "" : "\n")
                 .c_str(),
             stderr);
  std::fflush(stderr);
  line_shown_ = on_terminal_;
  next_ = now + (on_terminal_ ? std::chrono::duration_cast<Clock::duration>(kTerminalInterval) : kLogInterval);
}

void Progress::clear() {
  if (!line_shown_) return;
  std::fputs(fmt::format("\r\x1b[K").c_str(), stderr);
  std::fflush(stderr);
  line_shown_ = false;
}

}  // namespace lpu
