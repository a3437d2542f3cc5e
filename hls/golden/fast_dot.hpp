// The vectorised form of the exact block dot: whole column sets of a matvec burst, 16 lanes at a time.
// It exists because a token of a small model is some 160 million nibble products and must take milliseconds. It is the
// one exception to "one arithmetic" (the engine's block_dot, block_term and accumulate define the bits) and is held to
// them by
// == in tests/golden. Everything in it is an exact integer, so the order of the sums doesn't matter.
// Relies on the tiles of lane_memory.hpp.
//
// A 10-bit mantissa is a = 32·high + low with low in 0…31 and high in −16…15: both fit the signed bytes that a vector
// multiplier takes against unsigned nibbles. Terms of blocks are summed in int64, in as many `buckets` of neighbouring
// offsets as the burst's own offsets and mantissas need for the proof that no sum overflows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hls/engine/integers.hpp"
#include "hls/golden/lane_memory.hpp"

namespace lpu {
namespace golden {

/// How a burst's words are read; the fields of an instruction that the dot needs.
struct DotFormat {
  int nibbles = 1;
  bool signed_code = false;
  bool signed_scale = false;
  bool unit_scale = false;
  bool has_minimum = false;
};

/// One activation block, ready for the vector units.
struct PreparedBlock {
  std::int8_t high[32];
  std::int8_t low[32];
  std::int32_t sum = 0;    ///< of the 32 mantissas
  std::int32_t shift = 0;  ///< offset above its bucket's lowest
  std::int32_t bucket = 0;
  bool skip = false;  ///< contributes nothing
};

/// The activation blocks of one burst.
struct PreparedBurst {
  std::vector<PreparedBlock> blocks;  ///< [sets][groups]
  int bucket_binades = 32;            ///< offsets of a bucket; bucket b starts at b · bucket_binades
  int buckets = 1;
  int base = 0;  ///< offset of bucket 0
};

/// Splits mantissas and sums them. mantissas: [32].
void prepare_block(const std::int16_t* mantissas, PreparedBlock* block);
/// Chooses the buckets so that no int64 sum of the burst can overflow, and fills shift and bucket.
/// offsets, magnitudes (Σ|a|): [blocks]; blocks to skip have skip set and are left out of the proof.
void choose_buckets(const DotFormat& format, const std::uint8_t* offsets, const std::int32_t* magnitudes,
                    PreparedBurst* burst);

/// One (row group, column set) of one segment: tiles first_tile…end_tile of `groups` neighbouring groups.
struct SetJob {
  const std::uint8_t* words = nullptr;  ///< tile 0 of the first group, nibble 0
  std::size_t group_bytes = 0;
  std::size_t word_bytes = 0;               ///< from one nibble's word to the next
  const std::uint16_t* minimums = nullptr;  ///< [groups][tiles × 16]
  std::size_t minimum_group = 0;            ///< minimum words of a group
  std::size_t groups = 0;
  std::size_t first_tile = 0;
  std::size_t end_tile = 0;
  const PreparedBlock* blocks = nullptr;  ///< [groups]
  std::int64_t* sums = nullptr;           ///< [buckets][tiles × 16], in the order of sum_index()
  std::size_t bucket_sums = 0;            ///< from one bucket to the next
};

/// Place of a lane in a tile's 16 sums: even lanes and odd lanes of each eight lie together.
constexpr std::size_t sum_index(std::size_t lane) {
  return lane / kTileLanes * kTileLanes + lane % kTileLanes / 8 * 8 + lane % 2 * 4 + lane % 8 / 2;
}

using SetKernel = void (*)(const SetJob&);
/// The kernel for this format and computer. `portable` leaves the vector instructions out.
SetKernel set_kernel(const DotFormat& format, bool portable = false);

/// Σ over buckets of sum · 2^(bucket's lowest offset). sums: of one (segment, row group); lane: in the group.
inline engine::Int128 fold(const PreparedBurst& burst, const std::int64_t* sums, std::size_t bucket_sums,
                           std::size_t lane) {
  engine::Int128 total = 0;
  for (int bucket = 0; bucket < burst.buckets; ++bucket)
    total += engine::shift_left(sums[static_cast<std::size_t>(bucket) * bucket_sums + sum_index(lane)],
                                burst.base + bucket * burst.bucket_binades);
  return total;
}

namespace detail {
SetKernel avx2_kernel(const DotFormat& format);  ///< nullptr where this computer lacks AVX2
}

}  // namespace golden
}  // namespace lpu
