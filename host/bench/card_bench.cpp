// See card_bench.hpp.
#include "host/bench/card_bench.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "host/base/error.hpp"
#include "host/runtime/metrics.hpp"
#include "host/runtime/slot_queue.hpp"

namespace lpu::bench {
namespace {

using runtime::SlotQueue;

/// The Card interface holds one session's KV cache today.
constexpr std::size_t kSlots = 1;

struct Arrival {
  std::uint64_t cycle;
  std::size_t session;
  auto operator<=>(const Arrival&) const = default;
};

/// A request between its arrival and its slot.
struct Waiting {
  std::size_t request;  ///< index into the list
  std::size_t session;
  std::size_t place;
  std::uint64_t arrival_cycle;
  double arrival_wall_s;
};

class Loop {
 public:
  Loop(card::Card& card, const bundle::Bundle& bundle, const std::vector<Request>& requests,
       const CardBenchOptions& options)
      : bundle_(bundle), requests_(requests), options_(options), session_(card, bundle) {
    const double interval_cycles = options.interval_s * clock_hz();
    for (std::size_t i = 0; i < std::min(options.sessions, requests.size()); ++i)
      arrivals_.insert({static_cast<std::uint64_t>(std::llround(interval_cycles * static_cast<double>(i))), i});
    for (const Request& request : requests) all_tokens_ += request.prompt_ids.size() + request.output_tokens;
  }

