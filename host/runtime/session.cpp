// See session.hpp.
#include "host/runtime/session.hpp"

#include <algorithm>
#include <chrono>

#include "host/base/error.hpp"

namespace lpu::runtime {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

std::string_view name_of(EndReason reason) {
  switch (reason) {
    case EndReason::kStop:
      return "stop";
    case EndReason::kMaxTokens:
      return "max_tokens";
    case EndReason::kLength:
      return "length";
    case EndReason::kInterrupted:
      return "interrupted";
  }
  fail(ExitCode::kInternal, "End reason {} has no name.", static_cast<int>(reason));
}

Session::Session(card::Card& card, const bundle::Bundle& bundle) : card_(card), bundle_(bundle), predictor_(bundle) {
  card_.reset();
}

void Session::reset() {
  held_.clear();
  predictor_.reset();
  card_.reset();
}

void Session::check_prompt(std::span<const std::int32_t> prompt) const {
  const auto vocabulary = static_cast<std::int64_t>(bundle_.shape().vocabulary);
  if (prompt.empty()) fail(ExitCode::kUsage, "The prompt is empty; give at least one token.");
  if (prompt.size() > context_tokens())
    fail(ExitCode::kDoesNotFit,
         "The prompt has {} tokens, but the bundle's context holds {}; shorten the prompt, or compile with --context "
         "{} or more.",
         prompt.size(), context_tokens(), prompt.size() + 1);
  for (std::size_t i = 0; i < prompt.size(); ++i) {
    if (prompt[i] < 0 || prompt[i] >= vocabulary)
      fail(ExitCode::kUsage, "Token {} of the prompt has the id {}, but the model's vocabulary has ids 0 to {}.", i,
           prompt[i], vocabulary - 1);
  }
}

std::size_t Session::reuse(std::span<const std::int32_t> prompt) {
  const bool goes_on = held_.size() < prompt.size() && std::equal(held_.begin(), held_.end(), prompt.begin());
  if (!goes_on) reset();
  return held_.size();
}

Generation Session::generate(std::span<const std::int32_t> prompt, const GenerateOptions& options) {
  check(options.sampling);
  check_prompt(prompt);
  const Clock::time_point begin = Clock::now();
  const double clock_hz = bundle_.hardware().clock_mhz * 1e6;
  Generation result;
  result.prompt_tokens = prompt.size();
  result.reused_tokens = reuse(prompt);
  std::uint64_t cycles = 0;
  std::vector<float> logits;  // [vocabulary]
  std::vector<std::int32_t> held = std::move(held_);
  held_.clear();  // until every step has succeeded, nothing that the card holds is known

  std::int32_t token = prompt[held.size()];
  for (std::size_t at = held.size(); true; ++at) {
    if (at == context_tokens()) {
      result.end = EndReason::kLength;
      break;
    }
    if (options.is_interrupted && options.is_interrupted()) break;
    card::TokenRequest request;
    request.token = token;
    request.position = static_cast<std::uint32_t>(at);
    request.want_next = at + 1 >= prompt.size();
    const bool on_card = options.sampling.is_on_card();
    request.temperature = on_card ? options.sampling.temperature : 0;
    request.seed = options.sampling.seed;
    if (request.want_next && options.on_logits) request.logits = &logits;
    const card::TokenResult step = card_.step(request);

    held.push_back(token);
    cycles += step.cycles;
    result.predicted_cycles.push_back(predictor_.token(request.position, request.want_next));
    result.measured_cycles.push_back(step.cycles);
    result.positions.push_back(request.position);
    result.busy_beats += step.busy_beats;
    if (!request.want_next) {
      if (options.on_prompt) options.on_prompt(static_cast<double>(at + 1) / static_cast<double>(prompt.size()));
      token = prompt[at + 1];
      continue;
    }
    token = on_card ? step.next : sample(options.sampling, request.position, step.best, step.log_sum);
    result.tokens.push_back(token);
    result.card_times_s.push_back(static_cast<double>(cycles) / clock_hz);
    result.wall_times_s.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    if (options.on_logits) options.on_logits(logits);
    if (options.on_token) options.on_token(token);
    if (options.is_end && options.is_end(token)) {
      result.end = EndReason::kStop;
      break;
    }
    if (result.tokens.size() == options.max_tokens) {
      result.end = EndReason::kMaxTokens;
      break;
    }
  }
  held_ = std::move(held);
  return result;
}

}  // namespace lpu::runtime
