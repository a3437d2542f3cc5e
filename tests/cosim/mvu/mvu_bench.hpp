// Drives a Verilated lpu_mvu beside MvuModel, cycle by cycle: instructions at their lead, memories through their ports
// (a real load first, then writes wherever the contract allows one), the neighbours' answers after their cycles; it
// compares both readers, the residual's requests, kEmbed's words and the second ports' words in every cycle.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "tests/cosim/mvu/mvu_model.hpp"
#include "tests/cosim/wires.hpp"

namespace lpu {
namespace cosim {

constexpr int kDecodeCycles = 4, kAccumulatorReadCycles = 2, kResidualCycles = 3, kEmbedCycles = 3, kSecondCycles = 2;
constexpr int kSumBits = contract::kAccumulatorBits;
constexpr int kRounds = 8;  ///< of contract::kMaxRounds, so that rounds meet again

template <typename Module>
class MvuBench {
 public:
  MvuBench(const MvuShape& shape, std::uint64_t seed)
      : random(seed), model(shape), shape_(shape), round_exponents_(kRounds * static_cast<std::size_t>(shape.groups)) {
    for (std::int32_t& exponent : round_exponents_) exponent = pick(random, 0, 50);
    module_.rst_ni = 0;
    quiet();
    for (int i = 0; i < 16; ++i) tick(module_);
    module_.rst_ni = 1;
    load();
  }

  /// Bursts in order of their issue, which are later than the first cycle by the lead at least. Stops early if asked
  /// to.
  void run(const std::vector<Burst>& bursts, int stop = 1 << 30) {
    std::size_t next = 0, current = 0;
    const int end = bursts.back().issue + bursts.back().beats() + contract::kMatvecCycles + kAccumulatorReadCycles + 3;
    for (; cycle < std::min(end, stop) && !::testing::Test::HasFatalFailure(); ++cycle) {
      quiet();
      if (next < bursts.size() && bursts[next].issue - kDecodeCycles == cycle) hand_over(bursts[next++]);
      while (current < bursts.size() && bursts[current].issue + bursts[current].beats() <= cycle) ++current;
      const Burst* burst = current < bursts.size() && bursts[current].issue <= cycle ? &bursts[current] : nullptr;
      step(burst);
    }
  }
  /// In the middle of whatever goes on; memories keep their contents, cycles are counted from zero again.
  void reset(int cycles) {
    quiet();
    module_.rst_ni = 0;
    for (int i = 0; i < cycles; ++i) tick(module_);
    module_.rst_ni = 1;
    model.forget();
    vector_requests_.clear();
    softmax_requests_.clear();
    embeds_.clear();
    seconds_.clear();
    residuals_.clear();
    cycle = 0;
  }
  std::uint64_t saturations() const { return saturations_; }
  int compared() const { return compared_; }

  Generator random;
  MvuModel model;
  int cycle = 0;

 private:
  struct Request {
    int cycle = 0;
    bool valid = false;
    int segment = 0, entry = 0, slice = 0;
  };
  struct Words {
    int cycle;
    int group;  ///< −1: all
    std::vector<Word> words;
  };
  struct Residual {
    int cycle;
    std::uint32_t row, exponents;
  };

  void quiet() {
    module_.instruction_valid_i = 0;
    module_.embed_read_i = 0;
    module_.embed_minimum_read_i = 0;
    put(module_.second_read_i, 0, shape_.groups, 0);
    for (int group = 0; group < shape_.groups; ++group)
      put(module_.second_write_i, group * shape_.lanes, shape_.lanes, 0);
    for (int group = 0; group < shape_.groups; ++group)
      put(module_.minimum_write_i, group * shape_.lanes, shape_.lanes, 0);
    put(module_.block_write_i, 0, shape_.groups, 0);
    put(module_.vector_read_i, 0, shape_.groups, 0);
    put(module_.softmax_read_i, 0, shape_.groups, 0);
  }

  template <typename Port>
  void put_word(Port& port, int group, int lane, const Word& word) {
    const int at = (group * shape_.lanes + lane) * kWordBits;
    for (int byte = 0; byte < 16; ++byte) put(port, at + 8 * byte, 8, word.data[static_cast<std::size_t>(byte)]);
    put(port, at + 128, 16, word.side);
  }
  template <typename Port>
  bool same_word(const Port& port, int group, int lane, const Word& word) {
    const int at = (group * shape_.lanes + lane) * kWordBits;
    bool same = get(port, at + 128, 16) == word.side;
    for (int byte = 0; byte < 16; ++byte)
      same = same && get(port, at + 8 * byte, 8) == word.data[static_cast<std::size_t>(byte)];
    return same;
  }

