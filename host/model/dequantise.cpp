// Decodes rows of ggml's tensor types to binary32.
// Every product and sum is one binary32 operation in the order of the format's definition (scale × sub-scale and
// minimum × sub-minimum are rounded first), so that the result is the definition's, bit for bit. Relies on the
// project-wide -ffp-contract=off and on a little-endian host. Layouts are written at each decoder.
#include <bit>
#include <cstring>

#include "host/base/error.hpp"
#include "host/model/model.hpp"

namespace lpu::model {
namespace {

constexpr std::size_t kBlock = 32;
constexpr std::size_t kSuperBlock = 256;

std::uint8_t byte_at(const std::byte* block, std::size_t index) { return std::to_integer<std::uint8_t>(block[index]); }

float half_at(const std::byte* block, std::size_t index) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, block + index, sizeof bits);
  return half_to_float(bits);
}

std::uint32_t word_at(const std::byte* block, std::size_t index) {
  std::uint32_t word = 0;
  std::memcpy(&word, block + index, sizeof word);
  return word;
}

void decode_f32(const std::byte* block, float* values) { std::memcpy(values, block, sizeof(float)); }

void decode_f16(const std::byte* block, float* values) { *values = half_at(block, 0); }

void decode_bf16(const std::byte* block, float* values) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, block, sizeof bits);
  *values = std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// f16 d; i8 q[32]
void decode_q8_0(const std::byte* block, float* values) {
  const float d = half_at(block, 0);
  for (std::size_t i = 0; i < kBlock; ++i) {
    values[i] = d * static_cast<float>(static_cast<std::int8_t>(byte_at(block, 2 + i)));
  }
}

/// Value i of a block of 32 nibbles: the low halves of the 16 bytes first, then the high halves.
int nibble_of_block(const std::byte* nibbles, std::size_t i) {
  return i < 16 ? byte_at(nibbles, i) & 15 : byte_at(nibbles, i - 16) >> 4;
}

// f16 d; nibbles[16]
void decode_q4_0(const std::byte* block, float* values) {
  const float d = half_at(block, 0);
  for (std::size_t i = 0; i < kBlock; ++i) values[i] = d * static_cast<float>(nibble_of_block(block + 2, i) - 8);
}

// f16 d; f16 m; nibbles[16]
void decode_q4_1(const std::byte* block, float* values) {
  const float d = half_at(block, 0);
  const float m = half_at(block, 2);
  for (std::size_t i = 0; i < kBlock; ++i) {
    const float product = d * static_cast<float>(nibble_of_block(block + 4, i));
    values[i] = product + m;
  }
}

/// Value i of a block of 5-bit numbers: bit i of `high` is its fifth bit.
int five_bits_of_block(std::uint32_t high, const std::byte* nibbles, std::size_t i) {
  return nibble_of_block(nibbles, i) | static_cast<int>((high >> i & 1) << 4);
}

// f16 d; u32 high; nibbles[16]
void decode_q5_0(const std::byte* block, float* values) {
  const float d = half_at(block, 0);
  const std::uint32_t high = word_at(block, 2);
  for (std::size_t i = 0; i < kBlock; ++i) {
    values[i] = d * static_cast<float>(five_bits_of_block(high, block + 6, i) - 16);
  }
}

// f16 d; f16 m; u32 high; nibbles[16]
void decode_q5_1(const std::byte* block, float* values) {
  const float d = half_at(block, 0);
  const float m = half_at(block, 2);
  const std::uint32_t high = word_at(block, 4);
  for (std::size_t i = 0; i < kBlock; ++i) {
    const float product = d * static_cast<float>(five_bits_of_block(high, block + 8, i));
    values[i] = product + m;
  }
}

struct SubScale {
  int scale;
  int minimum;
};

/// Sub-block j's 6-bit scale and minimum out of the 12 packed bytes of a K-quant.
SubScale sub_scale(const std::byte* packed, std::size_t j) {
  if (j < 4) return {byte_at(packed, j) & 63, byte_at(packed, j + 4) & 63};
  return {(byte_at(packed, j + 4) & 15) | (byte_at(packed, j - 4) >> 6 << 4),
          (byte_at(packed, j + 4) >> 4) | (byte_at(packed, j) >> 6 << 4)};
}

