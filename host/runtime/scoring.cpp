// See scoring.hpp.
#include "host/runtime/scoring.hpp"

#include <algorithm>

namespace lpu::runtime {

std::vector<std::vector<std::int32_t>> cut_windows(std::span<const std::int32_t> tokens, std::size_t window_tokens,
                                                   std::optional<std::int32_t> start_token, std::size_t most_windows) {
  std::size_t count = tokens.size() / window_tokens;
  if (most_windows != 0) count = std::min(count, most_windows);
  std::vector<std::vector<std::int32_t>> windows;
  windows.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto window = tokens.subspan(i * window_tokens, window_tokens);
    windows.emplace_back(window.begin(), window.end());
    if (start_token) windows.back().front() = *start_token;
  }
  return windows;
}

void score_window(card::Card& card, std::span<const std::int32_t> window,
                  const std::function<void(std::size_t, std::span<const float>, std::int32_t)>& scored,
                  const std::function<void()>& after_token) {
  card.reset();
  std::vector<float> logits;  // [vocabulary]
  for (std::size_t position = 0; position + 1 < window.size(); ++position) {
    card::TokenRequest request;
    request.token = window[position];
    request.position = static_cast<std::uint32_t>(position);
    request.want_next = position >= first_scored_position(window.size());
    if (request.want_next) request.logits = &logits;
    card.step(request);
    if (request.want_next) scored(position, logits, window[position + 1]);
    if (after_token) after_token();
  }
}

}  // namespace lpu::runtime
