// Textbook loops; see naive_decoder.hpp.
#include "tests/reference/naive_decoder.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <string>

namespace lpu::reference::testing {
namespace {

using Values = std::vector<double>;

const TinyTensor* find(const TinyModel& model, const std::string& name) {
  const auto found = model.tensors.find(name);
  return found == model.tensors.end() ? nullptr : &found->second;
}

Values product(const TinyModel& model, const std::string& name, const Values& input) {
  const TinyTensor& weights = model.tensors.at(name + ".weight");
  const TinyTensor* bias = find(model, name + ".bias");
  Values result(weights.values.size() / input.size());
  for (std::size_t row = 0; row < result.size(); ++row) {
    result[row] = bias == nullptr ? 0.0 : static_cast<double>(bias->values[row]);
    for (std::size_t column = 0; column < input.size(); ++column) {
      result[row] += static_cast<double>(weights.values[row * input.size() + column]) * input[column];
    }
  }
  return result;
}

Values norm(const TinyModel& model, const std::string& name, const Values& input) {
  double squares = 0;
  for (const double value : input) squares += value * value;
  const double scale =
      1 / std::sqrt(squares / static_cast<double>(input.size()) + static_cast<double>(model.norm_epsilon));
  Values result(input.size());
  for (std::size_t i = 0; i < input.size(); ++i) {
    result[i] = input[i] * scale * static_cast<double>(model.tensors.at(name + ".weight").values[i]);
  }
  return result;
}

void rotate(const TinyModel& model, Values& vector, std::size_t position) {
  const std::size_t half = model.head_size / 2;
  const TinyTensor* factors = find(model, "rope_freqs.weight");
  for (std::size_t head = 0; head < vector.size(); head += model.head_size) {
    for (std::size_t pair = 0; pair < half; ++pair) {
      double angle =
          static_cast<double>(position) / static_cast<double>(model.rope_scale) *
          std::pow(static_cast<double>(model.rope_base), -static_cast<double>(pair) / static_cast<double>(half));
      if (factors != nullptr) angle /= static_cast<double>(factors->values[pair]);
      double& a = vector[head + (model.architecture == "llama" ? 2 * pair : pair)];
      double& b = vector[head + (model.architecture == "llama" ? 2 * pair + 1 : pair + half)];
      const Values turned = {a * std::cos(angle) - b * std::sin(angle), a * std::sin(angle) + b * std::cos(angle)};
      a = turned[0];
      b = turned[1];
    }
  }
}

Values attend(const TinyModel& model, const Values& query, const std::vector<Values>& keys,
              const std::vector<Values>& values) {
  Values result(query.size(), 0.0);
  for (std::size_t head = 0; head < model.heads; ++head) {
    const std::size_t from = head * model.head_size;
    const std::size_t kv_from = head / (model.heads / model.kv_heads) * model.head_size;
    Values weights;
    for (const Values& key : keys) {
      double score = 0;
      for (std::size_t i = 0; i < model.head_size; ++i) score += query[from + i] * key[kv_from + i];
      weights.push_back(std::exp(score / std::sqrt(static_cast<double>(model.head_size))));
    }
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (std::size_t position = 0; position < values.size(); ++position) {
      for (std::size_t i = 0; i < model.head_size; ++i) {
        result[from + i] += weights[position] / sum * values[position][kv_from + i];
      }
    }
  }
  return result;
}

void add(Values& to, const Values& what) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += what[i];
}

}  // namespace

std::vector<double> naive_logits(const TinyModel& model, std::span<const model::TokenId> tokens) {
  std::vector<std::vector<Values>> keys(model.layers);
  std::vector<std::vector<Values>> values(model.layers);
  Values residual(model.width);
  for (std::size_t position = 0; position < tokens.size(); ++position) {
    for (std::size_t i = 0; i < model.width; ++i) {
      const auto token = static_cast<std::size_t>(tokens[position]);
      residual[i] = static_cast<double>(model.tensors.at("token_embd.weight").values[token * model.width + i]);
    }
    for (std::size_t layer = 0; layer < model.layers; ++layer) {
      const std::string prefix = fmt::format("blk.{}.", layer);
      const Values attention_in = norm(model, prefix + "attn_norm", residual);
      Values query = product(model, prefix + "attn_q", attention_in);
      Values key = product(model, prefix + "attn_k", attention_in);
      rotate(model, query, position);
      rotate(model, key, position);
      keys[layer].push_back(key);
      values[layer].push_back(product(model, prefix + "attn_v", attention_in));
      add(residual, product(model, prefix + "attn_output", attend(model, query, keys[layer], values[layer])));
      const Values ffn_in = norm(model, prefix + "ffn_norm", residual);
      Values hidden = product(model, prefix + "ffn_gate", ffn_in);
      const Values up = product(model, prefix + "ffn_up", ffn_in);
      for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] *= up[i] / (1 + std::exp(-hidden[i]));
      add(residual, product(model, prefix + "ffn_down", hidden));
    }
  }
  const bool tied = find(model, "output.weight") == nullptr;
  return product(model, tied ? "token_embd" : "output", norm(model, "output_norm", residual));
}

}  // namespace lpu::reference::testing
