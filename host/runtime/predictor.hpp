// What the next token of a session will take, from the times that the compiler declared: of a card alone as they stand,
// of a group by the rules of host/card/group_clock.hpp. It exists because a group's tokens depend on the ones before
// them: a prompt's overlap. Relies on host/bundle and host/card.
#pragma once

#include <cstdint>
#include <optional>

#include "host/bundle/bundle.hpp"
#include "host/card/group_clock.hpp"

namespace lpu::runtime {

/// What the compiler said one token at this position takes on a card alone.
std::uint64_t predicted_cycles(const contract::Program& program, std::uint32_t position, bool with_head);

class Predictor {
 public:
  explicit Predictor(const bundle::Bundle& bundle);
  /// A new session.
  void reset();
  /// Cycles of the session's next token.
  std::uint64_t token(std::uint32_t position, bool with_head);

 private:
  bundle::Bundle bundle_;
  std::optional<card::GroupClock> clock_;  ///< of a group
};

}  // namespace lpu::runtime
