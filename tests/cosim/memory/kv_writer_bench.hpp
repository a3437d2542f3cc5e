// Drives lpu_kv_writer (before real lane memories) with keys and values of one position after another, and says what
// each group's second port shows in each cycle: reads, writes, addresses, words. What is in the memories is
// hls/golden's LaneMemory, changed as execute_key() and execute_value() change it, in the cycle of each write.
// Relies on kv_writer_bench.sv.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hls/contract/memory_map.hpp"
#include "hls/golden/lane_memory.hpp"
#include "tests/cosim/random_numbers.hpp"
#include "tests/cosim/wires.hpp"

namespace lpu {
namespace cosim {

constexpr int kKeyLead = 4, kTagLead = 8;  ///< cycles from a key's codes, a value's tag, to "ready"
constexpr int kScaleReadLead = 7, kCodesLead = 6, kScaleWriteLead = 5, kRowsLead = 4;
constexpr int kWordBitsOf = 144;

struct KvShape {
  int lanes, groups, words;
  int part(int segments) const { return groups / segments; }
};
struct Key {
  int ready, group, address, nibbles;
};
struct Value {
  int ready, group, address, row_step, head_blocks, key_group, key_address;
};

template <typename Module>
class KvBench {
 public:
  KvBench(const KvShape& shape, std::uint64_t seed)
      : random(seed), shape_(shape), config_(config(shape)), golden_(config_, image(shape), nullptr) {
    module_.rst_ni = 0;
    for (int i = 0; i < 4; ++i) tick(module_);
    module_.rst_ni = 1;
    fill();
  }

  /// Cycle from which on a position's first key or value may be ready.
  int first_ready() const { return cycle_ + 16; }
  void start_position(int position) { position_ = position; }
  /// Whether so many cycles of a group's port from `first` on are free; then they are taken.
  bool take(int group, int first, int count) {
    for (int i = 0; i < count; ++i)
      if (taken_.count({group, first + i}) != 0) return false;
    for (int i = 0; i < count; ++i) taken_[{group, first + i}] = true;
    return true;
  }
  int row_groups(int head_blocks) const { return (head_blocks * 32 + shape_.lanes - 1) / shape_.lanes; }

  void key(const Key& key) {
    std::vector<unsigned> codes(32);
    const unsigned mask = (1u << (4 * key.nibbles)) - 1;
    // Two's complement, as wide as the unit's port; what is above the code's words is sign.
    for (unsigned& code : codes) {
      code = static_cast<unsigned>(random.bits(12)) & mask;
      if ((code >> (4 * key.nibbles - 1) & 1) != 0) code |= 0xfffu & ~mask;
    }
    const std::uint16_t scale = static_cast<std::uint16_t>(random.bits(16));
    at(key.ready - kKeyLead, [=, this] {
      module_.key_valid_i = 1;
      module_.key_scale_i = scale;
      module_.key_group_i = static_cast<std::uint8_t>(key.group);
      module_.key_address_i = static_cast<std::uint32_t>(key.address);
      module_.key_nibbles_i = static_cast<std::uint8_t>(key.nibbles);
      for (int i = 0; i < 32; ++i) put(module_.key_codes_i, i * 12, 12, codes[static_cast<std::size_t>(i)]);
    });
    for (int n = 0; n < key.nibbles; ++n)
      writes(key.ready - key.nibbles + n, key.group, key.address + n, {position_ % shape_.lanes}, [=, this] {
        for (unsigned i = 0; i < 32; ++i)
          golden_.set_nibble(address(key.address + n), index(key.group), lane_of_position(), i, codes[i] >> (4 * n));
        golden_.set_side_bits(address(key.address + n), index(key.group), lane_of_position(), n == 0 ? scale : 0);
      });
  }

