// The two units of a link, a cycle at a time, and what they exchange: vectors, and their beats as hls/contract/link.hpp
// lays them out, encoded here once more with hls/engine's CRC. Relies on the sizes of CMakeLists.txt.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "Vlink_receive_256.h"
#include "Vlink_receive_32.h"
#include "Vlink_receive_64.h"
#include "Vlink_send_256.h"
#include "Vlink_send_32.h"
#include "Vlink_send_64.h"
#include "hls/contract/link.hpp"
#include "hls/engine/link_crc.hpp"
#include "tests/cosim/random_numbers.hpp"
#include "tests/cosim/wires.hpp"

namespace lpu {
namespace cosim {

constexpr int kQueuedBlocks = 16, kQueuedVectors = 4;  ///< of both units
constexpr int kMarginCycles = 16, kTrailerCycles = 64;
using contract::LinkError;

template <typename SendModule, typename ReceiveModule, int kBits>
struct LinkSize {
  using Send = SendModule;
  using Receive = ReceiveModule;
  static constexpr int kStreamBits = kBits;
  static constexpr int kHeaderBeats = contract::link_header_beats(kBits);
  static constexpr int kBlockBeats = contract::link_block_beats(kBits);
};
using LinkSizes =
    ::testing::Types<LinkSize<Vlink_send_32, Vlink_receive_32, 32>, LinkSize<Vlink_send_64, Vlink_receive_64, 64>,
                     LinkSize<Vlink_send_256, Vlink_receive_256, 256>>;
struct LinkSizeNames {
  template <typename Size>
  static std::string GetName(int) {
    return "Bits" + std::to_string(Size::kStreamBits);
  }
};

using Block = std::array<std::uint32_t, contract::kBlockValues>;  // [value]
struct Vector {
  int kind = 0;
  std::vector<Block> blocks;
  int length() const { return static_cast<int>(blocks.size()); }
};
inline Vector random_vector(Random& random, int blocks) {
  Vector vector;
  vector.kind = random.between(0, contract::kLinkKinds - 1);
  vector.blocks.resize(static_cast<std::size_t>(blocks));
  for (Block& block : vector.blocks)
    for (std::uint32_t& value : block) value = static_cast<std::uint32_t>(random.bits(32));
  return vector;
}

struct Beat {
  std::vector<std::uint32_t> words;  // [StreamBits / 32]
  bool last = false;
  bool operator==(const Beat& other) const { return words == other.words && last == other.last; }
};

/// A vector's beats.
inline std::vector<Beat> encode(const Vector& vector, int sequence, int stream_bits) {
  const std::size_t width = static_cast<std::size_t>(stream_bits / 32);
  std::vector<std::uint32_t> words;
  const auto fill_beat = [&] { words.resize((words.size() + width - 1) / width * width); };
  const std::uint64_t header =
      contract::link_header(static_cast<std::uint32_t>(vector.kind), static_cast<std::uint32_t>(vector.length()),
                            static_cast<std::uint32_t>(sequence % contract::kLinkSequences));
  words.push_back(static_cast<std::uint32_t>(header));
  words.push_back(static_cast<std::uint32_t>(header >> 32));
  fill_beat();
  for (const Block& block : vector.blocks) words.insert(words.end(), block.begin(), block.end());
  words.push_back(engine::link_crc(words.data(), static_cast<int>(words.size())));
  fill_beat();
  std::vector<Beat> beats(words.size() / width);
  for (std::size_t i = 0; i < beats.size(); ++i)
    beats[i].words.assign(words.begin() + static_cast<std::ptrdiff_t>(i * width),
                          words.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
  beats.back().last = true;
  return beats;
}

/// The send unit. A cycle: offer() a block or not, then step().
template <typename Size>
class SendBench {
 public:
  SendBench() { reset(); }
  void reset() {
    module_.rst_ni = 0;
    module_.send_valid_i = module_.tready_i = 0;
    for (int i = 0; i < 3; ++i) tick(module_);
    module_.rst_ni = 1;
    waits_.reset();
  }
  /// Block `place` of the vector, as the vector unit gives it; `first` and `last` may lie.
  void offer(const Vector& vector, int place) {
    offer(vector.blocks[static_cast<std::size_t>(place)], place == 0, place + 1 == vector.length(), vector.kind,
          vector.length());
  }
  void offer(const Block& block, bool first, bool last, int kind, int blocks) {
    module_.send_valid_i = 1;
    for (int i = 0; i < contract::kBlockValues; ++i)
      put(module_.send_block_i, 32 * i, 32, block[static_cast<std::size_t>(i)]);
    module_.send_first_i = first;
    module_.send_last_i = last;
    module_.send_kind_i = static_cast<std::uint8_t>(kind);
    module_.send_blocks_i = static_cast<std::uint16_t>(blocks);
  }
  /// The beat that goes over in this cycle. A beat that has to wait must stay as it is.
  std::optional<Beat> step(bool ready) {
    module_.tready_i = ready;
    module_.eval();
    std::optional<Beat> shown;
    if (module_.tvalid_o != 0) {
      shown.emplace();
      for (int i = 0; i < Size::kStreamBits / 32; ++i)
        shown->words.push_back(static_cast<std::uint32_t>(get(module_.tdata_o, 32 * i, 32)));
      shown->last = module_.tlast_o != 0;
    }
    EXPECT_TRUE(!waits_ || (shown && *shown == *waits_)) << "cycle " << cycle_;
    tick(module_);
    ++cycle_;
    module_.send_valid_i = 0;
    waits_ = ready ? std::nullopt : shown;
    return ready ? shown : std::nullopt;
  }
  int cycle() const { return cycle_; }
  LinkError error() const { return static_cast<LinkError>(module_.error_o); }

 private:
  typename Size::Send module_;
  std::optional<Beat> waits_;
  int cycle_ = 0;
};

/// The receive unit. A cycle: look at the outputs, set inputs, step().
template <typename Size>
class ReceiveBench {
 public:
  ReceiveBench() { reset(); }
  void reset() {
    module_.rst_ni = 0;
    module_.tvalid_i = module_.expect_i = module_.take_i = 0;
    for (int i = 0; i < 3; ++i) tick(module_);
    module_.rst_ni = 1;
    tick(module_);
  }
  void beat(const Beat& beat) {
    module_.tvalid_i = 1;
    for (int i = 0; i < Size::kStreamBits / 32; ++i)
      put(module_.tdata_i, 32 * i, 32, beat.words[static_cast<std::size_t>(i)]);
    module_.tlast_i = beat.last;
  }
  void expect(int kind, int blocks, int deadline_cycles) {
    module_.expect_i = 1;
    module_.expect_kind_i = static_cast<std::uint8_t>(kind);
    module_.expect_blocks_i = static_cast<std::uint16_t>(blocks);
    module_.expect_deadline_i = static_cast<std::uint32_t>(deadline_cycles);
  }
  void expect(const Vector& vector, int deadline_cycles = 1 << 20) {
    expect(vector.kind, vector.length(), deadline_cycles);
  }
  void take() { module_.take_i = 1; }
  void step() {
    EXPECT_EQ(module_.tready_o, 1);
    tick(module_);
    ++cycle_;
    module_.tvalid_i = module_.expect_i = module_.take_i = 0;
    module_.eval();
  }
  void idle(int cycles) {
    for (int i = 0; i < cycles; ++i) step();
  }

  int cycle() const { return cycle_; }
  bool ready() const { return module_.vector_ready_o != 0; }
  std::optional<Block> block() const {
    if (module_.block_valid_o == 0) return std::nullopt;
    Block block;
    for (int i = 0; i < contract::kBlockValues; ++i)
      block[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(get(module_.block_o, 32 * i, 32));
    return block;
  }
  std::optional<int> checked() const {
    if (module_.checked_o == 0) return std::nullopt;
    return module_.checked_vector_o;
  }
  LinkError error() const { return static_cast<LinkError>(module_.error_o); }
  int expected() const { return module_.error_expected_o; }
  int got() const { return module_.error_got_o; }

 private:
  typename Size::Receive module_;
  int cycle_ = 0;
};

/// A program that takes vectors one after another: expects each, anchors at its vector_ready, takes a block every
/// `pace_cycles` from `delay_cycles` after the anchor on. Keeps what it got.
template <typename Size>
class Schedule {
 public:
  Schedule(const std::vector<Vector>& vectors, int pace_cycles, int delay_cycles, int deadline_cycles)
      : taken(vectors.size()),
        vectors_(vectors),
        pace_(pace_cycles),
        delay_(delay_cycles),
        deadline_(deadline_cycles) {}

  /// Looks at the unit's outputs and sets its inputs, before step().
  void act(ReceiveBench<Size>& unit) {
    if (const auto block = unit.block()) taken[takes_from_].push_back(*block);
    if (const auto number = unit.checked()) checked.push_back(*number);
    if (open_ && anchor_ < 0 && unit.ready()) anchor_ = unit.cycle();
    if (open_ && anchor_ >= 0 && unit.cycle() == anchor_ + delay_ + places_ * pace_) {
      unit.take();
      takes_from_ = number_;
      if (++places_ == vectors_[number_].length()) {
        open_ = false;
        ++number_;
      }
    }
    if (!open_ && number_ < vectors_.size()) {
      unit.expect(vectors_[number_], deadline_);
      open_ = true;
      anchor_ = -1;
      places_ = 0;
    }
  }
  bool done() const { return !open_ && number_ == vectors_.size() && checked.size() == vectors_.size(); }
  /// All came, each right, in order.
  void expect_all() const {
    for (std::size_t i = 0; i < vectors_.size(); ++i) EXPECT_TRUE(taken[i] == vectors_[i].blocks) << "vector " << i;
    ASSERT_EQ(checked.size(), vectors_.size());
    for (std::size_t i = 0; i < checked.size(); ++i) EXPECT_EQ(checked[i], static_cast<int>(i % (1 << 16)));
  }

  std::vector<std::vector<Block>> taken;  // [vector][block]
  std::vector<int> checked;               // numbers, in the order in which their checks came

 private:
  const std::vector<Vector>& vectors_;
  int pace_, delay_, deadline_;
  std::size_t number_ = 0, takes_from_ = 0;
  bool open_ = false;
  int anchor_ = -1, places_ = 0;
};

}  // namespace cosim
}  // namespace lpu
