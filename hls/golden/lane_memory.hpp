// The lanes' memories of the golden card: weights and KV words, kept in the order in which vector instructions eat
// them. It exists so that the weights lie in memory once: the fast dot streams tiles, the plain engine path and the K/V
// writers see words and nibbles through the accessors below. Relies on the image layout of hls/contract/program.hpp.
//
// A tile holds one word of 16 lanes (lane counts that aren't a multiple of 16 leave the rest of a tile zero):
//   bytes   0…255  eight vectors q of 32 bytes: byte 4·i + c of vector q = column 4·q + c of lane i (low nibble)
//                  and of lane i + 8 (high nibble), i in 0…7
//   bytes 256…287  the 16 lanes' side bits, little-endian
// Tiles lie by (address, group, lane / 16), so that a row-major burst reads memory from front to back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "hls/contract/program.hpp"

namespace lpu {
namespace golden {

constexpr int kTileLanes = 16;
constexpr std::size_t kTileDataBytes = 256;
constexpr std::size_t kTileBytes = kTileDataBytes + 2 * kTileLanes;

/// Tells that bytes of the image's lane words were consumed and their pages may be dropped.
using ImageUsed = std::function<void(std::size_t first_byte, std::size_t bytes)>;

class LaneMemory {
 public:
  /// Copies weights and minimums, converting them piece by piece; KV words start at zero.
  LaneMemory(const contract::HardwareConfig& config, const contract::MemoryImage& image, const ImageUsed& image_used);
  ~LaneMemory();
  LaneMemory(const LaneMemory&) = delete;
  LaneMemory& operator=(const LaneMemory&) = delete;

  std::size_t tiles() const { return tiles_; }  ///< of one (address, group)
  std::size_t group_bytes() const { return tiles_ * kTileBytes; }
  std::size_t word_bytes() const { return groups_ * group_bytes(); }
  const std::uint8_t* tile(std::uint64_t address, std::size_t group) const {
    return words_ + address * word_bytes() + group * group_bytes();
  }
  /// [tiles × 16] minimum words of a group.
  const std::uint16_t* minimums(std::uint64_t address, std::size_t group) const {
    return minimums_.data() + (address * groups_ + group) * tiles_ * kTileLanes;
  }
  std::uint16_t minimum(std::uint64_t address, std::size_t group, std::size_t lane) const {
    return minimums(address, group)[lane];
  }

  /// 16 data bytes of a lane's word as in the image: column 2·i in the low nibble of byte i.
  void read_data(std::uint64_t address, std::size_t group, std::size_t lane, std::uint8_t* data) const;
  void write_data(std::uint64_t address, std::size_t group, std::size_t lane, const std::uint8_t* data);
  std::uint16_t side_bits(std::uint64_t address, std::size_t group, std::size_t lane) const;
  void set_side_bits(std::uint64_t address, std::size_t group, std::size_t lane, std::uint16_t value);
  unsigned nibble(std::uint64_t address, std::size_t group, std::size_t lane, unsigned column) const;
  void set_nibble(std::uint64_t address, std::size_t group, std::size_t lane, unsigned column, unsigned value);
  void clear_kv();

 private:
  std::uint8_t* lane_tile(std::uint64_t address, std::size_t group, std::size_t lane) const {
    return words_ + address * word_bytes() + group * group_bytes() + lane / kTileLanes * kTileBytes;
  }
  void convert(const contract::MemoryImage& image, const ImageUsed& image_used);

  std::size_t lanes_;
  std::size_t groups_;
  std::size_t tiles_;
  std::uint64_t weight_words_;
  std::uint64_t kv_words_;
  std::uint8_t* words_ = nullptr;        ///< [weight_words + kv_words][groups][tiles][kTileBytes]
  std::vector<std::uint16_t> minimums_;  ///< [minimum_word_count][groups][tiles × 16]
};

}  // namespace golden
}  // namespace lpu
