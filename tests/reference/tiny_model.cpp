// Random weights, and the file made of them.
#include "tests/reference/tiny_model.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <stdexcept>
#include <utility>

#include "tests/support/gguf_builder.hpp"

namespace lpu::reference::testing {

TinyModel TinyModel::random(const std::string& architecture, bool tied, bool biases, std::uint32_t seed) {
  TinyModel model;
  model.architecture = architecture;
  std::mt19937 generator(seed);
  const auto add = [&](const std::string& name, std::uint64_t rows, std::uint64_t columns, float mean, float spread) {
    std::normal_distribution<float> distribution(mean, spread);
    TinyTensor tensor{.shape = {columns}, .values = std::vector<float>(rows * columns)};
    if (rows > 1) tensor.shape.push_back(rows);
    std::generate(tensor.values.begin(), tensor.values.end(), [&] { return distribution(generator); });
    model.tensors[name] = std::move(tensor);
  };
  const std::uint32_t query_rows = model.heads * model.head_size;
  const std::uint32_t kv_rows = model.kv_heads * model.head_size;
  add("token_embd.weight", model.vocabulary, model.width, 0, 1);
  add("output_norm.weight", 1, model.width, 1, 0.1F);
  if (!tied) add("output.weight", model.vocabulary, model.width, 0, 0.3F);
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
    const std::string prefix = fmt::format("blk.{}.", layer);
    add(prefix + "attn_norm.weight", 1, model.width, 1, 0.1F);
    add(prefix + "attn_q.weight", query_rows, model.width, 0, 0.4F);
    add(prefix + "attn_k.weight", kv_rows, model.width, 0, 0.4F);
    add(prefix + "attn_v.weight", kv_rows, model.width, 0, 0.4F);
    add(prefix + "attn_output.weight", model.width, query_rows, 0, 0.3F);
    add(prefix + "ffn_norm.weight", 1, model.width, 1, 0.1F);
    add(prefix + "ffn_gate.weight", model.ffn_width, model.width, 0, 0.3F);
    add(prefix + "ffn_up.weight", model.ffn_width, model.width, 0, 0.3F);
    add(prefix + "ffn_down.weight", model.width, model.ffn_width, 0, 0.2F);
    if (biases) {
      add(prefix + "attn_q.bias", 1, query_rows, 0, 0.5F);
      add(prefix + "attn_k.bias", 1, kv_rows, 0, 0.5F);
      add(prefix + "attn_v.bias", 1, kv_rows, 0, 0.5F);
    }
  }
  return model;
}

void TinyModel::write(const std::filesystem::path& path) const {
  test::GgufBuilder builder;
  const std::string prefix = architecture + ".";
  builder.set_string("general.architecture", architecture).set_string("general.name", "tiny");
  builder.set_u32(prefix + "block_count", layers).set_u32(prefix + "context_length", context_tokens);
  builder.set_u32(prefix + "embedding_length", width).set_u32(prefix + "feed_forward_length", ffn_width);
  builder.set_u32(prefix + "attention.head_count", heads).set_u32(prefix + "attention.head_count_kv", kv_heads);
  builder.set_u32(prefix + "attention.key_length", head_size).set_u32(prefix + "attention.value_length", head_size);
  builder.set_f32(prefix + "attention.layer_norm_rms_epsilon", norm_epsilon);
  builder.set_f32(prefix + "rope.freq_base", rope_base);
  if (rope_scale != 1.0F) {
    builder.set_string(prefix + "rope.scaling.type", "linear").set_f32(prefix + "rope.scaling.factor", rope_scale);
  }
  for (const auto& [name, tensor] : tensors) {
    std::vector<std::byte> data(tensor.values.size() * sizeof(float));
    std::memcpy(data.data(), tensor.values.data(), data.size());
    builder.add_tensor(name, tensor.shape, static_cast<std::uint32_t>(model::TensorType::kF32), std::move(data));
  }
  const std::vector<std::byte> bytes = builder.build();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("a tiny model could not be written to " + path.string());
}

std::shared_ptr<const model::Model> TinyModel::open() const {
  std::string name = (std::filesystem::temp_directory_path() / "openlpu_tiny_XXXXXX").string();
  const int descriptor = ::mkstemp(name.data());
  if (descriptor < 0) throw std::runtime_error("no temporary file for a tiny model: " + name);
  ::close(descriptor);
  write(name);
  std::shared_ptr<const model::Model> opened;
  try {
    opened = model::Model::open(name);
  } catch (...) {
    std::filesystem::remove(name);
    throw;
  }
  std::filesystem::remove(name);
  return opened;
}

TinyTensor interleave_head_rows(const TinyTensor& tensor, std::uint32_t head_size) {
  TinyTensor result = tensor;
  const std::uint64_t columns = tensor.shape.size() > 1 ? tensor.shape[0] : 1;
  const std::uint64_t rows = tensor.values.size() / columns;
  for (std::uint64_t row = 0; row < rows; ++row) {
    const std::uint64_t in_head = row % head_size;
    const std::uint64_t from = row - in_head + in_head / 2 + (in_head % 2 == 0 ? 0 : head_size / 2);
    std::copy_n(tensor.values.begin() + static_cast<std::ptrdiff_t>(from * columns), columns,
                result.values.begin() + static_cast<std::ptrdiff_t>(row * columns));
  }
  return result;
}

}  // namespace lpu::reference::testing
