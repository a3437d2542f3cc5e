// The checks of check_program.hpp, opcode by opcode, at the last iteration and the longest context: every address grows
// with both, so nothing between can be outside. Relies on fields fitting their widths (checked first), so that sums and
// products below stay within 64 bits.
#include "hls/golden/check_program.hpp"

#include <algorithm>
#include <string>

#include "hls/golden/fault.hpp"
#include "hls/golden/walk.hpp"

namespace lpu {
namespace golden {
namespace {

using contract::Opcode;
using contract::Unit;

constexpr std::uint64_t kMostRuns = std::uint64_t{1} << 24;   ///< instructions of one token, iterations counted
constexpr std::uint64_t kMostBeats = std::uint64_t{1} << 30;  ///< of one burst
constexpr std::uint64_t kMostColumnBlocks = contract::kMaxColumns / 32;

[[noreturn]] void refuse(const std::string& sentence) { throw Fault(sentence); }

class Checker {
 public:
  Checker(const contract::HardwareConfig& config, const contract::ModelShape& shape, const contract::Program& program,
          const contract::MemoryImage& image)
      : config_(config),
        shape_(shape),
        program_(program),
        image_(image),
        lanes_(static_cast<std::uint64_t>(config.lanes)),
        groups_(static_cast<std::uint64_t>(config.column_groups)),
        slices_(lanes_ / static_cast<std::uint64_t>(config.vector_lanes)),
        words_(image.lane_word_count + image.kv_word_count) {}

  void all() {
    shape();
    tables();
    std::uint64_t runs = 0;
    bool head = false;
    for (std::size_t i = 0; i < program_.loops.size(); ++i) {
      const contract::Loop& loop = program_.loops[i];
      const std::string name = "loop " + std::to_string(i);
      if (loop.first_instruction + std::uint64_t{loop.instruction_count} > program_.instructions.size())
        refuse(name + " runs past the program's last instruction");
      if (loop.iterations > 0xFFFF) refuse(name + " has more than 65535 iterations");
      phase(loop, name);
      if (head && loop.is_head == 0) refuse(name + " isn't part of the head but follows a loop that is");
      head = loop.is_head != 0;
      runs += std::uint64_t{loop.instruction_count} * loop.iterations;
      if (loop.iterations == 0) continue;
      entries(loop, name);
      last_iteration_ = loop.iterations - 1;
      for (std::uint32_t k = 0; k < loop.instruction_count; ++k) {
        index_ = loop.first_instruction + k;
        instruction();
        biases();
        logits(loop.iterations);
      }
    }
    if (runs > kMostRuns) refuse("a token of the program runs " + std::to_string(runs) + " instructions");
  }

 private:
  std::string here() const {
    return "instruction " + std::to_string(index_) + " (" + opcode_name(program_.instructions[index_].opcode()) + ")";
  }
  void require(bool holds, const char* what) const {
    if (!holds) refuse(here() + ": " + what);
  }
  void below(std::uint64_t value, std::uint64_t limit, const char* what) const {
    if (value >= limit)
      refuse(here() + ": " + what + " reaches " + std::to_string(value) + ", but there are only " +
             std::to_string(limit));
  }
  std::uint64_t last(std::uint32_t base, std::uint32_t stride) const { return strided(base, stride, last_iteration_); }

  void shape() const {
    if (shape_.context_tokens == 0 || shape_.context_tokens > (1u << 24))
      refuse("the model's context must be 1 to 16777216 tokens");
    if (shape_.head_size == 0 || shape_.head_size % 32 != 0 || shape_.head_size > 256)
      refuse("the head size " + std::to_string(shape_.head_size) + " isn't a multiple of 32 up to 256");
    if (shape_.kv_bits != 8 && shape_.kv_bits != 12) refuse("K must have 8 or 12 bits");
    if (shape_.width == 0 || shape_.width > static_cast<std::uint32_t>(contract::kMaxColumns))
      refuse("the model's width must be 1 to 65536");
    if (shape_.width > static_cast<std::uint32_t>(config_.residual_values))
      refuse("the model's width is more than the residual's " + std::to_string(config_.residual_values) + " values");
    if (shape_.vocabulary == 0 || shape_.vocabulary > (1u << 24))
      refuse("the vocabulary must have 1 to 16777216 tokens");
    if (shape_.first_id >= shape_.vocabulary || shape_.held_ids() > shape_.vocabulary - shape_.first_id)
      refuse("the ids that the card holds aren't all in the vocabulary");
    if (image_.rope_pair_count < std::uint64_t{shape_.context_tokens} * (shape_.head_size / 2))
      refuse("the rotation table is shorter than the context");
  }

