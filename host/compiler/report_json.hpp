// A report as JSON text, with the stable keys of docs/json.md: what `lpu compile --json` and `lpu estimate --json`
// print and what a bundle's manifest keeps.
#pragma once

#include <string>

#include "host/compiler/report.hpp"

namespace lpu::compiler {

std::string report_json(const Report& report);

}  // namespace lpu::compiler
