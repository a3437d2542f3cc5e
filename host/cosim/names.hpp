// What an instruction is to people: its layer and its matrix, with the names that `lpu compile --trace` uses. A bundle
// doesn't store them; they follow from the program. Relies on hls/contract/program.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hls/contract/program.hpp"
#include "hls/golden/walk.hpp"

namespace lpu::cosim {

struct RunName {
  std::optional<std::uint32_t> layer;  ///< from 0; none for the embedding and the head
  std::uint32_t loop = 0;
  std::string matrix;  ///< "query", "gate_up", …; "" where the program doesn't tell
};

RunName name_of(const contract::Program& program, const contract::HardwareConfig& config, const golden::Step& step);

}  // namespace lpu::cosim