  void value(const Value& value) {
    const int head_size = 32 * value.head_blocks;
    std::vector<unsigned> codes(static_cast<std::size_t>(head_size));
    for (unsigned& code : codes) code = static_cast<unsigned>(random.bits(8));
    const std::uint16_t scale = static_cast<std::uint16_t>(random.bits(16));
    at(value.ready - kTagLead, [=, this] {
      module_.value_early_i = 1;
      module_.value_group_i = static_cast<std::uint8_t>(value.group);
      module_.value_address_i = static_cast<std::uint32_t>(value.address);
      module_.value_row_step_i = static_cast<std::uint32_t>(value.row_step);
      module_.value_head_blocks_i = static_cast<std::uint8_t>(value.head_blocks);
      module_.value_key_group_i = static_cast<std::uint8_t>(value.key_group);
      module_.value_key_address_i = static_cast<std::uint32_t>(value.key_address);
    });
    for (int b = 0; b < value.head_blocks; ++b)
      at(value.ready - kCodesLead + b, [=, this] {
        module_.value_valid_i = 1;
        module_.value_block_i = static_cast<std::uint8_t>(b);
        if (b == 0) module_.value_scale_i = scale;
        for (int i = 0; i < 32; ++i) put(module_.value_codes_i, i * 8, 8, codes[static_cast<std::size_t>(32 * b + i)]);
      });
    reads(value.ready - kScaleReadLead, value.key_group, value.key_address);
    writes(value.ready - kScaleWriteLead, value.key_group, value.key_address, {position_ % shape_.lanes}, [=, this] {
      golden_.set_side_bits(address(value.key_address), index(value.key_group), lane_of_position(), scale);
    });
    for (int r = 0; r < row_groups(value.head_blocks); ++r)
      for (int n = 0; n < 2; ++n) {
        const int word = value.address + r * value.row_step + n, first = value.ready - kRowsLead + 4 * r + n;
        std::vector<int> lanes;
        for (int d = r * shape_.lanes; d < std::min((r + 1) * shape_.lanes, head_size); ++d)
          lanes.push_back(d % shape_.lanes);
        reads(first, value.group, word);
        writes(first + 2, value.group, word, lanes, [=, this] {
          for (const int lane : lanes)
            golden_.set_nibble(address(word), index(value.group), static_cast<std::size_t>(lane),
                               static_cast<unsigned>(position_ % 32),
                               codes[static_cast<std::size_t>(r * shape_.lanes + lane)] >> (4 * n));
        });
      }
  }

  /// An error shown in that cycle.
  void error(int cycle, contract::CardError code) { errors_[cycle] = static_cast<int>(code); }
  /// What was to happen at the group's port in these cycles does not.
  void cancel(int group, int first, int count) {
    for (int i = 0; i < count; ++i) uses_.erase({first + i, group});
  }
  void at(int cycle, std::function<void()> work) { inputs_.emplace(cycle, std::move(work)); }

  /// All cycles up to the last thing scheduled, each with every output compared; then all words.
  void run() {
    int end = cycle_;
    if (!uses_.empty()) end = std::max(end, uses_.rbegin()->first.first + 1);
    if (!errors_.empty()) end = std::max(end, errors_.rbegin()->first + 1);
    for (end += 8; cycle_ < end && !::testing::Test::HasFatalFailure(); ++cycle_) step();
    taken_.clear();
    uses_.clear();
    inputs_.clear();
    errors_.clear();
    if (!::testing::Test::HasFatalFailure()) compare_memories();
  }
  int compared_words() const { return compared_words_; }
  Module& module() { return module_; }

  Random random;

 private:
  struct Use {
    bool read = false;
    int address = 0;
    std::vector<int> lanes;       ///< written
    std::function<void()> apply;  ///< to the golden words
  };

  static contract::HardwareConfig config(const KvShape& shape) {
    contract::HardwareConfig made = contract::kHardwareConfigs[0];
    made.lanes = shape.lanes;
    made.column_groups = shape.groups;
    made.lane_words = shape.words;
    return made;
  }
  static contract::MemoryImage image(const KvShape& shape) {
    contract::MemoryImage made;
    made.kv_word_count = static_cast<std::uint64_t>(shape.words);
    return made;
  }
  static std::uint64_t address(int word) { return static_cast<std::uint64_t>(word); }
  static std::size_t index(int group) { return static_cast<std::size_t>(group); }
  std::size_t lane_of_position() const { return static_cast<std::size_t>(position_ % shape_.lanes); }

  void reads(int cycle, int group, int word) { uses_[{cycle, group}] = Use{true, word, {}, nullptr}; }
  void writes(int cycle, int group, int word, std::vector<int> lanes, std::function<void()> apply) {
    uses_[{cycle, group}] = Use{false, word, std::move(lanes), std::move(apply)};
  }

  /// Every word random, in both: as an earlier context left them.
  void fill() {
    for (int word = 0; word < shape_.words; ++word) {
      for (int group = 0; group < shape_.groups; ++group)
        for (int lane = 0; lane < shape_.lanes; ++lane) {
          const int lsb = (group * shape_.lanes + lane) * kWordBitsOf;
          std::uint8_t data[16];
          for (int i = 0; i < 16; ++i) {
            data[i] = static_cast<std::uint8_t>(random.bits(8));
            put(module_.fill_words_i, lsb + 8 * i, 8, data[i]);
          }
          const std::uint16_t side = static_cast<std::uint16_t>(random.bits(16));
          put(module_.fill_words_i, lsb + 128, 16, side);
          golden_.write_data(address(word), index(group), static_cast<std::size_t>(lane), data);
          golden_.set_side_bits(address(word), index(group), static_cast<std::size_t>(lane), side);
        }
      module_.fill_i = 1;
      module_.fill_address_i = static_cast<std::uint32_t>(word);
      tick(module_);
    }
    module_.fill_i = 0;
    for (int i = 0; i < 4; ++i) tick(module_);
  }