  /// Every memory through its load port.
  void load() {
    const int most = std::max({shape_.lane_words, shape_.minimum_words, shape_.blocks});
    for (int address = 0; address < most; ++address) {
      quiet();
      for (int group = 0; group < shape_.groups; ++group) {
        if (address < shape_.lane_words) write_words(group, address, true);
        if (address < shape_.blocks) write_block(group, address);
        if (address >= shape_.minimum_words) continue;
        put(module_.minimum_write_i, group * shape_.lanes, shape_.lanes, ~std::uint64_t{0});
        module_.minimum_address_i = static_cast<std::uint32_t>(address);
        for (int lane = 0; lane < shape_.lanes; ++lane) {
          const std::uint16_t minimum = random_minimum(random);
          model.minimums[model.index(address, group, lane)] = minimum;
          put(module_.minimum_words_i, (group * shape_.lanes + lane) * 16, 16, minimum);
        }
      }
      tick(module_);
    }
    quiet();
    tick(module_);
  }
  void write_words(int group, int address, bool all) {
    put(module_.second_address_i, group * 24, 24, static_cast<std::uint64_t>(address));
    for (int lane = 0; lane < shape_.lanes; ++lane) {
      const Word word = random_word(random);
      put_word(module_.second_words_i, group, lane, word);
      if (!all && random() % 2 != 0) continue;  // this lane's word stays
      put(module_.second_write_i, group * shape_.lanes + lane, 1, 1);
      model.words[model.index(address, group, lane)] = word;
    }
  }
  void write_block(int group, int address) {
    Block block = random_block(random, false, 0);
    if (random() % 8 == 0) block.exponent = kEmptyBlock;
    put(module_.block_write_i, group, 1, 1);
    put(module_.block_address_i, group * 16, 16, static_cast<std::uint64_t>(address));
    for (int i = 0; i < 32; ++i)
      put(module_.block_i, group * kBlockBits + i * 10, 10,
          static_cast<std::uint64_t>(block.mantissas[static_cast<std::size_t>(i)]));
    put(module_.block_i, group * kBlockBits + 320, kBlockExponentBits, static_cast<std::uint64_t>(block.exponent));
    model.block(group, address) = block;
  }

  void hand_over(const Burst& burst) {
    contract::Instruction instruction;
    instruction.common.opcode = static_cast<std::uint32_t>(contract::Opcode::kMatvec);
    instruction.matvec = burst.fields;
    std::uint32_t words[contract::kInstructionWords];
    contract::pack(instruction, words);
    for (int i = 0; i < contract::kInstructionWords; ++i) module_.instruction_i[static_cast<std::size_t>(i)] = words[i];
    module_.instruction_valid_i = 1;
    module_.iteration_i = static_cast<std::uint16_t>(burst.iteration);
    module_.blocks_i = static_cast<std::uint16_t>(burst.context_blocks);
  }

  void step(const Burst* burst) {
    module_.eval();
    ASSERT_EQ(module_.beat_o, burst != nullptr) << "cycle " << cycle;
    int word_address = -1;
    const int k = burst != nullptr ? cycle - burst->issue : 0;
    expect_residual(burst, k);
    if (burst != nullptr) {
      word_address = model.word_address(*burst, beat_of(*burst, k));
      answer_round();
      model.beat(*burst, k, exponents_of(burst->fields.round));
      if (k == burst->beats() - 1) change_round(burst->fields.round);
    } else if (random() % 4 == 0) {
      word_address = embed();
    }
    answer_residual();
    second_ports(word_address);
    activation_writes(burst, k);
    const Request vector = request(shape_.lanes / shape_.vector_lanes);
    ask(vector, module_.vector_read_i, module_.vector_entry_i, module_.vector_slice_i);
    const Request softmax = request(shape_.lanes / shape_.softmax_lanes);
    ask(softmax, module_.softmax_read_i, module_.softmax_entry_i, module_.softmax_slice_i);
    vector_requests_.push_back(vector);
    softmax_requests_.push_back(softmax);
    tick(module_);
    saturations_ += module_.saturations_o;
    model.readable(cycle + 1);
    compare(cycle + 1);
  }

