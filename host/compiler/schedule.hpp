// Steps 3 and 4 for the whole token: layers in stages of one kind, each ordered once, timed for every context length,
// and rolled into loops where layers repeat cycle for cycle. Relies on order.hpp and timeline.hpp.
#pragma once

#include <cstdint>
#include <functional>
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
  LayerOrder order{};
  contract::Receivers receivers = contract::Receivers::kNobody;  ///< of a layer's residual
};

/// Issue cycles of one token: [stage][iteration][operation].
struct TokenTiming {
  std::vector<std::vector<std::vector<std::uint64_t>>> issue;
  std::uint64_t cycles_with_head = 0;
  std::uint64_t cycles_without_head = 0;
  std::vector<std::uint64_t> sent;  ///< [blocks of the vector that is sent] cycles in which each goes to the link
};

/// A token on a card alone, or a phase of a card of a group: stages that follow one another in one time.
struct Schedule {
  std::vector<Stage> stages;
  contract::Phase phase = contract::Phase::kToken;
};

/// The three phases of a card of a group, in their order.
struct GroupSchedule {
  Schedule embedding, layers, head;
};

Schedule make_schedule(const Layout& layout, const CompileOptions& options, std::uint32_t effort);
/// Orders found for kinds of layers on one hardware: they don't depend on which layers a card holds.
using KnownOrders = std::vector<std::pair<LayerPlace, LayerOrder>>;
/// block_cycles: of the link, from one block to the next.
GroupSchedule make_group_schedule(const Layout& layout, const CompileOptions& options, std::uint32_t effort,
                                  std::uint64_t block_cycles, KnownOrders& known);
/// arrivals, noise_lead: as Timeline's.
TokenTiming time_token(const Schedule& schedule, const Layout& layout, std::uint32_t blocks,
                       const std::vector<std::uint64_t>& arrivals = {}, std::uint64_t noise_lead = 0);
/// What a token at `position` costs and where its cycles go.
PositionCycles account(const Schedule& schedule, const Layout& layout, std::uint32_t position);
/// The program: every context length timed, equal layers rolled into loops, delays in the table. Throws
/// Error(kDoesNotFit) when a field overflows. every > 1 times every such length only: no program to run, but one whose
/// size tells.
contract::Program make_program(const Schedule& schedule, const Layout& layout, const CompileOptions& options,
                               std::uint32_t every = 1);
/// The same for a card of a group. timing: of a phase at a length.
using PhaseTiming = std::function<TokenTiming(const Schedule& schedule, std::uint32_t blocks)>;
contract::Program make_group_program(const GroupSchedule& schedule, const Layout& layout, const PhaseTiming& timing,
                                     std::uint32_t every);

}  // namespace lpu::compiler
