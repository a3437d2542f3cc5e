// A compiler's report as JSON and as text for people. Keys: docs/json.md. Relies on host/compiler/report.hpp.
#pragma once

#include <string>

#include "host/cli/console.hpp"
#include "host/compiler/report.hpp"

namespace lpu::cli {

Json report_json(const compiler::Report& report);
std::string report_text(const compiler::Report& report);

}  // namespace lpu::cli
