// See group_report.hpp.
#include "host/compiler/group_report.hpp"

#include <nlohmann/json.hpp>

namespace lpu::compiler {

std::string group_report_json(const GroupReport& report) {
  using Json = nlohmann::ordered_json;
  Json out;
  out["fits"] = report.fits;
  out["misfits"] = report.misfits;
  out["cycles_per_token"] = report.cycles_per_token;
  out["microseconds_per_token"] = static_cast<double>(report.cycles_per_token) / report.clock_mhz;
  out["clock_mhz"] = report.clock_mhz;
  out["resident_bytes"] = report.resident_bytes;
  out["cycles_by_position"] = Json::array();
  for (const GroupPosition& p : report.positions) {
    Json cards = Json::array();
    for (const CardCycles& c : p.cards)
      cards.push_back({{"embedding_cycles", c.embedding},
                       {"layers_start_cycle", c.layers_start},
                       {"layers_cycles", c.layers},
                       {"head_start_cycle", c.head_start},
                       {"head_cycles", c.head}});
    out["cycles_by_position"].push_back({{"position", p.position},
                                         {"cycles", p.cycles},
                                         {"prompt_cycles", p.prompt_cycles},
                                         {"cards", std::move(cards)}});
  }
  out["cards"] = Json::array();
  for (const GroupCardReport& card : report.cards) {
    Json memory = Json::object();
    for (const MemoryUse& m : card.memory)
      memory[m.name] = {{"unit", m.unit},
                        {"used_depth", m.used_depth},
                        {"capacity_depth", m.capacity_depth},
                        {"used_bytes", m.used_bytes},
                        {"capacity_bytes", m.capacity_bytes}};
    out["cards"].push_back({{"hardware", card.hardware},
                            {"first_layer", card.share.first_layer},
                            {"layers", card.share.layers},
                            {"first_id", card.share.first_id},
                            {"ids", card.share.ids},
                            {"memory", std::move(memory)}});
  }
  out["alternatives"] = Json::array();
  for (const Alternative& a : report.alternatives)
    out["alternatives"].push_back(
        {{"split", a.what}, {"cycles", a.cycles == 0 ? Json(nullptr) : Json(a.cycles)}, {"chosen", a.chosen}});
  return out.dump(2);
}

}  // namespace lpu::compiler
