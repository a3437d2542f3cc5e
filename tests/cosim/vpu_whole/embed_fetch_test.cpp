// lpu_embed_fetch alone against hls/engine's block_term: one to three words a block, signed and unsigned codes and
// scales, with and without minimums, the last lane, sets of one slice and of many, instructions as close as the
// schedule lets them. Reads and values are compared in every cycle; memories answer three cycles after a request, and
// in all other cycles they and the token show noise.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "Vembed_32.h"
#include "Vembed_4.h"
#include "Vembed_64.h"
#include "hls/contract/instructions.hpp"
#include "hls/contract/latencies.hpp"
#include "hls/engine/accumulate.hpp"
#include "tests/cosim/random_numbers.hpp"
#include "tests/cosim/wires.hpp"

namespace lpu {
namespace cosim {
namespace {

using Cycle = std::int64_t;
constexpr int kMemoryCycles = 3, kTokenCycles = 3;

template <typename ModuleType, int L, int G, int VL>
struct Size {
  using Module = ModuleType;
  static constexpr int kLanes = L, kGroups = G, kVectorLanes = VL;
};

struct Embed {
  Cycle issue = 0;
  std::uint32_t token = 0, iteration = 0;
  contract::VectorFields f;
};

template <typename Unit>
class EmbedFetch : public ::testing::Test {
 protected:
  static constexpr int kLanes = Unit::kLanes, kGroups = Unit::kGroups, kVectorLanes = Unit::kVectorLanes;
  static constexpr int kSlices = 32 * kGroups / kVectorLanes;

