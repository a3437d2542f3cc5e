// See lockstep.hpp.
#include "host/cosim/lockstep.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>
#include <utility>

#include "hls/golden/fault.hpp"
#include "host/base/error.hpp"
#include "host/card/rtl_driver.hpp"
#include "host/card/rtl_library.hpp"
#include "host/cosim/events.hpp"
#include "host/cosim/names.hpp"

namespace lpu::cosim {
namespace {

constexpr std::uint64_t kWaveformBefore = 100, kWaveformAfter = 100;  ///< cycles around a mismatch
constexpr std::uint64_t kLate = 64;       ///< cycles in which a missing write may still come, to tell how late it is
constexpr std::uint64_t kSilence = 4096;  ///< cycles beyond a token's length after which the core counts as dead
constexpr std::uint32_t kMostFollowing = 48;  ///< tokens of one command: their results must fit the queue of 64

/// What a token's result must be.
struct Due {
  std::uint64_t cycles;
  std::uint64_t busy_beats;
  std::int32_t next;
};

class Lockstep {
 public:
  Lockstep(const bundle::Bundle& bundle, const Options& options, std::optional<std::uint64_t> record_at)
      : bundle_(bundle),
        options_(options),
        record_at_(record_at),
        golden_(bundle.hardware(), bundle.shape(), bundle.program(), bundle.image(),
                options.threads != 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency())),
        driver_(bundle, {options.load_through_port, record_at.has_value(), options.injection.image}),
        events_(bundle.hardware()),
        activation_(options.injection.activation) {
    driver_.set_watch([this](const LpuRtlOutputs& out) { return watch(out); });
  }

  Report run() {
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t first_cycle = driver_.cycle();
    for (std::uint64_t session = 0; report_.tokens < options_.tokens && !stopped(); ++session) {
      if (session != 0) {
        golden_.reset();
        driver_.reset();
      }
      seed_ = options_.seed + session;
      position_ = 0;
      run_session();
    }
    report_.instructions = checker_.instructions();
    report_.writes = checker_.writes();
    report_.differing_values = checker_.differing_values();
    report_.differing_cycles = checker_.differing_cycles();
    report_.core_cycles = driver_.cycle();
    report_.timed_cycles = driver_.cycle() - first_cycle;
    report_.fault_is_in = !options_.injection.image.empty() || (options_.injection.activation && !activation_);
    if (checker_.mismatches().empty() && report_.measured_cycles.size() < options_.tokens) {
      report_.interrupted = true;
      report_.tokens = report_.measured_cycles.size();  // one that was at work isn't counted
    }
    report_.core_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return std::move(report_);
  }

  /// Cycles that the core has run.
  [[nodiscard]] std::uint64_t cycle() const { return driver_.cycle(); }
  /// After an error of the card: what follows goes into the waveform, too, and ends it.
  void end_recording() {
    if (!records_) return;
    driver_.set_watch({});
    driver_.run(kWaveformAfter);
    driver_.end_waveform();
  }

 private:
  [[nodiscard]] bool stopped() const {
    return !checker_.mismatches().empty() || (options_.is_interrupted && options_.is_interrupted());
  }

  /// The prompt token by token, then what the model makes of it, until the context is full.
  void run_session() {
    const std::uint32_t context = bundle_.shape().context_tokens;
    while (position_ < context && report_.tokens < options_.tokens && !stopped()) {
      card::TokenRequest request;
      request.position = position_;
      request.token = position_ < options_.prompt.size() ? options_.prompt[position_] : next_;
      request.want_next = position_ + 1 >= options_.prompt.size();
      request.temperature = options_.temperature;
      request.seed = seed_;
      std::uint64_t follow = 0;
      if (request.want_next && options_.back_to_back)
        follow = std::min<std::uint64_t>(
            {kMostFollowing, std::uint64_t{context} - 1 - position_, options_.tokens - 1 - report_.tokens});
      run_command(request, static_cast<std::uint32_t>(follow));
    }
  }

  void run_command(const card::TokenRequest& request, std::uint32_t follow) {
    command_ = request;
    to_start_ = 1 + follow;
    driver_.start(request, follow);
    for (std::uint32_t i = 0; i <= follow && !stopped(); ++i) {
      card::RtlResult result;
      if (!wait(&result)) break;
      if (dues_.empty()) {
        checker_.differs("token", 0, 1);  // a result of a token that never started
        break;
      }
      compare(result);
    }
    if (!checker_.mismatches().empty()) find();
  }

  /// False after a mismatch. What the core then says of itself is the mismatch's consequence.
  bool wait(card::RtlResult* result) {
    try {
      return driver_.wait(most_cycles(), result);
    } catch (const Error&) {
      if (checker_.mismatches().empty()) throw;
      return false;
    }
  }

