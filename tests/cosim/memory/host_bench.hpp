// Drives lpu_host_port: one write, read or idle cycle at a time, noise on what isn't valid; every load bus is compared
// in every cycle with what the streams so far say, and host_valid_o with the reads. Relies on hls/contract for names.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "hls/contract/instructions.hpp"
#include "hls/contract/memory_map.hpp"
#include "tests/cosim/random_numbers.hpp"
#include "tests/cosim/wires.hpp"

namespace lpu {
namespace cosim {

using contract::CardError;
using contract::ControlRegister;
using contract::Region;

constexpr int kLoadCycles = 2, kAnswerCycles = 2;

struct HostShape {
  int lanes, groups, vector_lanes;
  std::map<Region, int> elements;  ///< as the module's parameters
  int pairs() const { return lanes * groups / 2; }
  /// Bytes after which something is written.
  int unit_bytes(Region region) const {
    switch (region) {
      case Region::kLaneWords:
        return 36;  // a pair of lanes
      case Region::kExponents:
        return lanes;
      case Region::kConstants:
      case Region::kRope:
        return 4 * vector_lanes;
      case Region::kInstructions:
        return 80;
      case Region::kLoops:
        return 20;
      default:
        return 4;  // a pair of minimums, a delay
    }
  }
  int capacity_bytes(Region region) const {
    const int count = elements.at(region);
    switch (region) {
      case Region::kLaneWords:
        return count * pairs() * 36;
      case Region::kMinimumWords:
        return count * pairs() * 4;
      case Region::kConstants:
        return count * 4;
      case Region::kRope:
        return count * 8;
      default:
        return count * unit_bytes(region);
    }
  }
};

template <typename Module>
class HostBench {
 public:
  HostBench(const HostShape& shape, std::uint64_t seed) : random(seed), shape_(shape) {
    module.rst_ni = 0;
    for (int i = 0; i < 4; ++i) tick(module);
    module.rst_ni = 1;
  }

  void idle(int cycles = 1) {
    for (int i = 0; i < cycles; ++i) cycle(false, false, random.bits(40), noise());
  }
  void write(Region region, std::uint64_t offset, std::uint32_t data) {
    cycle(true, false, static_cast<std::uint64_t>(region) << contract::kRegionShift | offset, data);
  }
  void write(ControlRegister word, std::uint32_t data) {
    write(Region::kControl, 4 * static_cast<std::uint64_t>(word), data);
  }
  /// Takes kAnswerCycles more.
  std::uint32_t read(std::uint64_t address) {
    cycle(false, true, address, noise());
    idle(kAnswerCycles - 1);
    EXPECT_TRUE(module.host_valid_o);
    const std::uint32_t answer = module.host_data_o;
    idle();
    return answer;
  }
  std::uint32_t read(ControlRegister word) {
    return read(std::uint64_t{8} << contract::kRegionShift | 4 * static_cast<std::uint64_t>(word));
  }
  CardError error() { return static_cast<CardError>(read(ControlRegister::kErrorCode)); }
  void soft_reset() {
    write(ControlRegister::kReset, 1);
    idle(70);
  }

  /// A write of a stream that is in order: shown by its load bus when it completes something.
  void stream(Region region, int offset) {
    const std::uint32_t data = noise();
    if (offset == 0) bytes_.clear();
    for (int i = 0; i < 4; ++i) bytes_.push_back(static_cast<std::uint8_t>(data >> (8 * i)));
    const int unit = shape_.unit_bytes(region);
    if ((offset + 4) % unit == 0)
      loads_.push_back({now_ + kLoadCycles, region, offset / unit, {bytes_.end() - unit, bytes_.end()}});
    write(region, static_cast<std::uint64_t>(offset), data);
  }
  int loads_seen() const { return loads_seen_; }
  std::uint32_t noise() { return static_cast<std::uint32_t>(random.bits(32)); }

  Module module;
  Random random;

 private:
  struct Load {
    int cycle;
    Region region;
    int number;  ///< of units of the region
    std::vector<std::uint8_t> bytes;
  };

