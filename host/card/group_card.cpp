// See group_card.hpp. Merging is exact and has a canonical order (docs/numbers.md §11), so that the number of cards
// doesn't show in any result.
#include "host/card/group_card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "host/card/golden_machine.hpp"
#include "host/card/group_clock.hpp"

namespace lpu::card {
namespace {

using contract::Phase;

struct Member {
  std::string who;  ///< "Card 1 of 3 of the golden group"
  contract::ModelShape shape;
  std::unique_ptr<golden::Machine> machine;
};

/// One token on its way over the cards.
class Token final : public GroupPhases {
 public:
  Token(std::vector<Member>& members, const contract::LinkClock& link, const TokenRequest& request,
        const golden::StepOptions& options)
      : members_(members), link_(link), request_(request), options_(options) {}

  /// A card that doesn't hold the token's row has but its time to tell.
  PhaseTime embedding(std::size_t card, std::uint64_t start) override {
    golden::StepResult step = run(card, Phase::kEmbedding, nullptr);
    const PhaseTime time = sending(card, step);
    if (members_[card].shape.holds(static_cast<std::uint32_t>(request_.token))) leave(card, start, step);
    return time;
  }

  PhaseTime layers(std::size_t card, std::uint64_t start) override {
    const golden::LinkVector received = arriving(card, start);
    golden::StepResult step = run(card, Phase::kLayers, &received);
    const PhaseTime time = sending(card, step);
    leave(card, start, step);
    return time;
  }

  /// The last card goes on with the residual that it has.
  PhaseTime head(std::size_t card, std::uint64_t start) override {
    const bool is_last = card + 1 == members_.size();
    const golden::LinkVector received = is_last ? golden::LinkVector() : arriving(card, start);
    const golden::StepResult step = run(card, Phase::kHead, is_last ? nullptr : &received);
    merge(step);
    return {step.cycles, 0};
  }

  /// What all cards know at the end, without cycles.
  [[nodiscard]] golden::StepResult take() {
    if (options_.want_logits && !whole_.has_key && whole_.best.count != 0)
      whole_.next_token = static_cast<std::int32_t>(whole_.best.ids[0]);
    return whole_;
  }

 private:
  golden::StepResult run(std::size_t card, Phase phase, const golden::LinkVector* received) {
    Member& member = members_[card];
    golden::StepResult step = translate(
        member.who, [&] { return member.machine->run(phase, request_.token, request_.position, options_, received); });
    check_saturations(member.who, request_, step.saturations);
    whole_.busy_beats += step.busy_beats;
    return step;
  }

  [[nodiscard]] PhaseTime sending(std::size_t card, const golden::StepResult& step) const {
    if (step.sent.cycles.empty())
      fail(ExitCode::kCard, "{} stopped: its program sends no residual; compile the model again.", members_[card].who);
    return {step.cycles, step.sent.cycles.front()};
  }

  /// The residual leaves a card, in a phase that started in this cycle.
  void leave(std::size_t card, std::uint64_t start, golden::StepResult& step) {
    sender_ = card;
    sender_start_ = start;
    residual_ = std::move(step.sent);
  }

  /// The residual with the cycles, of the phase that starts in `start`, from which on its blocks are there.
  [[nodiscard]] golden::LinkVector arriving(std::size_t card, std::uint64_t start) const {
    contract::LinkClock link = link_;
    link.start_vector(contract::link_hops(sender_, card, members_.size()));
    golden::LinkVector received{residual_.values, {}};
    received.cycles.reserve(residual_.cycles.size());
    for (const std::uint64_t cycle : residual_.cycles) {
      const std::uint64_t there = link.arrival(sender_start_ + cycle);
      received.cycles.push_back(there > start ? there - start : 0);
    }
    return received;
  }

  void merge(const golden::StepResult& step) {
    for (int i = 0; i < step.best.count; ++i) whole_.best.insert(step.best.logits[i], step.best.ids[i]);
    whole_.buckets.merge(step.buckets);
    if (!step.has_key) return;
    const bool is_better = !whole_.has_key || step.best_key > whole_.best_key ||
                           (step.best_key == whole_.best_key && step.next_token < whole_.next_token);
    if (!is_better) return;
    whole_.has_key = true;
    whole_.best_key = step.best_key;
    whole_.next_token = step.next_token;
  }

  std::vector<Member>& members_;
  const contract::LinkClock& link_;
  const TokenRequest& request_;
  const golden::StepOptions& options_;
  std::size_t sender_ = 0;
  std::uint64_t sender_start_ = 0;
  golden::LinkVector residual_;
  golden::StepResult whole_;
};

class GoldenGroup final : public Card {
 public:
  GoldenGroup(const bundle::Bundle& bundle, const CardOptions& options)
      : vocabulary_(bundle.shape().vocabulary),
        fast_(options.fast),
        link_(bundle.plan().link, bundle.hardware().clock_mhz),
        clock_(bundle.plan().link, bundle.hardware().clock_mhz, bundle.cards().size()) {
    // The machines run one after another, and their threads sleep in between: each may have them all.
    for (const bundle::Bundle& card : bundle.cards()) {
      std::string who = fmt::format("Card {} of {} of the golden group", members_.size(), bundle.cards().size());
      auto machine = make_machine(card, options, who);
      members_.push_back({std::move(who), card.shape(), std::move(machine)});
    }
  }

  [[nodiscard]] std::string name() const override { return "golden"; }

  void reset() override {
    for (const Member& member : members_) member.machine->reset();
    clock_.reset();
  }

  TokenResult step(const TokenRequest& request) override {
    const golden::StepOptions options = step_options(request, vocabulary_, fast_);
    Token token(members_, link_, request, options);
    const std::uint64_t cycles = clock_.token(request.want_next, token);
    TokenResult result = to_result(request, token.take());
    result.cycles = cycles;
    return result;
  }

 private:
  std::uint32_t vocabulary_;
  bool fast_;
  contract::LinkClock link_;
  GroupClock clock_;
  std::vector<Member> members_;
};

}  // namespace

std::unique_ptr<Card> make_golden_group(const bundle::Bundle& bundle, const CardOptions& options) {
  return std::make_unique<GoldenGroup>(bundle, options);
}

}  // namespace lpu::card
