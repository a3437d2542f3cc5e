// Step 6, encode: every tensor's values into the card's memories, as bytes of a memory image.
// Relies on layout.hpp (where), encode_block.hpp (what), host/model (from). What it adds in error is reported per
// tensor type.
#pragma once

#include <functional>
#include <vector>

#include "host/bundle/bundle.hpp"
#include "host/compiler/layout.hpp"
#include "host/compiler/report.hpp"

namespace lpu::compiler {

/// Fills lane_words, minimum_words, exponents, constants and rope of `contents`. progress: share 0…1.
std::vector<EncodingError> encode(const model::Model& model, const Layout& layout, bundle::Contents& contents,
                                  const std::function<void(double)>& progress);

}  // namespace lpu::compiler
