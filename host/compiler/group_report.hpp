// A group's report as JSON (keys: docs/json.md). Relies on group.hpp; nlohmann-json is used inside only.
#pragma once

#include <string>

#include "host/compiler/group.hpp"

namespace lpu::compiler {

std::string group_report_json(const GroupReport& report);

}  // namespace lpu::compiler
