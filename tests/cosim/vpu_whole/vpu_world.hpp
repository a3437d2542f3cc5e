// The places that vector instructions read, filled with random numbers: a hls/golden State of a small model, in which
// the same places serve as the module's memories and as the model of what it must do.
// Relies on hls/golden, random_numbers.hpp.
#pragma once

#include <cmath>
#include <vector>

#include "hls/golden/state.hpp"
#include "tests/cosim/random_numbers.hpp"
#include "tests/cosim/vpu_whole/vpu_traffic.hpp"

namespace lpu {
namespace cosim {

class VpuWorld {
 public:
  static constexpr std::uint32_t kContext = 256, kVocabulary = 512, kWidth = 480, kWords = 64, kKvWords = 3000;

  VpuWorld(const VpuSize& size, std::uint64_t seed, std::uint32_t head_blocks)
      : size_(size),
        random_(seed),
        head_blocks_(head_blocks),
        lanes_(static_cast<std::uint32_t>(size.lanes)),
        groups_(static_cast<std::uint32_t>(size.groups)),
        vector_lanes_(static_cast<std::uint32_t>(size.vector_lanes)),
        words_(random_bytes(std::size_t{kWords} * groups_ * lanes_ * contract::kWordBytes)),
        minimums_(random_bytes(std::size_t{kWords} * groups_ * lanes_ * 2)),
        state_(config(), shape(), image(), 1, golden::ImageUsed()) {
    fill();
  }

  std::uint32_t first_logit_row = 0;

  golden::State& state() { return state_; }
  const VpuSize& size() const { return size_; }
  std::uint32_t draw(std::uint32_t lowest, std::uint32_t highest) {
    return static_cast<std::uint32_t>(random_.between(static_cast<int>(lowest), static_cast<int>(highest)));
  }

 private:
  std::vector<std::uint8_t> random_bytes(std::size_t count) {
    std::vector<std::uint8_t> bytes(count);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random_.bits(8));
    return bytes;
  }
  contract::HardwareConfig config() const {
    contract::HardwareConfig c = contract::kHardwareConfigs[0];
    c.lanes = size_.lanes;
    c.column_groups = size_.groups;
    c.vector_lanes = size_.vector_lanes;
    c.accumulator_entries = size_.entries;
    c.activation_blocks = size_.blocks;
    return c;
  }
  contract::ModelShape shape() const {
    contract::ModelShape s;
    s.width = kWidth;
    s.head_size = 32 * head_blocks_;
    s.vocabulary = kVocabulary;
    s.context_tokens = kContext;
    s.norm_epsilon = 1e-5f;
    return s;
  }
  contract::MemoryImage image() const {
    contract::MemoryImage i;
    i.lane_words = words_.data();
    i.lane_word_count = kWords;
    i.kv_word_count = kKvWords;
    i.minimum_words = minimums_.data();
    i.minimum_word_count = kWords;
    return i;
  }
  void fill() {
    const std::size_t exponent_words = 256;
    for (std::size_t i = 0; i < exponent_words * lanes_; ++i)
      state_.exponents.push_back(
          static_cast<std::int8_t>(random_.one_in(64) ? random_.between(-128, 127) : random_.between(-18, -12)));
    for (int i = 0; i < 2048; ++i) state_.constants.push_back(random_.number(118, 128));
    for (std::uint32_t i = 0; i < kContext * 32 * head_blocks_; ++i) state_.rope.push_back(random_.number(110, 126));
    state_.activations.resize(groups_ * static_cast<std::size_t>(size_.blocks));
    for (std::size_t i = 0; i < static_cast<std::size_t>(size_.entries) * groups_ * lanes_; ++i)
      state_.sums.push_back(random_.sum(random_.one_in(32) ? 88 : 44));
    state_.value_scales.resize(state_.sums.size());
    state_.residual.resize(2048);
    for (std::size_t i = 0; i < contract::kMaxRounds * groups_; ++i) {
      golden::RoundRegister round;
      round.difference = random_.between(16, 32);
      round.inverse = std::abs(random_.number(58, 68));
      state_.rounds.push_back(round);
    }
    first_logit_row = draw(0, 3) * vector_lanes_;
  }

 protected:
  VpuSize size_;
  Random random_;
  std::uint32_t head_blocks_;
  std::uint32_t lanes_, groups_, vector_lanes_;
  std::vector<std::uint8_t> words_, minimums_;
  golden::State state_;
};

}  // namespace cosim
}  // namespace lpu
