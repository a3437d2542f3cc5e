// Random vector instructions within what hls/golden/check_program.cpp allows, and scripts of tokens made of them.
// Addresses are anything: they wrap in 24 (constants 27) bits in the RTL as in the model.
#pragma once

#include "hls/contract/hardware_config.hpp"
#include "tests/cosim/random_numbers.hpp"
#include "tests/cosim/vector_issue/issue_model.hpp"

namespace lpu {
namespace cosim {

constexpr Opcode kVectorOpcodes[] = {Opcode::kEmbed, Opcode::kResidual, Opcode::kQuery,  Opcode::kKey,
                                     Opcode::kValue, Opcode::kMix,      Opcode::kSwiglu, Opcode::kLogits};
constexpr std::uint64_t kLastPosition = 65535;

class Scripts {
 public:
  Scripts(const Machine& machine, std::uint64_t seed) : machine_(machine), random_(seed) {
    for (std::uint64_t s = 1; s <= machine.groups; ++s)
      if (contract::may_have_segments(static_cast<int>(machine.groups), s)) segments_.push_back(s);
  }

  /// Fields of every kind at random, then rows and places as the kind wants them.
  Step step(Opcode opcode) {
    Step step;
    step.opcode = opcode;
    step.iteration = random_.one_in(3) ? 0 : random_.bits(16);
    contract::VectorFields& f = step.fields;
#define LPU_RANDOM_FIELD(name, width) f.name = static_cast<std::uint32_t>(random_.bits(width));
    LPU_VECTOR_FIELDS(LPU_RANDOM_FIELD)
#undef LPU_RANDOM_FIELD
    f.gain_address &= ~31u;
    f.bias_address &= ~31u;
    f.gain_stride &= ~31u;
    f.bias_stride &= ~31u;
    f.has_bias = has_bias;
    f.accumulator = number(0, machine_.accumulator_entries - 1);
    f.segments = static_cast<std::uint32_t>(segments_[number(0, segments_.size() - 1)]);
    f.head_blocks = number(1, 8);
    const std::uint32_t granule = granule_of(opcode, f);
    f.rows = rows_of(opcode, f, granule);
    f.row_groups = static_cast<std::uint32_t>((f.rows + machine_.lanes - 1) / machine_.lanes);
    if (f.row_groups == 0 || (random_.one_in(6) && f.row_groups < machine_.accumulator_entries)) ++f.row_groups;
    if (opcode == Opcode::kEmbed) {
      embed(&f);
    } else {
      f.slice_cycles = random_.one_in(2) ? 1 : number(1, 5);
      f.pitch_cycles = static_cast<std::uint32_t>((machine_.slices() - 1) * f.slice_cycles + 1);
      if (random_.one_in(2)) f.pitch_cycles += number(0, random_.one_in(8) ? 300 : 9);
    }
    const std::uint64_t rows = opcode == Opcode::kMix ? f.segments * f.rows : f.rows;
    const std::uint64_t most = ((std::uint64_t{1} << 20) - 1 - rows) / granule;
    f.first_row = opcode == Opcode::kEmbed ? 0 : granule * number(0, random_.one_in(2) ? most : 20);
    if (opcode == Opcode::kKey) f.nibbles = number(2, 3);
    return step;
  }

  /// A token from `start` on: `count` instructions of the kind that pick() gives, mostly without gaps. Returns the
  /// cycle in which the next token may start.
  template <typename Pick>
  Cycle token(Cycle start, std::uint64_t position, int count, Pick pick, Script* script) {
    script->tokens.push_back(Token{start, position});
    Cycle issue = start;
    for (int i = 0; i < count; ++i) {
      Step next = step(pick(i));
      // Only the embedding needs nothing of the token's position: it may come with the token itself.
      if (next.opcode != Opcode::kEmbed) issue = std::max(issue, start + kLead);
      next.issue = issue;
      script->steps.push_back(next);
      issue = next_issue(machine_, next) + (random_.one_in(4) ? number(0, 12) : 0);
    }
    return finish(issue, script);
  }
  /// Ends the script after what was issued before `issue`.
  static Cycle finish(Cycle issue, Script* script) {
    script->end = issue + 24;
    return issue + 24;
  }

  /// Any position, or one at a border.
  std::uint64_t position() {
    const std::uint64_t borders[] = {0,  machine_.lanes - 1, machine_.lanes, 31, 32, 33, 32 * machine_.groups, 63,
                                     64, kLastPosition};
    return random_.one_in(2) ? borders[number(0, 9)] : random_.bits(16);
  }
  Random& random() { return random_; }
  const std::vector<std::uint64_t>& segments() const { return segments_; }

  std::uint32_t has_bias = 0;  ///< of all queries, keys and values

 private:
  std::uint32_t number(std::uint64_t lowest, std::uint64_t highest) {
    return static_cast<std::uint32_t>(random_.between(static_cast<int>(lowest), static_cast<int>(highest)));
  }
  std::uint32_t granule_of(Opcode opcode, const contract::VectorFields& f) const {
    return opcode == Opcode::kSwiglu   ? 64
           : opcode == Opcode::kLogits ? static_cast<std::uint32_t>(machine_.vector_lanes)
           : opcode == Opcode::kValue  ? 32 * f.head_blocks
                                       : 32;
  }
  /// Up to what the accumulators hold, up to some blocks; at times none.
  std::uint32_t rows_of(Opcode opcode, const contract::VectorFields& f, std::uint32_t granule) {
    const std::uint64_t most = std::min<std::uint64_t>(machine_.accumulator_entries * machine_.lanes, 700);
    if (opcode == Opcode::kMix) return 32 * f.head_blocks;
    if (random_.one_in(30)) return 0;
    if (opcode == Opcode::kQuery || opcode == Opcode::kKey || opcode == Opcode::kValue)
      return granule * number(1, std::max<std::uint64_t>(most / granule, 1));
    const std::uint32_t rows = number(1, random_.one_in(2) ? most : 2 * machine_.lanes);
    return opcode == Opcode::kSwiglu ? (rows + 1) & ~1u : rows;
  }
  void embed(contract::VectorFields* f) {
    const std::uint64_t set_cycles = machine_.set_values() / machine_.vector_lanes;
    f->column_sets = number(1, 4);
    f->nibbles = number(1, 3);
    f->pitch_cycles = static_cast<std::uint32_t>(std::max<std::uint64_t>(f->nibbles, set_cycles));
    if (random_.one_in(2)) f->pitch_cycles += number(1, 20);
    f->rows = number(1, f->column_sets * machine_.set_values());
  }

  const Machine machine_;
  Random random_;
  std::vector<std::uint64_t> segments_;
};

}  // namespace cosim
}  // namespace lpu
