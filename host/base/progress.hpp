// A line on standard error for whatever takes longer than two seconds, so that nobody wonders whether it still works.
// On a terminal the line is rewritten in place and wiped at the end; elsewhere a new line comes now and then.
// Relies on nothing but a clock.
#pragma once

#include <chrono>
#include <string>

namespace lpu {

class Progress {
 public:
  /// enabled: false keeps it silent (--quiet).
  explicit Progress(bool enabled);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// share: 0…1 of `step`. Cheap enough to call for every token.
  void update(const std::string& step, double share);
  /// Wipes the line, before something else is written.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_;
  bool on_terminal_;
  bool line_shown_ = false;
  Clock::time_point begin_;
  Clock::time_point next_;
};

}  // namespace lpu
