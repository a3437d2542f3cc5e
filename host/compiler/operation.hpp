// One instruction as the compiler sees it: the instruction, what it is called, and its footprint in time.
//
// A footprint says which places the instruction reads and writes and when, relative to its issue cycle. It depends on
// the instruction, the layout and the number of blocks attended to, not on the order, so the search reuses it. Relies
// on layout.hpp; timing rules: docs/isa.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hls/contract/program.hpp"
#include "host/compiler/layout.hpp"

namespace lpu::compiler {

struct Operation {
  contract::Instruction instruction;
  std::string name;  ///< matrix or step: "query", "gate_up", "softmax"; idle cycles are charged to it
};

/// Numbers the places that instructions of one layer share: activation blocks, accumulators, residual blocks,
/// registers, caches.
class Places {
 public:
  explicit Places(const Layout& layout);
  [[nodiscard]] std::uint32_t activation(std::uint32_t bank, std::uint32_t address) const {
    return bank * activation_depth_ + address;
  }
  [[nodiscard]] std::uint32_t accumulator(std::uint32_t entry) const {
    return accumulators_ + entry % accumulator_depth_;
  }
  [[nodiscard]] std::uint32_t residual(std::uint32_t block) const { return residuals_ + block; }
  [[nodiscard]] std::uint32_t scale_register(std::uint32_t index) const { return scales_ + index; }
  [[nodiscard]] std::uint32_t norm_sum() const { return scales_ + 2; }
  [[nodiscard]] std::uint32_t exponent_register(std::uint32_t round) const { return rounds_ + 2 * round; }
  [[nodiscard]] std::uint32_t reciprocal_register(std::uint32_t round) const { return rounds_ + 2 * round + 1; }
  /// Of one K/V head: V's scale waits for its own head's K only.
  [[nodiscard]] std::uint32_t key_cache(std::uint32_t head) const { return keys_ + head; }
  [[nodiscard]] std::uint32_t value_scales(std::uint32_t slot) const { return caches_ + 2 * slot; }
  [[nodiscard]] std::uint32_t value_cache(std::uint32_t slot) const { return caches_ + 2 * slot + 1; }
  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] std::uint32_t ports() const { return 2 * groups_; }
  [[nodiscard]] std::uint32_t bank_port(std::uint32_t bank) const { return bank; }
  [[nodiscard]] std::uint32_t cache_port(std::uint32_t group) const { return groups_ + group; }

 private:
  std::uint32_t activation_depth_, accumulator_depth_, groups_;
  std::uint32_t accumulators_, residuals_, scales_, rounds_, keys_, caches_, count_;
};

struct Read {
  std::uint32_t place;
  std::uint32_t first;  ///< cycles after issue: the place must be readable by then
  std::uint32_t last;   ///< and is read until then
};
struct Write {
  std::uint32_t place;
  std::uint32_t change;  ///< cycles after issue: the old value is gone
  std::uint32_t ready;   ///< the new one can be read
};
struct PortUse {
  std::uint32_t port;
  std::uint32_t cycle;
};

struct Footprint {
  contract::Unit unit{};
  std::uint32_t occupied = 0;        ///< the unit's queue may issue again this many cycles after
  std::uint32_t beats = 0;           ///< MVU: cycles of multiplication
  std::uint32_t mvu_port_until = 0;  ///< kEmbed: reads the lanes' memories through the MVU's port until this cycle
  std::uint32_t end = 0;             ///< everything it makes can be read
  std::vector<Read> reads;
  std::vector<Write> writes;
  std::vector<PortUse> ports;
  std::vector<std::uint32_t> logits;    ///< kLogits: cycles after issue in which its slices enter
  std::uint32_t first_block = 0;        ///< of a vector that is received or sent
  std::vector<std::uint32_t> received;  ///< kReceive: cycles after issue in which its blocks are taken
  std::vector<std::uint32_t> sent;      ///< with receivers: cycles after issue in which its blocks are handed over
};

/// Row groups and column sets of a matvec at this number of blocks.
struct MatvecExtent {
  std::uint32_t row_groups, column_sets;
};
MatvecExtent extent_of(const contract::MatvecFields& fields, const Geometry& geometry, std::uint32_t blocks);

/// Whether two results of the instruction itself would meet at a port.
bool meets_itself(const Footprint& footprint);

Footprint footprint_of(const contract::Instruction& instruction, const Layout& layout, const Places& places,
                       std::uint32_t blocks);

}  // namespace lpu::compiler
