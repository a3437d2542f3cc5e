// See rtl_card.hpp. The core streams its logits; the best 64 and the sum behind probabilities are folded from them with
// hls/engine, as a host's kernel beside a real card would.
#include "host/card/rtl_card.hpp"

#include <set>
#include <utility>

#include "hls/engine/best_logits.hpp"
#include "hls/engine/binary32.hpp"
#include "hls/engine/log_sum.hpp"
#include "hls/golden/check_program.hpp"
#include "hls/golden/fault.hpp"
#include "hls/golden/scoreboard.hpp"
#include "host/base/error.hpp"
#include "host/card/rtl_driver.hpp"

namespace lpu::card {
namespace {

/// A program that the golden card would refuse mustn't reach the core.
template <typename Work>
void refuse_faults(const Work& work) {
  try {
    work();
  } catch (const golden::Fault& fault) {
    fail(ExitCode::kCard, "The rtl card can't run this bundle: {}", fault.what());
  }
}

constexpr std::uint64_t kSilence = 4096;  ///< cycles beyond the declared length after which a card counts as dead

/// A watch that ends with its block, whatever ends that.
class Watching {
 public:
  Watching(RtlDriver& driver, RtlDriver::Watch watch) : driver_(driver) { driver_.set_watch(std::move(watch)); }
  ~Watching() { driver_.set_watch({}); }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

 private:
  RtlDriver& driver_;
};

class RtlCard final : public Card {
 public:
  RtlCard(const bundle::Bundle& bundle, const CardOptions& options)
      : bundle_(bundle),
        unchecked_(options.unchecked),
        scoreboard_(bundle_.hardware(), bundle_.program(), bundle_.image().lane_word_count,
                    bundle_.image().kv_word_count) {
    if (!unchecked_)
      refuse_faults(
          [&] { golden::check_program(bundle.hardware(), bundle.shape(), bundle.program(), bundle.image()); });
    RtlOptions driver;
    driver.load_through_port = options.load_through_port;
    driver_ = std::make_unique<RtlDriver>(bundle_, std::move(driver));
  }

  [[nodiscard]] std::string name() const override { return "rtl"; }
  void reset() override { driver_->reset(); }

  TokenResult step(const TokenRequest& request) override {
    check(request);
    engine::BestLogits best;
    engine::LogSum sums;
    engine::Status status;
    if (request.want_next && request.logits != nullptr) request.logits->assign(bundle_.shape().vocabulary, 0.0F);
    const auto take = [&](const LpuRtlOutputs& out) {
      if (out.has_logits == 0) return true;
      for (std::uint32_t lane = 0; lane < static_cast<std::uint32_t>(bundle_.hardware().vector_lanes); ++lane) {
        if ((out.logits_lanes[lane / 32] >> (lane % 32) & 1U) == 0) continue;
        const std::uint32_t id = out.logits_row + lane;
        if (id >= bundle_.shape().vocabulary) continue;
        const float logit = engine::float_from_bits(out.logits[lane]);
        best.insert(logit, id);
        sums.insert(logit, status);
        if (request.logits != nullptr) (*request.logits)[id] = logit;
      }
      return true;
    };
    RtlResult made;
    {
      const Watching watching(*driver_, take);
      driver_->start(request);
      driver_->wait(most_cycles(request), &made);
    }
    if (made.saturated || status.saturations != 0)
      fail(ExitCode::kCard,
           "The rtl card stopped: at position {} numbers were too large for the machine's formats, so the result isn't "
           "the model's; try another file of this model.",
           request.position);
    return to_result(request, made, best, sums);
  }

 private:
  void check(const TokenRequest& request) {
    if (unchecked_) return;
    const contract::ModelShape& shape = bundle_.shape();
    if (request.token < 0 || static_cast<std::uint32_t>(request.token) >= shape.vocabulary)
      fail(ExitCode::kCard, "The rtl card stopped: token {} isn't in the vocabulary of {}.", request.token,
           shape.vocabulary);
    if (request.position >= shape.context_tokens)
      fail(ExitCode::kCard, "The rtl card stopped: position {} is beyond the context of {} tokens.", request.position,
           shape.context_tokens);
    // Times depend on nothing else.
    if (timed_.emplace(request.position / contract::kBlockValues, request.want_next).second)
      refuse_faults([&] { scoreboard_.token(request.position, golden::TokenPart::whole(request.want_next)); });
  }

  [[nodiscard]] std::uint64_t most_cycles(const TokenRequest& request) const {
    const contract::Program& program = bundle_.program();
    const auto& lengths = request.want_next ? program.cycles_with_head : program.cycles_without_head;
    const std::size_t step = request.position / contract::kBlockValues;
    return kSilence + 2 * std::uint64_t{step < lengths.size() ? lengths[step] : 0};
  }

  static TokenResult to_result(const TokenRequest& request, const RtlResult& made, const engine::BestLogits& best,
                               const engine::LogSum& sums) {
    TokenResult result;
    result.cycles = made.cycles;
    result.busy_beats = made.busy_beats;
    if (!request.want_next) return result;
    result.next = made.next;
    for (int i = 0; i < best.count; ++i)
      result.best.push_back({static_cast<std::int32_t>(best.ids[i]), best.logits[i]});
    std::copy(std::begin(sums.buckets), std::end(sums.buckets), result.log_sum.begin());
    return result;
  }

  bundle::Bundle bundle_;
  bool unchecked_;
  golden::Scoreboard scoreboard_;
  std::set<std::pair<std::uint32_t, bool>> timed_;  ///< (blocks − 1, with head) that are known to have no hazard
  std::unique_ptr<RtlDriver> driver_;
};

}  // namespace

std::unique_ptr<Card> make_rtl_card(const bundle::Bundle& bundle, const CardOptions& options) {
  return std::make_unique<RtlCard>(bundle, options);
}

}  // namespace lpu::card
