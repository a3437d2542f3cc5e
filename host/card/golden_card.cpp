// See golden_card.hpp.
#include "host/card/golden_card.hpp"

#include <string>

#include "host/card/golden_machine.hpp"

namespace lpu::card {
namespace {

const std::string kWho = "The golden card";

class GoldenCard final : public Card {
 public:
  GoldenCard(const bundle::Bundle& bundle, const CardOptions& options)
      : vocabulary_(bundle.shape().vocabulary), fast_(options.fast), machine_(make_machine(bundle, options, kWho)) {}

  [[nodiscard]] std::string name() const override { return "golden"; }
  void reset() override { machine_->reset(); }

  TokenResult step(const TokenRequest& request) override {
    const golden::StepOptions options = step_options(request, vocabulary_, fast_);
    const golden::StepResult step =
        translate(kWho, [&] { return machine_->step(request.token, request.position, options); });
    check_saturations(kWho, request, step.saturations);
    return to_result(request, step);
  }

 private:
  std::uint32_t vocabulary_;
  bool fast_;
  std::unique_ptr<golden::Machine> machine_;
};

}  // namespace

std::unique_ptr<Card> make_golden_card(const bundle::Bundle& bundle, const CardOptions& options) {
  return std::make_unique<GoldenCard>(bundle, options);
}

}  // namespace lpu::card
