// The scoreboard's core: issue cycles, places, ports and the sentences of its hazards. See scoreboard.hpp.
// Relies on runs being looked at in the order of meaning: the state of a place is what older instructions did to it.
#include "hls/golden/scoreboard.hpp"

#include <algorithm>
#include <string>

#include "hls/golden/fault.hpp"
#include "hls/golden/scoreboard_limits.hpp"

namespace lpu {
namespace golden {

using contract::Opcode;
using contract::Unit;

const char* opcode_name(Opcode opcode) {
  static const char* const kNames[contract::kOpcodes] = {"matvec", "embed",  "residual", "query",   "key",    "value",
                                                         "mix",    "swiglu", "logits",   "softmax", "receive"};
  const std::uint32_t code = static_cast<std::uint32_t>(opcode);
  return code < contract::kOpcodes ? kNames[code] : "unknown";
}

Scoreboard::Scoreboard(const contract::HardwareConfig& config, const contract::Program& program,
                       std::uint64_t weight_words, std::uint64_t kv_words)
    : config_(config),
      program_(program),
      lanes_(static_cast<std::uint64_t>(config.lanes)),
      groups_(static_cast<std::uint64_t>(config.column_groups)),
      vector_lanes_(static_cast<std::uint64_t>(config.vector_lanes)),
      slices_(lanes_ / vector_lanes_),
      weight_words_(weight_words),
      noise_(config),
      accumulators_(static_cast<std::uint64_t>(config.accumulator_entries) * groups_),
      blocks_places_(static_cast<std::uint64_t>(config.activation_blocks) * groups_),
      residual_(static_cast<std::uint64_t>(config.residual_values) / vector_lanes_ + 1),
      words_read_(kv_words),
      words_(kv_words * groups_),
      scales_(2),
      exponents_(contract::kMaxRounds * groups_),
      inverses_(contract::kMaxRounds * groups_),
      bank_ports_(groups_ * kPortWindow),
      word_ports_(groups_ * kPortWindow) {}

TokenTime Scoreboard::token(std::uint32_t position, const TokenPart& part, const LinkVector* received,
                            std::vector<TimedWrite>* writes) {
  log_ = writes;
  received_ = received;
  sent_.clear();
  if (++stamp_ == 0) throw Fault("the scoreboard has counted 2^32 tokens; reset the card");
  position_ = position;
  blocks_ = position / 32 + 1;
  end_ = beats_ = 0;
  runs_.clear();
  bursts_.clear();
  embeds_.clear();
  for (Busy& busy : busy_) busy = Busy();
  noise_.start_token(part.phase == contract::Phase::kHead ? program_.cycles_of(contract::Phase::kLayers)[blocks_ - 1]
                                                          : 0);

  std::uint64_t issue[contract::kUnits] = {};
  const contract::Loop* current = nullptr;
  bool entered[contract::kUnits] = {};
  walk(program_, part, [&](const contract::Loop& loop, const Step& step) {
    if (&loop != current) {
      current = &loop;
      std::fill(entered, entered + contract::kUnits, false);
    }
    const contract::Instruction& in = program_.instructions[step.index];
    const std::size_t unit = static_cast<std::size_t>(contract::unit_of(in.opcode()));
    std::uint64_t delay = in.common.delay;
    bool by_length = in.common.delay_by_length != 0;
    if (!entered[unit]) {
      entered[unit] = true;
      const std::uint32_t rows[contract::kUnits] = {loop.entry_delay_mvu, loop.entry_delay_vpu, loop.entry_delay_smx};
      delay = rows[unit];
      by_length = true;
    }
    if (by_length) delay = program_.delays[delay * program_.length_steps + (blocks_ - 1)];
    issue[unit] += delay;
    if (issue[unit] >= kMostCycles)
      throw Fault("instruction " + std::to_string(step.index) + " issues at cycle " + std::to_string(issue[unit]) +
                  ": a token must take less than 2^30 cycles");
    runs_.push_back(TimedRun{step, issue[unit]});
    run_ = static_cast<std::uint32_t>(runs_.size());
    issue_ = issue[unit];
    iteration_ = step.iteration;
    switch (contract::unit_of(in.opcode())) {
      case Unit::kMvu:
        matvec(in.matvec);
        break;
      case Unit::kVpu:
        vector(in.opcode(), in.vector);
        break;
      case Unit::kSmx:
        softmax(in.softmax);
        break;
    }
  });
  TokenTime time;
  time.cycles = static_cast<std::uint32_t>(end_);
  time.busy_beats = beats_;
  return time;
}

void Scoreboard::check_length(std::uint64_t cycle) const {
  if (cycle >= kMostCycles)
    throw Fault(describe(run_) + " lasts until cycle " + std::to_string(cycle) +
                ": a token must take less than 2^30 cycles");
}

/// Something can be read in this cycle, so the token lasts at least that long.
void Scoreboard::ends(std::uint64_t cycle) {
  check_length(cycle);
  end_ = std::max(end_, cycle);
}

Scoreboard::Place& Scoreboard::fresh(Place& place) const {
  if (place.stamp != stamp_) {
    place = Place();
    place.stamp = stamp_;
  }
  return place;
}

void Scoreboard::read(Place& place, const Name& name, std::uint64_t first, std::uint64_t last) {
  fresh(place);
  if (place.ready > first) {
    const std::string reads =
        "hazard: " + describe(run_) + " reads " + describe(name) + " at cycle " + std::to_string(first) + ", but ";
    if (place.ready == kNever) throw Fault(reads + describe(place.writer) + " doesn't finish it");
    throw Fault(reads + describe(place.writer) + " makes it readable at cycle " + std::to_string(place.ready));
  }
  if (place.reader == 0 || last > place.last_read) {
    place.last_read = static_cast<std::uint32_t>(last);
    place.reader = run_;
  }
}

void Scoreboard::write(Place& place, const Name& name, std::uint64_t change, std::uint64_t ready, bool in_order) {
  fresh(place);
  if (place.reader != 0 && place.reader != run_ && change <= place.last_read)
    throw Fault("hazard: " + describe(run_) + " changes " + describe(name) + " at cycle " + std::to_string(change) +
                ", but " + describe(place.reader) + " still reads it at cycle " + std::to_string(place.last_read));
  if (in_order && place.writer != 0 && ready <= place.ready)
    throw Fault("hazard: " + describe(run_) + " makes " + describe(name) + " readable at cycle " +
                std::to_string(ready) + ", but the older " + describe(place.writer) + " does so at cycle " +
                std::to_string(place.ready));
  place.ready = static_cast<std::uint32_t>(ready);
  place.writer = run_;
  // A lane word's second record, of all groups together, isn't another write.
  if (log_ != nullptr && (in_order || name.kind != Kind::kWord))
    log_->push_back(TimedWrite{name.kind, name.first, name.second, ready, run_ - 1});
  if (ready != kNever) ends(ready);
}

void Scoreboard::take_port(std::vector<Port>& ports, std::uint64_t index, std::uint64_t cycle, const char* what) {
  Port& port = ports[index * kPortWindow + cycle % kPortWindow];
  if (port.stamp == stamp_ && port.cycle == cycle)
    throw Fault("hazard: " + describe(run_) + " uses " + what + " " + std::to_string(index) + " at cycle " +
                std::to_string(cycle) + ", but " + describe(port.user) + " uses it in that cycle");
  port.stamp = stamp_;
  port.cycle = static_cast<std::uint32_t>(cycle);
  port.user = run_;
}

void Scoreboard::occupy(Unit unit, std::uint64_t issue, std::uint64_t free) {
  static const char* const kNames[contract::kUnits] = {"MVU", "VPU", "SMX"};
  Busy& busy = busy_[static_cast<std::size_t>(unit)];
  if (unit != Unit::kVpu && issue < contract::kIssueLeadCycles)
    throw Fault("hazard: " + describe(run_) + " issues at cycle " + std::to_string(issue) + ", but the " +
                kNames[static_cast<std::size_t>(unit)] + " may issue nothing in the first " +
                std::to_string(contract::kIssueLeadCycles) + " cycles of a token");
  if (issue < busy.free)
    throw Fault("hazard: " + describe(run_) + " issues at cycle " + std::to_string(issue) + ", but " +
                describe(busy.user) + " keeps the " + kNames[static_cast<std::size_t>(unit)] + " busy until cycle " +
                std::to_string(busy.free));
  check_length(free);
  busy.free = free;
  busy.user = run_;
}

void Scoreboard::check_embed(const EmbedReads& reads, const Interval& burst) const {
  if (burst.end <= reads.first || burst.first >= reads.first + reads.sets * reads.pitch) return;
  const std::uint64_t from = std::max(burst.first, reads.first) - reads.first;
  // The first set whose last read isn't before the burst's first beat.
  std::uint64_t set = from / reads.pitch;
  if (from % reads.pitch >= reads.nibbles) ++set;
  const std::uint64_t cycle = std::max(reads.first + set * reads.pitch, burst.first);
  if (set >= reads.sets || cycle >= burst.end) return;
  throw Fault("hazard: " + describe(burst.run) + " has a beat at cycle " + std::to_string(cycle) + ", but " +
              describe(reads.run) + " reads the lanes' memories in that cycle");
}

std::string Scoreboard::describe(std::uint32_t run) const {
  const Step& step = runs_[run - 1].step;
  return "instruction " + std::to_string(step.index) + " (" + opcode_name(program_.instructions[step.index].opcode()) +
         ", iteration " + std::to_string(step.iteration) + ")";
}

std::string Scoreboard::describe(const Name& name) const {
  const std::string first = std::to_string(name.first), second = std::to_string(name.second);
  switch (name.kind) {
    case Kind::kAccumulator:
      return "accumulator " + first + " of segment " + second;
    case Kind::kBlock:
      return "activation block " + second + " of bank " + first;
    case Kind::kResidual:
      return "residual value " + first;
    case Kind::kWord:
      return "lane word " + first + (name.second < groups_ ? " of group " + second : "");
    case Kind::kScale:
      return "scale register " + first;
    case Kind::kExponent:
      return "the largest exponent of round " + first + ", segment " + second;
    case Kind::kInverse:
      return "1/z of round " + first + ", segment " + second;
  }
  return "a place";
}

}  // namespace golden
}  // namespace lpu
