// What a decoder-only model file holds: its shape, its tensors by role, its tokenizer's raw keys. No arithmetic.
// Relies on gguf.hpp. Shapes are checked against the hyper-parameters here, so that later stages may trust them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "host/model/gguf.hpp"

namespace lpu::model {

enum class RopeStyle { kInterleaved, kHalfSplit };  ///< pairs (2i, 2i+1), or (i, i + head_size/2)

struct Hyperparameters {
  std::string architecture;  ///< "llama" or "qwen2"
  std::string name;          ///< general.name, or the file's stem
  std::uint32_t layers = 0;
  std::uint32_t width = 0;  ///< embedding_length
  std::uint32_t heads = 0;
  std::uint32_t kv_heads = 0;
  std::uint32_t head_size = 0;
  std::uint32_t ffn_width = 0;
  std::uint32_t vocabulary = 0;
  std::uint32_t context_limit_tokens = 0;
  float norm_epsilon = 0;
  float rope_base = 0;
  float rope_scale = 1;  ///< positions are divided by this (linear scaling); 1 = none
  RopeStyle rope_style = RopeStyle::kInterleaved;
  std::vector<float>
      rope_factors;  ///< [head_size/2] from `rope_freqs.weight`: each frequency is divided by its factor; empty = none
  bool tied_head = false;  ///< the head is the embedding
  bool qkv_bias = false;
};

struct Layer {
  const Tensor* attention_norm;  ///< [width]
  const Tensor* query;           ///< [heads·head_size × width]
  const Tensor* key;             ///< [kv_heads·head_size × width]
  const Tensor* value;           ///< [kv_heads·head_size × width]
  const Tensor* attention_out;   ///< [width × heads·head_size]
  const Tensor* ffn_norm;        ///< [width]
  const Tensor* gate;            ///< [ffn_width × width]
  const Tensor* up;              ///< [ffn_width × width]
  const Tensor* down;            ///< [width × ffn_width]
  const Tensor* query_bias;      ///< [heads·head_size] or nullptr
  const Tensor* key_bias;        ///< [kv_heads·head_size] or nullptr
  const Tensor* value_bias;      ///< [kv_heads·head_size] or nullptr
};

class Model {
 public:
  /// Opens and checks; throws Error(kBadInput) naming what isn't supported and what is.
  static std::shared_ptr<const Model> open(const std::filesystem::path& path);
  /// The same for a file that is read already.
  static std::shared_ptr<const Model> from(GgufFile file);

  [[nodiscard]] const Hyperparameters& shape() const { return shape_; }
  [[nodiscard]] const GgufFile& file() const { return file_; }
  [[nodiscard]] const std::vector<Layer>& layers() const { return layers_; }
  [[nodiscard]] const Tensor& embedding() const { return *embedding_; }  ///< [vocabulary × width]
  [[nodiscard]] const Tensor& output_norm() const { return *output_norm_; }
  [[nodiscard]] const Tensor& head() const { return *head_; }  ///< [vocabulary × width]; the embedding when tied

 private:
  explicit Model(GgufFile file);
  GgufFile file_;
  Hyperparameters shape_;
  std::vector<Layer> layers_;
  const Tensor* embedding_ = nullptr;
  const Tensor* output_norm_ = nullptr;
  const Tensor* head_ = nullptr;
};

/// Decodes one row of any supported type to binary32, exactly as the format defines it.
/// row: row_bytes of the type; values: the row's columns.
void dequantise_row(TensorType type, std::span<const std::byte> row, std::span<float> values);
/// Bytes and values of one block of the type (F32: 4 and 1; Q4_1: 20 and 32; Q6_K: 210 and 256).
std::size_t block_bytes(TensorType type);
std::size_t block_values(TensorType type);
/// Refuses NaN and infinity in a tensor: Error(kBadInput) names tensor, row, block and file offset. Blocked types are
/// judged by their scales and minimums (all that can be non-finite), F32, F16 and BF16 by every value.
void check_values(const Tensor& tensor);
/// binary16 bits to binary32, subnormals, infinities and NaN included.
float half_to_float(std::uint16_t bits);

}  // namespace lpu::model
