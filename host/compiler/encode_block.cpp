// GGUF blocks to scale, minimum and codes, and these to the machine's words. See encode_block.hpp.
#include "host/compiler/encode_block.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace lpu::compiler {

using contract::kBlockValues;
using model::TensorType;

namespace {

double half_at(const std::byte* at) {
  std::uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  return model::half_to_float(bits);
}
int byte_at(const std::byte* at) { return std::to_integer<int>(*at); }

/// 32 nibbles of the classic types: element j in the low half of byte j, element j + 16 in its high half.
void split_nibbles(const std::byte* from, std::array<std::int16_t, kBlockValues>& codes) {
  for (int j = 0; j < kBlockValues / 2; ++j) {
    codes[static_cast<std::size_t>(j)] = static_cast<std::int16_t>(byte_at(from + j) & 15);
    codes[static_cast<std::size_t>(j + 16)] = static_cast<std::int16_t>(byte_at(from + j) >> 4);
  }
}
void add_fifth_bits(const std::byte* from, std::array<std::int16_t, kBlockValues>& codes) {
  std::uint32_t bits;
  std::memcpy(&bits, from, sizeof bits);
  for (std::size_t j = 0; j < kBlockValues; ++j)
    codes[j] = static_cast<std::int16_t>(codes[j] | ((bits >> j & 1) << 4));
}
void shift_codes(std::array<std::int16_t, kBlockValues>& codes, int by) {
  for (std::int16_t& code : codes) code = static_cast<std::int16_t>(code + by);
}

/// The eight sub-blocks of a Q4_K or Q5_K super-block.
void read_k_quants(const std::byte* from, bool five_bits, std::vector<FileBlock>& out) {
  const double scale = half_at(from), minimum = half_at(from + 2);
  const std::byte* s = from + 4;
  const std::byte* high = from + 16;
  const std::byte* low = five_bits ? from + 48 : from + 16;
  for (int j = 0; j < 8; ++j) {
    const int sub_scale = j < 4 ? byte_at(s + j) & 63 : (byte_at(s + j + 4) & 15) | (byte_at(s + j - 4) >> 6 << 4);
    const int sub_minimum = j < 4 ? byte_at(s + j + 4) & 63 : byte_at(s + j + 4) >> 4 | byte_at(s + j) >> 6 << 4;
    FileBlock block{scale * sub_scale, -minimum * sub_minimum, {}};
    for (int i = 0; i < kBlockValues; ++i) {
      int code = byte_at(low + j / 2 * 32 + i);
      code = j % 2 == 0 ? code & 15 : code >> 4;
      if (five_bits && (byte_at(high + i) >> j & 1) != 0) code += 16;
      block.codes[static_cast<std::size_t>(i)] = static_cast<std::int16_t>(code);
    }
    out.push_back(block);
  }
}

/// Fits 32 values to signed 8-bit codes.
FileBlock fit(const float* values) {
  float largest = 0;
  for (int i = 0; i < kBlockValues; ++i) largest = std::max(largest, std::fabs(values[i]));
  FileBlock block;
  block.scale = static_cast<double>(largest) / 127;
  if (largest > 0)
    for (int i = 0; i < kBlockValues; ++i)
      block.codes[static_cast<std::size_t>(i)] = static_cast<std::int16_t>(std::lround(values[i] / block.scale));
  return block;
}

bool keeps_codes(TensorType type, const MatrixFormat& format) {
  switch (type) {
    case TensorType::kQ4_0:
    case TensorType::kQ5_0:
    case TensorType::kQ8_0:
      return format.signed_code;
    case TensorType::kQ4_1:
    case TensorType::kQ4_K:
    case TensorType::kQ5_1:
    case TensorType::kQ5_K:
      return format.has_minimum;
    default:
      return false;
  }
}

/// Exponent of the smallest power of two ≥ x > 0.
int power_above(double x) {
  int exponent;
  const double fraction = std::frexp(x, &exponent);
  return fraction == 0.5 ? exponent - 1 : exponent;
}

constexpr int kMinimumMantissaMax = (1 << (contract::kMinimumMantissaBits - 1)) - 1;
constexpr int kMinimumShiftMax = (1 << contract::kMinimumShiftBits) - 1;

std::uint16_t encode_minimum(double minimum, int exponent) {
  const double units = std::ldexp(minimum, contract::kMinimumFractionBits - exponent);
  int shift = 0;
  while (shift < kMinimumShiftMax && std::fabs(std::nearbyint(std::ldexp(units, -shift))) > kMinimumMantissaMax)
    ++shift;
  const auto mantissa = static_cast<int>(std::nearbyint(std::ldexp(units, -shift)));
  return static_cast<std::uint16_t>((mantissa & 0xfff) | shift << contract::kMinimumMantissaBits);
}
double decode_minimum(std::uint16_t word, int exponent) {
  const int mantissa = static_cast<std::int16_t>(word << 4) >> 4;
  return std::ldexp(mantissa, (word >> contract::kMinimumMantissaBits) + exponent - contract::kMinimumFractionBits);
}

}  // namespace

