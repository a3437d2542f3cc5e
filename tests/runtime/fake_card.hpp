// A card without arithmetic: it notes what it is asked and answers by a rule, so that tests see exactly what a session
// does. The next token is (last token + 1) mod vocabulary; every step takes what the program predicts, plus
// `extra_cycles`.
#pragma once

#include <vector>

#include "host/card/card.hpp"
#include "host/runtime/session.hpp"

namespace lpu::test {

class FakeCard final : public card::Card {
 public:
  explicit FakeCard(const bundle::Bundle& bundle) : bundle_(bundle) {}

  [[nodiscard]] std::string name() const override { return "fake"; }
  void reset() override { ++resets; }
  card::TokenResult step(const card::TokenRequest& request) override {
    requests.push_back(request);
    const auto vocabulary = static_cast<std::int32_t>(bundle_.shape().vocabulary);
    card::TokenResult result;
    result.cycles = runtime::predicted_cycles(bundle_.program(), request.position, request.want_next) + extra_cycles;
    result.busy_beats = 10;
    if (!request.want_next) return result;
    result.next = (request.token + 1) % vocabulary;
    result.best = {{result.next, 2.0F}, {7, 1.0F}, {9, 0.5F}};
    result.log_sum[128 + 3] = 1 << 17;
    if (request.logits != nullptr) {
      request.logits->assign(static_cast<std::size_t>(vocabulary), 0.0F);
      (*request.logits)[static_cast<std::size_t>(result.next)] = 1.0F;
    }
    return result;
  }

  std::vector<card::TokenRequest> requests;
  int resets = 0;
  std::uint64_t extra_cycles = 0;

 private:
  bundle::Bundle bundle_;
};

}  // namespace lpu::test