  CardBench run() {
    std::optional<SlotQueue::Ticket> holder;
    while (next_request_ < requests_.size() || holder) {
      if (!holder) {
        if (arrivals_.empty()) break;
        now_cycle_ = std::max(now_cycle_, arrivals_.begin()->cycle);
        holder = take_arrival(now_wall_s_);
      }
      const std::uint64_t start_cycle = now_cycle_;
      const double start_wall_s = now_wall_s_;
      const Waiting served = waiting_.at(*holder);
      waiting_.erase(*holder);
      serve(served);
      while (!arrivals_.empty() && arrivals_.begin()->cycle <= now_cycle_ && next_request_ < requests_.size()) {
        const double share = static_cast<double>(arrivals_.begin()->cycle - start_cycle) /
                             static_cast<double>(std::max<std::uint64_t>(now_cycle_ - start_cycle, 1));
        take_arrival(start_wall_s + share * (now_wall_s_ - start_wall_s));
      }
      holder = queue_.leave(*holder);
      arrivals_.insert({now_cycle_, served.session});
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] double clock_hz() const { return bundle_.hardware().clock_mhz * 1e6; }
  [[nodiscard]] double seconds(std::uint64_t cycles) const { return static_cast<double>(cycles) / clock_hz(); }

  /// The earliest arrival gets the next request of the list, and a slot or a place.
  SlotQueue::Ticket take_arrival(double wall_s) {
    const Arrival arrival = *arrivals_.begin();
    arrivals_.erase(arrivals_.begin());
    const SlotQueue::Ticket ticket = queue_.join().value();
    waiting_[ticket] = {next_request_++, arrival.session, queue_.place(ticket), arrival.cycle, wall_s};
    result_.most_waiting = std::max(result_.most_waiting, queue_.waiting());
    return ticket;
  }

  void serve(const Waiting& waiting) {
    const Request& request = requests_[waiting.request];
    runtime::GenerateOptions generate;
    generate.max_tokens = request.output_tokens;
    generate.sampling = options_.sampling;
    generate.sampling.seed += request.index;
    generate.is_interrupted = options_.is_interrupted;
    const std::size_t prompt_tokens = request.prompt_ids.size();
    generate.on_prompt = [&](double share) { progress(share * static_cast<double>(prompt_tokens)); };
    std::size_t generated = 0;
    generate.on_token = [&](std::int32_t) { progress(static_cast<double>(prompt_tokens + ++generated)); };
    session_.reset();  // every prompt is read whole

    CardRun run{request.index, waiting.session, waiting.place, {}, {}, session_.generate(request.prompt_ids, generate)};
    const runtime::Generation& generation = run.generation;
    if (generation.end == runtime::EndReason::kInterrupted)
      fail(ExitCode::kInterrupted, "Interrupted; nothing was written.");
    if (generation.tokens.size() != request.output_tokens)
      fail(ExitCode::kInternal, "Request {} got {} tokens instead of {}.", request.index, generation.tokens.size(),
           request.output_tokens);
    fill_times(run, waiting);
    note_cycles(generation);
    done_tokens_ += prompt_tokens + request.output_tokens;
    result_.runs.push_back(std::move(run));
  }

  void progress(double tokens) const {
    if (options_.on_progress)
      options_.on_progress((static_cast<double>(done_tokens_) + tokens) / static_cast<double>(all_tokens_));
  }

  /// Also moves both clocks to the request's end.
  void fill_times(CardRun& run, const Waiting& waiting) {
    const runtime::Generation& generation = run.generation;
    run.card.arrival_s = seconds(waiting.arrival_cycle);
    run.card.start_s = seconds(now_cycle_);
    run.wall.arrival_s = waiting.arrival_wall_s;
    run.wall.start_s = now_wall_s_;
    run.card.output_tokens = run.wall.output_tokens = generation.tokens.size();
    const std::size_t first_token = generation.measured_cycles.size() - generation.tokens.size();
    for (std::size_t i = 0; i < generation.measured_cycles.size(); ++i) {
      now_cycle_ += generation.measured_cycles[i];
      if (i >= first_token) run.card.pieces_s.push_back(seconds(now_cycle_));
    }
    for (const double wall_s : generation.wall_times_s) run.wall.pieces_s.push_back(run.wall.start_s + wall_s);
    now_wall_s_ = run.wall.pieces_s.back();
  }

  void note_cycles(const runtime::Generation& generation) {
    const std::size_t first_token = generation.measured_cycles.size() - generation.tokens.size();
    for (std::size_t i = 0; i < generation.measured_cycles.size(); ++i) {
      const std::uint64_t predicted = generation.predicted_cycles[i];
      const std::uint64_t measured = generation.measured_cycles[i];
      const auto difference = static_cast<std::int64_t>(measured - predicted);
      least_difference_ = std::min(least_difference_, difference);
      most_difference_ = std::max(most_difference_, difference);
      if (i < first_token) continue;
      const auto [at, is_new] =
          result_.by_position.try_emplace(generation.positions[i], PositionCycles{predicted, measured, measured});
      at->second.measured_least = std::min(at->second.measured_least, measured);
      at->second.measured_most = std::max(at->second.measured_most, measured);
    }
    result_.jitter_cycles = std::max(result_.jitter_cycles,
                                     runtime::jitter_cycles(generation.predicted_cycles, generation.measured_cycles));
    result_.spread_cycles = static_cast<std::uint64_t>(most_difference_ - least_difference_);
  }

  bundle::Bundle bundle_;
  const std::vector<Request>& requests_;
  const CardBenchOptions& options_;
  runtime::Session session_;
  SlotQueue queue_{kSlots};
  std::set<Arrival> arrivals_;                    ///< still to come
  std::map<SlotQueue::Ticket, Waiting> waiting_;  ///< in the queue, or just given a slot
  std::size_t next_request_ = 0;
  std::uint64_t now_cycle_ = 0;
  double now_wall_s_ = 0;
  std::int64_t least_difference_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t most_difference_ = std::numeric_limits<std::int64_t>::min();
  std::size_t all_tokens_ = 0;
  std::size_t done_tokens_ = 0;
  CardBench result_;
};

}  // namespace

CardBench run_on_card(card::Card& card, const bundle::Bundle& bundle, const std::vector<Request>& requests,
                      const CardBenchOptions& options) {
  if (requests.empty()) return {};
  CardBench result = Loop(card, bundle, requests, options).run();
  result.slots = kSlots;
  // No prompt of several tokens runs the head at position 0: what speed decays from is measured apart.
  card.reset();
  card::TokenRequest first;
  first.token = requests.front().prompt_ids.front();
  const std::uint64_t measured = card.step(first).cycles;
  result.by_position.try_emplace(
      0, PositionCycles{runtime::predicted_cycles(bundle.program(), 0, true), measured, measured});
  return result;
}

}  // namespace lpu::bench
