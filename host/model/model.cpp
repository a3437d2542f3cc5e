// Finds every tensor of a model by its role and holds its shape to the hyper-parameters.
// A tensor that has no role here is refused too: it would be arithmetic that the file asks for and nobody does.
// Relies on hyperparameters.hpp and gguf.hpp.
#include "host/model/model.hpp"

#include <cmath>
#include <set>
#include <utility>

#include "host/base/error.hpp"
#include "host/model/gguf_cursor.hpp"
#include "host/model/hyperparameters.hpp"
#include "host/model/tensor_types.hpp"

namespace lpu::model {
namespace {

constexpr std::uint64_t kVocabularyLimit = 1U << 20;

/// Hands out tensors by name and remembers which were asked for.
class Tensors {
 public:
  explicit Tensors(const GgufFile& file) : file_(file) {}

  /// Any shape; nullptr when absent.
  const Tensor* find(const std::string& name) {
    const Tensor* tensor = file_.find_tensor(name);
    if (tensor == nullptr) return nullptr;
    used_.insert(name);
    if (!tensor->is_supported()) {
      fail(ExitCode::kBadInput, "{}: tensor '{}' at byte {}: type {} is not supported; convert the model to one of {}",
           file_.path().string(), name, tensor->file_offset, type_name(tensor->raw_type), supported_type_names());
    }
    return tensor;
  }

  /// Of this shape, contiguous extent first; nullptr when absent.
  const Tensor* find(const std::string& name, const std::vector<std::uint64_t>& shape) {
    const Tensor* tensor = find(name);
    if (tensor != nullptr) check_shape(*tensor, shape);
    return tensor;
  }

  const Tensor* get(const std::string& name, const std::vector<std::uint64_t>& shape) {
    const Tensor* tensor = find(name, shape);
    if (tensor == nullptr) missing(name);
    return tensor;
  }

  [[noreturn]] void missing(const std::string& name) const {
    fail(ExitCode::kBadInput, "{}: tensor '{}' is missing; convert the model again", file_.path().string(), name);
  }

  void refuse_unused() const {
    for (const Tensor& tensor : file_.tensors()) {
      if (used_.contains(tensor.name)) continue;
      fail(ExitCode::kBadInput,
           "{}: tensor '{}' at byte {} has no place in the model that the keys describe; choose a model without it",
           file_.path().string(), printable(tensor.name), tensor.file_offset);
    }
  }

 private:
  void check_shape(const Tensor& tensor, const std::vector<std::uint64_t>& wanted) const {
    std::vector<std::uint64_t> held = tensor.shape;
    while (held.size() > wanted.size() && held.back() == 1) held.pop_back();
    if (held == wanted) return;
    fail(ExitCode::kBadInput, "{}: tensor '{}' at byte {}: shape {} is not the {} that the keys ask for; {}",
         file_.path().string(), tensor.name, tensor.file_offset, fmt::join(tensor.shape, " x "),
         fmt::join(wanted, " x "), kDamaged);
  }

