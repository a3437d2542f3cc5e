// See names.hpp.
#include "host/cosim/names.hpp"

namespace lpu::cosim {
namespace {

using contract::Instruction;
using contract::Opcode;

/// A loop that writes keys runs once per layer.
bool is_layer(const contract::Program& program, const contract::Loop& loop) {
  for (std::uint32_t i = 0; i < loop.instruction_count; ++i)
    if (program.instructions[loop.first_instruction + i].opcode() == Opcode::kKey) return true;
  return false;
}

/// "out" after a head's weighted sums, "down" after the feed-forward part's products.
std::string residual_matrix(const contract::Program& program, const contract::Loop& loop, std::uint32_t index) {
  for (std::uint32_t i = index; i > loop.first_instruction; --i) {
    const Opcode opcode = program.instructions[i - 1].opcode();
    if (opcode == Opcode::kMix) return "out";
    if (opcode == Opcode::kSwiglu) return "down";
  }
  return "";
}

std::string vector_matrix(const contract::Program& program, const contract::Loop& loop, std::uint32_t index) {
  switch (program.instructions[index].opcode()) {
    case Opcode::kEmbed:
      return "embedding";
    case Opcode::kQuery:
      return "query";
    case Opcode::kKey:
      return "key";
    case Opcode::kValue:
      return "value";
    case Opcode::kMix:
      return "mix";
    case Opcode::kSwiglu:
      return "gate_up";
    case Opcode::kLogits:
      return "head";
    case Opcode::kSoftmax:
      return "softmax";
    default:
      return residual_matrix(program, loop, index);
  }
}

/// A burst is part of the matrix whose rows its sums become.
std::string burst_matrix(const contract::Program& program, const contract::HardwareConfig& config,
                         const contract::Loop& loop, std::uint32_t index) {
  const contract::MatvecFields& burst = program.instructions[index].matvec;
  if (burst.relative_exponents != 0) return "mix";
  if (burst.length_dimension == static_cast<std::uint32_t>(contract::LengthDimension::kRowGroups)) return "scores";
  const auto entries = static_cast<std::uint32_t>(config.accumulator_entries);
  for (std::uint32_t i = index + 1; i < loop.first_instruction + loop.instruction_count; ++i) {
    const Instruction& in = program.instructions[i];
    if (unit_of(in.opcode()) != contract::Unit::kVpu || in.opcode() == Opcode::kMix || in.opcode() == Opcode::kEmbed)
      continue;
    if ((burst.accumulator + entries - in.vector.accumulator) % entries < in.vector.row_groups)
      return vector_matrix(program, loop, i);
  }
  return "";
}

}  // namespace

RunName name_of(const contract::Program& program, const contract::HardwareConfig& config, const golden::Step& step) {
  RunName name;
  std::uint32_t layers = 0;
  for (const contract::Loop& loop : program.loops) {
    const bool layer = is_layer(program, loop);
    if (step.index >= loop.first_instruction && step.index < loop.first_instruction + loop.instruction_count) {
      if (layer) name.layer = layers + step.iteration;
      name.matrix = program.instructions[step.index].opcode() == Opcode::kMatvec
                        ? burst_matrix(program, config, loop, step.index)
                        : vector_matrix(program, loop, step.index);
      return name;
    }
    if (layer) layers += loop.iterations;
    ++name.loop;
  }
  return name;
}

}  // namespace lpu::cosim