std::vector<FileBlock> read_blocks(TensorType type, std::span<const std::byte> row, std::uint64_t columns,
                                   const MatrixFormat& format) {
  std::vector<FileBlock> out;
  out.reserve(columns / kBlockValues);
  if (!keeps_codes(type, format)) {
    std::vector<float> values(columns);
    model::dequantise_row(type, row, values);
    for (std::uint64_t at = 0; at < columns; at += kBlockValues) out.push_back(fit(values.data() + at));
    return out;
  }
  const std::size_t bytes = model::block_bytes(type);
  for (std::size_t at = 0; at < row.size(); at += bytes) {
    const std::byte* from = row.data() + at;
    FileBlock block;
    switch (type) {
      case TensorType::kQ4_0:
        block.scale = half_at(from);
        split_nibbles(from + 2, block.codes);
        shift_codes(block.codes, -8);
        break;
      case TensorType::kQ4_1:
        block.scale = half_at(from);
        block.minimum = half_at(from + 2);
        split_nibbles(from + 4, block.codes);
        break;
      case TensorType::kQ5_0:
        block.scale = half_at(from);
        split_nibbles(from + 6, block.codes);
        add_fifth_bits(from + 2, block.codes);
        shift_codes(block.codes, -16);
        break;
      case TensorType::kQ5_1:
        block.scale = half_at(from);
        block.minimum = half_at(from + 2);
        split_nibbles(from + 8, block.codes);
        add_fifth_bits(from + 4, block.codes);
        break;
      case TensorType::kQ8_0:
        block.scale = half_at(from);
        for (std::size_t j = 0; j < kBlockValues; ++j) block.codes[j] = static_cast<std::int8_t>(byte_at(from + 2 + j));
        break;
      default:
        read_k_quants(from, type == TensorType::kQ5_K, out);
        continue;
    }
    out.push_back(block);
  }
  return out;
}

EncodedRow encode_row(const std::vector<FileBlock>& blocks, const MatrixFormat& format) {
  EncodedRow out;
  double largest_scale = 0, largest_minimum = 0;
  for (const FileBlock& block : blocks) {
    largest_scale = std::max(largest_scale, std::fabs(block.scale));
    largest_minimum = std::max(largest_minimum, std::fabs(block.minimum));
  }
  // The smallest exponent with which the largest scale and the largest minimum still fit: everything finer is kept.
  const double scale_limit = format.signed_scale ? 32767 : 65535;
  out.exponent = contract::kRowExponentMin;
  if (largest_scale > 0) out.exponent = std::max(out.exponent, power_above(largest_scale / scale_limit));
  if (largest_minimum > 0)
    out.exponent = std::max(out.exponent, power_above(largest_minimum / kMinimumMantissaMax) - kMinimumShiftMax +
                                              contract::kMinimumFractionBits);
  if (largest_scale == 0 && largest_minimum == 0) out.exponent = 0;
  out.exponent = std::min(out.exponent, contract::kRowExponentMax);

  for (const FileBlock& block : blocks) {
    EncodedBlock encoded;
    encoded.codes = block.codes;
    double scale = block.scale;
    if (scale < 0 && !format.signed_scale) {  // an unsigned scale: the sign goes to the codes
      scale = -scale;
      for (std::int16_t& code : encoded.codes) code = static_cast<std::int16_t>(std::min<int>(-code, 127));
    }
    const double units = std::clamp(std::nearbyint(std::ldexp(scale, -out.exponent)), -scale_limit, scale_limit);
    encoded.side = static_cast<std::uint16_t>(static_cast<std::int32_t>(units));
    if (format.has_minimum) encoded.minimum = encode_minimum(block.minimum, out.exponent);
    const double encoded_scale = std::ldexp(units, out.exponent),
                 encoded_minimum = decode_minimum(encoded.minimum, out.exponent);
    const bool same = encoded_scale == block.scale && encoded_minimum == block.minimum && encoded.codes == block.codes;
    out.lossless = out.lossless && same;
    for (std::size_t j = 0; j < kBlockValues; ++j) {
      const double value = block.scale * block.codes[j] + block.minimum;
      out.value_largest = std::max(out.value_largest, std::fabs(value));
      if (same) continue;
      const double error = std::fabs(encoded_scale * encoded.codes[j] + encoded_minimum - value);
      out.error_sum += error;
      out.error_largest = std::max(out.error_largest, error);
    }
    out.blocks.push_back(encoded);
  }
  return out;
}

}  // namespace lpu::compiler
