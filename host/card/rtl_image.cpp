// See rtl_image.hpp.
#include "host/card/rtl_image.hpp"

#include <cstring>
#include <numeric>

namespace lpu::card {
namespace {

using contract::Region;

void append(std::vector<std::uint8_t>& bytes, const std::uint32_t* words, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<std::uint8_t>(words[i] >> shift));
}

}  // namespace

RtlImage::RtlImage(const bundle::Bundle& bundle) : bundle_(bundle) {
  const contract::Program& program = bundle.program();
  const contract::MemoryImage image = bundle.image();
  const contract::HardwareConfig& config = bundle.hardware();
  std::uint32_t words[contract::kInstructionWords];
  for (const contract::Instruction& in : program.instructions) {
    contract::pack(in, words);
    append(instructions_, words, contract::kInstructionWords);
  }
  for (const contract::Loop& loop : program.loops) {
    contract::pack(loop, words);
    append(loops_, words, contract::kLoopWords);
  }
  append(delays_, program.delays.data(), program.delays.size());
  append(delays_, program.cycles_with_head.data(), program.cycles_with_head.size());
  append(delays_, program.cycles_without_head.data(), program.cycles_without_head.size());

  const auto set = [&](Region region, const std::uint8_t* first, std::uint64_t elements) {
    bytes_[static_cast<std::size_t>(region)] = {
        first, static_cast<std::size_t>(elements) * static_cast<std::size_t>(element_bytes(region, config))};
  };
  set(Region::kLaneWords, image.lane_words, image.lane_word_count);
  set(Region::kMinimumWords, image.minimum_words, image.minimum_word_count);
  set(Region::kExponents, image.exponents, image.exponent_word_count);
  set(Region::kConstants, image.constants, image.constant_count);
  set(Region::kRope, image.rope, image.rope_pair_count);
  bytes_[static_cast<std::size_t>(Region::kInstructions)] = instructions_;
  bytes_[static_cast<std::size_t>(Region::kLoops)] = loops_;
  bytes_[static_cast<std::size_t>(Region::kDelays)] = delays_;
}

std::uint64_t RtlImage::padded_bytes(Region region) const {
  const contract::HardwareConfig& config = bundle_.hardware();
  const std::uint64_t vector_lanes = static_cast<std::uint64_t>(config.vector_lanes);
  std::uint64_t word = 4;
  if (region == Region::kConstants || region == Region::kRope) word = vector_lanes * 4;
  if (region == Region::kExponents)
    word = std::lcm(std::uint64_t{4}, static_cast<std::uint64_t>(element_bytes(region, config)));
  const std::uint64_t bytes = this->bytes(region).size();
  return (bytes + word - 1) / word * word;
}

std::uint32_t RtlImage::lengths_entry(bool with_head) const {
  const contract::Program& program = bundle_.program();
  return static_cast<std::uint32_t>(program.delays.size() + (with_head ? 0 : program.cycles_with_head.size()));
}

std::vector<ImageFault> instruction_fault(const contract::Instruction& in, std::uint32_t index, int at, int bits,
                                          std::uint32_t value) {
  std::uint32_t words[contract::kInstructionWords];
  contract::pack(in, words);
  std::vector<ImageFault> faults;
  for (int i = 0; i < bits; ++i) {
    const int bit = at + i;
    if ((words[bit / 32] >> (bit % 32) & 1U) == (value >> i & 1U)) continue;
    faults.push_back({Region::kInstructions,
                      std::uint64_t{index} * contract::kInstructionWords * 4 + static_cast<std::uint64_t>(bit / 8),
                      static_cast<std::uint8_t>(1U << (bit % 8))});
  }
  return faults;
}

}  // namespace lpu::card
