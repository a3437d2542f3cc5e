// Reads and checks a model's hyper-parameters from a GGUF file's keys. Used by model.cpp only.
#pragma once

#include "host/model/model.hpp"

namespace lpu::model {

/// Everything but what only tensors tell: vocabulary (0 unless the file has a key for it), tied_head, qkv_bias and
/// rope_factors. Error(kBadInput) names the key and what is supported.
Hyperparameters read_hyperparameters(const GgufFile& file);

}  // namespace lpu::model
