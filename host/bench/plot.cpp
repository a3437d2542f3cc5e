// See plot.hpp.
#include "host/bench/plot.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "host/base/error.hpp"

extern char** environ;

namespace lpu::bench {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

constexpr int kDrawSeconds = 60;

File temporary_file() {
  File file(std::tmpfile(), std::fclose);
  if (!file) fail(ExitCode::kIo, "No temporary file can be made for the plot; is the disk full?");
  return file;
}

std::string content_of(std::FILE* file) {
  std::rewind(file);
  std::string text;
  char buffer[4096];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, got);
  return text;
}

/// Between double quotes gnuplot reads escapes: only letters, digits and plain marks get there.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const bool is_plain = (c >= ' ' && c <= '~') && c != '"' && c != '\\' && c != '`' && c != '%' && c != '$';
    result += is_plain ? c : ' ';
  }
  return result + "\"";
}

std::string block_name(const char* panel, std::size_t index) { return fmt::format("${}_{}", panel, index); }

void add_blocks(std::string& script, const char* panel, const std::vector<Series>& series) {
  for (std::size_t i = 0; i < series.size(); ++i) {
    script += fmt::format("{} << EOD\n", block_name(panel, i));
    for (const auto& [x, y] : series[i].points) script += fmt::format("{} {}\n", x, y);
    script += "EOD\n";
  }
}

void add_panel(std::string& script, const char* panel, const std::vector<Series>& series, const char* line_style) {
  const char* separator = "plot ";
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (series[i].points.empty()) continue;
    script += fmt::format("{}{} using 1:2 with {} lc {} title {}", separator, block_name(panel, i),
                          series[i].is_line ? line_style : "points pt 7 ps 0.4", i + 1, quoted(series[i].name));
    separator = ", \\\n  ";
  }
  if (*separator == 'p') script += "set xrange [0:1]\nset yrange [1:10]\nplot 1 notitle";
  script += "\n";
}

std::string script_of(const Plot& plot) {
  std::string script =
      "set terminal svg size 1200,560 dynamic font 'sans-serif,13' background 'white' noenhanced\n"
      "set encoding utf8\n";
  add_blocks(script, "speed", plot.speed);
  add_blocks(script, "latency", plot.latencies);
  script += fmt::format("set multiplot layout 1,2 title {}\n", quoted(plot.title));
  script +=
      "set grid\nset xlabel 'position in the context'\nset ylabel 'decode tokens/s, one user'\n"
      "set yrange [0:*]\nset key below vertical maxcols 1 left reverse Left\n";
  add_panel(script, "speed", plot.speed, "lines lw 2");
  script += "set xlabel 'percentile (nearest rank)'\nset ylabel 'milliseconds'\nset yrange [*:*]\nset logscale y\n";
  script += "set xrange [-0.3:4.3]\nset xtics (";
  for (std::size_t i = 0; i < std::size(kPercentileNames); ++i)
    script += fmt::format("{}'{}' {}", i == 0 ? "" : ", ", kPercentileNames[i], i);
  script += ")\n";
  add_panel(script, "latency", plot.latencies, "linespoints lw 2 pt 7 ps 0.6");
  return script + "unset multiplot\n";
}

/// Exit status of gnuplot; 127 where there is none. It gets `kDrawSeconds` of processor time.
int run_gnuplot(const std::vector<const char*>& arguments, int in, int out, int err) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out, 1);
  ::posix_spawn_file_actions_adddup2(&actions, err, 2);
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (const char* argument : arguments) words.push_back(const_cast<char*>(argument));
  words.push_back(nullptr);
  pid_t child = 0;
  const int failure = ::posix_spawnp(&child, words.front(), &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) return 127;
  for (int tenths = 0; tenths < 10 * kDrawSeconds; ++tenths) {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    ::usleep(tenths == 0 ? 20'000 : 100'000);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  fail(ExitCode::kIo, "gnuplot didn't finish the plot within {} s.", kDrawSeconds);
}

}  // namespace

void require_gnuplot() {
  const File nothing = temporary_file();
  const int descriptor = ::fileno(nothing.get());
  if (run_gnuplot({"gnuplot", "--version"}, descriptor, descriptor, descriptor) != 0)
    fail(ExitCode::kIo,
         "--plot needs gnuplot, which isn't here; install it (apt-get install gnuplot-nox), or leave --plot "
         "out.");
}

std::string draw_svg(const Plot& plot) {
  const File script = temporary_file();
  const File picture = temporary_file();
  const File complaints = temporary_file();
  const std::string text = script_of(plot);
  if (std::fwrite(text.data(), 1, text.size(), script.get()) != text.size() || std::fflush(script.get()) != 0)
    fail(ExitCode::kIo, "The plot's temporary file can't be written; is the disk full?");
  std::rewind(script.get());
  const int status =
      run_gnuplot({"gnuplot", "-d", "-"}, ::fileno(script.get()), ::fileno(picture.get()), ::fileno(complaints.get()));
  std::string svg = content_of(picture.get());
  if (status != 0 || svg.find("<svg") == std::string::npos || svg.find("</svg>") == std::string::npos) {
    std::string words = content_of(complaints.get());
    std::replace_if(
        words.begin(), words.end(), [](char c) { return c < ' ' || c > '~'; }, ' ');
    fail(ExitCode::kIo, "gnuplot couldn't draw the plot (exit code {}): {}", status, words.substr(0, 200));
  }
  return svg;
}

}  // namespace lpu::bench
