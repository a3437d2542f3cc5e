// Draws a benchmark as an SVG picture by gnuplot (Debian's gnuplot-nox): speed over position, and how the latencies are
// spread. Why gnuplot: it is one program with four packages beside this project's, and needs nothing at build time;
// where it is absent, only --plot is. Relies on host/base/atomic_file.hpp and the system's processes.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace lpu::bench {

struct Series {
  std::string name;
  bool is_line = true;  ///< else points
  std::vector<std::pair<double, double>> points;
};

struct Plot {
  std::string title;
  std::vector<Series> speed;      ///< (position, tokens/s)
  std::vector<Series> latencies;  ///< (index into kPercentileNames, milliseconds); drawn on a logarithmic scale
};

inline constexpr const char* kPercentileNames[] = {"p50", "p90", "p99", "p99.9", "max"};

/// Error(kIo), which says how to get it, where there is no gnuplot.
void require_gnuplot();

/// The picture. Error(kIo) with gnuplot's words when it fails.
std::string draw_svg(const Plot& plot);

}  // namespace lpu::bench
