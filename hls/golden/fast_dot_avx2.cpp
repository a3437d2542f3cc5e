// The fast dot with AVX2: eight columns' quads a step, int16 sums of high and low mantissa halves, int64 terms.
// Relies on the tile layout of lane_memory.hpp and on choose_buckets() for ranges. Compiled for every x86-64 with the
// target attribute, chosen at run time. Ranges: a byte product pair is at most 2·15·31, so 32 columns of low halves are
// at most 15·31·32 = 14,880 and of high halves 15·16·32 = 7,680 before the last madd widens them to int32.
#include "hls/golden/fast_dot.hpp"

#ifdef __x86_64__
#include <immintrin.h>

#include <cstring>
#endif

namespace lpu {
namespace golden {
namespace detail {

#ifdef __x86_64__
#define LPU_AVX2 __attribute__((target("avx2"), always_inline)) inline

namespace {

constexpr std::size_t kPrefetchBytes =
    8192;  ///< ahead of the tile at work (measured): the hardware stops at page borders

struct Dots {
  __m256i low_lanes;   ///< int32 of lanes 0…7
  __m256i high_lanes;  ///< of lanes 8…15
};

LPU_AVX2 __m256i load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }

LPU_AVX2 __m256i quad(const std::int8_t* bytes) {
  std::int32_t four;
  std::memcpy(&four, bytes, 4);
  return _mm256_set1_epi32(four);
}

/// Dots of one word's nibbles; with `flip` they are taken as nibble ^ 8, unsigned.
template <bool Flip>
LPU_AVX2 Dots word_dots(const std::uint8_t* tile, const PreparedBlock& block) {
  const __m256i mask = _mm256_set1_epi8(15);
  const __m256i eight = _mm256_set1_epi8(static_cast<char>(0x88));
  __m256i high_a = _mm256_setzero_si256(), low_a = _mm256_setzero_si256();
  __m256i high_b = _mm256_setzero_si256(), low_b = _mm256_setzero_si256();
#pragma GCC unroll 8
  for (int q = 0; q < 8; ++q) {
    __m256i both = load(tile + 32 * q);
    if (Flip) both = _mm256_xor_si256(both, eight);
    const __m256i a = _mm256_and_si256(both, mask);
    const __m256i b = _mm256_and_si256(_mm256_srli_epi16(both, 4), mask);
    const __m256i high = quad(block.high + 4 * q);
    const __m256i low = quad(block.low + 4 * q);
    high_a = _mm256_add_epi16(high_a, _mm256_maddubs_epi16(a, high));
    low_a = _mm256_add_epi16(low_a, _mm256_maddubs_epi16(a, low));
    high_b = _mm256_add_epi16(high_b, _mm256_maddubs_epi16(b, high));
    low_b = _mm256_add_epi16(low_b, _mm256_maddubs_epi16(b, low));
  }
  const __m256i ones = _mm256_set1_epi16(1), weight = _mm256_set1_epi16(32);
  return {_mm256_add_epi32(_mm256_madd_epi16(high_a, weight), _mm256_madd_epi16(low_a, ones)),
          _mm256_add_epi32(_mm256_madd_epi16(high_b, weight), _mm256_madd_epi16(low_b, ones))};
}

/// Adds (dot·scale·2^F + sum·minimum)·2^shift of eight lanes to their sums: even lanes, then odd lanes.
template <bool UnitScale, bool Minimum>
LPU_AVX2 void add_terms(__m256i dot, __m256i scale, __m256i minimum, __m256i sum, __m128i shift, std::int64_t* sums) {
  const __m256i odd_dot = _mm256_srli_epi64(dot, 32);
  // F is folded into the shift where nothing else is added before it.
  __m256i even, odd;
  if (UnitScale) {
    const __m256i one = _mm256_set1_epi32(1);
    even = _mm256_mul_epi32(dot, one);
    odd = _mm256_mul_epi32(odd_dot, one);
  } else {
    even = _mm256_mul_epi32(dot, scale);
    odd = _mm256_mul_epi32(odd_dot, _mm256_srli_epi64(scale, 32));
  }
  even = _mm256_slli_epi64(even, contract::kMinimumFractionBits);
  odd = _mm256_slli_epi64(odd, contract::kMinimumFractionBits);
  if (Minimum) {
    even = _mm256_add_epi64(even, _mm256_mul_epi32(minimum, sum));
    odd = _mm256_add_epi64(odd, _mm256_mul_epi32(_mm256_srli_epi64(minimum, 32), sum));
  }
  __m256i* at = reinterpret_cast<__m256i*>(sums);
  _mm256_storeu_si256(at, _mm256_add_epi64(_mm256_loadu_si256(at), _mm256_sll_epi64(even, shift)));
  _mm256_storeu_si256(at + 1, _mm256_add_epi64(_mm256_loadu_si256(at + 1), _mm256_sll_epi64(odd, shift)));
}

/// m·2^h of eight minimum words, each at most 26 bits with its sign.
LPU_AVX2 __m256i minimums_of(__m128i raw) {
  const __m256i wide = _mm256_cvtepu16_epi32(raw);
  return _mm256_sllv_epi32(_mm256_srai_epi32(_mm256_slli_epi32(wide, 20), 20), _mm256_srli_epi32(wide, 12));
}

template <int Nibbles, int Flags>
__attribute__((target("avx2"))) void kernel(const SetJob& job) {
  constexpr bool kSignedCode = (Flags & 1) != 0, kSignedScale = (Flags & 2) != 0;
  constexpr bool kUnitScale = (Flags & 4) != 0, kMinimum = (Flags & 8) != 0;
  for (std::size_t group = 0; group < job.groups; ++group) {
    const PreparedBlock& block = job.blocks[group];
    if (block.skip) continue;
    const __m256i sum = _mm256_set1_epi32(block.sum);
    const __m256i correction = _mm256_set1_epi32(block.sum * 8);
    const __m128i shift = _mm_cvtsi32_si128(block.shift);
    const std::uint8_t* tile = job.words + group * job.group_bytes + job.first_tile * kTileBytes;
    const std::uint16_t* raw_minimum =
        kMinimum ? job.minimums + group * job.minimum_group + job.first_tile * kTileLanes : nullptr;
    std::int64_t* sums =
        job.sums + static_cast<std::size_t>(block.bucket) * job.bucket_sums + job.first_tile * kTileLanes;
    for (std::size_t t = job.first_tile; t < job.end_tile; ++t, tile += kTileBytes, sums += kTileLanes) {
      for (int n = 0; n < Nibbles; ++n)
        for (std::size_t ahead = 0; ahead < kTileBytes; ahead += 64)
          _mm_prefetch(reinterpret_cast<const char*>(tile + static_cast<std::size_t>(n) * job.word_bytes +
                                                     kPrefetchBytes + ahead),
                       _MM_HINT_T0);
      Dots dots = word_dots < kSignedCode && Nibbles == 1 > (tile, block);
      if (Nibbles >= 2) {
        const Dots next = word_dots < kSignedCode && Nibbles == 2 > (tile + job.word_bytes, block);
        dots.low_lanes = _mm256_add_epi32(dots.low_lanes, _mm256_slli_epi32(next.low_lanes, 4));
        dots.high_lanes = _mm256_add_epi32(dots.high_lanes, _mm256_slli_epi32(next.high_lanes, 4));
      }
      if (Nibbles == 3) {
        const Dots next = word_dots<kSignedCode>(tile + 2 * job.word_bytes, block);
        dots.low_lanes = _mm256_add_epi32(dots.low_lanes, _mm256_slli_epi32(next.low_lanes, 8));
        dots.high_lanes = _mm256_add_epi32(dots.high_lanes, _mm256_slli_epi32(next.high_lanes, 8));
      }
      if (kSignedCode) {
        const __m256i excess = _mm256_slli_epi32(correction, 4 * (Nibbles - 1));
        dots.low_lanes = _mm256_sub_epi32(dots.low_lanes, excess);
        dots.high_lanes = _mm256_sub_epi32(dots.high_lanes, excess);
      }
      __m256i scale_a = _mm256_setzero_si256(), scale_b = _mm256_setzero_si256();
      if (!kUnitScale) {
        const __m256i side = load(tile + kTileDataBytes);
        const __m128i first = _mm256_castsi256_si128(side), second = _mm256_extracti128_si256(side, 1);
        scale_a = kSignedScale ? _mm256_cvtepi16_epi32(first) : _mm256_cvtepu16_epi32(first);
        scale_b = kSignedScale ? _mm256_cvtepi16_epi32(second) : _mm256_cvtepu16_epi32(second);
      }
      __m256i minimum_a = _mm256_setzero_si256(), minimum_b = _mm256_setzero_si256();
      if (kMinimum) {
        const __m256i raw = load(raw_minimum);
        minimum_a = minimums_of(_mm256_castsi256_si128(raw));
        minimum_b = minimums_of(_mm256_extracti128_si256(raw, 1));
        raw_minimum += kTileLanes;
      }
      add_terms<kUnitScale, kMinimum>(dots.low_lanes, scale_a, minimum_a, sum, shift, sums);
      add_terms<kUnitScale, kMinimum>(dots.high_lanes, scale_b, minimum_b, sum, shift, sums + 8);
    }
  }
}

template <int Nibbles>
SetKernel by_flags(int flags) {
  static constexpr SetKernel kKernels[16] = {
      kernel<Nibbles, 0>,  kernel<Nibbles, 1>,  kernel<Nibbles, 2>,  kernel<Nibbles, 3>,
      kernel<Nibbles, 4>,  kernel<Nibbles, 5>,  kernel<Nibbles, 6>,  kernel<Nibbles, 7>,
      kernel<Nibbles, 8>,  kernel<Nibbles, 9>,  kernel<Nibbles, 10>, kernel<Nibbles, 11>,
      kernel<Nibbles, 12>, kernel<Nibbles, 13>, kernel<Nibbles, 14>, kernel<Nibbles, 15>};
  return kKernels[flags];
}

}  // namespace

SetKernel avx2_kernel(const DotFormat& format) {
  if (!__builtin_cpu_supports("avx2")) return nullptr;
  const int flags = (format.signed_code ? 1 : 0) | (format.signed_scale ? 2 : 0) | (format.unit_scale ? 4 : 0) |
                    (format.has_minimum ? 8 : 0);
  return format.nibbles == 1 ? by_flags<1>(flags) : format.nibbles == 2 ? by_flags<2>(flags) : by_flags<3>(flags);
}
#undef LPU_AVX2

#else
SetKernel avx2_kernel(const DotFormat&) { return nullptr; }
#endif

}  // namespace detail
}  // namespace golden
}  // namespace lpu
