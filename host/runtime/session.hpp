// One user's session on a card: tokens in, tokens out, with the predicted and the measured cycles of every step.
//
// The prompt goes through the card token by token, without the head except for its last one; then each generated token
// is the next step's input. What the card holds already is reused when a prompt goes on from it (a conversation).
// Relies on host/card. Not safe for use by several threads at once.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "host/bundle/bundle.hpp"
#include "host/card/card.hpp"
#include "host/runtime/predictor.hpp"
#include "host/runtime/sampling.hpp"

namespace lpu::runtime {

enum class EndReason {
  kStop,         ///< the model wrote an end token
  kMaxTokens,    ///< as many tokens as were asked for
  kLength,       ///< the context is full
  kInterrupted,  ///< the caller said so
};
/// "stop", "max_tokens", "length", "interrupted".
std::string_view name_of(EndReason reason);

struct GenerateOptions {
  std::size_t max_tokens = 0;  ///< 0: until the context is full
  SamplingOptions sampling;
  std::function<bool(std::int32_t)> is_end;    ///< token ids that end the text; may be empty
  std::function<void(std::int32_t)> on_token;  ///< each generated token, the end token included; may be empty
  std::function<void(std::span<const float>)> on_logits;  ///< [vocabulary], before on_token; may be empty
  std::function<void(double)> on_prompt;                  ///< share of the prompt that is done, 0…1; may be empty
  std::function<bool()> is_interrupted;                   ///< asked before every step; may be empty
};

struct Generation {
  std::vector<std::int32_t> tokens;  ///< generated, the end token included
  EndReason end = EndReason::kInterrupted;
  std::size_t prompt_tokens = 0;
  std::size_t reused_tokens = 0;  ///< of the prompt's, held by the card already
  std::vector<std::uint64_t>
      predicted_cycles;  ///< one per step: the prompt's tokens that weren't reused, then generated ones
  std::vector<std::uint64_t> measured_cycles;  ///< likewise
  std::vector<std::uint32_t> positions;        ///< likewise
  std::uint64_t busy_beats = 0;                ///< of all steps
  std::vector<double> card_times_s;  ///< when each generated token was there: cycles since the request / clock
  std::vector<double> wall_times_s;  ///< the same in this process's time
};

class Session {
 public:
  /// Keeps a reference to the card, which has to outlive this.
  Session(card::Card& card, const bundle::Bundle& bundle);

  /// Error(kUsage) for an empty prompt, an id outside the vocabulary or bad sampling options; Error(kDoesNotFit) for a
  /// prompt longer than the context; Error(kCard) from the card.
  Generation generate(std::span<const std::int32_t> prompt, const GenerateOptions& options);
  /// Forgets everything.
  void reset();
  [[nodiscard]] std::uint32_t context_tokens() const { return bundle_.shape().context_tokens; }
  /// Tokens that the card holds.
  [[nodiscard]] std::size_t held_tokens() const { return held_.size(); }

 private:
  void check_prompt(std::span<const std::int32_t> prompt) const;
  std::size_t reuse(std::span<const std::int32_t> prompt);

  card::Card& card_;
  bundle::Bundle bundle_;
  Predictor predictor_;
  std::vector<std::int32_t> held_;  ///< the tokens behind the card's KV cache
};

}  // namespace lpu::runtime
