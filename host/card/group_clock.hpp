// When the phases of a token run on a group of cards: the rules of docs/several_cards.md, once, for the golden group
// (with the times that its machines measure) and for the prediction (with the times that the compiler declared).
// It exists so that measured and predicted cycles can differ only by a card's own times. Relies on
// hls/contract/link_clock.hpp.
//
// All times are cycles since the session's start. A phase starts in the cycle in which its vector's first block can be
// taken, or in which its card is free, whichever is later. In a prompt the next tokens are known, so that card k runs
// the embedding of token n + 1 + k right before its layers of token n, in a slot that is kept even where no such token
// exists; a token whose head runs ends when all cards know the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "hls/contract/link_clock.hpp"

namespace lpu::card {

/// What a phase takes, in its own cycles.
struct PhaseTime {
  std::uint64_t cycles = 0;  ///< to the one in which the next phase may start
  std::uint64_t sends = 0;   ///< to the one in which the first block that it sends is handed to the link
};

/// Runs the phases of one token, or looks up their times. Called in this order: all cards' embeddings, the layers of
/// card 0, 1 …, and, where the head runs, that of the last card and then those of the others.
class GroupPhases {
 public:
  virtual ~GroupPhases() = default;
  virtual PhaseTime embedding(std::size_t card, std::uint64_t start) = 0;
  virtual PhaseTime layers(std::size_t card, std::uint64_t start) = 0;
  virtual PhaseTime head(std::size_t card, std::uint64_t start) = 0;
};

class GroupClock {
 public:
  GroupClock(const contract::LinkConfig& link, int clock_mhz, std::size_t cards);
  /// A new session.
  void reset();
  /// The token after the one before; returns its cycles: those of a session's tokens add up to the time since its
  /// start, where a token without head counts until card 0 is free. When `phases` throws, nothing has changed.
  std::uint64_t token(bool with_head, GroupPhases& phases);

 private:
  struct CardState {
    std::uint64_t free = 0;           ///< first cycle in which a phase may start
    std::deque<std::uint64_t> slots;  ///< starts of the embeddings of this token and of those ahead
  };
  struct State {
    bool starts = true;      ///< all cards are free, and nothing is known of the tokens after the next
    std::uint64_t told = 0;  ///< end of what was told
    std::vector<CardState> cards;
  };

  /// The cycle in which the first block of what card `from` hands over in `cycle` can be taken.
  [[nodiscard]] std::uint64_t arrival(std::size_t from, std::size_t to, std::uint64_t cycle) const;
  /// The embeddings; returns when the first block of the residual is there for card 0, whichever card sends it.
  std::uint64_t run_embeddings(State& state, bool with_head, GroupPhases& phases,
                               std::vector<std::uint64_t>& slot_cycles) const;
  /// The heads; returns when all cards know the next token.
  std::uint64_t run_heads(State& state, std::uint64_t sent, GroupPhases& phases) const;

  contract::LinkClock link_;
  State state_;
};

}  // namespace lpu::card
