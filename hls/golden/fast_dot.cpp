// The fast dot's preparation, its proof of range, and its portable kernel. See fast_dot.hpp.
// Relies on numbers.md §12 for the sizes of the factors.
#include "hls/golden/fast_dot.hpp"

#include <cstring>

namespace lpu {
namespace golden {
namespace {

constexpr int kBucketChoices[] = {32, 16, 8, 4, 2, 1};

/// Largest |term| of a block before its offset, divided by Σ|a|: |q|·s·2^F and |m|·2^h.
std::int64_t term_bound(const DotFormat& format) {
  const std::int64_t code = (std::int64_t{1} << 4 * format.nibbles) - 1;
  const std::int64_t scale = format.unit_scale ? 1 : 65535;
  const std::int64_t minimum = format.has_minimum ? std::int64_t{1} << (11 + 15) : 0;
  return ((code * scale) << contract::kMinimumFractionBits) + minimum;
}

template <int Nibbles>
void portable_tile(const DotFormat& format, const std::uint8_t* tile, std::size_t word_bytes,
                   const std::uint16_t* minimums, const PreparedBlock& block, std::int64_t* sums) {
  for (std::size_t lane = 0; lane < kTileLanes; ++lane) {
    const unsigned shift = lane >= 8 ? 4 : 0;
    std::int32_t dot = 0;
    for (unsigned n = 0; n < Nibbles; ++n) {
      const std::uint8_t* data = tile + n * word_bytes + lane % 8 * 4;
      const int flip = format.signed_code && n == Nibbles - 1 ? 8 : 0;
      std::int32_t part = 0;
      for (int column = 0; column < 32; ++column) {
        const int code = ((data[column / 4 * 32 + column % 4] >> shift & 15) ^ flip) - flip;
        part += code * (32 * block.high[column] + block.low[column]);
      }
      dot += part * (1 << 4 * n);
    }
    std::int64_t scale = 1;
    if (!format.unit_scale) {
      std::uint16_t side = 0;
      std::memcpy(&side, tile + kTileDataBytes + 2 * lane, 2);
      scale = format.signed_scale ? static_cast<std::int16_t>(side) : static_cast<std::int32_t>(side);
    }
    std::int64_t term = dot * scale * (1 << contract::kMinimumFractionBits);
    if (format.has_minimum) {
      const int raw = minimums[lane];
      const std::int64_t mantissa = ((raw & 0xFFF) ^ 0x800) - 0x800;
      term += block.sum * mantissa * (1 << (raw >> 12));
    }
    sums[sum_index(lane)] += term * (std::int64_t{1} << block.shift);
  }
}

template <int Nibbles, int Flags>
void portable_kernel(const SetJob& job) {
  DotFormat format;
  format.nibbles = Nibbles;
  format.signed_code = (Flags & 1) != 0;
  format.signed_scale = (Flags & 2) != 0;
  format.unit_scale = (Flags & 4) != 0;
  format.has_minimum = (Flags & 8) != 0;
  for (std::size_t group = 0; group < job.groups; ++group) {
    const PreparedBlock& block = job.blocks[group];
    if (block.skip) continue;
    for (std::size_t tile = job.first_tile; tile < job.end_tile; ++tile)
      portable_tile<Nibbles>(
          format, job.words + group * job.group_bytes + tile * kTileBytes, job.word_bytes,
          format.has_minimum ? job.minimums + group * job.minimum_group + tile * kTileLanes : nullptr, block,
          job.sums + static_cast<std::size_t>(block.bucket) * job.bucket_sums + tile * kTileLanes);
  }
}

template <int Nibbles>
SetKernel portable_by_flags(int flags) {
  static constexpr SetKernel kKernels[16] = {
      portable_kernel<Nibbles, 0>,  portable_kernel<Nibbles, 1>,  portable_kernel<Nibbles, 2>,
      portable_kernel<Nibbles, 3>,  portable_kernel<Nibbles, 4>,  portable_kernel<Nibbles, 5>,
      portable_kernel<Nibbles, 6>,  portable_kernel<Nibbles, 7>,  portable_kernel<Nibbles, 8>,
      portable_kernel<Nibbles, 9>,  portable_kernel<Nibbles, 10>, portable_kernel<Nibbles, 11>,
      portable_kernel<Nibbles, 12>, portable_kernel<Nibbles, 13>, portable_kernel<Nibbles, 14>,
      portable_kernel<Nibbles, 15>};
  return kKernels[flags];
}

}  // namespace

void prepare_block(const std::int16_t* mantissas, PreparedBlock* block) {
  block->sum = 0;
  for (int i = 0; i < 32; ++i) {
    const int low = mantissas[i] & 31;
    block->low[i] = static_cast<std::int8_t>(low);
    block->high[i] = static_cast<std::int8_t>((mantissas[i] - low) / 32);
    block->sum += mantissas[i];
  }
}

void choose_buckets(const DotFormat& format, const std::uint8_t* offsets, const std::int32_t* magnitudes,
                    PreparedBurst* burst) {
  const std::size_t count = burst->blocks.size();
  int lowest = 32;
  for (std::size_t i = 0; i < count; ++i)
    if (!burst->blocks[i].skip && offsets[i] < lowest) lowest = offsets[i];
  burst->base = lowest == 32 ? 0 : lowest;
  const engine::Int128 bound = term_bound(format);
  for (const int binades : kBucketChoices) {
    engine::Int128 worst = 0;
    for (std::size_t i = 0; i < count; ++i)
      if (!burst->blocks[i].skip) worst += (bound * magnitudes[i]) << ((offsets[i] - burst->base) % binades);
    burst->bucket_binades = binades;
    if (worst >> 62 == 0) break;  // with one binade a bucket a burst of kMaxColumns always passes (numbers.md §12)
  }
  burst->buckets = 1;
  for (std::size_t i = 0; i < count; ++i) {
    PreparedBlock& block = burst->blocks[i];
    if (block.skip) continue;
    block.shift = (offsets[i] - burst->base) % burst->bucket_binades;
    block.bucket = (offsets[i] - burst->base) / burst->bucket_binades;
    if (block.bucket >= burst->buckets) burst->buckets = block.bucket + 1;
  }
}

SetKernel set_kernel(const DotFormat& format, bool portable) {
  if (!portable)
    if (const SetKernel fast = detail::avx2_kernel(format)) return fast;
  const int flags = (format.signed_code ? 1 : 0) | (format.signed_scale ? 2 : 0) | (format.unit_scale ? 4 : 0) |
                    (format.has_minimum ? 8 : 0);
  return format.nibbles == 1   ? portable_by_flags<1>(flags)
         : format.nibbles == 2 ? portable_by_flags<2>(flags)
                               : portable_by_flags<3>(flags);
}

}  // namespace golden
}  // namespace lpu
