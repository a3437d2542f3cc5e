// Step 2, lower: one layer (or the token's start, or the head) as operations in an order that means the right thing.
//
// A matrix's column sets before `column_sets` run column-major, a burst for a few sets, so that they can start on a
// producer's first results; the rest runs row-major, so that row groups finish one after another for the next consumer.
// The vector unit takes finished row groups in pieces. The search in order.hpp then moves operations about. Relies on
// layout.hpp and operation.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "host/compiler/layout.hpp"
#include "host/compiler/operation.hpp"

namespace lpu::compiler {

/// What the order search chooses for a layer beside the order itself.
struct LayerPlan {
  std::uint32_t qkv_column_sets = 0;  ///< of query, key and value
  std::uint32_t out_column_sets = 0;
  std::uint32_t gate_up_column_sets = 0;
  std::uint32_t down_column_sets = 0;
  std::uint32_t lag = 1;  ///< rounds by which weighted sums run behind scores
  bool value_before_query = true;
};

/// A residual from another card, as fast as the link brings it; gain_address: of the norm that comes next.
std::vector<Operation> lower_receive(const Layout& layout, std::uint32_t gain_address, std::uint64_t block_cycles);
/// The start of a token: its embedding.
std::vector<Operation> lower_embedding(const Layout& layout);
/// Layer `layer`; iterated over `iterations` layers of one kind that follow one another.
std::vector<Operation> lower_layer(const Layout& layout, std::uint32_t layer, std::uint32_t iterations,
                                   const LayerPlan& plan);
/// Lets the layer's new residual go to other cards as well.
void send_residual(std::vector<Operation>& layer, contract::Receivers receivers);
/// The head, streaming into arg-max.
std::vector<Operation> lower_head(const Layout& layout);

}  // namespace lpu::compiler