// f16 d; f16 dmin; packed[12]; nibbles[128]: 32 bytes hold sub-block 2i in their low halves and 2i + 1 in their high
// ones
void decode_q4_k(const std::byte* block, float* values) {
  const float d = half_at(block, 0);
  const float dmin = half_at(block, 2);
  for (std::size_t j = 0; j < kSuperBlock / kBlock; ++j) {
    const SubScale sub = sub_scale(block + 4, j);
    const float scale = d * static_cast<float>(sub.scale);
    const float minimum = dmin * static_cast<float>(sub.minimum);
    const std::byte* nibbles = block + 16 + j / 2 * kBlock;
    for (std::size_t i = 0; i < kBlock; ++i) {
      const int nibble = byte_at(nibbles, i) >> (j % 2 * 4) & 15;
      const float product = scale * static_cast<float>(nibble);
      values[j * kBlock + i] = product - minimum;
    }
  }
}

// f16 d; f16 dmin; packed[12]; high[32]: bit j of high[i] is the fifth bit of value i of sub-block j; nibbles[128]
void decode_q5_k(const std::byte* block, float* values) {
  const float d = half_at(block, 0);
  const float dmin = half_at(block, 2);
  for (std::size_t j = 0; j < kSuperBlock / kBlock; ++j) {
    const SubScale sub = sub_scale(block + 4, j);
    const float scale = d * static_cast<float>(sub.scale);
    const float minimum = dmin * static_cast<float>(sub.minimum);
    const std::byte* nibbles = block + 48 + j / 2 * kBlock;
    for (std::size_t i = 0; i < kBlock; ++i) {
      const int nibble = byte_at(nibbles, i) >> (j % 2 * 4) & 15;
      const int high = (byte_at(block + 16, i) >> j & 1) << 4;
      const float product = scale * static_cast<float>(nibble | high);
      values[j * kBlock + i] = product - minimum;
    }
  }
}

// low[128]; high[64]; i8 scales[16]; f16 d. A half of 128 values is four groups of 32: group g takes the low (g < 2) or
// high nibbles of low[32·(g % 2)…] and bits 2g, 2g + 1 of high[…]; each scale serves 16 values.
void decode_q6_k(const std::byte* block, float* values) {
  const float d = half_at(block, 208);
  for (std::size_t half = 0; half < 2; ++half) {
    const std::byte* low = block + half * 64;
    const std::byte* high = block + 128 + half * 32;
    const std::byte* scales = block + 192 + half * 8;
    for (std::size_t i = 0; i < 128; ++i) {
      const std::size_t group = i / 32;
      const std::size_t lane = i % 32;
      const int nibble = byte_at(low, group % 2 * 32 + lane) >> (group / 2 * 4) & 15;
      const int top = (byte_at(high, lane) >> (2 * group) & 3) << 4;
      const float scale = d * static_cast<float>(static_cast<std::int8_t>(byte_at(scales, i / 16)));
      values[half * 128 + i] = scale * static_cast<float>((nibble | top) - 32);
    }
  }
}

using Decoder = void (*)(const std::byte* block, float* values);

Decoder decoder_of(TensorType type) {
  switch (type) {
    case TensorType::kF32:
      return decode_f32;
    case TensorType::kF16:
      return decode_f16;
    case TensorType::kQ4_0:
      return decode_q4_0;
    case TensorType::kQ4_1:
      return decode_q4_1;
    case TensorType::kQ5_0:
      return decode_q5_0;
    case TensorType::kQ5_1:
      return decode_q5_1;
    case TensorType::kQ8_0:
      return decode_q8_0;
    case TensorType::kQ4_K:
      return decode_q4_k;
    case TensorType::kQ5_K:
      return decode_q5_k;
    case TensorType::kQ6_K:
      return decode_q6_k;
    case TensorType::kBF16:
      return decode_bf16;
  }
  fail(ExitCode::kInternal, "no decoder for tensor {}", type_name(static_cast<std::uint32_t>(type)));
}

}  // namespace

float half_to_float(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t exponent = bits >> 10 & 31U;
  const std::uint32_t fraction = bits & 0x3FFU;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000U | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  // A subnormal is fraction · 2^-24, which is a normal binary32 number (or zero): both factors are exact.
  const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

void dequantise_row(TensorType type, std::span<const std::byte> row, std::span<float> values) {
  const Decoder decode = decoder_of(type);
  const std::size_t bytes = block_bytes(type);
  const std::size_t columns = block_values(type);
  if (values.size() % columns != 0 || row.size() != values.size() / columns * bytes) {
    fail(ExitCode::kInternal, "a row of {} bytes of {} doesn't hold {} values", row.size(),
         type_name(static_cast<std::uint32_t>(type)), values.size());
  }
  const std::size_t blocks = values.size() / columns;
  for (std::size_t i = 0; i < blocks; ++i) decode(row.data() + i * bytes, values.data() + i * columns);
}

}  // namespace lpu::model
