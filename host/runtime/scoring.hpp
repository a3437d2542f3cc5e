// Scores a text as llama.cpp's perplexity tool does, so that figures can be put side by side: consecutive windows that
// don't overlap, each from position 0 on an empty cache, of which the second half is scored: in a window of n tokens
// the logits at positions n/2 … n − 2, each against the token that really follows. Where the model wants a start token
// it stands in place of each window's first one. Relies on host/card.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "host/card/card.hpp"

namespace lpu::runtime {

/// The text's whole windows; what is left over at its end isn't used. most_windows: 0 for all.
std::vector<std::vector<std::int32_t>> cut_windows(std::span<const std::int32_t> tokens, std::size_t window_tokens,
                                                   std::optional<std::int32_t> start_token, std::size_t most_windows);

/// The first position whose logits are scored.
constexpr std::size_t first_scored_position(std::size_t window_tokens) { return window_tokens / 2; }

/// Runs the window on the card; calls scored(position, logits, following token) for each position that counts.
/// after_token is called after each token and may throw to end it; may be empty.
void score_window(card::Card& card, std::span<const std::int32_t> window,
                  const std::function<void(std::size_t, std::span<const float>, std::int32_t)>& scored,
                  const std::function<void()>& after_token);

}  // namespace lpu::runtime
