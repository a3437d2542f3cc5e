// See trace.hpp; the format is Chrome's trace-event JSON, which Perfetto opens.
#include "host/compiler/trace.hpp"

#include <nlohmann/json.hpp>

#include "host/base/atomic_file.hpp"
#include "host/compiler/operation.hpp"

namespace lpu::compiler {

void write_token_trace(const Schedule& schedule, const Layout& layout, std::uint32_t position,
                       const std::filesystem::path& file) {
  const std::uint32_t blocks = position / contract::kBlockValues + 1;
  const TokenTiming timing = time_token(schedule, layout, blocks);
  const Places places(layout);
  nlohmann::ordered_json events = nlohmann::ordered_json::array();
  const char* units[] = {"MVU (products)", "VPU (vector chains)", "SMX (softmax)"};
  events.push_back({{"ph", "M"}, {"pid", 0}, {"name", "process_name"}, {"args", {{"name", "card, 1 us = 1 cycle"}}}});
  for (int unit = 0; unit < contract::kUnits; ++unit)
    events.push_back(
        {{"ph", "M"}, {"pid", 0}, {"tid", unit}, {"name", "thread_name"}, {"args", {{"name", units[unit]}}}});
  for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
    const Stage& stage = schedule.stages[s];
    for (std::size_t k = 0; k < timing.issue[s].size(); ++k)
      for (std::size_t i = 0; i < stage.operations.size(); ++i) {
        const Operation& op = stage.operations[i];
        const Footprint footprint = footprint_of(op.instruction, layout, places, blocks);
        const std::string where = stage.is_layer ? "layer " + std::to_string(stage.first_layer + k) + " " : "";
        nlohmann::ordered_json args = {{"operation", i}, {"result_ready", timing.issue[s][k][i] + footprint.end}};
        if (op.instruction.opcode() == contract::Opcode::kMatvec) {
          const MatvecExtent extent = extent_of(op.instruction.matvec, layout.geometry, blocks);
          args["row_groups"] = extent.row_groups;
          args["column_sets"] = extent.column_sets;
          args["order"] = op.instruction.matvec.row_major != 0 ? "row-major" : "column-major";
        }
        events.push_back({{"ph", "X"},
                          {"pid", 0},
                          {"tid", static_cast<int>(footprint.unit)},
                          {"name", where + op.name},
                          {"ts", timing.issue[s][k][i]},
                          {"dur", footprint.occupied},
                          {"args", args}});
      }
  }
  const nlohmann::ordered_json trace = {{"displayTimeUnit", "ns"}, {"traceEvents", events}};
  const std::string text = trace.dump();
  write_atomically(file, bytes_of(text));
}

}  // namespace lpu::compiler