  /// A card alone runs whole tokens; a card of a group runs phases, and their lengths are declared.
  void phase(const contract::Loop& loop, const std::string& name) const {
    if ((loop.phase != static_cast<std::uint32_t>(contract::Phase::kToken)) != program_.is_of_group())
      refuse(name + (program_.is_of_group() ? " belongs to no phase, but the card to a group"
                                            : " belongs to a phase, but the card to no group"));
  }

  void tables() const {
    if (program_.instructions.size() > static_cast<std::size_t>(config_.program_instructions))
      refuse("the program has " + std::to_string(program_.instructions.size()) + " instructions, this hardware holds " +
             std::to_string(config_.program_instructions));
    if (program_.length_steps != (shape_.context_tokens + 31) / 32)
      refuse("the delay table has " + std::to_string(program_.length_steps) + " columns; the context needs " +
             std::to_string((shape_.context_tokens + 31) / 32));
    if (program_.delays.size() % program_.length_steps != 0) refuse("the delay table isn't a whole number of rows");
    const std::uint64_t kept = program_.delays.size() + program_.length_rows() * std::uint64_t{program_.length_steps};
    if (kept > static_cast<std::uint64_t>(config_.delay_entries))
      refuse("the delay table and the rows of lengths behind it have " + std::to_string(kept) +
             " entries, this hardware holds " + std::to_string(config_.delay_entries));
  }

  void delay_row(std::uint64_t row, const std::string& who) const {
    if ((row + 1) * program_.length_steps > program_.delays.size())
      refuse(who + " uses row " + std::to_string(row) + " of the delay table, which has " +
             std::to_string(program_.delays.size() / program_.length_steps));
  }

  void entries(const contract::Loop& loop, const std::string& name) const {
    const std::uint32_t rows[contract::kUnits] = {loop.entry_delay_mvu, loop.entry_delay_vpu, loop.entry_delay_smx};
    for (std::uint32_t k = 0; k < loop.instruction_count; ++k) {
      const contract::Instruction& in = program_.instructions[loop.first_instruction + k];
      delay_row(rows[static_cast<std::size_t>(contract::unit_of(in.opcode()))], "an entry delay of " + name);
    }
  }

  void instruction() const {
    const contract::Instruction& in = program_.instructions[index_];
    require(in.common.opcode < static_cast<std::uint32_t>(contract::kOpcodes), "unknown opcode");
    if (const char* field = contract::overflowing_field(in)) refuse(here() + ": " + field + " is wider than its field");
    if (in.common.delay_by_length != 0) delay_row(in.common.delay, here());
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
  }

  void segments(std::uint64_t count) const {
    require(contract::may_have_segments(config_.column_groups, count),
            "segments must divide the column groups and be no more than have accumulators");
  }