  [[nodiscard]] std::uint64_t most_cycles() const {
    const contract::Program& program = bundle_.program();
    return kSilence +
           2 * std::uint64_t{*std::max_element(program.cycles_with_head.begin(), program.cycles_with_head.end())};
  }

  /// After every cycle of the core.
  bool watch(const LpuRtlOutputs& out) {
    if (record_at_) record(out.cycle);
    if (options_.is_interrupted && options_.is_interrupted()) return false;
    if (mismatch_cycle_ != 0 && !is_awaited(out.cycle)) return false;
    if (out.token_start != 0) start_token(out.cycle);
    if (in_token_) {
      const std::uint64_t cycle = out.cycle - token_begin_;
      events_.take(out, cycle, checker_);
      checker_.reached(cycle);
      if (cycle == length_) end_token();
    } else {
      events_.take(out, 0, checker_);
    }
    inject(out);
    if (checker_.mismatches().empty()) return true;
    if (mismatch_cycle_ == 0) mismatch_cycle_ = out.cycle;
    return is_awaited(out.cycle);
  }

  /// A write that hasn't come yet may come.
  [[nodiscard]] bool is_awaited(std::uint64_t cycle) const {
    return checker_.mismatches().front().what == "missing" && cycle < mismatch_cycle_ + kLate;
  }

  /// Runs the golden card as far as the core is about to run, and expects what it did.
  void start_token(std::uint64_t cycle) {
    if (in_token_) end_token();
    if (to_start_ == 0) {
      checker_.differs("token", 0, 1);  // a token that nobody asked for
      return;
    }
    --to_start_;
    golden::StepOptions step;
    step.want_logits = command_.want_next;
    step.temperature = command_.temperature;
    step.seed = command_.seed;
    Expectation expectation;
    try {
      expectation = expect(golden_, bundle_, command_.token, command_.position, step);
    } catch (const golden::Fault& fault) {
      fail(ExitCode::kCard, "The golden card stopped: {}", fault.what());
    }
    dues_.push_back({expectation.result.cycles, expectation.result.busy_beats, expectation.result.next_token});
    token_begin_ = cycle;
    length_ = expectation.result.cycles;
    in_token_ = true;
    token_position_ = command_.position;
    command_.token = next_ = expectation.result.next_token;
    position_ = ++command_.position;
    ++report_.tokens;
    checker_.begin(std::move(expectation));
    if (options_.progress)
      options_.progress(static_cast<double>(report_.tokens - 1) / static_cast<double>(options_.tokens));
  }

  void end_token() {
    checker_.end();
    in_token_ = false;
  }

  void compare(const card::RtlResult& result) {
    const Due due = dues_.front();
    dues_.pop_front();
    report_.predicted_cycles.push_back(due.cycles);
    report_.measured_cycles.push_back(result.cycles);
    if (due.next >= 0) report_.next.push_back(result.next);
    if (due.next != result.next)
      checker_.differs("next token", static_cast<std::uint64_t>(due.next), static_cast<std::uint64_t>(result.next));
    if (due.cycles != result.cycles) checker_.differs("token's cycles", due.cycles, result.cycles);
    if (due.busy_beats != result.busy_beats) checker_.differs("busy beats", due.busy_beats, result.busy_beats);
    if (!checker_.mismatches().empty() && mismatch_cycle_ == 0) mismatch_cycle_ = driver_.cycle();
  }

  // ---- faults and waveforms
  void inject(const LpuRtlOutputs& out) {
    if (!activation_) return;
    if (out.has_block != 0 && !flip_after_ && get_bits(out.block_write, activation_->bank, 1) != 0 &&
        get_bits(out.block_address, std::uint64_t{activation_->bank} * 16, 16) == activation_->address)
      flip_after_ = out.cycle + 1;  // the port is registered: the array changes in the cycle after
    if (!flip_after_ || out.cycle < *flip_after_) return;
    for (const LpuRtlMemory& bank : driver_.memories(kLpuRtlActivations))
      if (bank.part == activation_->bank && activation_->address < bank.words) {
        std::uint8_t& byte = bank.data[activation_->address * bank.stride_bytes + activation_->bit / 8];
        byte = static_cast<std::uint8_t>(byte ^ (1U << (activation_->bit % 8)));
      }
    activation_.reset();
  }

  void record(std::uint64_t cycle) {
    const std::uint64_t first = *record_at_ > kWaveformBefore ? *record_at_ - kWaveformBefore : 0;
    if (records_ || cycle + 1 < first) return;  // a mismatch early in the first token: from the first cycle seen on
    driver_.record_waveform(options_.waveform);
    records_ = true;
  }

