// A perfect core without a core: plays what the golden card expects as monitor ports, cycle by cycle, so that the
// lockstep's own code is tested where no RTL is built. Relies on host/cosim/expectation.hpp and the ports of api.hpp.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "host/card/rtl_model/api.hpp"
#include "host/cosim/expectation.hpp"

namespace lpu::test {

/// Bits of a port, [words].
class Port {
 public:
  explicit Port(std::size_t bits) : words_(bits / 32 + 2) {}
  void put(std::uint64_t at, unsigned bits, std::uint32_t value) {
    for (unsigned i = 0; i < bits; ++i) {
      std::uint32_t& word = words_[(at + i) / 32];
      const std::uint32_t bit = 1U << ((at + i) % 32);
      word = (value >> i & 1U) != 0 ? word | bit : word & ~bit;
    }
  }
  [[nodiscard]] const std::uint32_t* data() const { return words_.data(); }

 private:
  std::vector<std::uint32_t> words_;
};

class MonitorPlayer {
 public:
  MonitorPlayer(const contract::HardwareConfig& config, const cosim::Expectation& expectation)
      : lanes_(static_cast<std::uint32_t>(config.lanes)),
        groups_(static_cast<std::uint32_t>(config.column_groups)),
        vector_lanes_(static_cast<std::uint32_t>(config.vector_lanes)),
        expectation_(expectation) {
    for (const cosim::Expected& item : expectation.items) {
      const bool at_once = item.place.kind == cosim::Kind::kIssue || item.place.kind == cosim::Kind::kInverse;
      // A logit has no cycle; one after another, a cycle each, is as good as any.
      const std::uint64_t shown =
          item.has_cycle ? item.cycle - (at_once ? 0 : 1) : expectation.result.cycles / 2 + logits_++;
      shown_[shown].push_back(&item);
    }
  }
  [[nodiscard]] std::uint64_t cycles() const { return expectation_.result.cycles; }

  /// The ports in a cycle of the token.
  LpuRtlOutputs show(std::uint64_t cycle) {
    LpuRtlOutputs out{};
    clear();
    for (const cosim::Expected* item : shown_[cycle]) put(out, *item);
    out.block_write = block_write_.data();
    out.block_address = block_address_.data();
    out.blocks = blocks_.data();
    out.word_write = word_write_.data();
    out.word_address = word_address_.data();
    out.words = words_.data();
    out.residual_lanes = residual_lanes_.data();
    out.residual = residual_.data();
    out.exponents = exponents_.data();
    out.differences = differences_.data();
    out.inverses = inverses_.data();
    out.sum_write = sum_write_.data();
    out.sums = sums_.data();
    out.logits_lanes = logits_lanes_.data();
    out.logits = logit_.data();
    return out;
  }

 private:
  void clear() {
    block_write_ = Port(groups_);
    word_write_ = Port(groups_ * lanes_);
    residual_lanes_ = Port(vector_lanes_);
    sum_write_ = Port(groups_);
    logits_lanes_ = Port(vector_lanes_);
  }

  void put(LpuRtlOutputs& out, const cosim::Expected& item) {
    const std::uint32_t* value = expectation_.values.data() + item.value_at;
    const std::uint32_t first = item.place.first, second = item.place.second;
    switch (item.place.kind) {
      case cosim::Kind::kIssue:
        out.issue[first] = 1;
        out.issue_index[first] = second;
        break;
      case cosim::Kind::kBlock:
        out.has_block = 1;
        block_write_.put(first, 1, 1);
        block_address_.put(16 * first, 16, second);
        for (unsigned i = 0; i < 32; ++i) blocks_.put(337 * first + 10 * i, 10, value[i]);
        blocks_.put(337 * first + 320, 17, value[32]);
        break;
      case cosim::Kind::kWord:
        out.has_word = 1;
        word_write_.put(second, 1, 1);
        word_address_.put(second / lanes_ * 24, 24, first);
        for (unsigned i = 0; i < 4; ++i) words_.put(144 * second + 32 * i, 32, value[i]);
        words_.put(144 * second + 128, 16, value[4]);
        break;
      case cosim::Kind::kResidual:
        out.has_residual = 1;
        out.residual_row = first;
        for (unsigned i = 0; i < item.value_words; ++i) {
          residual_lanes_.put(i, 1, 1);
          residual_.put(32 * i, 32, value[i]);
        }
        break;
      case cosim::Kind::kScale:
        out.has_scale = 1;
        out.scale_register = first;
        out.scale = value[0];
        break;
      case cosim::Kind::kExponent:
        out.has_round = 1;
        out.round = first;
        exponents_.put(17 * second, 17, value[0]);
        differences_.put(6 * second, 6, value[1]);
        break;
      case cosim::Kind::kInverse:
        out.has_inverse = 1;
        out.inverse_round = first;
        inverses_.put(32 * second, 32, value[0]);
        break;
      case cosim::Kind::kAccumulator:
        out.has_sum = 1;
        out.sum_entry = first;
        sum_write_.put(second, 1, 1);
        if (item.has_value) put_sums(second, value);
        break;
      case cosim::Kind::kLogit:
        out.has_logits = 1;
        out.logits_row = first / vector_lanes_ * vector_lanes_;
        logits_lanes_.put(first % vector_lanes_, 1, 1);
        logit_.put(32 * (first % vector_lanes_), 32, value[0]);
        break;
    }
  }

  /// Lower halves of all lanes, then upper halves.
  void put_sums(std::uint32_t segment, const std::uint32_t* value) {
    for (std::uint32_t lane = 0; lane < lanes_; ++lane, value += 3)
      for (unsigned bit = 0; bit < 88; ++bit) {
        const std::uint32_t half = bit / 44, at = segment * lanes_ * 88 + half * lanes_ * 44 + lane * 44 + bit % 44;
        sums_.put(at, 1, value[bit / 32] >> (bit % 32) & 1U);
      }
  }

  std::uint32_t lanes_, groups_, vector_lanes_;
  const cosim::Expectation& expectation_;
  std::uint64_t logits_ = 0;
  std::map<std::uint64_t, std::vector<const cosim::Expected*>> shown_;
  Port block_write_{groups_}, block_address_{std::size_t{groups_} * 16}, blocks_{std::size_t{groups_} * 337},
      word_write_{std::size_t{groups_} * lanes_}, word_address_{std::size_t{groups_} * 24},
      words_{std::size_t{groups_} * lanes_ * 144}, residual_lanes_{vector_lanes_},
      residual_{std::size_t{vector_lanes_} * 32}, exponents_{std::size_t{groups_} * 17},
      differences_{std::size_t{groups_} * 6}, inverses_{std::size_t{groups_} * 32}, sum_write_{groups_},
      sums_{std::size_t{groups_} * lanes_ * 88}, logits_lanes_{vector_lanes_}, logit_{std::size_t{vector_lanes_} * 32};
};

}  // namespace lpu::test
