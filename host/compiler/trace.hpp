// A token's schedule as a Chrome/Perfetto trace: units as rows, instructions as slices, one cycle shown as one
// microsecond. Relies on schedule.hpp.
#pragma once

#include <filesystem>

#include "host/compiler/schedule.hpp"

namespace lpu::compiler {

void write_token_trace(const Schedule& schedule, const Layout& layout, std::uint32_t position,
                       const std::filesystem::path& file);

}  // namespace lpu::compiler
