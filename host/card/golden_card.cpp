// See golden_card.hpp. Turns requests into the machine's, and the machine's faults into the user's errors.
#include "host/card/golden_card.hpp"

#include <algorithm>
#include <string>
#include <thread>

#include "hls/golden/machine.hpp"
#include "host/base/error.hpp"

namespace lpu::card {
namespace {

/// Runs `work`, which calls the machine.
template <typename Work>
auto translate(const Work& work) {
  try {
    return work();
  } catch (const golden::Fault& fault) {
    fail(ExitCode::kCard, "The golden card stopped: {}", fault.what());
  }
}

unsigned threads_of(const CardOptions& options) {
  return options.threads != 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
}

class GoldenCard final : public Card {
 public:
  GoldenCard(const bundle::Bundle& bundle, const CardOptions& options)
      : vocabulary_(bundle.shape().vocabulary), fast_(options.fast), machine_(translate([&] {
          return std::make_unique<golden::Machine>(bundle.hardware(), bundle.shape(), bundle.program(), bundle.image(),
                                                   threads_of(options),
                                                   [&bundle](std::uint64_t first_byte, std::uint64_t bytes) {
                                                     bundle.forget_lane_words(first_byte, bytes);
                                                   });
        })) {
    bundle.forget_image();  // the machine has copied what it needs
  }

  [[nodiscard]] std::string name() const override { return "golden"; }
  void reset() override { machine_->reset(); }

  TokenResult step(const TokenRequest& request) override {
    golden::StepOptions options;
    options.want_logits = request.want_next;
    options.temperature = request.temperature;
    options.seed = request.seed;
    options.fast = fast_;
    if (request.want_next && request.logits != nullptr) {
      request.logits->resize(vocabulary_);
      options.logits = request.logits->data();
    }
    const golden::StepResult step = translate([&] { return machine_->step(request.token, request.position, options); });
    if (step.saturations != 0)
      fail(ExitCode::kCard,
           "The golden card stopped: at position {} {} numbers were too large for the machine's formats, so the result "
           "isn't the "
           "model's; try another file of this model.",
           request.position, step.saturations);
    return to_result(request, step);
  }

 private:
  static TokenResult to_result(const TokenRequest& request, const golden::StepResult& step) {
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

  std::uint32_t vocabulary_;
  bool fast_;
  std::unique_ptr<golden::Machine> machine_;
};

}  // namespace

std::unique_ptr<Card> make_golden_card(const bundle::Bundle& bundle, const CardOptions& options) {
  return std::make_unique<GoldenCard>(bundle, options);
}

}  // namespace lpu::card