  template <typename Port>
  void noise(Port& port, int bits) {
    for (int lsb = 0; lsb < bits; lsb += 32) put(port, lsb, std::min(32, bits - lsb), random.bits(32));
  }
  void step() {
    // What isn't valid is anything.
    module_.key_valid_i = 0;
    module_.value_early_i = 0;
    module_.value_valid_i = 0;
    noise(module_.key_codes_i, 384);
    noise(module_.value_codes_i, 256);
    noise(module_.key_scale_i, 16);
    noise(module_.value_scale_i, 16);
    noise(module_.value_block_i, 3);
    noise(module_.key_nibbles_i, 2);
    noise(module_.key_address_i, 24);
    noise(module_.value_address_i, 24);
    noise(module_.value_key_address_i, 24);
    noise(module_.value_row_step_i, 20);
    noise(module_.value_head_blocks_i, 4);
    module_.key_group_i = static_cast<std::uint8_t>(random.between(0, shape_.groups - 1));
    module_.value_group_i = static_cast<std::uint8_t>(random.between(0, shape_.groups - 1));
    module_.value_key_group_i = static_cast<std::uint8_t>(random.between(0, shape_.groups - 1));
    module_.position_lane_i = static_cast<std::uint8_t>(position_ % shape_.lanes);
    module_.position_column_i = static_cast<std::uint8_t>(position_ % 32);
    module_.read_i = 0;
    const auto inputs = inputs_.equal_range(cycle_);
    for (auto input = inputs.first; input != inputs.second; ++input) input->second();
    module_.eval();
    for (int group = 0; group < shape_.groups; ++group) compare_port(group);
    const auto error = errors_.find(cycle_);
    ASSERT_EQ(module_.error_o, error != errors_.end() ? error->second : 0) << "cycle " << cycle_;
    tick(module_);
  }
  void compare_port(int group) {
    const std::string where = "cycle " + std::to_string(cycle_) + ", group " + std::to_string(group);
    const auto found = uses_.find({cycle_, group});
    const Use none, &use = found != uses_.end() ? found->second : none;
    std::uint64_t mask = 0;
    for (const int lane : use.lanes) mask |= std::uint64_t{1} << lane;
    ASSERT_EQ(get(module_.second_read_o, group, 1), use.read) << where;
    ASSERT_EQ(get(module_.second_write_o, group * shape_.lanes, shape_.lanes), mask) << where;
    if (found == uses_.end()) return;
    ASSERT_EQ(get(module_.second_address_o, group * 24, 24), address(use.address)) << where;
    if (use.read) return;
    use.apply();
    for (const int lane : use.lanes) {
      ASSERT_TRUE(same_word(module_.second_words_o, use.address, group, lane)) << where << ", lane " << lane;
      ++compared_words_;
    }
  }
  template <typename Port>
  bool same_word(const Port& words, int word, int group, int lane) const {
    const int lsb = (group * shape_.lanes + lane) * kWordBitsOf;
    std::uint8_t data[16];
    golden_.read_data(address(word), index(group), static_cast<std::size_t>(lane), data);
    for (int i = 0; i < 16; ++i)
      if (get(words, lsb + 8 * i, 8) != data[i]) return false;
    return get(words, lsb + 128, 16) == golden_.side_bits(address(word), index(group), static_cast<std::size_t>(lane));
  }
  void compare_memories() {
    module_.key_valid_i = 0;
    module_.value_early_i = 0;
    module_.value_valid_i = 0;
    for (int word = 0; word < shape_.words; ++word) {
      module_.read_i = 1;
      module_.read_address_i = static_cast<std::uint32_t>(word);
      for (int i = 0; i < 3; ++i, ++cycle_) tick(module_);
      for (int group = 0; group < shape_.groups; ++group)
        for (int lane = 0; lane < shape_.lanes; ++lane)
          ASSERT_TRUE(same_word(module_.read_words_o, word, group, lane))
              << "afterwards: word " << word << ", group " << group << ", lane " << lane;
    }
    module_.read_i = 0;
  }

  Module module_;
  const KvShape shape_;
  const contract::HardwareConfig config_;
  golden::LaneMemory golden_;
  int cycle_ = 0, position_ = 0, compared_words_ = 0;
  std::map<std::pair<int, int>, bool> taken_;  ///< (group, cycle) of the second ports
  std::map<std::pair<int, int>, Use> uses_;    ///< (cycle, group)
  std::multimap<int, std::function<void()>> inputs_;
  std::map<int, int> errors_;
};

}  // namespace cosim
}  // namespace lpu
