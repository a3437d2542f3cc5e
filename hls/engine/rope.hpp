// Rotation of a pair of neighbouring rows by its position's angle (docs/numbers.md §7); the table's cosine and sine
// carry the factor √(log2(e)/√head_size). Latency: kRotaryCycles (a product, a sum). Relies on binary32.hpp.
#pragma once

#include "hls/engine/binary32.hpp"

namespace lpu {
namespace engine {

/// even' = even·cosine − odd·sine; odd' = even·sine + odd·cosine. Each product is rounded, then the sum.
inline void rotate(float& even, float& odd, float cosine, float sine, Status& status) {
  const float even_cosine = multiply(even, cosine, status);
  const float odd_sine = multiply(odd, sine, status);
  const float even_sine = multiply(even, sine, status);
  const float odd_cosine = multiply(odd, cosine, status);
  even = add(even_cosine, -odd_sine, status);
  odd = add(even_sine, odd_cosine, status);
}

}  // namespace engine
}  // namespace lpu