  void cycle(bool writes, bool reads, std::uint64_t address, std::uint32_t data) {
    module.host_write_i = writes;
    module.host_read_i = reads;
    module.host_address_i = address;
    module.host_data_i = data;
    if (reads) answers_.push_back(now_ + kAnswerCycles);
    tick(module);
    ++now_;
    module.host_write_i = 0;
    module.host_read_i = 0;
    const bool answers = !answers_.empty() && answers_.front() == now_;
    if (answers) answers_.pop_front();
    ASSERT_EQ(module.host_valid_o, answers) << "cycle " << now_;
    const bool shown = !loads_.empty() && loads_.front().cycle == now_;
    compare_loads(shown ? &loads_.front() : nullptr);
    if (shown) loads_.pop_front();
  }
  template <typename Port>
  void expect_bytes(const Port& port, int lsb, const std::vector<std::uint8_t>& bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
      ASSERT_EQ(get(port, lsb + 8 * static_cast<int>(i), 8), bytes[i]) << "cycle " << now_ << ", byte " << i;
  }
  /// Lanes written of [group][lane]: the unit's pair, or none.
  template <typename Port>
  void expect_pair(const Port& port, const Load* load, Region region) {
    const int pair = load != nullptr && load->region == region ? load->number % shape_.pairs() : -1;
    for (int lane = 0; lane < 2 * shape_.pairs(); ++lane)
      ASSERT_EQ(get(port, lane, 1), lane / 2 == pair) << "cycle " << now_ << ", lane " << lane;
  }
  void compare_loads(const Load* load) {
    const auto is = [&](Region region) { return load != nullptr && load->region == region; };
    expect_pair(module.load_word_write_o, load, Region::kLaneWords);
    expect_pair(module.load_minimum_write_o, load, Region::kMinimumWords);
    ASSERT_EQ(module.load_exponent_write_o, is(Region::kExponents)) << "cycle " << now_;
    ASSERT_EQ(module.load_constant_write_o, is(Region::kConstants)) << "cycle " << now_;
    ASSERT_EQ(module.load_rope_write_o, is(Region::kRope)) << "cycle " << now_;
    ASSERT_EQ(module.load_instruction_o, is(Region::kInstructions)) << "cycle " << now_;
    ASSERT_EQ(module.load_loop_o, is(Region::kLoops)) << "cycle " << now_;
    ASSERT_EQ(module.load_delay_o, is(Region::kDelays)) << "cycle " << now_;
    if (load == nullptr) return;
    ++loads_seen_;
    const std::uint32_t number = static_cast<std::uint32_t>(load->number);
    const std::uint32_t row = number / static_cast<std::uint32_t>(shape_.pairs());
    const int pair = load->number % shape_.pairs();
    switch (load->region) {
      case Region::kLaneWords:
        for (int group = 0; group < shape_.groups; ++group)
          ASSERT_EQ(get(module.load_word_address_o, group * 24, 24), row) << "cycle " << now_;
        expect_bytes(module.load_words_o, pair * 288, load->bytes);
        break;
      case Region::kMinimumWords:
        ASSERT_EQ(module.load_minimum_address_o, row) << "cycle " << now_;
        expect_bytes(module.load_minimum_words_o, pair * 32, load->bytes);
        break;
      case Region::kExponents:
        ASSERT_EQ(module.load_exponent_address_o, number) << "cycle " << now_;
        expect_bytes(module.load_exponent_word_o, 0, load->bytes);
        break;
      case Region::kConstants:
        ASSERT_EQ(module.load_constant_address_o, number * static_cast<std::uint32_t>(shape_.vector_lanes));
        expect_bytes(module.load_constant_values_o, 0, load->bytes);
        break;
      case Region::kRope:
        ASSERT_EQ(module.load_rope_pair_o, number * static_cast<std::uint32_t>(shape_.vector_lanes / 2));
        expect_bytes(module.load_rope_pairs_o, 0, load->bytes);
        break;
      default:
        ASSERT_EQ(module.load_address_o, number) << "cycle " << now_;
        expect_bytes(module.load_data_o, 0, load->bytes);
    }
  }

  HostShape shape_;
  int now_ = 0, loads_seen_ = 0;
  std::vector<std::uint8_t> bytes_;  ///< of the stream since its start
  std::deque<Load> loads_;
  std::deque<int> answers_;
};

inline HostShape host_shape_4() {
  return {4,
          2,
          2,
          {{Region::kLaneWords, 16},
           {Region::kMinimumWords, 8},
           {Region::kExponents, 12},
           {Region::kConstants, 32},
           {Region::kRope, 16},
           {Region::kInstructions, 64},
           {Region::kLoops, 64},
           {Region::kDelays, 20}}};
}
inline HostShape host_shape_8() {
  return {8,
          1,
          2,
          {{Region::kLaneWords, 16},
           {Region::kMinimumWords, 0},
           {Region::kExponents, 12},
           {Region::kConstants, 32},
           {Region::kRope, 16},
           {Region::kInstructions, 64},
           {Region::kLoops, 64},
           {Region::kDelays, 20}}};
}
inline HostShape host_shape_32() {
  return {32,
          3,
          32,
          {{Region::kLaneWords, 4},
           {Region::kMinimumWords, 4},
           {Region::kExponents, 12},
           {Region::kConstants, 128},
           {Region::kRope, 64},
           {Region::kInstructions, 64},
           {Region::kLoops, 64},
           {Region::kDelays, 20}}};
}

}  // namespace cosim
}  // namespace lpu
