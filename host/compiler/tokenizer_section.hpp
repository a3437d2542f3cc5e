// A bundle's tokenizer: the model file's tokenizer keys as a GGUF file of their own, so that a bundle needs no model
// beside it.
#pragma once

#include <cstddef>
#include <vector>

#include "host/model/gguf.hpp"

namespace lpu::compiler {

/// A GGUF file (version 3, no tensors) with general.architecture, general.name and all tokenizer.* keys of `file`.
std::vector<std::byte> tokenizer_section(const model::GgufFile& file);

}  // namespace lpu::compiler
