// A bundle's memories as the bytes behind each region of the host port, program and tables included, and faults that
// are put into them on purpose. It exists so that loading by copy and loading through the port take the same bytes.
// Relies on host/bundle and hls/contract/memory_map.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hls/contract/memory_map.hpp"
#include "host/bundle/bundle.hpp"

namespace lpu::card {

/// Flips bits of a byte behind the host port, in the card's copy only.
struct ImageFault {
  contract::Region region = contract::Region::kLaneWords;
  std::uint64_t byte = 0;
  std::uint8_t flip = 0;  ///< bits to invert
};

class RtlImage {
 public:
  /// Keeps views into the bundle, which has to outlive this.
  explicit RtlImage(const bundle::Bundle& bundle);

  /// In the order of the region's elements; KV words are no part of kLaneWords.
  [[nodiscard]] std::span<const std::uint8_t> bytes(contract::Region region) const {
    return bytes_[static_cast<std::size_t>(region)];
  }
  /// What a stream through the port must be padded to with zeros: whole words of the region's memory.
  [[nodiscard]] std::uint64_t padded_bytes(contract::Region region) const;
  /// Entry of the delay table at which the token lengths begin.
  [[nodiscard]] std::uint32_t lengths_entry(bool with_head) const;

 private:
  const bundle::Bundle& bundle_;
  std::vector<std::uint8_t> instructions_, loops_, delays_;
  std::span<const std::uint8_t> bytes_[contract::kRegions];
};

/// Of instruction `index`: bits of the field of `bits` bits at `at` that must be inverted for `value` to stand there.
std::vector<ImageFault> instruction_fault(const contract::Instruction& in, std::uint32_t index, int at, int bits,
                                          std::uint32_t value);

}  // namespace lpu::card
