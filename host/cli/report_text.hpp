// A compiler's report as text for people; its JSON is host/compiler/report_json.hpp's. Relies on
// host/compiler/report.hpp.
#pragma once

#include <string>

#include "host/compiler/report.hpp"

namespace lpu::cli {

std::string report_text(const compiler::Report& report);

}  // namespace lpu::cli
