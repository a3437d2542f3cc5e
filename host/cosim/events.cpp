// See events.hpp. What a port shows in a cycle can be read from the next one on; 1/z in the very cycle.
#include "host/cosim/events.hpp"

namespace lpu::cosim {
namespace {

constexpr unsigned kBlockMantissas = contract::kBlockValues;
constexpr unsigned kBlockExponentBits = contract::kBlockExponentBits;
constexpr unsigned kBlockBits = contract::kActivationBlockBits;
constexpr unsigned kDifferenceBits = 6;
constexpr unsigned kHalfBits = 44;
static_assert(2 * kHalfBits == contract::kAccumulatorBits, "a sum has two halves");

std::uint32_t sign_extended(std::uint32_t value, unsigned bits) {
  const std::uint32_t sign = 1U << (bits - 1);
  return (value ^ sign) - sign;
}

bool bit(const std::uint32_t* words, std::uint32_t at) { return (words[at / 32] >> (at % 32) & 1U) != 0; }

}  // namespace

std::uint32_t get_bits(const std::uint32_t* words, std::uint64_t at, unsigned bits) {
  const std::uint64_t word = at / 32;
  const unsigned shift = static_cast<unsigned>(at % 32);
  std::uint64_t value = words[word] >> shift;
  if (shift + bits > 32) value |= static_cast<std::uint64_t>(words[word + 1]) << (32 - shift);
  return static_cast<std::uint32_t>(value & ((std::uint64_t{1} << bits) - 1));
}

Events::Events(const contract::HardwareConfig& config)
    : lanes_(static_cast<std::uint32_t>(config.lanes)),
      groups_(static_cast<std::uint32_t>(config.column_groups)),
      vector_lanes_(static_cast<std::uint32_t>(config.vector_lanes)) {}

void Events::take(const LpuRtlOutputs& out, std::uint64_t cycle, Checker& checker) {
  for (std::uint32_t unit = 0; unit < contract::kUnits; ++unit)
    if (out.issue[unit] != 0) checker.take({Kind::kIssue, unit, out.issue_index[unit]}, cycle, {});
  const std::uint64_t ready = cycle + 1;
  if (out.has_block != 0) blocks(out, ready, checker);
  if (out.has_word != 0) words(out, ready, checker);
  if (out.has_sum != 0) sums(out, ready, checker);
  if (out.has_residual != 0) {
    value_.clear();
    for (std::uint32_t lane = 0; lane < vector_lanes_; ++lane)
      if (bit(out.residual_lanes, lane)) value_.push_back(out.residual[lane]);
    checker.take({Kind::kResidual, out.residual_row, 0}, ready, value_);
  }
  if (out.has_scale != 0) checker.take({Kind::kScale, out.scale_register, 0}, ready, {&out.scale, 1});
  rounds(out, cycle, checker);
  if (out.has_logits != 0)
    for (std::uint32_t lane = 0; lane < vector_lanes_; ++lane)
      if (bit(out.logits_lanes, lane))
        checker.take({Kind::kLogit, out.logits_row + lane, 0}, ready, {&out.logits[lane], 1});
}

void Events::blocks(const LpuRtlOutputs& out, std::uint64_t ready, Checker& checker) {
  for (std::uint32_t bank = 0; bank < groups_; ++bank) {
    if (!bit(out.block_write, bank)) continue;
    const std::uint64_t at = std::uint64_t{bank} * kBlockBits;
    value_.clear();
    for (unsigned i = 0; i < kBlockMantissas; ++i)
      value_.push_back(sign_extended(get_bits(out.blocks, at + i * contract::kMantissaBits, contract::kMantissaBits),
                                     contract::kMantissaBits));
    value_.push_back(sign_extended(
        get_bits(out.blocks, at + kBlockMantissas * contract::kMantissaBits, kBlockExponentBits), kBlockExponentBits));
    checker.take({Kind::kBlock, bank, get_bits(out.block_address, std::uint64_t{bank} * 16, 16)}, ready, value_);
  }
}

void Events::words(const LpuRtlOutputs& out, std::uint64_t ready, Checker& checker) {
  for (std::uint32_t lane = 0; lane < groups_ * lanes_; ++lane) {
    if (!bit(out.word_write, lane)) continue;
    const std::uint64_t at = std::uint64_t{lane} * contract::kWordBits;
    value_.clear();
    for (unsigned i = 0; i < contract::kWordDataBits; i += 32) value_.push_back(get_bits(out.words, at + i, 32));
    value_.push_back(get_bits(out.words, at + contract::kWordDataBits, contract::kWordSideBits));
    const std::uint32_t address = get_bits(out.word_address, std::uint64_t{lane / lanes_} * 24, 24);
    checker.take({Kind::kWord, address, lane}, ready, value_);
  }
}

void Events::sums(const LpuRtlOutputs& out, std::uint64_t ready, Checker& checker) {
  for (std::uint32_t segment = 0; segment < groups_; ++segment) {
    if (!bit(out.sum_write, segment)) continue;
    value_.clear();
    // Lower halves of all lanes, then upper halves: the MVU keeps a sum in two.
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
      const std::uint64_t low = std::uint64_t{segment} * lanes_ * contract::kAccumulatorBits + lane * kHalfBits;
      const std::uint64_t high = low + std::uint64_t{lanes_} * kHalfBits;
      value_.push_back(get_bits(out.sums, low, 32));
      value_.push_back(get_bits(out.sums, low + 32, kHalfBits - 32) | get_bits(out.sums, high, 20) << 12);
      value_.push_back(get_bits(out.sums, high + 20, kHalfBits - 20));
    }
    checker.take({Kind::kAccumulator, out.sum_entry, segment}, ready, value_);
  }
}

/// A round's registers are written for all segments at once; those beyond the instruction's segments mean nothing.
void Events::rounds(const LpuRtlOutputs& out, std::uint64_t cycle, Checker& checker) {
  if (out.has_inverse != 0)
    for (std::uint32_t j = 0; j < groups_; ++j)
      if (const Place place{Kind::kInverse, out.inverse_round, j}; j == 0 || checker.next(place) != nullptr)
        checker.take(place, cycle, {&out.inverses[j], 1});
  if (out.has_round == 0) return;
  for (std::uint32_t j = 0; j < groups_; ++j) {
    const Place place{Kind::kExponent, out.round, j};
    if (j != 0 && checker.next(place) == nullptr) continue;
    const std::uint32_t value[] = {get_bits(out.exponents, std::uint64_t{j} * kBlockExponentBits, kBlockExponentBits),
                                   get_bits(out.differences, std::uint64_t{j} * kDifferenceBits, kDifferenceBits)};
    checker.take(place, cycle + 1, value);
  }
}

}  // namespace lpu::cosim
