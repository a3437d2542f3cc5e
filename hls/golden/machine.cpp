// The machine: construction from outside data, and one token = its time, then its values. See machine.hpp.
// Relies on check_program() to make every later index safe.
#include "hls/golden/machine.hpp"

#include <cmath>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "hls/golden/check_program.hpp"
#include "hls/golden/execute.hpp"
#include "hls/golden/scoreboard.hpp"
#include "hls/golden/state.hpp"

namespace lpu {
namespace golden {
namespace {

constexpr unsigned kMostThreads = 256;

/// Little-endian binary32 numbers of an image.
std::vector<float> floats(const std::uint8_t* bytes, std::uint64_t count) {
  std::vector<float> numbers(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint8_t* at = bytes + 4 * i;
    const std::uint32_t bits =
        at[0] | std::uint32_t{at[1]} << 8 | std::uint32_t{at[2]} << 16 | std::uint32_t{at[3]} << 24;
    numbers[i] = engine::float_from_bits(bits);
  }
  return numbers;
}

}  // namespace

void execute(State& state, const contract::Instruction& in, std::uint32_t iteration) {
  using contract::Opcode;
  switch (in.opcode()) {
    case Opcode::kMatvec:
      execute_matvec(state, in.matvec, iteration);
      break;
    case Opcode::kEmbed:
      execute_embed(state, in.vector, iteration);
      break;
    case Opcode::kResidual:
      execute_residual(state, in.vector, iteration);
      break;
    case Opcode::kQuery:
      execute_query(state, in.vector, iteration);
      break;
    case Opcode::kKey:
      execute_key(state, in.vector, iteration);
      break;
    case Opcode::kValue:
      execute_value(state, in.vector, iteration);
      break;
    case Opcode::kMix:
      execute_mix(state, in.vector, iteration);
      break;
    case Opcode::kSwiglu:
      execute_swiglu(state, in.vector, iteration);
      break;
    case Opcode::kLogits:
      execute_logits(state, in.vector, iteration);
      break;
    case Opcode::kSoftmax:
      execute_softmax(state, in.softmax, iteration);
      break;
    case Opcode::kReceive:
      execute_receive(state, in.vector, iteration);
      break;
  }
}

Machine::Machine(const contract::HardwareConfig& config, const contract::ModelShape& shape,
                 const contract::Program& program, const contract::MemoryImage& image, unsigned threads,
                 const ImageUsed& image_used)
    : program_(program) {
  check_program(config, shape, program_, image);
  if (threads == 0 || threads > kMostThreads) throw Fault("the machine runs on 1 to 256 threads");
  try {
    state_ = std::make_unique<State>(config, shape, image, threads, image_used);
    const std::uint64_t exponent_bytes = image.exponent_word_count * state_->lanes;
    state_->exponents.resize(exponent_bytes);
    if (exponent_bytes != 0) std::memcpy(state_->exponents.data(), image.exponents, exponent_bytes);
    state_->constants = floats(image.constants, image.constant_count);
    state_->rope = floats(image.rope, image.rope_pair_count * 2);
    clear_state();
    scoreboard_ = std::make_unique<Scoreboard>(config, program_, image.lane_word_count, image.kv_word_count);
  } catch (const std::bad_alloc&) {
    throw Fault("this computer doesn't have the memory that the machine's state takes");
  }
}

Machine::~Machine() = default;

void Machine::clear_state() {
  State& state = *state_;
  const std::size_t entries = static_cast<std::size_t>(state.config.accumulator_entries) * state.groups * state.lanes;
  state.activations.assign(static_cast<std::size_t>(state.config.activation_blocks) * state.groups, ActivationBlock());
  state.sums.assign(entries, 0);
  state.value_scales.assign(entries, 0);
  state.residual.assign(static_cast<std::size_t>(state.config.residual_values), 0.0f);
  state.rounds.assign(contract::kMaxRounds * state.groups, RoundRegister());
  state.scales[0] = state.scales[1] = 0;
  state.norm_sum = 0;
}

void Machine::reset() {
  state_->memory.clear_kv();
  clear_state();
}

void Machine::check_request(std::int32_t token, std::uint32_t position, const StepOptions& options) const {
  const State& state = *state_;
  if (token < 0 || static_cast<std::uint32_t>(token) >= state.shape.vocabulary)
    throw Fault("token " + std::to_string(token) + " isn't in the vocabulary of " +
                std::to_string(state.shape.vocabulary));
  if (position >= state.shape.context_tokens)
    throw Fault("position " + std::to_string(position) + " is beyond the context of " +
                std::to_string(state.shape.context_tokens) + " tokens");
  if (!(options.temperature >= 0) || !std::isfinite(options.temperature) ||
      (options.temperature > 0 && !std::isfinite(1.0f / options.temperature)))
    throw Fault("the temperature must be 0 or a number whose inverse is finite");
}

StepResult Machine::run(contract::Phase phase, std::int32_t token, std::uint32_t position, const StepOptions& options,
                        const LinkVector* received) {
  State& state = *state_;
  check_request(token, position, options);
  if (received != nullptr && received->values.size() != state.shape.width)
    throw Fault("the received vector has " + std::to_string(received->values.size()) +
                " values, the model's width is " + std::to_string(state.shape.width));
  StepResult result;
  std::vector<TimedWrite> writes;
  const TokenPart part{phase, options.want_logits};
  const TokenTime time = scoreboard_->token(position, part, received, options.observer != nullptr ? &writes : nullptr);
  if (options.observer != nullptr) options.observer->timed(scoreboard_->runs(), writes);
  result.cycles = time.cycles;
  result.busy_beats = time.busy_beats;
  result.sent.cycles = scoreboard_->sent();

  state.token = TokenState();
  state.token.token = token;
  state.token.position = position;
  state.token.blocks = position / 32 + 1;
  state.token.fast = options.fast;
  state.token.samples = options.temperature > 0;
  state.token.inverse_temperature = state.token.samples ? 1.0f / options.temperature : 0.0f;
  state.token.seed = options.seed;
  state.token.logits = options.logits;
  state.token.received = received;
  state.token.sent = &result.sent.values;
  std::uint32_t runs = 0;
  walk(program_, part, [&](const contract::Loop&, const Step& run) {
    execute(state, program_.instructions[run.index], run.iteration);
    if (options.observer != nullptr) options.observer->executed(runs);
    ++runs;
  });

  result.saturations = state.token.saturations;
  result.best = state.token.best;
  result.buckets = state.token.buckets;
  result.has_key = state.token.has_key;
  result.best_key = state.token.best_key;
  if (state.token.samples && state.token.has_key)
    result.next_token = static_cast<std::int32_t>(state.token.best_key_id);
  else if (state.token.best.count != 0)
    result.next_token = static_cast<std::int32_t>(state.token.best.ids[0]);
  return result;
}

}  // namespace golden
}  // namespace lpu
