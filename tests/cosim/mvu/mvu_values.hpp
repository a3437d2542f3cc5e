// What the tests of the matrix-vector unit share: random weights and blocks with their edges, the records that travel
// with a beat (bit places of rtl/mvu/lpu_mvu_pkg.sv), and seeds. Relies on hls/engine for every expected number.
#pragma once

#include <array>
#include <cstdint>
#include <random>

#include "hls/engine/accumulate.hpp"
#include "hls/engine/block_dot.hpp"

namespace lpu {
namespace cosim {

constexpr int kWordBits = contract::kWordBits;
constexpr int kBlockExponentBits = contract::kBlockExponentBits;
constexpr int kBlockBits = contract::kActivationBlockBits;
constexpr int kLowBits = 44;
constexpr std::int32_t kEmptyBlock = -65536;  ///< E_b of a wholly masked block, as the activation memory holds it

/// Field of beat_t: its lowest bit and width.
struct BeatField {
  int lsb;
  int width;
};
constexpr BeatField kBeatAddsResidual{0, 1}, kBeatStarts{1, 1}, kBeatEntry{2, 12}, kBeatSegments{14, 9},
    kBeatRelative{23, 1}, kBeatKeepsValueScale{24, 1}, kBeatUnitScale{25, 1}, kBeatHasMinimum{26, 1},
    kBeatSignedScale{27, 1}, kBeatSignedTop{28, 1}, kBeatLastNibble{29, 1}, kBeatNibble{30, 2}, kBeatValid{32, 1};
constexpr int kBeatBits = 33;

inline void put_field(std::uint64_t* beat, BeatField field, std::uint64_t value) {
  *beat |= (value & ((std::uint64_t{1} << field.width) - 1)) << field.lsb;
}

struct Format {
  int nibbles = 1;
  bool signed_code = false, signed_scale = false, has_minimum = false, unit_scale = false, relative = false;
};

using Generator = std::mt19937_64;

/// Uniform in low…high.
inline int pick(Generator& random, int low, int high) {
  return low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
}

/// Every format of docs/isa.md, and combinations that no compiler makes but the fields can say.
inline Format random_format(Generator& random) {
  Format format;
  format.nibbles = pick(random, 1, 3);
  format.signed_code = random() % 2 != 0;
  format.signed_scale = random() % 2 != 0;
  format.has_minimum = random() % 2 != 0;
  format.unit_scale = random() % 4 == 0;
  format.relative = random() % 3 == 0;
  return format;
}

/// A lane's word: 16 data bytes and 16 side bits.
struct Word {
  std::array<std::uint8_t, 16> data{};
  std::uint16_t side = 0;
};
inline Word random_word(Generator& random) {
  static constexpr std::uint8_t kEdges[] = {0x00, 0xff, 0x88, 0x77};
  static constexpr std::uint16_t kSides[] = {0, 1, 0x7fff, 0x8000, 0xffff};
  Word word;
  const bool edge = random() % 4 == 0;
  const std::uint8_t all = kEdges[random() % 4];
  for (std::uint8_t& byte : word.data) byte = edge ? all : static_cast<std::uint8_t>(random());
  word.side = random() % 4 == 0 ? kSides[random() % 5] : static_cast<std::uint16_t>(random());
  return word;
}
inline std::uint16_t random_minimum(Generator& random) {
  static constexpr std::uint16_t kEdges[] = {0, 0xf7ff, 0xf800, 0x0fff, 0xffff};
  return random() % 4 == 0 ? kEdges[random() % 5] : static_cast<std::uint16_t>(random());
}

/// An activation block: mantissas, and an offset or E_b.
struct Block {
  std::array<std::int16_t, 32> mantissas{};
  std::int32_t exponent = 0;
};
inline Block random_block(Generator& random, bool relative, std::int32_t row_exponent) {
  Block block;
  const int kind = pick(random, 0, 5);
  for (std::int16_t& mantissa : block.mantissas)
    mantissa = static_cast<std::int16_t>(kind == 0 ? 511 : kind == 1 ? -511 : kind == 2 ? 0 : pick(random, -511, 511));
  if (relative)
    block.exponent = random() % 8 == 0 ? kEmptyBlock : row_exponent - pick(random, random() % 4 == 0 ? -2 : 0, 34);
  else
    block.exponent = random() % 4 == 0 ? 31 * static_cast<int>(random() % 2) : pick(random, 0, 31);
  return block;
}

/// The block's offset, or −1 where it contributes nothing.
inline int offset_of(const Block& block, bool relative, std::int32_t row_exponent) {
  if (!relative) return block.exponent;
  const int offset = contract::kWindowBinades - 1 - (row_exponent - block.exponent);
  return offset < 0 || offset >= contract::kWindowBinades ? -1 : offset;
}

/// A block's term, shifted to its offset, by the engine. words: [nibbles].
inline engine::Int128 shifted_term(const Format& format, const Word* words, std::uint16_t minimum, const Block& block,
                                   std::int32_t row_exponent) {
  std::uint8_t planes[engine::kMaxNibbles * engine::kWordDataBytes];
  for (int n = 0; n < format.nibbles; ++n)
    for (int byte = 0; byte < engine::kWordDataBytes; ++byte)
      planes[n * engine::kWordDataBytes + byte] = words[n].data[static_cast<std::size_t>(byte)];
  const int offset = offset_of(block, format.relative, row_exponent);
  if (offset < 0) return 0;
  const std::int32_t dot = engine::block_dot(planes, format.nibbles, format.signed_code, block.mantissas.data());
  const std::int32_t scale = format.unit_scale ? 1 : engine::scale_value(words[0].side, format.signed_scale);
  const std::uint16_t used = format.has_minimum ? minimum : std::uint16_t{0};
  const engine::Int128 term = engine::block_term(dot, scale, engine::block_sum(block.mantissas.data()),
                                                 engine::minimum_mantissa(used), engine::minimum_shift(used));
  return engine::accumulate(0, term, offset);
}

/// The fixed seed first, then one that changes: a failure prints it.
inline std::array<std::uint64_t, 2> seeds() { return {1, std::random_device{}()}; }

inline std::uint64_t low_half(engine::Int128 value) {
  return static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << kLowBits) - 1);
}
inline std::int64_t high_half(engine::Int128 value) { return static_cast<std::int64_t>(value >> kLowBits); }

}  // namespace cosim
}  // namespace lpu
