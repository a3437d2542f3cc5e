// The width of an activation block: 32 mantissas, then the exponent of their last bit, as memories hold it and as the
// core's ports carry it (rtl/mvu/lpu_mvu_pkg.sv, BlockBits). The exponent is a whole one, not the offset in a window
// that a vector's blocks are made with: softmax weights have exponents relative to their row's largest, and a zero
// block has −65536. Relies on hls/contract.
#pragma once

#include "hls/contract/number_formats.hpp"

namespace lpu::bundle {

constexpr int kBlockExponentBits = 17;
constexpr int kBlockMantissasBits = contract::kBlockValues * contract::kMantissaBits;
constexpr int kActivationBlockBits = kBlockMantissasBits + kBlockExponentBits;
static_assert(kActivationBlockBits == 337, "rtl/mvu/lpu_mvu_pkg.sv, BlockBits");

}  // namespace lpu::bundle