  // ---- neighbours
  void expect_residual(const Burst* burst, int k) {
    const Beat beat = burst != nullptr ? beat_of(*burst, k) : Beat();
    const bool reads =
        burst != nullptr && burst->fields.start != 0 && burst->fields.adds_residual != 0 && beat.c == 0 && beat.n == 0;
    ASSERT_EQ(module_.residual_read_o, reads) << "cycle " << cycle;
    if (!reads) return;
    const std::uint32_t lanes = static_cast<std::uint32_t>(shape_.lanes), r = static_cast<std::uint32_t>(beat.r);
    ASSERT_EQ(module_.residual_row_o, burst->fields.residual_row + r * lanes);
    ASSERT_EQ(module_.exponent_address_o, burst->exponents() + r);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      // Mostly values that fit; some that saturate or vanish.
      const std::uint32_t field = random() % 16 == 0 ? static_cast<std::uint32_t>(pick(random, 0, 254))
                                                     : static_cast<std::uint32_t>(pick(random, 110, 140));
      model.residual[burst->fields.residual_row + r * lanes + lane] =
          (static_cast<std::uint32_t>(random()) & 0x807fffffu) | field << 23;
      model.exponents[(burst->exponents() + r) * lanes + lane] =
          static_cast<std::int8_t>(random() % 16 == 0 ? pick(random, -128, 127) : pick(random, -24, 4));
    }
    residuals_.push_back({cycle + kResidualCycles, burst->fields.residual_row + r * lanes, burst->exponents() + r});
  }
  void answer_residual() {
    if (residuals_.empty() || residuals_.front().cycle != cycle) return;
    for (std::uint32_t lane = 0; lane < static_cast<std::uint32_t>(shape_.lanes); ++lane) {
      const std::uint32_t word = residuals_.front().exponents * static_cast<std::uint32_t>(shape_.lanes) + lane;
      put(module_.residual_values_i, static_cast<int>(lane) * 32, 32, model.residual[residuals_.front().row + lane]);
      put(module_.row_exponents_i, static_cast<int>(lane) * 8, 8, static_cast<std::uint64_t>(model.exponents[word]));
    }
    residuals_.pop_front();
  }
  std::vector<std::int32_t> exponents_of(std::uint32_t round) const {
    const auto first = round_exponents_.begin() + static_cast<int>(round) * shape_.groups;
    return {first, first + shape_.groups};
  }
  void answer_round() {
    const std::vector<std::int32_t> exponents = exponents_of(module_.round_o % kRounds);
    for (int segment = 0; segment < shape_.groups; ++segment)
      put(module_.round_exponents_i, segment * kBlockExponentBits, kBlockExponentBits,
          static_cast<std::uint64_t>(exponents[static_cast<std::size_t>(segment)]));
  }
  /// As the next softmax of that round does: in the cycle after the last beat the new value is there.
  void change_round(std::uint32_t round) {
    for (int segment = 0; segment < shape_.groups; ++segment)
      round_exponents_[round * static_cast<std::size_t>(shape_.groups) + static_cast<std::size_t>(segment)] =
          pick(random, 0, 50);
  }
  int embed() {
    const int address = pick(random, 0, shape_.lane_words - 1);
    module_.embed_read_i = 1;
    module_.embed_address_i = static_cast<std::uint32_t>(address);
    const auto first = model.words.begin() + static_cast<std::ptrdiff_t>(model.index(address, 0, 0));
    embeds_.push_back({cycle + kEmbedCycles, -1, {first, first + shape_.groups * shape_.lanes}});
    return address;
  }
  /// Reads and writes through the second ports, wherever port A isn't in this cycle.
  void second_ports(int word_address) {
    for (int group = 0; group < shape_.groups; ++group) {
      const int address = pick(random, 0, shape_.lane_words - 1), kind = pick(random, 0, 7);
      put(module_.second_address_i, group * 24, 24, static_cast<std::uint64_t>(address));
      if (kind == 0 && address != word_address) write_words(group, address, false);
      if (kind != 1) continue;
      put(module_.second_read_i, group, 1, 1);
      const auto first = model.words.begin() + static_cast<std::ptrdiff_t>(model.index(address, group, 0));
      seconds_.push_back({cycle + kSecondCycles, group, {first, first + shape_.lanes}});
    }
  }
  /// New blocks where the burst at work reads no more after this cycle; in this very cycle it may.
  void activation_writes(const Burst* burst, int k) {
    for (int group = 0; group < shape_.groups; ++group) {
      if (random() % 2 != 0) continue;
      int address = pick(random, 0, shape_.blocks - 1);
      if (burst != nullptr) {
        const Beat beat = beat_of(*burst, k);
        if (random() % 2 != 0) address = static_cast<int>(burst->fields.activation_address) + beat.c;
        bool read_later = false;
        for (int later = k + 1; later < burst->beats() && !read_later; ++later)
          read_later = static_cast<int>(burst->fields.activation_address) + beat_of(*burst, later).c == address;
        if (read_later) continue;
      }
      write_block(group, address);
    }
  }