  void find() {
    Finding finding;
    finding.mismatch = checker_.mismatches().front();
    finding.token = report_.tokens == 0 ? 0 : report_.tokens - 1;
    finding.position = token_position_;
    finding.core_cycle = mismatch_cycle_;
    const Mismatch& mismatch = finding.mismatch;
    const bool has_place = mismatch.cycle_got.has_value() || mismatch.cycle_expected.has_value() || mismatch.has_run;
    finding.place =
        has_place ? name_of(mismatch.place, static_cast<std::uint32_t>(bundle_.hardware().lanes)) : mismatch.what;
    if (has_place && mismatch.place.kind != Kind::kIssue)
      finding.address = mismatch.place.kind == Kind::kBlock ? mismatch.place.second : mismatch.place.first;
    if (mismatch.has_run) {
      const golden::Step& step = checker_.expectation().runs[mismatch.run].step;
      const RunName name = name_of(bundle_.program(), bundle_.hardware(), step);
      finding.program_counter = step.index;
      finding.opcode = golden::opcode_name(bundle_.program().instructions[step.index].opcode());
      finding.layer = name.layer;
      finding.loop = name.loop;
      finding.iteration = step.iteration;
      finding.matrix = name.matrix;
    }
    report_.first_mismatch = std::move(finding);
    if (!record_at_) return;
    driver_.run(kWaveformAfter);
    driver_.end_waveform();
  }

  const bundle::Bundle& bundle_;
  const Options& options_;
  const std::optional<std::uint64_t> record_at_;
  bool records_ = false;
  golden::Machine golden_;
  card::RtlDriver driver_;
  Events events_;
  Checker checker_;
  Report report_;

  card::TokenRequest command_;  ///< the token that starts next
  std::uint32_t to_start_ = 0;  ///< tokens of the command that haven't started
  std::uint32_t position_ = 0;
  std::uint32_t token_position_ = 0;  ///< of the token at work
  std::int32_t next_ = 0;
  std::uint64_t seed_ = 0;
  bool in_token_ = false;
  std::uint64_t token_begin_ = 0, length_ = 0, mismatch_cycle_ = 0;
  std::deque<Due> dues_;
  std::optional<ActivationFault> activation_;
  std::optional<std::uint64_t> flip_after_;
};

/// stopped_at: the core's cycle in which an error of the card was known; untouched where it was no token's.
Report run_once(const bundle::Bundle& bundle, const Options& options, std::optional<std::uint64_t> record_at,
                std::optional<std::uint64_t>* stopped_at) {
  try {
    const auto lockstep = std::make_unique<Lockstep>(bundle, options, record_at);
    try {
      return lockstep->run();
    } catch (const Error&) {
      *stopped_at = lockstep->cycle();
      lockstep->end_recording();
      throw;
    }
  } catch (const golden::Fault& fault) {
    fail(ExitCode::kCard, "The golden card stopped: {}", fault.what());
  }
}

/// Once more, for the waveform: the core stops in the same cycle.
void record_stop(const bundle::Bundle& bundle, const Options& options, std::uint64_t cycle) {
  std::optional<std::uint64_t> ignored;
  try {
    (void)run_once(bundle, options, cycle, &ignored);
  } catch (const Error& again) {
    if (again.code() != ExitCode::kCard) throw;
  }
}

}  // namespace

Report run(const bundle::Bundle& bundle, const Options& options) {
  card::check_single(bundle);
  // Before the first run, which may take hours: whether a waveform could be written at all.
  if (!options.waveform.empty()) {
    (void)card::RtlLibrary::open(bundle, true);
    const bool existed = std::filesystem::exists(options.waveform);
    if (!std::ofstream(options.waveform, std::ios::app))
      fail(ExitCode::kIo, "--waveform: can't write {}; choose another place.", options.waveform);
    if (!existed) std::filesystem::remove(options.waveform);
  }
  std::optional<std::uint64_t> stopped_at;
  try {
    Report report = run_once(bundle, options, std::nullopt, &stopped_at);
    if (report.first_mismatch && !options.waveform.empty())
      (void)run_once(bundle, options, report.first_mismatch->core_cycle, &stopped_at);
    return report;
  } catch (const Error& error) {
    if (options.waveform.empty() || !stopped_at || error.code() != ExitCode::kCard) throw;
    record_stop(bundle, options, *stopped_at);
    const std::string said = error.what();
    fail(error.code(), "{}{} The 200 cycles around it: {}", said, said.ends_with('.') ? "" : ".", options.waveform);
  }
}

}  // namespace lpu::cosim
