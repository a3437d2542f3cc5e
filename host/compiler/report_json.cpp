// See report_json.hpp; keys: docs/json.md.
#include "host/compiler/report_json.hpp"

#include <nlohmann/json.hpp>

namespace lpu::compiler {

std::string report_json(const Report& report) {
  nlohmann::ordered_json out;
  out["fits"] = report.fits;
  out["misfits"] = report.misfits;
  out["cycles_per_token"] = report.cycles_per_token;
  out["microseconds_per_token"] = report.microseconds_per_token;
  out["clock_mhz"] = report.clock_mhz;
  out["useful_beats"] = report.useful_beats;
  out["mac_utilisation"] = report.mac_utilisation;
  out["cycles_by_position"] = nlohmann::ordered_json::array();
  for (const PositionCycles& p : report.positions)
    out["cycles_by_position"].push_back({{"position", p.position},
                                         {"cycles", p.cycles},
                                         {"beats", p.beats},
                                         {"prologue_cycles", p.prologue_cycles},
                                         {"idle_cycles", p.idle_cycles},
                                         {"useful_beats", p.useful_beats},
                                         {"mac_utilisation", p.mac_utilisation}});
  out["idle_cycles"] =
      report.positions.empty() ? std::map<std::string, std::uint64_t>{} : report.positions.back().idle_cycles;
  out["prologue_cycles"] = report.positions.empty() ? 0 : report.positions.back().prologue_cycles;
  for (const MemoryUse& m : report.memory)
    out["memory"][m.name] = {{"unit", m.unit},
                             {"used_depth", m.used_depth},
                             {"capacity_depth", m.capacity_depth},
                             {"used_bytes", m.used_bytes},
                             {"capacity_bytes", m.capacity_bytes}};
  out["resident_bytes"] = report.resident_bytes;
  out["program_bytes"] = report.program_bytes;
  out["instructions"] = report.instructions;
  if (!report.encoding.empty()) {
    out["encoding"] = nlohmann::ordered_json::array();
    for (const EncodingError& e : report.encoding)
      out["encoding"].push_back({{"tensor_type", e.tensor_type},
                                 {"code", e.code},
                                 {"tensors", e.tensors},
                                 {"values", e.values},
                                 {"largest_error", e.largest},
                                 {"mean_error", e.mean},
                                 {"lossless", e.lossless}});
  }
  if (report.seconds > 0) {
    out["seconds"] = report.seconds;
    out["peak_memory_bytes"] = report.peak_memory_bytes;
  }
  return out.dump(2);
}

}  // namespace lpu::compiler