  const GgufFile& file_;
  std::set<std::string, std::less<>> used_;
};

Layer read_layer(Tensors& tensors, const Hyperparameters& shape, std::uint32_t index) {
  const auto name = [index](const char* role) { return fmt::format("blk.{}.{}", index, role); };
  const std::uint64_t width = shape.width;
  const std::uint64_t query_rows = std::uint64_t{shape.heads} * shape.head_size;
  const std::uint64_t key_rows = std::uint64_t{shape.kv_heads} * shape.head_size;
  Layer layer{};
  layer.attention_norm = tensors.get(name("attn_norm.weight"), {width});
  layer.query = tensors.get(name("attn_q.weight"), {width, query_rows});
  layer.key = tensors.get(name("attn_k.weight"), {width, key_rows});
  layer.value = tensors.get(name("attn_v.weight"), {width, key_rows});
  layer.attention_out = tensors.get(name("attn_output.weight"), {query_rows, width});
  layer.ffn_norm = tensors.get(name("ffn_norm.weight"), {width});
  layer.gate = tensors.get(name("ffn_gate.weight"), {width, shape.ffn_width});
  layer.up = tensors.get(name("ffn_up.weight"), {width, shape.ffn_width});
  layer.down = tensors.get(name("ffn_down.weight"), {shape.ffn_width, width});
  if (shape.qkv_bias) {
    layer.query_bias = tensors.get(name("attn_q.bias"), {query_rows});
    layer.key_bias = tensors.get(name("attn_k.bias"), {key_rows});
    layer.value_bias = tensors.get(name("attn_v.bias"), {key_rows});
  }
  return layer;
}

std::vector<float> read_rope_factors(Tensors& tensors, const GgufFile& file, const Hyperparameters& shape) {
  const Tensor* tensor = tensors.find("rope_freqs.weight", {shape.head_size / 2});
  if (tensor == nullptr) return {};
  std::vector<float> factors(shape.head_size / 2);  // [head_size/2]
  dequantise_row(tensor->type, tensor->row(0), factors);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (factors[i] > 0 && std::isfinite(factors[i])) continue;
    fail(ExitCode::kBadInput, "{}: tensor '{}' at byte {}: factor {} is {}, but must be above zero and finite; {}",
         file.path().string(), tensor->name, tensor->file_offset, i, factors[i], kDamaged);
  }
  return factors;
}

/// The vocabulary is the embedding's row count; the file's key and its token list, where present, must agree.
std::uint32_t vocabulary_of(const GgufFile& file, const Hyperparameters& shape, const Tensor& embedding) {
  const std::uint64_t rows = embedding.rows();
  const auto disagree = [&](const std::string& key, std::uint64_t count) {
    fail(ExitCode::kBadInput, "{}: key '{}' at byte {}: {} tokens, but tensor 'token_embd.weight' has {} rows; {}",
         file.path().string(), key, file.offset_of(key), count, rows, kDamaged);
  };
  if (embedding.shape.size() != 2 || rows > kVocabularyLimit) {
    fail(ExitCode::kBadInput,
         "{}: tensor 'token_embd.weight' at byte {}: shape {} is not supported: a matrix of up to {} rows is",
         file.path().string(), embedding.file_offset, fmt::join(embedding.shape, " x "), kVocabularyLimit);
  }
  if (shape.vocabulary != 0 && shape.vocabulary != rows) disagree(shape.architecture + ".vocab_size", shape.vocabulary);
  const auto* tokens = file.find_strings("tokenizer.ggml.tokens");
  if (tokens != nullptr && tokens->size() != rows) disagree("tokenizer.ggml.tokens", tokens->size());
  return static_cast<std::uint32_t>(rows);
}

}  // namespace

std::shared_ptr<const Model> Model::open(const std::filesystem::path& path) { return from(GgufFile(path)); }

std::shared_ptr<const Model> Model::from(GgufFile file) {
  return std::shared_ptr<const Model>(new Model(std::move(file)));
}

Model::Model(GgufFile file) : file_(std::move(file)), shape_(read_hyperparameters(file_)) {
  Tensors tensors(file_);
  embedding_ = tensors.find("token_embd.weight");
  if (embedding_ == nullptr) tensors.missing("token_embd.weight");
  shape_.vocabulary = vocabulary_of(file_, shape_, *embedding_);
  const std::vector<std::uint64_t> token_rows = {shape_.width, shape_.vocabulary};
  embedding_ = tensors.get("token_embd.weight", token_rows);
  output_norm_ = tensors.get("output_norm.weight", {shape_.width});
  head_ = tensors.find("output.weight", token_rows);
  shape_.tied_head = head_ == nullptr;
  if (shape_.tied_head) head_ = embedding_;
  shape_.rope_factors = read_rope_factors(tensors, file_, shape_);
  shape_.qkv_bias = shape_.architecture == "qwen2" || file_.find_tensor("blk.0.attn_q.bias") != nullptr;
  for (std::uint32_t i = 0; i < shape_.layers; ++i) layers_.push_back(read_layer(tensors, shape_, i));
  tensors.refuse_unused();
}

}  // namespace lpu::model
