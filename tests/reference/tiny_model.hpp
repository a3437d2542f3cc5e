// A decoder-only model of a few thousand random weights, kept as plain numbers and written as a GGUF file.
//
// Why: the reference reads model files only, and a test of it needs models of both architectures whose weights it can
// change at will. Relies on tests/support/gguf_builder.hpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/model/model.hpp"

namespace lpu::reference::testing {

struct TinyTensor {
  std::vector<std::uint64_t> shape;  ///< shape[0] = columns
  std::vector<float> values;         ///< [rows × columns]
};

struct TinyModel {
  std::string architecture = "llama";
  std::uint32_t layers = 2;
  std::uint32_t width = 64;
  std::uint32_t heads = 4;
  std::uint32_t kv_heads = 2;
  std::uint32_t head_size = 32;
  std::uint32_t ffn_width = 96;
  std::uint32_t vocabulary = 40;
  std::uint32_t context_tokens = 64;
  float norm_epsilon = 1e-5F;
  float rope_base = 100.0F;  ///< low, so that a few positions turn every pair visibly
  float rope_scale = 1.0F;
  std::map<std::string, TinyTensor> tensors;

  /// Random weights. tied: no head of its own; biases: for query, key and value.
  static TinyModel random(const std::string& architecture, bool tied, bool biases, std::uint32_t seed);

  void write(const std::filesystem::path& path) const;
  /// Writes a temporary file, opens it, and removes its name (the mapping keeps the bytes).
  [[nodiscard]] std::shared_ptr<const model::Model> open() const;
};

/// Reorders the rows of every head of a query or key matrix (or bias) from half-split pairs (i, i + head_size/2) to
/// interleaved pairs (2i, 2i + 1), so that interleaved RoPE then turns what half-split RoPE turned before.
TinyTensor interleave_head_rows(const TinyTensor& tensor, std::uint32_t head_size);

}  // namespace lpu::reference::testing
