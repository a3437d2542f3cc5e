// Step 6, encode, for one row: a file's blocks to scale, minimum and codes of the machine (docs/numbers.md §2).
// Relies on layout.hpp for formats and host/model for the file's types.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "hls/contract/number_formats.hpp"
#include "host/compiler/layout.hpp"
#include "host/model/model.hpp"

namespace lpu::compiler {

/// One block as the file means it: value = scale·code + minimum, in exact arithmetic.
struct FileBlock {
  double scale = 0;
  double minimum = 0;
  std::array<std::int16_t, contract::kBlockValues> codes{};
};

/// One block as the machine holds it.
struct EncodedBlock {
  std::uint16_t side = 0;     ///< scale's bits
  std::uint16_t minimum = 0;  ///< mantissa and shift
  std::array<std::int16_t, contract::kBlockValues> codes{};
};

struct EncodedRow {
  int exponent = 0;
  std::vector<EncodedBlock> blocks;
  double error_sum = 0;  ///< Σ |encoded − file|
  double error_largest = 0;
  double value_largest = 0;  ///< max |file|
  bool lossless = true;
};

/// The row's blocks in the file's own terms where `format` can hold its codes, else fitted anew to 8 bits.
std::vector<FileBlock> read_blocks(model::TensorType type, std::span<const std::byte> row, std::uint64_t columns,
                                   const MatrixFormat& format);
EncodedRow encode_row(const std::vector<FileBlock>& blocks, const MatrixFormat& format);

}  // namespace lpu::compiler