  void matvec(const contract::MatvecFields& f) const {
    segments(f.segments);
    require(f.length_dimension <= 2, "unknown length dimension");
    require(f.nibbles != 0, "a block has 1 to 3 words");
    const BurstSize size = burst_size(config_, f, program_.length_steps);
    require(size.row_groups != 0 && size.column_sets != 0, "a burst has at least one row group and one column set");
    require(size.row_groups * size.column_sets * f.nibbles < kMostBeats, "the burst is too long");
    require(size.column_sets * (groups_ / f.segments) <= kMostColumnBlocks, "the burst has more columns than 65536");
    below(f.accumulator, entries_(), "accumulator");
    below(size.row_groups - 1, entries_(), "the burst's row groups");
    below(f.activation_address + size.column_sets - 1, blocks_(), "activation_address");
    const std::uint64_t r = size.row_groups - 1, c = size.column_sets - 1;
    below(last(f.weight_address, f.weight_stride) + r * f.row_group_words + c * f.column_set_words + f.nibbles - 1,
          words_, "weight_address");
    if (f.has_minimum != 0)
      below(last(f.minimum_address, f.minimum_stride) + r * (f.row_group_words / f.nibbles) +
                c * (f.column_set_words / f.nibbles),
            image_.minimum_word_count, "minimum_address");
    require(f.keeps_value_scale == 0 || f.nibbles >= 2, "V's scale lies in a second word");
    if (f.adds_residual == 0) return;
    require(f.segments == 1, "sums of several segments can't start at the residual");
    below(last(f.exponent_address, f.exponent_stride) + r, image_.exponent_word_count, "exponent_address");
    below(f.residual_row, static_cast<std::uint64_t>(config_.residual_values), "residual_row");
    require(f.residual_row % static_cast<std::uint32_t>(config_.vector_lanes) == 0,
            "residual_row must be at a slice's border");
  }

  std::uint64_t entries_() const { return static_cast<std::uint64_t>(config_.accumulator_entries); }
  std::uint64_t blocks_() const { return static_cast<std::uint64_t>(config_.activation_blocks); }

  /// Bias or no bias is one thing for all of a program's K, Q and V: their chains have one length.
  void biases() {
    const contract::Instruction& in = program_.instructions[index_];
    if (!takes_bias(in.opcode())) return;
    if (biased_ < 0) biased_ = static_cast<int>(in.vector.has_bias);
    require(biased_ == static_cast<int>(in.vector.has_bias),
            "has_bias isn't that of the program's other query, key and value instructions");
  }

  /// The logits of a token come in ascending order without gaps, in whole slices: the running best, the noise and the
  /// log-sum count on it.
  void logits(std::uint32_t iterations) {
    const contract::Instruction& in = program_.instructions[index_];
    if (in.opcode() != Opcode::kLogits || in.vector.rows == 0) return;
    const auto slice = static_cast<std::uint32_t>(config_.vector_lanes);
    const std::uint32_t first = in.vector.first_row, end = first + in.vector.rows;
    require(iterations == 1, "logits come once a token, not in a loop of several iterations");
    require(logits_end_ != 0 || !program_.is_of_group() || first == shape_.first_id,
            "the first logit isn't that of the first id held");
    require(first % slice == 0 && (end % slice == 0 || end == shape_.first_id + shape_.held_ids()),
            "logits must be cut at a slice's border");
    require(logits_end_ == 0 || first == logits_end_, "logits don't go on where the ones before ended");
    logits_end_ = end;
  }

  static bool takes_bias(Opcode opcode) {
    return opcode == Opcode::kQuery || opcode == Opcode::kKey || opcode == Opcode::kValue;
  }

  void constants(std::uint32_t first, std::uint32_t stride, std::uint32_t count, const char* what) const {
    if (first % 32 != 0 || stride % 32 != 0) refuse(here() + ": " + what + " and its stride must be multiples of 32");
    if (count != 0) below(last(first, stride) + count - 1, image_.constant_count, what);
  }
  void grid(std::uint64_t word, std::uint64_t heads) const {
    below(word + (heads - 1) / lanes_, image_.exponent_word_count, "grid_address");
  }
  void linear(const contract::VectorFields& f, std::uint64_t values) const {
    if (values != 0) below(f.destination + (values - 1) / 32 / groups_, blocks_(), "destination");
  }

