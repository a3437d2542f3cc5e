// See predictor.hpp.
#include "host/runtime/predictor.hpp"

namespace lpu::runtime {
namespace {

using contract::Phase;

constexpr std::uint32_t kPositionsPerLengthStep = 32;

class DeclaredPhases final : public card::GroupPhases {
 public:
  DeclaredPhases(const bundle::Bundle& bundle, std::uint32_t position)
      : bundle_(bundle), step_(position / kPositionsPerLengthStep) {}

  card::PhaseTime embedding(std::size_t card, std::uint64_t) override {
    return {cycles(card, Phase::kEmbedding), bundle_.plan().cards[card].embedding_sends.at(step_)};
  }
  card::PhaseTime layers(std::size_t card, std::uint64_t) override {
    return {cycles(card, Phase::kLayers), bundle_.plan().cards[card].layers_send.at(step_)};
  }
  card::PhaseTime head(std::size_t card, std::uint64_t) override { return {cycles(card, Phase::kHead), 0}; }

 private:
  [[nodiscard]] std::uint64_t cycles(std::size_t card, Phase phase) const {
    return bundle_.cards()[card].program().cycles_of(phase).at(step_);
  }

  const bundle::Bundle& bundle_;
  std::size_t step_;
};

}  // namespace

std::uint64_t predicted_cycles(const contract::Program& program, std::uint32_t position, bool with_head) {
  const auto& cycles = with_head ? program.cycles_with_head : program.cycles_without_head;
  return cycles.at(position / kPositionsPerLengthStep);
}

Predictor::Predictor(const bundle::Bundle& bundle) : bundle_(bundle) {
  if (!bundle.cards().empty()) clock_.emplace(bundle.plan().link, bundle.hardware().clock_mhz, bundle.cards().size());
}

void Predictor::reset() {
  if (clock_) clock_->reset();
}

std::uint64_t Predictor::token(std::uint32_t position, bool with_head) {
  if (!clock_) return predicted_cycles(bundle_.program(), position, with_head);
  DeclaredPhases phases(bundle_, position);
  return clock_->token(with_head, phases);
}

}  // namespace lpu::runtime
