// See expectation.hpp.
#include "host/cosim/expectation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hls/contract/latencies.hpp"
#include "hls/engine/binary32.hpp"
#include "hls/engine/softmax.hpp"
#include "hls/golden/scoreboard_limits.hpp"
#include "hls/golden/state.hpp"

namespace lpu::cosim {
namespace {

using contract::Opcode;
using golden::PlaceKind;
using golden::strided;

constexpr std::int32_t kEmptyExponentInBlock = -65536;  ///< how a block of 17 exponent bits says "wholly masked"

std::uint32_t bits(std::int32_t value) { return static_cast<std::uint32_t>(value); }

/// E_b as a block or a register of the RTL holds it.
std::uint32_t exponent_bits(std::int32_t exponent) {
  return bits(exponent == engine::kEmptyExponent ? kEmptyExponentInBlock : exponent);
}

class Recorder final : public golden::Observer {
 public:
  Recorder(golden::State& state, const bundle::Bundle& bundle, const std::vector<float>& logits, Expectation& out)
      : state_(state), program_(bundle.program()), logits_(logits), out_(out), lanes_(u32(state.lanes)) {}

  void timed(const std::vector<golden::TimedRun>& runs, const std::vector<golden::TimedWrite>& writes) override {
    out_.runs = runs;
    writes_ = writes;
    out_.items.reserve(2 * writes.size() + runs.size());
    for (std::uint32_t i = 0; i < runs.size(); ++i) {
      Expected item;
      item.place = {Kind::kIssue, static_cast<std::uint32_t>(unit_of(instruction(i).opcode())), i};
      item.run = i;
      item.cycle = runs[i].issue;
      item.has_value = false;
      out_.items.push_back(item);
    }
  }

  void executed(std::uint32_t run) override {
    const contract::Instruction& in = instruction(run);
    if (in.opcode() == Opcode::kMatvec) {
      sums(run, in.matvec);
    } else {
      for (std::size_t i = next_; i < writes_.size() && writes_[i].run == run; ++i) write(writes_[i], in);
      if (in.opcode() == Opcode::kLogits) logits(run, in.vector);
    }
    while (next_ < writes_.size() && writes_[next_].run == run) ++next_;
  }

