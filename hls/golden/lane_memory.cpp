// The lanes' memories: conversion of an image into tiles, and single words. See lane_memory.hpp for the layout.
// Relies on Linux only for huge pages, which spare the stream of weights its address translation.
#include "hls/golden/lane_memory.hpp"

#include <stdlib.h>

#include <algorithm>
#include <cstring>

#include "hls/golden/fault.hpp"
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace lpu {
namespace golden {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;
constexpr std::size_t kConvertBytes = std::size_t{4} << 20;  ///< of the image between two calls of image_used
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;

/// Byte of column `column` in a tile, for lanes i and i + 8.
std::size_t byte_of(std::size_t lane, unsigned column) { return column / 4 * 32 + lane % 8 * 4 + column % 4; }
unsigned shift_of(std::size_t lane) { return lane % kTileLanes >= 8 ? 4 : 0; }

std::uint16_t little_endian_16(const std::uint8_t* bytes) {
  return static_cast<std::uint16_t>(bytes[0] | bytes[1] << 8);
}

/// One word of 16 lanes (or fewer) of an image into a tile that is zero.
void convert_tile(const std::uint8_t* lanes, std::size_t count, std::uint8_t* tile) {
  for (std::size_t lane = 0; lane < count; ++lane) {
    const std::uint8_t* from = lanes + lane * contract::kWordBytes;
    std::uint8_t* to = tile + lane % 8 * 4;
    const unsigned shift = shift_of(lane);
    for (std::size_t i = 0; i < 16; ++i) {
      std::uint8_t* pair = to + i / 2 * 32 + i % 2 * 2;
      pair[0] = static_cast<std::uint8_t>(pair[0] | (from[i] & 15) << shift);
      pair[1] = static_cast<std::uint8_t>(pair[1] | (from[i] >> 4) << shift);
    }
    const std::uint16_t side = little_endian_16(from + 16);
    std::memcpy(tile + kTileDataBytes + 2 * lane, &side, 2);
  }
}

}  // namespace

LaneMemory::LaneMemory(const contract::HardwareConfig& config, const contract::MemoryImage& image,
                       const ImageUsed& image_used)
    : lanes_(static_cast<std::size_t>(config.lanes)),
      groups_(static_cast<std::size_t>(config.column_groups)),
      tiles_((lanes_ + kTileLanes - 1) / kTileLanes),
      weight_words_(image.lane_word_count),
      kv_words_(image.kv_word_count) {
  const std::uint64_t depth = static_cast<std::uint64_t>(config.lane_words);
  if (weight_words_ > depth || kv_words_ > depth - weight_words_)
    throw Fault("the memory image has " + std::to_string(weight_words_) + " weight and " + std::to_string(kv_words_) +
                " KV words a lane, but a lane of this hardware holds " + std::to_string(depth));
  if (image.minimum_word_count > static_cast<std::uint64_t>(config.minimum_words))
    throw Fault("the memory image has " + std::to_string(image.minimum_word_count) +
                " minimum words a lane, but this hardware holds " + std::to_string(config.minimum_words));
  if ((weight_words_ != 0 && image.lane_words == nullptr) ||
      (image.minimum_word_count != 0 && image.minimum_words == nullptr))
    throw Fault("the memory image counts words that it doesn't have");
  const std::uint64_t bytes = (weight_words_ + kv_words_) * word_bytes();
  const std::uint64_t room = (bytes / kHugePageBytes + 1) * kHugePageBytes;
  words_ = room < kMostBytes ? static_cast<std::uint8_t*>(::aligned_alloc(kHugePageBytes, room)) : nullptr;
  if (words_ == nullptr)
    throw Fault("the lanes' memories take " + std::to_string(room >> 20) + " MiB, which this computer doesn't give");
#ifdef __linux__
  madvise(words_, room, MADV_HUGEPAGE);
#endif
  convert(image, image_used);
  clear_kv();
}

LaneMemory::~LaneMemory() { ::free(words_); }

void LaneMemory::convert(const contract::MemoryImage& image, const ImageUsed& image_used) {
  const std::size_t row_bytes = groups_ * lanes_ * contract::kWordBytes;
  const std::uint64_t step = std::max<std::uint64_t>(1, kConvertBytes / row_bytes);
  for (std::uint64_t first = 0; first < weight_words_; first += step) {
    const std::uint64_t end = std::min(weight_words_, first + step);
    std::memset(words_ + first * word_bytes(), 0, (end - first) * word_bytes());
    for (std::uint64_t address = first; address < end; ++address)
      for (std::size_t group = 0; group < groups_; ++group)
        for (std::size_t lane = 0; lane < lanes_; lane += kTileLanes)
          convert_tile(image.lane_words + address * row_bytes + (group * lanes_ + lane) * contract::kWordBytes,
                       std::min<std::size_t>(kTileLanes, lanes_ - lane), lane_tile(address, group, lane));
    if (image_used) image_used(first * row_bytes, (end - first) * row_bytes);
  }
  minimums_.resize(image.minimum_word_count * groups_ * tiles_ * kTileLanes);
  for (std::uint64_t row = 0; row < image.minimum_word_count * groups_; ++row)
    for (std::size_t lane = 0; lane < lanes_; ++lane)
      minimums_[row * tiles_ * kTileLanes + lane] =
          little_endian_16(image.minimum_words + (row * lanes_ + lane) * contract::kMinimumBytes);
}

void LaneMemory::clear_kv() { std::memset(words_ + weight_words_ * word_bytes(), 0, kv_words_ * word_bytes()); }

unsigned LaneMemory::nibble(std::uint64_t address, std::size_t group, std::size_t lane, unsigned column) const {
  return lane_tile(address, group, lane)[byte_of(lane, column)] >> shift_of(lane) & 15u;
}

void LaneMemory::set_nibble(std::uint64_t address, std::size_t group, std::size_t lane, unsigned column,
                            unsigned value) {
  std::uint8_t& byte = lane_tile(address, group, lane)[byte_of(lane, column)];
  const unsigned shift = shift_of(lane);
  byte = static_cast<std::uint8_t>((byte & ~(15u << shift)) | (value & 15u) << shift);
}

void LaneMemory::read_data(std::uint64_t address, std::size_t group, std::size_t lane, std::uint8_t* data) const {
  for (unsigned i = 0; i < 16; ++i)
    data[i] =
        static_cast<std::uint8_t>(nibble(address, group, lane, 2 * i) | nibble(address, group, lane, 2 * i + 1) << 4);
}

void LaneMemory::write_data(std::uint64_t address, std::size_t group, std::size_t lane, const std::uint8_t* data) {
  for (unsigned i = 0; i < 16; ++i) {
    set_nibble(address, group, lane, 2 * i, data[i] & 15u);
    set_nibble(address, group, lane, 2 * i + 1, data[i] >> 4);
  }
}

std::uint16_t LaneMemory::side_bits(std::uint64_t address, std::size_t group, std::size_t lane) const {
  std::uint16_t value = 0;
  std::memcpy(&value, lane_tile(address, group, lane) + kTileDataBytes + lane % kTileLanes * 2, 2);
  return value;
}

void LaneMemory::set_side_bits(std::uint64_t address, std::size_t group, std::size_t lane, std::uint16_t value) {
  std::memcpy(lane_tile(address, group, lane) + kTileDataBytes + lane % kTileLanes * 2, &value, 2);
}

}  // namespace golden
}  // namespace lpu
