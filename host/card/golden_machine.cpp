// See golden_machine.hpp.
#include "host/card/golden_machine.hpp"

#include <algorithm>
#include <iterator>
#include <thread>

namespace lpu::card {

std::unique_ptr<golden::Machine> make_machine(const bundle::Bundle& bundle, const CardOptions& options,
                                              const std::string& who) {
  const unsigned threads = options.threads != 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  auto machine = translate(who, [&] {
    return std::make_unique<golden::Machine>(
        bundle.hardware(), bundle.shape(), bundle.program(), bundle.image(), threads,
        [&bundle](std::uint64_t first_byte, std::uint64_t bytes) { bundle.forget_lane_words(first_byte, bytes); });
  });
  bundle.forget_image();
  return machine;
}

golden::StepOptions step_options(const TokenRequest& request, std::uint32_t vocabulary, bool fast) {
  golden::StepOptions options;
  options.want_logits = request.want_next;
  options.temperature = request.temperature;
  options.seed = request.seed;
  options.fast = fast;
  if (request.want_next && request.logits != nullptr) {
    request.logits->resize(vocabulary);
    options.logits = request.logits->data();
  }
  return options;
}

void check_saturations(const std::string& who, const TokenRequest& request, std::uint32_t saturations) {
  if (saturations != 0)
    fail(ExitCode::kCard,
         "{} stopped: at position {} {} numbers were too large for the machine's formats, so the result isn't the "
         "model's; try another file of this model.",
         who, request.position, saturations);
}

TokenResult to_result(const TokenRequest& request, const golden::StepResult& step) {
  TokenResult result;
  result.cycles = step.cycles;
  result.busy_beats = step.busy_beats;
  if (!request.want_next) return result;
  result.next = step.next_token;
  result.best.reserve(static_cast<std::size_t>(step.best.count));
  for (int i = 0; i < step.best.count; ++i)
    result.best.push_back({static_cast<std::int32_t>(step.best.ids[i]), step.best.logits[i]});
  std::copy(std::begin(step.buckets.buckets), std::end(step.buckets.buckets), result.log_sum.begin());
  return result;
}

}  // namespace lpu::card
