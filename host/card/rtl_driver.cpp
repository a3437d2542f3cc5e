// See rtl_driver.hpp.
#include "host/card/rtl_driver.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "hls/contract/describe.hpp"
#include "hls/engine/rms_norm.hpp"
#include "hls/golden/walk.hpp"
#include "host/base/error.hpp"

namespace lpu::card {
namespace {

using contract::ControlRegister;
using contract::Region;

constexpr std::uint64_t kResetCycles = 80;   ///< the core is in reset for 64
constexpr std::uint64_t kAnswerCycles = 16;  ///< a read is answered after two

std::uint64_t address_of(Region region, std::uint64_t byte = 0) {
  return (static_cast<std::uint64_t>(region) << contract::kRegionShift) + byte;
}
std::uint64_t address_of(ControlRegister which) {
  return address_of(Region::kControl, static_cast<std::uint64_t>(which) * contract::kControlBytes);
}

}  // namespace

RtlDriver::RtlDriver(const bundle::Bundle& bundle, RtlOptions options)
    : bundle_(bundle),
      options_(std::move(options)),
      library_(RtlLibrary::open(bundle, options_.with_waveform)),
      image_(bundle),
      model_(library_.functions().create()) {
  if (model_ == nullptr)
    fail(ExitCode::kDoesNotFit, "There isn't enough memory for the RTL model of \"{}\".", library_.parameters().name);
  try {
    run(kResetCycles);
    const std::uint64_t hash =
        read(ControlRegister::kContractLow) | static_cast<std::uint64_t>(read(ControlRegister::kContractHigh)) << 32;
    if (hash != contract::contract_hash())
      fail(ExitCode::kCard, "The rtl card says contract {:016x}, this program is of contract {}; build it again.", hash,
           contract::contract_hash_text());
    load();
  } catch (...) {
    library_.functions().destroy(model_);
    throw;
  }
}

RtlDriver::~RtlDriver() { library_.functions().destroy(model_); }

const LpuRtlOutputs& RtlDriver::tick(const LpuRtlInputs& in) {
  const LpuRtlOutputs* const out = library_.functions().tick(model_, &in);
  cycle_ = out->cycle + 1;
  if (watch_ && !watch_(*out)) stopped_ = true;
  return *out;
}

void RtlDriver::run(std::uint64_t cycles) {
  for (std::uint64_t i = 0; i < cycles; ++i) tick({});
}

void RtlDriver::write(ControlRegister which, std::uint32_t value) { tick({address_of(which), value, 1, 0}); }

std::uint32_t RtlDriver::read(ControlRegister which) {
  tick({address_of(which), 0, 0, 1});
  for (std::uint64_t i = 0; i < kAnswerCycles; ++i) {
    const LpuRtlOutputs& out = tick({});
    if (out.host_valid != 0) return out.host_data;
  }
  fail(ExitCode::kCard, "The rtl card doesn't answer a read of control register {}; build it again.",
       static_cast<std::uint32_t>(which));
}

// ---- memories
std::vector<LpuRtlMemory> RtlDriver::memories(std::uint32_t region) const {
  const LpuRtlMemory* first = nullptr;
  const std::uint32_t count = library_.functions().memories(model_, &first);
  std::vector<LpuRtlMemory> found;
  std::copy_if(first, first + count, std::back_inserter(found),
               [region](const LpuRtlMemory& memory) { return memory.region == region; });
  return found;
}

void RtlDriver::load() {
  for (int i = 0; i < contract::kRegions; ++i) {
    const Region region = static_cast<Region>(i);
    if (options_.load_through_port || !copy(region)) stream(region, options_.faults);
  }
  for (const ImageFault& fault : options_.faults) {
    if (fault.byte >= image_.bytes(fault.region).size())
      fail(ExitCode::kUsage, "--inject: the bundle's memory ends before byte {}; choose a smaller address.",
           fault.byte);
  }
  write_constants();
  run(2);
  if ((read(ControlRegister::kStatus) & 2U) != 0) stop();
  bundle_.forget_image();
}

/// Straight into the core's arrays. False when this model doesn't show them.
bool RtlDriver::copy(Region region) {
  const std::span<const std::uint8_t> bytes = image_.bytes(region);
  const std::vector<LpuRtlMemory> arrays = memories(static_cast<std::uint32_t>(region));
  if (arrays.empty()) return bytes.empty();
  // Lane and minimum words: an array holds the words of one column group; of the others it holds everything.
  const bool by_group = region == Region::kLaneWords || region == Region::kMinimumWords;
  const std::uint64_t groups = by_group ? static_cast<std::uint64_t>(bundle_.hardware().column_groups) : 1;
  for (const LpuRtlMemory& array : arrays) {
    const std::uint64_t word_bytes = array.word_bits / 8, step = word_bytes * groups;
    std::uint64_t at = array.first_word * step + (by_group ? array.part * word_bytes : 0);
    for (std::uint64_t word = 0; word < array.words && at < bytes.size(); ++word, at += step)
      std::memcpy(array.data + word * array.stride_bytes, bytes.data() + at,
                  std::min<std::uint64_t>(word_bytes, bytes.size() - at));
    for (const ImageFault& fault : options_.faults) {
      if (fault.region != region || fault.byte >= bytes.size()) continue;
      const std::uint64_t group = by_group ? fault.byte % step / word_bytes : 0;
      if (by_group && group != array.part) continue;
      const std::uint64_t word = fault.byte / step;
      if (word < array.first_word || word - array.first_word >= array.words) continue;
      std::uint8_t& byte = array.data[(word - array.first_word) * array.stride_bytes + fault.byte % step % word_bytes];
      byte = static_cast<std::uint8_t>(byte ^ fault.flip);
    }
  }
  return true;
}

/// Through the host port, four bytes a cycle, from the region's first byte on.
void RtlDriver::stream(Region region, const std::vector<ImageFault>& faults) {
  const std::span<const std::uint8_t> bytes = image_.bytes(region);
  std::vector<std::pair<std::uint64_t, std::uint8_t>> flips;
  for (const ImageFault& fault : faults)
    if (fault.region == region) flips.emplace_back(fault.byte, fault.flip);
  const std::uint64_t end = image_.padded_bytes(region);
  for (std::uint64_t at = 0; at < end; at += 4) {
    std::uint32_t word = 0;
    for (std::uint64_t i = 0; i < 4; ++i)
      if (at + i < bytes.size()) word |= static_cast<std::uint32_t>(bytes[at + i]) << (8 * i);
    for (const auto& [byte, flip] : flips)
      if (byte / 4 == at / 4) word ^= static_cast<std::uint32_t>(flip) << (8 * (byte % 4));
    tick({address_of(region, at), word, 1, 0});
  }
}

void RtlDriver::reload(Region region, const std::vector<ImageFault>& faults) { stream(region, faults); }

void RtlDriver::clear_kv() {
  const contract::MemoryImage image = bundle_.image();
  const std::vector<LpuRtlMemory> arrays = memories(static_cast<std::uint32_t>(Region::kLaneWords));
  for (const LpuRtlMemory& array : arrays) {
    const std::uint64_t end = std::min(image.lane_word_count + image.kv_word_count, array.first_word + array.words);
    const std::uint64_t from = std::max(image.lane_word_count, array.first_word);
    if (from < end)
      std::memset(array.data + (from - array.first_word) * array.stride_bytes, 0, (end - from) * array.stride_bytes);
  }
  if (!arrays.empty()) return;
  stream(Region::kLaneWords, options_.faults);
  const std::uint64_t from = image_.padded_bytes(Region::kLaneWords);
  const std::uint64_t end =
      from + image.kv_word_count * static_cast<std::uint64_t>(element_bytes(Region::kLaneWords, bundle_.hardware()));
  for (std::uint64_t at = from; at < end; at += 4) tick({address_of(Region::kLaneWords, at), 0, 1, 0});
}

void RtlDriver::write_constants() {
  const contract::ModelShape& shape = bundle_.shape();
  const contract::Program& program = bundle_.program();
  const auto logits = std::find_if(program.instructions.begin(), program.instructions.end(),
                                   [](const auto& in) { return in.opcode() == contract::Opcode::kLogits; });
  const auto float_bits = [](float value) { return engine::bits_from_float(value); };
  const std::pair<ControlRegister, std::uint32_t> values[] = {
      {ControlRegister::kWidth, shape.width},
      {ControlRegister::kInverseWidth, float_bits(engine::inverse_width_factor(static_cast<int>(shape.width)))},
      {ControlRegister::kEpsilon, float_bits(shape.norm_epsilon)},
      {ControlRegister::kHeadSize, shape.head_size},
      {ControlRegister::kLoops, static_cast<std::uint32_t>(program.loops.size())},
      {ControlRegister::kLengthSteps, program.length_steps},
      {ControlRegister::kCyclesWithHead, image_.lengths_entry(true)},
      {ControlRegister::kCyclesWithoutHead, image_.lengths_entry(false)},
      {ControlRegister::kVocabulary, shape.vocabulary},
      {ControlRegister::kFirstLogitRow, logits != program.instructions.end() ? logits->vector.first_row : 0},
      {ControlRegister::kContextTokens, shape.context_tokens}};
  for (const auto& [which, value] : values) write(which, value);
}

void RtlDriver::reset() {
  write(ControlRegister::kReset, 1);
  run(kResetCycles);
  library_.functions().clear_error_text(model_);
  clear_kv();
  write_constants();
}

// ---- tokens
void RtlDriver::start(const TokenRequest& request, std::uint32_t follow) {
  with_head_ = request.want_next || follow != 0;
  const bool samples = request.temperature > 0;
  const std::uint32_t inverse = engine::bits_from_float(samples ? 1.0F / request.temperature : 0.0F);
  write(ControlRegister::kToken, static_cast<std::uint32_t>(request.token));
  write(ControlRegister::kPosition, request.position);
  write(ControlRegister::kFlags, (request.want_next ? 1U : 0U) | (samples ? 2U : 0U));
  write(ControlRegister::kInverseTemperature, inverse);
  write(ControlRegister::kSeedLow, static_cast<std::uint32_t>(request.seed));
  write(ControlRegister::kSeedHigh, static_cast<std::uint32_t>(request.seed >> 32));
  write(ControlRegister::kFollow, follow);
  write(ControlRegister::kStart, 1);
}

void RtlDriver::set_watch(Watch watch) {
  watch_ = std::move(watch);
  stopped_ = false;
}

bool RtlDriver::wait(std::uint64_t most_cycles, RtlResult* result) {
  const LpuRtlInputs ask{address_of(ControlRegister::kStatus), 0, 0, 1};
  for (std::uint64_t i = 0;; ++i) {
    if (i >= most_cycles)
      fail(ExitCode::kCard,
           "The rtl card stopped: no result came in {} cycles, though the program says that one would.", most_cycles);
    const LpuRtlOutputs& out = tick(ask);
    if (stopped_) return false;
    const std::uint32_t status = out.host_valid != 0 ? out.host_data : 0;
    if ((status & 2U) != 0 || library_.functions().error_text(model_)[0] != '\0') stop();
    if ((status >> 16 & 0xFFU) != 0) break;
  }
  run(2);  // answers to the questions after the last one
  const std::uint32_t flags = read(ControlRegister::kResultFlags);
  result->with_head = (flags & 1U) != 0;
  result->saturated = (flags & 2U) != 0;
  result->next = result->with_head ? static_cast<std::int32_t>(read(ControlRegister::kResultNext)) : -1;
  result->cycles = read(ControlRegister::kResultCycles);
  result->busy_beats = read(ControlRegister::kResultBusyBeats);
  result->position = read(ControlRegister::kResultPosition);
  write(ControlRegister::kResultPop, 1);
  return true;
}

std::string RtlDriver::run_text(std::uint32_t index) const {
  std::string text;
  std::uint32_t runs = 0;
  golden::walk(
      bundle_.program(), golden::TokenPart::whole(with_head_), [&](const contract::Loop&, const golden::Step& step) {
        if (runs++ != index) return;
        text = fmt::format(", instruction {} ({}, iteration {})", step.index,
                           golden::opcode_name(bundle_.program().instructions[step.index].opcode()), step.iteration);
      });
  return text;
}

void RtlDriver::stop() {
  watch_ = {};         // nobody is to take what follows for the token's work
  run(kAnswerCycles);  // an assertion speaks before the error it stands for
  std::string said = library_.functions().error_text(model_);
  said = said.substr(0, said.find('\n'));
  const std::uint32_t code = read(ControlRegister::kErrorCode);
  if (code == 0) fail(ExitCode::kCard, "The rtl card stopped: an assertion of the core failed: {}", said);
  const std::uint32_t index = read(ControlRegister::kErrorIndex);
  fail(ExitCode::kCard, "The rtl card stopped (error {}, run {} of the token{}): {}{}", code, index, run_text(index),
       contract::describe(static_cast<contract::CardError>(code)), said.empty() ? "." : ". The core said: " + said);
}

void RtlDriver::record_waveform(const std::string& path) {
  if (library_.functions().waveform(model_, path.c_str()) == 0)
    fail(ExitCode::kIo, "The waveform can't be written to {}; choose another file.", path);
}

void RtlDriver::end_waveform() { library_.functions().waveform(model_, nullptr); }

}  // namespace lpu::card
