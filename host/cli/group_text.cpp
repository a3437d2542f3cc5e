// See group_text.hpp.
#include "host/cli/group_text.hpp"

#include <fmt/format.h>

#include <vector>

#include "host/base/number_text.hpp"
#include "host/cli/console.hpp"

namespace lpu::cli {
namespace {

using compiler::GroupReport;

std::string range_text(std::uint64_t first, std::uint64_t count) {
  return count == 0 ? "none" : fmt::format("{} to {}", first, first + count - 1);
}

std::string shares_text(const GroupReport& report) {
  Table table({"card", "layers", "ids of embedding and head", "lane memory", "minimum memory"});
  for (std::size_t k = 0; k < report.cards.size(); ++k) {
    const compiler::GroupCardReport& card = report.cards[k];
    const auto use = [&](std::string_view name) -> std::string {
      for (const compiler::MemoryUse& m : card.memory)
        if (m.name == name && m.capacity_depth != 0)
          return m.fits() ? percent_text(static_cast<double>(m.used_depth) / static_cast<double>(m.capacity_depth))
                          : "TOO SMALL";
      return "none";
    };
    table.add({fmt::format("  {} ({})", k, card.hardware), range_text(card.share.first_layer, card.share.layers),
               range_text(card.share.first_id, card.share.ids), use("lane"), use("minimum")});
  }
  return table.text();
}

std::string cycles_text(const GroupReport& report) {
  std::vector<std::string> header = {"one token, cycles"};
  for (const auto& position : report.positions) header.push_back("at position " + grouped_text(position.position));
  Table table(header);
  const auto line = [&](const std::string& name, const auto& value) {
    std::vector<std::string> row = {name};
    for (const auto& position : report.positions) row.push_back(grouped_text(value(position)));
    table.add(row);
  };
  line("  all, links included", [](const auto& p) { return p.cycles; });
  for (std::size_t k = 0; k < report.cards.size(); ++k) {
    line(fmt::format("  card {}: layers from cycle", k), [&](const auto& p) { return p.cards[k].layers_start; });
    line("    for", [&](const auto& p) { return p.cards[k].layers; });
    line("    head from cycle", [&](const auto& p) { return p.cards[k].head_start; });
    line("    for", [&](const auto& p) { return p.cards[k].head; });
  }
  line("  from one prompt token to the next", [](const auto& p) { return p.prompt_cycles; });
  return table.text();
}

std::string alternatives_text(const GroupReport& report) {
  Table table({"split", "cycles a token", ""});
  for (const compiler::Alternative& a : report.alternatives)
    table.add({"  " + a.what, a.cycles == 0 ? "doesn't fit" : grouped_text(a.cycles), a.chosen ? "chosen" : ""});
  return table.text();
}

}  // namespace

std::string group_text(const GroupReport& report) {
  std::string text = shares_text(report) + "\n" + cycles_text(report);
  if (!report.alternatives.empty()) text += "\n" + alternatives_text(report);
  const double seconds = static_cast<double>(report.cycles_per_token) / (report.clock_mhz * 1e6);
  text += fmt::format("\n{} cycles a token at the last position = {} at {:.0f} MHz; {} on {} cards\n",
                      grouped_text(report.cycles_per_token), seconds_text(seconds), report.clock_mhz,
                      bytes_text(report.resident_bytes), report.cards.size());
  if (report.seconds > 0) text += fmt::format("took {}\n", seconds_text(report.seconds));
  return text;
}

}  // namespace lpu::cli
