// What each opcode reads and writes, in which cycle: docs/isa.md's tables as code. See scoreboard.hpp.
// Relies on check_program(): every address formed here lies inside its memory.
#include <algorithm>

#include "hls/golden/fault.hpp"
#include "hls/golden/scoreboard.hpp"
#include "hls/golden/scoreboard_limits.hpp"

namespace lpu {
namespace golden {

using contract::Opcode;
using contract::Unit;

void Scoreboard::matvec(const contract::MatvecFields& f) {
  const BurstSize size = burst_size(config_, f, blocks_);
  const std::uint64_t rows = size.row_groups, sets = size.column_sets, nibbles = f.nibbles;
  const std::uint64_t beats = rows * sets * nibbles;
  occupy(Unit::kMvu, issue_, issue_ + beats);
  ends(issue_ + beats - 1 + contract::kMatvecCycles);
  beats_ += beats;
  bursts_.push_back(Interval{issue_, issue_ + beats, run_});
  for (const EmbedReads& reads : embeds_) check_embed(reads, bursts_.back());

  const std::uint64_t depth = static_cast<std::uint64_t>(config_.activation_blocks);
  const bool row_major = f.row_major != 0;
  for (std::uint64_t c = 0; c < sets; ++c) {
    const std::uint64_t first = row_major ? c * nibbles : c * rows * nibbles;
    const std::uint64_t last = (row_major ? ((rows - 1) * sets + c + 1) * nibbles : (c + 1) * rows * nibbles) - 1;
    const std::uint64_t address = f.activation_address + c;
    for (std::uint64_t g = 0; g < groups_; ++g)
      read(blocks_places_[g * depth + address], Name{Kind::kBlock, g, address}, issue_ + first, issue_ + last);
  }
  if (f.relative_exponents != 0)
    for (std::uint64_t j = 0; j < f.segments; ++j)
      read(exponents_[f.round * groups_ + j], Name{Kind::kExponent, f.round, j}, issue_, issue_ + beats - 1);
  if (f.start != 0 && f.adds_residual != 0) matvec_residual(f, rows, row_major ? sets * nibbles : nibbles);
  matvec_words(f, size, strided(f.weight_address, f.weight_stride, iteration_));

  const std::uint64_t entries = static_cast<std::uint64_t>(config_.accumulator_entries);
  for (std::uint64_t r = 0; r < rows; ++r) {
    const std::uint64_t starts = (row_major ? r * sets + 1 : r + 1) * nibbles - 1;
    const std::uint64_t stops = (row_major ? (r + 1) * sets : (sets - 1) * rows + r + 1) * nibbles - 1;
    const std::uint64_t entry = (f.accumulator + r) % entries;
    const std::uint64_t ready = f.finish != 0 ? issue_ + stops + contract::kMatvecCycles : kNever;
    for (std::uint64_t j = 0; j < f.segments; ++j)
      write(accumulators_[entry * groups_ + j], Name{Kind::kAccumulator, entry, j},
            issue_ + starts + contract::kMatvecCycles - 1, ready, false);
  }
}

/// The residual that sums start at is read in the first beat of each row group.
void Scoreboard::matvec_residual(const contract::MatvecFields& f, std::uint64_t row_groups, std::uint64_t beats_apart) {
  for (std::uint64_t r = 0; r < row_groups; ++r) {
    const std::uint64_t first = f.residual_row + r * lanes_, cycle = issue_ + r * beats_apart;
    for (std::uint64_t row = first; row < first + lanes_ && row / vector_lanes_ < residual_.size();
         row += vector_lanes_)
      read(residual_[row / vector_lanes_], Name{Kind::kResidual, row, 0}, cycle, cycle);
  }
}

void Scoreboard::matvec_words(const contract::MatvecFields& f, const BurstSize& size, std::uint64_t address) {
  const std::uint64_t row_step = f.row_group_words, set_step = f.column_set_words;
  const std::uint64_t last =
      address + (size.row_groups - 1) * row_step + (size.column_sets - 1) * set_step + f.nibbles - 1;
  if (last < weight_words_) return;
  for (std::uint64_t r = 0; r < size.row_groups; ++r)
    for (std::uint64_t c = 0; c < size.column_sets; ++c)
      for (std::uint64_t n = 0; n < f.nibbles; ++n) {
        const std::uint64_t word = address + r * row_step + c * set_step + n;
        if (word < weight_words_) continue;
        const std::uint64_t beat =
            (f.row_major != 0 ? r * size.column_sets + c : c * size.row_groups + r) * f.nibbles + n;
        read(words_read_[word - weight_words_], Name{Kind::kWord, word, groups_}, issue_ + beat, issue_ + beat);
      }
}

void Scoreboard::vector(Opcode opcode, const contract::VectorFields& f) {
  if (opcode == Opcode::kEmbed) return embed(f);
  if (opcode == Opcode::kReceive) return receive(f);
  const std::uint64_t segments = opcode == Opcode::kMix ? f.segments : 1;
  const std::uint64_t entries = segments * f.row_groups;
  occupy(Unit::kVpu, issue_, issue_ + (entries - 1) * f.pitch_cycles + (slices_ - 1) * f.slice_cycles + 1);
  if (f.rows == 0) return;
  for (std::uint64_t j = 0; j < segments; ++j) read_rows(f, j * f.row_groups, j);
  switch (opcode) {
    case Opcode::kResidual:
      residual(f);
      break;
    case Opcode::kQuery:
      query(f);
      break;
    case Opcode::kKey:
      key(f);
      break;
    case Opcode::kValue:
      value(f);
      break;
    case Opcode::kMix:
      mix(f);
      break;
    case Opcode::kSwiglu:
      swiglu(f);
      break;
    default:  // kLogits
      logits(f);
  }
}

/// Cycle in which a row (by its place among the instruction's rows) enters.
std::uint64_t Scoreboard::row_cycle(const contract::VectorFields& f, std::uint64_t row) const {
  return issue_ + row / lanes_ * f.pitch_cycles + row % lanes_ / vector_lanes_ * f.slice_cycles;
}

void Scoreboard::read_rows(const contract::VectorFields& f, std::uint64_t entry_base, std::uint64_t segment) {
  const std::uint64_t entries = static_cast<std::uint64_t>(config_.accumulator_entries);
  for (std::uint64_t r = 0; r * lanes_ < f.rows; ++r) {
    const std::uint64_t entry = (f.accumulator + r) % entries;
    const std::uint64_t count = std::min(lanes_, f.rows - r * lanes_);
    const std::uint64_t first = issue_ + (entry_base + r) * f.pitch_cycles;
    read(accumulators_[entry * groups_ + segment], Name{Kind::kAccumulator, entry, segment}, first,
         first + (count - 1) / vector_lanes_ * f.slice_cycles);
  }
}

void Scoreboard::read_scale(const contract::VectorFields& f) {
  read(scales_[f.scale_register], Name{Kind::kScale, f.scale_register, 0}, issue_, row_cycle(f, f.rows - 1));
}

void Scoreboard::write_block(std::uint64_t bank, std::uint64_t address, std::uint64_t ready) {
  const std::uint64_t depth = static_cast<std::uint64_t>(config_.activation_blocks);
  write(blocks_places_[bank * depth + address], Name{Kind::kBlock, bank, address}, ready, ready);
  take_port(bank_ports_, bank, ready - 1, "the write port of activation bank");
}

void Scoreboard::write_linear(const contract::VectorFields& f, std::uint64_t block, std::uint64_t ready) {
  write_block(block % groups_, f.destination + block / groups_, ready);
}

/// Values first…end − 1 of the residual enter in one cycle.
void Scoreboard::residual_value_chain(const contract::VectorFields& f, std::uint64_t first, std::uint64_t end,
                                      std::uint64_t cycle) {
  Place& place = residual_[first / vector_lanes_];
  const Name name{Kind::kResidual, first, 0};
  write(place, name, cycle + contract::kResidualCycles, cycle + contract::kResidualCycles);
  const bool block_ends = end % 32 == 0 || end == f.first_row + f.rows;
  if (block_ends) write_linear(f, (end - 1) / 32, cycle + contract::kResidualBlockCycles);
  if (block_ends && f.receivers != 0) {
    if ((end - 1) / 32 != sent_.size())
      throw Fault(describe(run_) + " sends block " + std::to_string((end - 1) / 32) + ", but a vector's blocks go in " +
                  "their order, and block " + std::to_string(sent_.size()) + " is next");
    sent_.push_back(cycle + contract::kResidualCycles);
  }
}

void Scoreboard::end_norm(const contract::VectorFields& f, std::uint64_t last) {
  if (f.ends_norm == 0) return;
  const std::uint64_t ready = last + contract::kNormCycles;
  write(scales_[f.scale_register], Name{Kind::kScale, f.scale_register, 0}, ready, ready);
}

void Scoreboard::residual(const contract::VectorFields& f) {
  for (std::uint64_t row = 0; row < f.rows; row += vector_lanes_)
    residual_value_chain(f, f.first_row + row, f.first_row + std::min<std::uint64_t>(row + vector_lanes_, f.rows),
                         row_cycle(f, row));
  end_norm(f, row_cycle(f, f.rows - 1));
}

/// Another card's residual enters as sums do, and a slice no earlier than its block is there.
void Scoreboard::receive(const contract::VectorFields& f) {
  occupy(Unit::kVpu, issue_, issue_ + (f.row_groups - 1) * f.pitch_cycles + (slices_ - 1) * f.slice_cycles + 1);
  for (std::uint64_t row = 0; row < f.rows; row += 32) {
    const std::uint64_t block = (f.first_row + row) / 32, cycle = row_cycle(f, row);
    const std::uint64_t blocks = received_ == nullptr ? 0 : received_->cycles.size();
    if (block >= blocks)
      throw Fault(describe(run_) + " wants block " + std::to_string(block) + " of a received vector, which has " +
                  std::to_string(blocks));
    if (cycle < received_->cycles[block])
      throw Fault("hazard: " + describe(run_) + " takes block " + std::to_string(block) + " from the link at cycle " +
                  std::to_string(cycle) + ", but it is there from cycle " + std::to_string(received_->cycles[block]) +
                  " on");
  }
  residual(f);
}

void Scoreboard::embed(const contract::VectorFields& f) {
  const std::uint64_t sets = f.column_sets, pitch = f.pitch_cycles, set_values = 32 * groups_;
  const std::uint64_t enters = issue_ + contract::kEmbedFetchCycles;
  occupy(Unit::kVpu, issue_, enters + sets * pitch);
  const EmbedReads reads{issue_, sets, pitch, f.nibbles, run_};
  for (const Interval& burst : bursts_) check_embed(reads, burst);
  embeds_.push_back(reads);
  std::uint64_t last = enters;
  for (std::uint64_t row = 0; row < f.rows; row += vector_lanes_) {
    last = enters + row / set_values * pitch + row % set_values / vector_lanes_;
    residual_value_chain(f, f.first_row + row, f.first_row + std::min<std::uint64_t>(row + vector_lanes_, f.rows),
                         last);
  }
  if (f.rows != 0) end_norm(f, last);
}

void Scoreboard::query(const contract::VectorFields& f) {
  read_scale(f);
  const std::uint64_t part = groups_ / f.segments, head_blocks = f.head_blocks;
  const std::uint64_t latency = contract::kQueryCycles + (f.has_bias != 0 ? contract::kBiasCycles : 0);
  for (std::uint64_t row = 31; row < f.rows; row += 32) {
    const std::uint64_t block = (f.first_row + row) / 32, b = block % head_blocks;
    const std::uint64_t segment = block / head_blocks % f.segments, round = block / head_blocks / f.segments;
    write_block(segment * part + b % part, f.destination + round * ((head_blocks + part - 1) / part) + b / part,
                row_cycle(f, row) + latency);
  }
}

/// The port writes a word in cycle `written`; with the others of its block or head it can be read at `ready`.
void Scoreboard::write_word(std::uint64_t address, std::uint64_t group, std::uint64_t written, std::uint64_t ready) {
  const std::uint64_t at = address - weight_words_;
  const Name name{Kind::kWord, address, group};
  const std::uint64_t change = written + 2 - contract::kWordReuseCycles;  // no older read in this cycle or later
  write(words_[at * groups_ + group], name, change, ready);
  // A beat reads the address in all groups, so one record of the latest serves every reader.
  Place& all = fresh(words_read_[at]);
  const std::uint32_t ready_before = all.ready, writer_before = all.writer;
  write(all, name, change, ready, false);
  if (ready_before > ready) {
    all.ready = ready_before;
    all.writer = writer_before;
  }
}

void Scoreboard::use_word_port(std::uint64_t group, std::uint64_t first, std::uint64_t cycles) {
  for (std::uint64_t cycle = first; cycle < first + cycles; ++cycle)
    take_port(word_ports_, group, cycle, "the second lane-memory port of group");
}

void Scoreboard::key(const contract::VectorFields& f) {
  read_scale(f);
  const std::uint64_t part = groups_ / f.segments, head_blocks = f.head_blocks;
  const std::uint64_t latency = contract::kKeyCycles + (f.has_bias != 0 ? contract::kBiasCycles : 0);
  const std::uint64_t base =
      strided(f.memory_address, f.memory_stride, iteration_) + position_ / lanes_ * f.row_group_words;
  for (std::uint64_t row = 31; row < f.rows; row += 32) {
    const std::uint64_t block = (f.first_row + row) / 32, head = block / head_blocks, b = block % head_blocks;
    const std::uint64_t address = base + head / f.segments * f.slot_words + b / part * f.nibbles;
    const std::uint64_t group = head % f.segments * part + b % part, ready = row_cycle(f, row) + latency;
    // The port writes one word a cycle; all can be read together, `nibbles` cycles after the first write.
    use_word_port(group, ready - f.nibbles, f.nibbles);
    for (std::uint64_t n = 0; n < f.nibbles; ++n) write_word(address + n, group, ready - f.nibbles + n, ready);
  }
}

/// V's scale becomes the side bits of a word of K: the whole word is read and written again.
void Scoreboard::value_scale(std::uint64_t address, std::uint64_t group, std::uint64_t value_ready) {
  const std::uint64_t reads = value_ready - contract::kValueScaleReadCycles;
  const std::uint64_t writes = value_ready - contract::kValueScaleWriteCycles;
  read(words_[(address - weight_words_) * groups_ + group], Name{Kind::kWord, address, group}, reads, reads);
  use_word_port(group, reads, 1);
  use_word_port(group, writes, 1);
  write_word(address, group, writes, writes + 1);
}

void Scoreboard::value(const contract::VectorFields& f) {
  read_scale(f);
  const std::uint64_t part = groups_ / f.segments, head_size = 32 * f.head_blocks;
  const std::uint64_t latency = contract::kValueCycles + (f.has_bias != 0 ? contract::kBiasCycles : 0);
  const std::uint64_t block = position_ / 32;
  const std::uint64_t base = strided(f.memory_address, f.memory_stride, iteration_) + block / part * 2;
  const std::uint64_t key_base =
      strided(f.key_address, f.memory_stride, iteration_) + position_ / lanes_ * f.key_row_group_words + 1;
  for (std::uint64_t row = head_size - 1; row < f.rows; row += head_size) {
    const std::uint64_t head = (f.first_row + row) / head_size, slot = head / f.segments;
    const std::uint64_t first_group = head % f.segments * part, ready = row_cycle(f, row) + latency;
    value_scale(key_base + slot * f.key_slot_words, first_group, ready);
    for (std::uint64_t r = 0; r * lanes_ < head_size; ++r) {
      const std::uint64_t address = base + slot * f.slot_words + r * f.row_group_words;
      const std::uint64_t group = first_group + block % part, at = ready + r * contract::kValuePortCycles;
      use_word_port(group, at - contract::kValuePortCycles, contract::kValuePortCycles);
      write_word(address, group, at - 2, at);
      write_word(address + 1, group, at - 1, at);
    }
  }
}

void Scoreboard::mix(const contract::VectorFields& f) {
  const std::uint64_t pitch = f.pitch_cycles;
  for (std::uint64_t j = 0; j < f.segments; ++j) {
    const std::uint64_t offset = j * f.row_groups * pitch;
    const std::uint64_t first = issue_ + offset, last = row_cycle(f, f.rows - 1) + offset;
    const std::size_t place = f.round * groups_ + j;
    read(exponents_[place], Name{Kind::kExponent, f.round, j}, first, last);
    read(inverses_[place], Name{Kind::kInverse, f.round, j}, first, last);
    for (std::uint64_t row = 31; row < f.rows; row += 32)
      write_linear(f, (f.first_row + j * f.rows + row) / 32, row_cycle(f, row) + offset + contract::kMixCycles);
  }
}

void Scoreboard::swiglu(const contract::VectorFields& f) {
  read_scale(f);
  for (std::uint64_t row = 0; row < f.rows; row += 64) {
    const std::uint64_t last = std::min<std::uint64_t>(row + 64, f.rows) - 1;
    write_linear(f, (f.first_row + row) / 64, row_cycle(f, last) + contract::kSwigluCycles);
  }
}

/// Each slice meets its ids' noise, whether the token is sampled or not.
void Scoreboard::logits(const contract::VectorFields& f) {
  read_scale(f);
  for (std::uint64_t row = 0; row < f.rows; row += vector_lanes_) {
    const std::uint64_t cycle = row_cycle(f, row), there = noise_.available();
    if (cycle < there)
      throw Fault("hazard: " + describe(run_) + " wants the noise of logit " + std::to_string(f.first_row + row) +
                  " at cycle " + std::to_string(cycle) + ", but it is there from cycle " + std::to_string(there) +
                  " on");
    noise_.enter(cycle);
  }
  ends(row_cycle(f, f.rows - 1) + contract::kLogitCycles);
}

void Scoreboard::softmax(const contract::SoftmaxFields& f) {
  const std::uint64_t rows = (32 * blocks_ + lanes_ - 1) / lanes_, segments = f.segments, part = groups_ / segments;
  const std::uint64_t rate = static_cast<std::uint64_t>(contract::softmax_rate(config_, static_cast<int>(f.segments)));
  const std::uint64_t segment_cycles = lanes_ / rate;
  const std::uint64_t entries = static_cast<std::uint64_t>(config_.accumulator_entries);
  const std::uint64_t last = issue_ + (rows - 1) * f.pitch_cycles + segments * segment_cycles - 1;
  occupy(Unit::kSmx, issue_, last + 1);
  const std::uint64_t row_ready = last + contract::kSoftmaxRowCycles;
  const std::uint64_t padded = (blocks_ + part - 1) / part * part;
  for (std::uint64_t j = 0; j < segments; ++j) {
    const std::uint64_t base = issue_ + j * segment_cycles;
    for (std::uint64_t r = 0; r < rows; ++r) {
      const std::uint64_t entry = (f.accumulator + r) % entries, first = base + r * f.pitch_cycles;
      read(accumulators_[entry * groups_ + j], Name{Kind::kAccumulator, entry, j}, first, first + segment_cycles - 1);
    }
    for (std::uint64_t b = 0; b < padded; ++b) {
      const std::uint64_t position = 32 * b + 31;
      const std::uint64_t enters = base + position / lanes_ * f.pitch_cycles + position % lanes_ / rate;
      write_block(j * part + b % part, f.destination + b / part,
                  b < blocks_ ? enters + contract::kSoftmaxBlockCycles : row_ready);
    }
    const std::size_t place = f.round * groups_ + j;
    write(exponents_[place], Name{Kind::kExponent, f.round, j}, row_ready, row_ready);
    write(inverses_[place], Name{Kind::kInverse, f.round, j}, last + contract::kReciprocalCycles,
          last + contract::kReciprocalCycles);
  }
}

}  // namespace golden
}  // namespace lpu
