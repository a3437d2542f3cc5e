// Steps 3 and 4 for the whole token: layers in stages of one kind, each ordered once, timed for every context length,
// and rolled into loops where layers repeat cycle for cycle. Relies on order.hpp and timeline.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hls/contract/program.hpp"
#include "host/compiler/compiler.hpp"
#include "host/compiler/order.hpp"

namespace lpu::compiler {

/// Layers of one kind that follow one another (or the token's start, or the head: one iteration).
struct Stage {
  std::vector<Operation> operations;  ///< with the first layer's addresses
  std::uint32_t first_layer = 0;
  std::uint32_t iterations = 1;
  bool is_layer = false;
  bool is_head = false;
  LayerOrder order;
};

/// Issue cycles of one token: [stage][iteration][operation].
struct TokenTiming {
  std::vector<std::vector<std::vector<std::uint64_t>>> issue;
  std::uint64_t cycles_with_head = 0;
  std::uint64_t cycles_without_head = 0;
};

struct Schedule {
  std::vector<Stage> stages;
};

Schedule make_schedule(const Layout& layout, const CompileOptions& options, std::uint32_t effort);
TokenTiming time_token(const Schedule& schedule, const Layout& layout, std::uint32_t blocks);
/// What a token at `position` costs and where its cycles go.
PositionCycles account(const Schedule& schedule, const Layout& layout, std::uint32_t position);
/// The program: every context length timed, equal layers rolled into loops, delays in the table. Throws
/// Error(kDoesNotFit) when a field overflows. every > 1 times every such length only: no program to run, but one whose
/// size tells.
contract::Program make_program(const Schedule& schedule, const Layout& layout, const CompileOptions& options,
                               std::uint32_t every = 1);

}  // namespace lpu::compiler