  /// Anything at an address is a function of it: memories without a depth.
  std::uint64_t word(std::uint32_t address, int group, int lane, int part) const {
    std::uint64_t x = seed_ + address * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(group) * 0xbf58476d1ce4e5b9u +
                      static_cast<std::uint64_t>(lane) * 0x94d049bb133111ebu + static_cast<std::uint64_t>(part) * 77777;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  unsigned nibble(std::uint32_t address, int group, int lane, int column) const {
    return static_cast<unsigned>(word(address, group, lane, column / 16) >> (4 * (column % 16))) & 15;
  }
  std::uint16_t side(std::uint32_t address, int group, int lane) const {
    const std::uint64_t value = word(address, group, lane, 2);
    return static_cast<std::uint16_t>(value % 8 == 0 ? (value & 16 ? 0x8000 : 0xffff) : value >> 16);
  }
  std::uint16_t minimum(std::uint32_t address, int group, int lane) const {
    const std::uint64_t value = word(address, group, lane, 3);
    return static_cast<std::uint16_t>(value % 8 == 0 ? 0xf800 : value >> 16);
  }
  std::uint8_t exponent(std::uint32_t address, int lane) const {
    return static_cast<std::uint8_t>(word(address, 0, lane, 4));
  }

  Embed drawn(Random& random, Cycle earliest) {
    Embed e;
    e.issue = earliest + (random.one_in(2) ? 0 : random.between(0, 30));
    e.token = static_cast<std::uint32_t>(random.bits(random.one_in(2) ? 17 : 24));
    if (random.one_in(3)) e.token |= kLanes - 1;  // the last lane
    e.iteration = static_cast<std::uint32_t>(random.one_in(2) ? 0 : random.bits(16));
    contract::VectorFields& f = e.f;
    f.nibbles = static_cast<std::uint32_t>(random.between(1, 3));
    f.column_sets = static_cast<std::uint32_t>(random.between(1, 4));
    f.pitch_cycles = static_cast<std::uint32_t>(std::max<int>(static_cast<int>(f.nibbles), kSlices)) +
                     static_cast<std::uint32_t>(random.one_in(2) ? 0 : random.between(0, 5));
    f.signed_code = static_cast<std::uint32_t>(random.bits(1));
    f.signed_scale = static_cast<std::uint32_t>(random.bits(1));
    f.has_minimum = static_cast<std::uint32_t>(random.bits(1));
    f.memory_address = static_cast<std::uint32_t>(random.bits(24));
    f.memory_stride = static_cast<std::uint32_t>(random.bits(24));
    f.minimum_address = static_cast<std::uint32_t>(random.bits(24));
    f.exponent_address = static_cast<std::uint32_t>(random.bits(24));
    f.exponent_stride = static_cast<std::uint32_t>(random.bits(24));
    f.row_group_words = static_cast<std::uint32_t>(random.bits(random.one_in(2) ? 20 : 8));
    return e;
  }
  Cycle next_issue(const Embed& e) const {
    return e.issue + e.f.column_sets * e.f.pitch_cycles + contract::kEmbedFetchCycles;
  }

  void expect(const Embed& e) {
    const contract::VectorFields& f = e.f;
    const std::uint32_t mask = (1u << 24) - 1, row = e.token / kLanes;
    const int lane = static_cast<int>(e.token % kLanes);
    const std::uint32_t words = f.memory_address + e.iteration * f.memory_stride + row * f.row_group_words;
    const std::uint32_t minimums = f.minimum_address + row * (f.row_group_words / f.nibbles);
    const std::uint32_t exponents = (f.exponent_address + e.iteration * f.exponent_stride + row) & mask;
    const int top = 1 << (4 * f.nibbles);
    exponent_reads_[e.issue] = exponents;
    for (std::uint32_t c = 0; c < f.column_sets; ++c) {
      const Cycle start = e.issue + c * f.pitch_cycles;
      const std::uint32_t first = words + c * f.nibbles, low = (minimums + c) & mask;
      for (std::uint32_t n = 0; n < f.nibbles; ++n) reads_[start + n] = (first + n) & mask;
      if (f.has_minimum) minimum_reads_[start] = low;
      for (int k = 0; k < kSlices; ++k) {
        Values& out = values_[start + contract::kEmbedFetchCycles + k];
        out.exponent = exponent(exponents, lane);
        for (int i = 0; i < kVectorLanes; ++i) {
          const int group = (k * kVectorLanes + i) / 32, column = (k * kVectorLanes + i) % 32;
          int code = 0;
          for (std::uint32_t n = 0; n < f.nibbles; ++n)
            code |= static_cast<int>(nibble((first + n) & mask, group, lane, column)) << (4 * n);
          if (f.signed_code && code >= top / 2) code -= top;
          const std::uint16_t m = f.has_minimum ? minimum(low, group, lane) : std::uint16_t{0};
          out.sums.push_back(
              engine::block_term(code, engine::scale_value(side(first & mask, group, lane), f.signed_scale != 0), 1,
                                 engine::minimum_mantissa(m), engine::minimum_shift(m)));
        }
      }
    }
  }

  void run(std::uint64_t seed, int count) {
    SCOPED_TRACE("OPENLPU_SEED=" + std::to_string(seed));
    Random random(seed);
    seed_ = seed;
    reads_.clear(), minimum_reads_.clear(), exponent_reads_.clear(), values_.clear();
    std::map<Cycle, Embed> embeds;
    Cycle issue = contract::kIssueLeadCycles + 2;
    for (int i = 0; i < count; ++i) {
      const Embed e = drawn(random, issue);
      issue = next_issue(e);
      embeds[e.issue] = e;
      expect(e);
    }
    std::uint32_t token = 0;
    for (Cycle cycle = 0; cycle < issue + 20 && !this->HasFatalFailure(); ++cycle) {
      const auto taken = embeds.find(cycle + contract::kIssueLeadCycles);
      // Other instructions of the VPU come by on the same bus.
      module_.valid_i = taken != embeds.end() || random.one_in(8);
      contract::Instruction instruction;
      instruction.common.opcode = static_cast<std::uint32_t>(contract::Opcode::kResidual);
      if (taken != embeds.end()) {
        instruction.common.opcode = static_cast<std::uint32_t>(contract::Opcode::kEmbed);
        instruction.vector = taken->second.f;
        module_.iteration_i = static_cast<std::uint16_t>(taken->second.iteration);
      } else {
        module_.iteration_i = static_cast<std::uint16_t>(random.bits(16));
        instruction.vector.memory_address = static_cast<std::uint32_t>(random.bits(24));
      }
      std::uint32_t packed[contract::kInstructionWords];
      contract::pack(instruction, packed);
      for (int i = 0; i < contract::kInstructionWords; ++i)
        module_.instruction_i[static_cast<std::size_t>(i)] = packed[i];
      const auto known = embeds.find(cycle + kTokenCycles);
      token = known != embeds.end() ? known->second.token : static_cast<std::uint32_t>(random.bits(24));
      module_.token_i = token;
      answer(cycle, random);
      module_.eval();
      check(cycle);
      tick(module_);
    }
  }

  void answer(Cycle cycle, Random& random) {
    const auto read = reads_.find(cycle - kMemoryCycles), low = minimum_reads_.find(cycle - kMemoryCycles),
               row = exponent_reads_.find(cycle - kMemoryCycles);
    const std::uint32_t none = static_cast<std::uint32_t>(random.bits(24));
    for (int lane = 0; lane < kLanes; ++lane) {
      put(module_.exponent_word_i, 8 * lane, 8, exponent(row != exponent_reads_.end() ? row->second : none, lane));
      for (int group = 0; group < kGroups; ++group) {
        const int at = group * kLanes + lane;
        const std::uint32_t address = read != reads_.end() ? read->second : none;
        put(module_.words_i, 144 * at, 64, word(address, group, lane, 0));
        put(module_.words_i, 144 * at + 64, 64, word(address, group, lane, 1));
        put(module_.words_i, 144 * at + 128, 16, side(address, group, lane));
        put(module_.minimums_i, 16 * at, 16, minimum(low != minimum_reads_.end() ? low->second : none, group, lane));
      }
    }
  }
  void check_read(const std::map<Cycle, std::uint32_t>& all, Cycle cycle, bool read, std::uint32_t address,
                  const char* what) {
    const auto found = all.find(cycle);
    ASSERT_EQ(read, found != all.end()) << what << ", cycle " << cycle;
    if (read) {
      ASSERT_EQ(address, found->second) << what << ", cycle " << cycle;
    }
  }
  void check(Cycle cycle) {
    check_read(reads_, cycle, module_.embed_read_o, module_.embed_address_o, "word");
    check_read(minimum_reads_, cycle, module_.embed_minimum_read_o, module_.embed_minimum_address_o, "minimum");
    check_read(exponent_reads_, cycle, module_.exponent_read_o, module_.exponent_address_o, "exponent");
    const auto found = values_.find(cycle);
    if (found == values_.end()) return;
    ASSERT_EQ(module_.embed_row_exponent_o, found->second.exponent) << "cycle " << cycle;
    for (int i = 0; i < kVectorLanes; ++i) {
      const std::int64_t want = static_cast<std::int64_t>(found->second.sums[static_cast<std::size_t>(i)]);
      ASSERT_EQ(get_signed(module_.embed_sum_o, 88 * i, 64), want) << "value " << i << ", cycle " << cycle;
      ASSERT_EQ(get_signed(module_.embed_sum_o, 88 * i + 64, 24), want < 0 ? -1 : 0);
    }
  }

  struct Values {
    std::vector<engine::Int128> sums;
    std::uint8_t exponent = 0;
  };
  typename Unit::Module module_;
  std::uint64_t seed_ = 0;
  std::map<Cycle, std::uint32_t> reads_, minimum_reads_, exponent_reads_;
  std::map<Cycle, Values> values_;
};

using Sizes = ::testing::Types<Size<Vembed_4, 4, 2, 2>, Size<Vembed_32, 32, 6, 8>, Size<Vembed_64, 64, 1, 32>>;
struct SizeNames {
  template <typename Unit>
  static std::string GetName(int) {
    return std::to_string(Unit::kLanes) + "x" + std::to_string(Unit::kGroups);
  }
};
TYPED_TEST_SUITE(EmbedFetch, Sizes, SizeNames);

TYPED_TEST(EmbedFetch, RowsOfEveryFormatGiveTheEnginesTermsInTheirCycles) {
  this->module_.rst_ni = 1;
  for (const std::uint64_t seed : {kFixedSeed, fresh_seed()}) this->run(seed, 60);
}

TYPED_TEST(EmbedFetch, ResetInsideARowLeavesNoReadBehind) {
  // At every cycle of an instruction's way: handed over, waiting, reading.
  for (int cut = 0; cut < 24; ++cut) {
    Random random(kFixedSeed);
    this->module_.rst_ni = 1;
    const Embed e = this->drawn(random, 0);
    contract::Instruction instruction;
    instruction.common.opcode = static_cast<std::uint32_t>(contract::Opcode::kEmbed);
    instruction.vector = e.f;
    std::uint32_t packed[contract::kInstructionWords];
    contract::pack(instruction, packed);
    for (int i = 0; i < contract::kInstructionWords; ++i)
      this->module_.instruction_i[static_cast<std::size_t>(i)] = packed[i];
    for (int cycle = 0; cycle < cut; ++cycle) {
      this->module_.valid_i = cycle == 0;
      tick(this->module_);
    }
    this->module_.valid_i = 0;
    this->module_.rst_ni = 0;
    tick(this->module_);
    this->module_.rst_ni = 1;
    this->run(kFixedSeed + static_cast<std::uint64_t>(cut), 2);
    if (this->HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace cosim
}  // namespace lpu