  void vector(Opcode opcode, const contract::VectorFields& f) const {
    require(f.row_groups != 0 || opcode == Opcode::kEmbed, "row_groups is zero");
    require(f.slice_cycles >= 1, "slice_cycles is 0");
    require(f.pitch_cycles > (slices_ - 1) * f.slice_cycles || opcode == Opcode::kEmbed,
            "pitch_cycles is less than a row group's entry");
    require(f.rows <= std::uint64_t{f.row_groups} * lanes_ || opcode == Opcode::kEmbed, "more rows than row groups");
    require(opcode == Opcode::kEmbed || f.row_groups <= entries_(), "more row groups than accumulators");
    below(f.accumulator, entries_(), "accumulator");
    require(f.receivers == 0 || opcode == Opcode::kEmbed || opcode == Opcode::kResidual,
            "only embedding and residual are sent");
    if (opcode != Opcode::kEmbed && opcode != Opcode::kMix && opcode != Opcode::kReceive)
      below(last(f.exponent_address, f.exponent_stride) + f.row_groups - 1, image_.exponent_word_count,
            "exponent_address");
    if (takes_bias(opcode) && f.has_bias != 0) constants(f.bias_address, f.bias_stride, f.rows, "bias_address");
    const std::uint64_t end = std::uint64_t{f.first_row} + f.rows;
    switch (opcode) {
      case Opcode::kEmbed:
        embed(f);
        break;
      case Opcode::kResidual:
      case Opcode::kReceive:
        residual(f, end);
        break;
      case Opcode::kQuery:
        heads(f, 32);
        if (f.rows != 0)
          below(f.destination + (end - 1) / 32 / f.head_blocks / f.segments * part_blocks(f) + part_blocks(f) - 1,
                blocks_(), "destination");
        break;
      case Opcode::kKey:
        key(f, end);
        break;
      case Opcode::kValue:
        value(f, end);
        break;
      case Opcode::kMix:
        mix(f);
        break;
      case Opcode::kSwiglu:
        require(f.first_row % 64 == 0, "first_row must be at a block's border");
        require(f.rows % 2 == 0, "rows come in pairs");
        linear(f, end / 2);
        break;
      default:
        if (f.rows != 0) below(end - 1, shape_.first_id + shape_.held_ids(), "the last logit");
    }
  }

  std::uint64_t part_blocks(const contract::VectorFields& f) const {
    const std::uint64_t part = groups_ / f.segments;
    return (f.head_blocks + part - 1) / part;
  }

  void heads(const contract::VectorFields& f, std::uint64_t granule) const {
    segments(f.segments);
    require(32 * f.head_blocks == shape_.head_size, "head_blocks doesn't fit the model's head size");
    require(f.first_row % granule == 0 && f.rows % granule == 0,
            granule == 32 ? "rows must be cut at a block's border" : "rows must be cut at a head's border");
  }

  void residual(const contract::VectorFields& f, std::uint64_t end) const {
    require(f.first_row % 32 == 0, "first_row must be at a block's border");
    if (f.rows != 0) below(end - 1, static_cast<std::uint64_t>(config_.residual_values), "the last residual value");
    constants(f.gain_address, f.gain_stride, f.rows, "gain_address");
    linear(f, end);
  }

  void embed(const contract::VectorFields& f) const {
    const std::uint64_t values = 32 * groups_,
                        entry = (values - 1) / static_cast<std::uint64_t>(config_.vector_lanes) + 1;
    require(f.nibbles != 0 && f.column_sets != 0, "nibbles and column_sets must not be zero");
    require(f.pitch_cycles >= f.nibbles && f.pitch_cycles >= entry, "pitch_cycles is less than a column set's entry");
    require(f.first_row == 0 && f.rows <= f.column_sets * values, "rows must be the first of the column sets' values");
    residual(f, f.rows);
    const std::uint64_t r = (shape_.held_ids() - 1) / lanes_, c = f.column_sets - 1;
    below(last(f.exponent_address, f.exponent_stride) + r, image_.exponent_word_count, "exponent_address");
    below(last(f.memory_address, f.memory_stride) + r * f.row_group_words + (c + 1) * f.nibbles - 1, words_,
          "memory_address");
    if (f.has_minimum != 0)
      below(f.minimum_address + r * (f.row_group_words / f.nibbles) + c, image_.minimum_word_count, "minimum_address");
  }

  void kv_word(std::uint64_t first, std::uint64_t last_word, const char* what) const {
    require(first >= image_.lane_word_count, "K and V must lie behind the weights");
    require(first >= static_cast<std::uint64_t>(contract::weight_only_words(config_)),
            "K and V can't lie where the lanes' second port only loads");
    below(last_word, words_, what);
  }

