// Whether a program, an image and a machine fit together: every address that any instruction can form, at any iteration
// and position, is inside its memory. It exists because bundles are outside data: after it, execution needs no checks.
// Relies on hls/contract; throws Fault with a sentence that names the instruction and the field.
#pragma once

#include "hls/contract/program.hpp"

namespace lpu {
namespace golden {

void check_program(const contract::HardwareConfig& config, const contract::ModelShape& shape,
                   const contract::Program& program, const contract::MemoryImage& image);

}  // namespace golden
}  // namespace lpu
