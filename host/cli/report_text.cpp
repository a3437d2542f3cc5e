// See report_text.hpp.
#include "host/cli/report_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "host/base/number_text.hpp"
#include "host/cli/console.hpp"

namespace lpu::cli {
namespace {

/// All causes of idle cycles that any position names, most costly at the last position first.
std::vector<std::string> causes_of(const compiler::Report& report) {
  std::map<std::string, std::uint64_t> last;
  for (const auto& position : report.positions) {
    for (const auto& [cause, cycles] : position.idle_cycles) last[cause] = cycles;
  }
  std::vector<std::string> causes;
  for (const auto& [cause, cycles] : last) causes.push_back(cause);
  std::stable_sort(causes.begin(), causes.end(), [&](const auto& a, const auto& b) { return last[a] > last[b]; });
  return causes;
}

std::string memory_text(const compiler::Report& report) {
  Table table({"memory", "used", "capacity", "used bytes", "capacity bytes", "", "unit"});
  for (const auto& memory : report.memory) {
    const std::string share =
        memory.capacity_depth == 0
            ? ""
            : percent_text(static_cast<double>(memory.used_depth) / static_cast<double>(memory.capacity_depth));
    table.add({"  " + memory.name, grouped_text(memory.used_depth), grouped_text(memory.capacity_depth),
               grouped_text(memory.used_bytes), grouped_text(memory.capacity_bytes),
               memory.fits() ? share : "TOO SMALL", memory.unit});
  }
  return table.text();
}

std::string cycles_text(const compiler::Report& report) {
  std::vector<std::string> header = {"one token, cycles"};
  for (const auto& position : report.positions) header.push_back("at position " + grouped_text(position.position));
  Table table(header);
  const auto line = [&](const std::string& name, const auto& value) {
    std::vector<std::string> row = {name};
    for (const auto& position : report.positions) row.push_back(value(position));
    table.add(row);
  };
  line("  all", [](const auto& p) { return grouped_text(p.cycles); });
  line("  beats (the array multiplies)", [](const auto& p) { return grouped_text(p.beats); });
  line("    of them useful", [](const auto& p) { return fmt::format("{:.1f}", p.useful_beats); });
  line("  prologue (before the first beat)", [](const auto& p) { return grouped_text(p.prologue_cycles); });
  for (const std::string& cause : causes_of(report)) {
    line("  idle: " + cause, [&](const auto& p) {
      const auto found = p.idle_cycles.find(cause);
      return grouped_text(found == p.idle_cycles.end() ? 0 : found->second);
    });
  }
  line("MAC utilisation", [](const auto& p) { return percent_text(p.mac_utilisation); });
  return table.text();
}

std::string encoding_text(const compiler::Report& report) {
  Table table({"tensor type", "tensors", "values", "largest error", "mean error", "held as"});
  for (const auto& error : report.encoding) {
    table.add({"  " + error.tensor_type, grouped_text(error.tensors), grouped_text(error.values),
               error.lossless ? "none" : fmt::format("{:.2e}", error.largest),
               error.lossless ? "none" : fmt::format("{:.2e}", error.mean), error.code});
  }
  return table.text();
}

}  // namespace

std::string report_text(const compiler::Report& report) {
  std::string text = memory_text(report);
  if (!report.positions.empty()) text += "\n" + cycles_text(report);
  if (!report.encoding.empty()) text += "\n" + encoding_text(report);
  text += fmt::format("\n{} cycles a token at the last position = {} at {:.0f} MHz; MAC utilisation {}\n",
                      grouped_text(report.cycles_per_token), seconds_text(report.microseconds_per_token * 1e-6),
                      report.clock_mhz, percent_text(report.mac_utilisation));
  text += fmt::format("{} on the card; program of {} instructions, {}\n", bytes_text(report.resident_bytes),
                      grouped_text(report.instructions), bytes_text(report.program_bytes));
  if (report.seconds > 0)
    text += fmt::format("took {} and at most {} of memory\n", seconds_text(report.seconds),
                        bytes_text(report.peak_memory_bytes));
  return text;
}

}  // namespace lpu::cli