 private:
  static std::uint32_t u32(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
  [[nodiscard]] const contract::Instruction& instruction(std::uint32_t run) const {
    return program_.instructions[out_.runs[run].step.index];
  }
  [[nodiscard]] std::uint32_t iteration(std::uint32_t run) const { return out_.runs[run].step.iteration; }

  /// An item whose value is what `put` appends to the values.
  template <typename Put>
  Expected& add(const Place& place, std::uint32_t run, std::uint64_t cycle, Put put) {
    Expected item;
    item.place = place;
    item.run = run;
    item.cycle = cycle;
    item.value_at = u32(out_.values.size());
    put(out_.values);
    item.value_words = u32(out_.values.size()) - item.value_at;
    out_.items.push_back(item);
    return out_.items.back();
  }

  /// A burst writes each sum at the end of every column set; what the last one leaves is the sum in the state.
  void sums(std::uint32_t run, const contract::MatvecFields& f) {
    const golden::BurstSize size = golden::burst_size(state_.config, f, state_.token.blocks);
    const std::uint64_t rows = size.row_groups, sets = size.column_sets;
    const auto entries = static_cast<std::uint64_t>(state_.config.accumulator_entries);
    for (std::uint64_t r = 0; r < rows; ++r)
      for (std::uint64_t c = 0; c < sets; ++c) {
        const std::uint64_t block = f.row_major != 0 ? r * sets + c : c * rows + r;
        const std::uint64_t cycle = out_.runs[run].issue + (block + 1) * f.nibbles - 1 + contract::kMatvecCycles;
        const std::uint64_t entry = (f.accumulator + r) % entries;
        for (std::uint32_t j = 0; j < f.segments; ++j) {
          const bool last = c + 1 == sets;
          Expected& item = add({Kind::kAccumulator, u32(entry), j}, run, cycle, [&](auto& values) {
            if (!last) return;
            const engine::Int128* sum = state_.entry_sums(entry, j);
            for (std::uint32_t lane = 0; lane < lanes_; ++lane)
              for (int word = 0; word < 3; ++word)
                values.push_back(static_cast<std::uint32_t>(sum[lane] >> (32 * word)) &
                                 (word == 2 ? 0xFFFFFFU : 0xFFFFFFFFU));
          });
          item.has_value = last;
        }
      }
  }

  void write(const golden::TimedWrite& w, const contract::Instruction& in) {
    const std::uint32_t first = u32(w.first), second = u32(w.second);
    switch (w.kind) {
      case PlaceKind::kAccumulator:
        break;
      case PlaceKind::kBlock:
        add({Kind::kBlock, first, second}, w.run, w.ready, [&](auto& values) {
          const golden::ActivationBlock& block = state_.activation(first, second);
          for (const std::int16_t mantissa : block.mantissas) values.push_back(bits(mantissa));
          values.push_back(exponent_bits(block.exponent));
        });
        break;
      case PlaceKind::kResidual: {
        const auto vector_lanes = static_cast<std::uint32_t>(state_.config.vector_lanes);
        const std::uint32_t count = std::min(vector_lanes, in.vector.first_row + in.vector.rows - first);
        add({Kind::kResidual, first, 0}, w.run, w.ready, [&](auto& values) {
          for (std::uint32_t i = 0; i < count; ++i)
            values.push_back(engine::bits_from_float(state_.residual[first + i]));
        });
        break;
      }
      case PlaceKind::kWord:
        word(w, in);
        break;
      case PlaceKind::kScale:
        add({Kind::kScale, first, 0}, w.run, w.ready,
            [&](auto& values) { values.push_back(engine::bits_from_float(state_.scales[first])); });
        break;
      case PlaceKind::kExponent:
        add({Kind::kExponent, first, second}, w.run, w.ready, [&](auto& values) {
          const golden::RoundRegister& round = state_.rounds[first * state_.groups + second];
          values.push_back(exponent_bits(round.exponent) & 0x1FFFFU);
          values.push_back(bits(round.difference) & 0x3FU);
        });
        break;
      case PlaceKind::kInverse:
        add({Kind::kInverse, first, second}, w.run, w.ready, [&](auto& values) {
          values.push_back(engine::bits_from_float(state_.rounds[first * state_.groups + second].inverse));
        });
        break;
    }
  }

  /// A lane word in every lane that the instruction writes. The scoreboard says when all words of a block can be read;
  /// the port writes them one after another.
  void word(const golden::TimedWrite& w, const contract::Instruction& in) {
    const contract::VectorFields& f = in.vector;
    const std::uint64_t base = strided(f.memory_address, f.memory_stride, iteration(w.run));
    const std::uint32_t own_lane = state_.token.position % lanes_;
    std::uint32_t first_lane = own_lane, end_lane = own_lane + 1;
    std::uint64_t cycle = w.ready;
    bool ignores = false;
    if (in.opcode() == Opcode::kKey) {
      const std::uint64_t n = (w.first - base) % f.nibbles;
      cycle -= f.nibbles - 1 - n;
      ignores = n != 0;
    } else if (!is_key_word(w, f)) {
      first_lane = 0;
      end_lane = u32(std::min<std::uint64_t>(lanes_, state_.shape.head_size - value_row(w, f)));
      if ((w.first - base) % 2 == 0) --cycle;
    }
    for (std::uint32_t lane = first_lane; lane < end_lane; ++lane) {
      const std::uint32_t group = u32(w.second);
      Expected& item = add({Kind::kWord, u32(w.first), group * lanes_ + lane}, w.run, cycle, [&](auto& values) {
        std::uint8_t data[16];
        state_.memory.read_data(w.first, group, lane, data);
        for (int i = 0; i < 16; i += 4)
          values.push_back(std::uint32_t{data[i]} | std::uint32_t{data[i + 1]} << 8 | std::uint32_t{data[i + 2]} << 16 |
                           std::uint32_t{data[i + 3]} << 24);
        values.push_back(ignores ? 0 : state_.memory.side_bits(w.first, group, lane));
      });
      item.ignores_side_bits = ignores;
    }
  }

  /// First row of its head that lies in V's word.
  [[nodiscard]] std::uint64_t value_row(const golden::TimedWrite& w, const contract::VectorFields& f) const {
    const std::uint64_t part = state_.groups / f.segments, block = state_.token.position / 32;
    const std::uint64_t base = strided(f.memory_address, f.memory_stride, iteration(w.run)) + block / part * 2;
    const std::uint32_t head_size = state_.shape.head_size;
    for (std::uint32_t head = f.first_row / head_size; head * head_size < f.first_row + f.rows; ++head)
      for (std::uint64_t row = 0; row < head_size; row += lanes_) {
        const std::uint64_t address = base + head / f.segments * f.slot_words + row / lanes_ * f.row_group_words;
        if (address == w.first || address + 1 == w.first) return row;
      }
    return 0;
  }

  /// Of kValue: whether the word is K's, whose side bits take V's scale.
  [[nodiscard]] bool is_key_word(const golden::TimedWrite& w, const contract::VectorFields& f) const {
    const std::uint64_t base = strided(f.key_address, f.memory_stride, iteration(w.run)) +
                               state_.token.position / lanes_ * f.key_row_group_words + 1;
    const std::uint32_t heads = f.rows / state_.shape.head_size, first_head = f.first_row / state_.shape.head_size;
    for (std::uint32_t head = first_head; head < first_head + heads; ++head)
      if (w.first == base + std::uint64_t{head / f.segments} * f.key_slot_words) return true;
    return false;
  }

  void logits(std::uint32_t run, const contract::VectorFields& f) {
    for (std::uint32_t id = f.first_row; id < f.first_row + f.rows; ++id) {
      Expected& item = add({Kind::kLogit, id, 0}, run, 0,
                           [&](auto& values) { values.push_back(engine::bits_from_float(logits_[id])); });
      item.has_cycle = false;
    }
  }

  golden::State& state_;
  const contract::Program& program_;
  const std::vector<float>& logits_;
  Expectation& out_;
  std::uint32_t lanes_;
  std::vector<golden::TimedWrite> writes_;
  std::size_t next_ = 0;
};

}  // namespace

std::uint32_t element_words(Kind kind) { return kind == Kind::kAccumulator ? 3 : kind == Kind::kWord ? 5 : 1; }

std::string name_of(const Place& place, std::uint32_t lanes) {
  switch (place.kind) {
    case Kind::kAccumulator:
      return fmt::format("accumulator {} of segment {}", place.first, place.second);
    case Kind::kBlock:
      return fmt::format("activation block {} of bank {}", place.second, place.first);
    case Kind::kResidual:
      return fmt::format("residual value {}", place.first);
    case Kind::kWord:
      return fmt::format("lane word {} of group {}, lane {}", place.first, place.second / lanes, place.second % lanes);
    case Kind::kScale:
      return fmt::format("scale register {}", place.first);
    case Kind::kExponent:
      return fmt::format("the largest exponent of round {}, segment {}", place.first, place.second);
    case Kind::kInverse:
      return fmt::format("1/z of round {}, segment {}", place.first, place.second);
    case Kind::kLogit:
      return fmt::format("the logit of token {}", place.first);
    case Kind::kIssue: {
      static constexpr const char* kUnits[] = {"MVU", "VPU", "SMX"};
      return fmt::format("issue of the token's run {} in the {}", place.second,
                         place.first < 3 ? kUnits[place.first] : "?");
    }
  }
  return "a place";
}

Expectation expect(golden::Machine& machine, const bundle::Bundle& bundle, std::int32_t token, std::uint32_t position,
                   const golden::StepOptions& options) {
  Expectation out;
  out.token = token;
  out.position = position;
  out.with_head = options.want_logits;
  std::vector<float> logits(options.want_logits ? bundle.shape().vocabulary : 0);
  Recorder recorder(machine.state(), bundle, logits, out);
  golden::StepOptions watched = options;
  watched.observer = &recorder;
  watched.logits = options.want_logits ? logits.data() : nullptr;
  out.result = machine.step(token, position, watched);
  return out;
}

}  // namespace lpu::cosim
