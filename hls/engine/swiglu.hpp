// h = silu(gate)·up (docs/numbers.md §10): (g·u rounded)·σ(g) rounded. σ runs beside the first product.
// A part of kSwigluCycles. Relies on sigmoid.hpp, binary32.hpp.
#pragma once

#include "hls/engine/binary32.hpp"
#include "hls/engine/sigmoid.hpp"

namespace lpu {
namespace engine {

inline float swiglu(float gate, float up, Status& status) {
  const float product = multiply(gate, up, status);
  return multiply(product, sigmoid(gate), status);
}

}  // namespace engine
}  // namespace lpu
