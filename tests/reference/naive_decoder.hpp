// The forward pass once more, as plainly as it can be written: one position after another, loops over double.
// It checks the reference's batching, threading and indexing on tiny models, and is far too slow for anything else.
#pragma once

#include <span>
#include <vector>

#include "host/model/tokenizer.hpp"
#include "tests/reference/tiny_model.hpp"

namespace lpu::reference::testing {

/// The logits after the last of the tokens, [vocabulary].
std::vector<double> naive_logits(const TinyModel& model, std::span<const model::TokenId> tokens);

}  // namespace lpu::reference::testing