  void key(const contract::VectorFields& f, std::uint64_t end) const {
    heads(f, 32);
    require(f.nibbles == (shape_.kv_bits == 12 ? 3u : 2u), "nibbles doesn't fit K's bits");
    if (f.rows == 0) return;
    const std::uint64_t head = (end - 1) / shape_.head_size, p = (shape_.context_tokens - 1) / lanes_;
    grid(last(f.grid_address, f.grid_stride), head + 1);
    kv_word(f.memory_address,
            last(f.memory_address, f.memory_stride) + head / f.segments * f.slot_words + p * f.row_group_words +
                part_blocks(f) * f.nibbles - 1,
            "memory_address");
  }

  void value(const contract::VectorFields& f, std::uint64_t end) const {
    heads(f, shape_.head_size);
    if (f.rows == 0) return;
    const std::uint64_t head = (end - 1) / shape_.head_size, part = groups_ / f.segments;
    const std::uint64_t slot = head / f.segments, p = (shape_.context_tokens - 1) / lanes_;
    grid(last(f.grid_address, f.grid_stride), head + 1);
    kv_word(f.memory_address,
            last(f.memory_address, f.memory_stride) + slot * f.slot_words +
                (shape_.head_size - 1) / lanes_ * f.row_group_words + (shape_.context_tokens - 1) / 32 / part * 2 + 1,
            "memory_address");
    kv_word(f.key_address,
            last(f.key_address, f.memory_stride) + slot * f.key_slot_words + p * f.key_row_group_words + 1,
            "key_address");
  }

  void mix(const contract::VectorFields& f) const {
    segments(f.segments);
    require(f.rows == shape_.head_size, "rows must be the head size");
    require(f.first_row % 32 == 0, "first_row must be at a block's border");
    linear(f, f.first_row + std::uint64_t{f.segments} * f.rows);
    grid(last(f.grid_address, f.grid_stride), (std::uint64_t{f.slot} + 1) * f.segments);
  }

  void softmax(const contract::SoftmaxFields& f) const {
    segments(f.segments);
    const std::uint64_t part = groups_ / f.segments, steps = program_.length_steps;
    require(
        f.pitch_cycles >= f.segments * lanes_ /
                              static_cast<std::uint64_t>(contract::softmax_rate(config_, static_cast<int>(f.segments))),
        "pitch_cycles is less than a row group's entry");
    below(f.accumulator, entries_(), "accumulator");
    below((32 * steps + lanes_ - 1) / lanes_ - 1, entries_(), "the scores' row groups");
    below(f.destination + (steps + part - 1) / part - 1, blocks_(), "destination");
    grid(last(f.grid_address, f.grid_stride), (std::uint64_t{f.slot} + 1) * f.segments);
  }

  const contract::HardwareConfig& config_;
  const contract::ModelShape& shape_;
  const contract::Program& program_;
  const contract::MemoryImage& image_;
  const std::uint64_t lanes_, groups_, slices_, words_;
  std::uint32_t index_ = 0;
  std::uint32_t last_iteration_ = 0;
  int biased_ = -1;               ///< has_bias of the program's K, Q and V; −1: none seen yet
  std::uint32_t logits_end_ = 0;  ///< row after the newest logit; 0: none seen yet
};

}  // namespace

void check_program(const contract::HardwareConfig& config, const contract::ModelShape& shape,
                   const contract::Program& program, const contract::MemoryImage& image) {
  if (const char* fault = contract::fault_of(config)) refuse(std::string("the hardware configuration: ") + fault);
  if (image.exponent_word_count > static_cast<std::uint64_t>(config.exponent_words) ||
      image.constant_count > static_cast<std::uint64_t>(config.constant_values) ||
      image.rope_pair_count > static_cast<std::uint64_t>(config.rope_pairs))
    refuse("the memory image has more exponents, constants or rotation pairs than this hardware holds");
  if ((image.exponent_word_count != 0 && image.exponents == nullptr) ||
      (image.constant_count != 0 && image.constants == nullptr) ||
      (image.rope_pair_count != 0 && image.rope == nullptr))
    refuse("the memory image counts exponents, constants or rotation pairs that it doesn't have");
  Checker(config, shape, program, image).all();
}

}  // namespace golden
}  // namespace lpu
