// A group's report for people. Relies on host/compiler.
#pragma once

#include <string>

#include "host/compiler/group.hpp"

namespace lpu::cli {

std::string group_text(const compiler::GroupReport& report);

}  // namespace lpu::cli