  // ---- readers
  Request request(int slices) {
    Request made;
    made.cycle = cycle + kAccumulatorReadCycles;
    made.valid = random() % 8 != 0;
    made.segment = random() % 2 != 0 ? 0 : pick(random, 0, shape_.groups - 1);
    made.entry = pick(random, 0, shape_.entries - 1);
    made.slice = pick(random, 0, slices - 1);
    return made;
  }
  template <typename Read, typename EntryPort, typename Slice>
  void ask(const Request& made, Read& read, EntryPort& entry, Slice& slice) {
    put(read, 0, shape_.groups, made.valid ? std::uint64_t{1} << made.segment : 0);
    put(entry, 0, 8, static_cast<std::uint64_t>(made.entry));
    put(slice, 0, 8, static_cast<std::uint64_t>(made.slice));
  }

  void compare(int now) {
    if (vector_requests_.front().cycle == now) {
      compare_sums(vector_requests_.front(), module_.vector_sums_o, shape_.vector_lanes, false);
      vector_requests_.pop_front();
      compare_sums(softmax_requests_.front(), module_.softmax_sums_o, shape_.softmax_lanes, true);
      softmax_requests_.pop_front();
    }
    if (!embeds_.empty() && embeds_.front().cycle == now) {
      for (int group = 0; group < shape_.groups; ++group)
        for (int lane = 0; lane < shape_.lanes; ++lane)
          ASSERT_TRUE(same_word(module_.words_o, group, lane, embeds_.front().words[model.index(0, group, lane)]))
              << "kEmbed's word at cycle " << now;
      embeds_.pop_front();
    }
    for (; !seconds_.empty() && seconds_.front().cycle == now; seconds_.pop_front())
      for (int lane = 0; lane < shape_.lanes; ++lane)
        ASSERT_TRUE(same_word(module_.second_words_o, seconds_.front().group, lane,
                              seconds_.front().words[static_cast<std::size_t>(lane)]))
            << "the second port's word at cycle " << now;
  }
  template <typename Port>
  void compare_sums(const Request& made, const Port& port, int read_lanes, bool with_scales) {
    const Sum& sum = model.sum(made.entry, made.segment);
    if (!made.valid || !sum.known) return;
    for (int lane = 0; lane < read_lanes; ++lane) {
      const std::size_t at = static_cast<std::size_t>(made.slice * read_lanes + lane);
      const std::string where = "cycle " + std::to_string(made.cycle) + ", entry " + std::to_string(made.entry) +
                                ", segment " + std::to_string(made.segment) + ", lane " + std::to_string(at);
      ASSERT_EQ(get(port, lane * kSumBits, kLowBits), low_half(sum.lanes[at])) << where;
      ASSERT_EQ(get(port, lane * kSumBits + kLowBits, kLowBits), low_half(sum.lanes[at] >> kLowBits)) << where;
      if (with_scales && sum.has_scales) {
        ASSERT_EQ(get(module_.softmax_scales_o, lane * 16, 16), sum.scales[at]) << where;
      }
    }
    ++compared_;
  }

  Module module_;
  const MvuShape shape_;
  std::vector<std::int32_t> round_exponents_;  ///< [kRounds][groups]
  std::deque<Request> vector_requests_, softmax_requests_;
  std::deque<Words> embeds_, seconds_;
  std::deque<Residual> residuals_;
  std::uint64_t saturations_ = 0;
  int compared_ = 0;
};

}  // namespace cosim
}  // namespace lpu
