// The values of one instruction, by opcode. Each takes the machine's state to what it is after the instruction, calling
// hls/engine for every operation; time is the scoreboard's. Relies on check_program().
#pragma once

#include <cstdint>

#include "hls/golden/state.hpp"

namespace lpu {
namespace golden {

void execute_matvec(State& state, const contract::MatvecFields& fields, std::uint32_t iteration);
void execute_receive(State& state, const contract::VectorFields& fields, std::uint32_t iteration);
void execute_embed(State& state, const contract::VectorFields& fields, std::uint32_t iteration);
void execute_residual(State& state, const contract::VectorFields& fields, std::uint32_t iteration);
void execute_query(State& state, const contract::VectorFields& fields, std::uint32_t iteration);
void execute_key(State& state, const contract::VectorFields& fields, std::uint32_t iteration);
void execute_value(State& state, const contract::VectorFields& fields, std::uint32_t iteration);
void execute_mix(State& state, const contract::VectorFields& fields, std::uint32_t iteration);
void execute_swiglu(State& state, const contract::VectorFields& fields, std::uint32_t iteration);
void execute_logits(State& state, const contract::VectorFields& fields, std::uint32_t iteration);
void execute_softmax(State& state, const contract::SoftmaxFields& fields, std::uint32_t iteration);

/// Any instruction.
void execute(State& state, const contract::Instruction& instruction, std::uint32_t iteration);

}  // namespace golden
}  // namespace lpu
