// Step 3, order: the search for the order of a layer's operations.
//
// A layer's operations may be reordered wherever neither touches a place that the other changes; a sum's beats may come
// in any order because sums are exact. The search tries plans (how many column sets run column-major, how far weighted
// sums lag) and then moves single operations, keeping what shortens the layer in its steady state. It is seeded and
// counts steps, not seconds, so that the same model always gives the same program. Relies on lower.hpp and
// timeline.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "host/compiler/lower.hpp"

namespace lpu::compiler {

/// A plan and the places of its operations: order[i] = index in lower_layer's list of the operation that comes i-th.
struct LayerOrder {
  LayerPlan plan;
  std::vector<std::uint32_t> order;
  std::uint32_t cycles = 0;  ///< of a layer in its steady state, at the whole context
};

/// effort: operations moved at most. progress: share 0…1.
LayerOrder search_order(const Layout& layout, std::uint32_t layer, std::uint32_t effort,
                        const std::function<void(double)>& progress);
/// A random legal order with a random plan: for tests that show that order changes no bit.
LayerOrder random_order(const Layout& layout, std::uint32_t layer, std::uint64_t seed);
/// lower_layer's operations in the order's order.
std::vector<Operation> ordered_layer(const Layout& layout, std::uint32_t layer, std::uint32_t iterations,
                                     const LayerOrder& order);

}  // namespace lpu::compiler
