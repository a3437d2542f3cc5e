// The forward pass. Activations are matrices [features × positions], a position per column, so that one token (step)
// and a window (logits) are the same code: Eigen turns a product with one column into a matrix-vector product.
#include "host/reference/decoder.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "host/base/error.hpp"
#include "host/reference/parallel.hpp"

namespace lpu::reference {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXf;
/// A weight matrix as the file holds it: one row per output.
using WeightMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

WeightMatrix decode_matrix(const model::Tensor& tensor, unsigned threads) {
  WeightMatrix weights(static_cast<Index>(tensor.rows()), static_cast<Index>(tensor.columns()));
  for_parts(weights.rows(), threads, [&](Index first, Index end) {
    for (Index row = first; row < end; ++row) {
      model::dequantise_row(tensor.type, tensor.row(static_cast<std::uint64_t>(row)),
                            {weights.row(row).data(), static_cast<std::size_t>(weights.cols())});
    }
  });
  return weights;
}

/// A norm's gain or a bias; an absent tensor becomes an empty vector.
VectorXf decode_vector(const model::Tensor* tensor) {
  if (tensor == nullptr) return {};
  VectorXf values(static_cast<Index>(tensor->columns()));
  model::dequantise_row(tensor->type, tensor->row(0), {values.data(), static_cast<std::size_t>(values.size())});
  return values;
}

struct LayerWeights {
  VectorXf attention_norm;     // [width]
  WeightMatrix query;          // [heads·head_size × width]
  WeightMatrix key;            // [kv_heads·head_size × width]
  WeightMatrix value;          // [kv_heads·head_size × width]
  WeightMatrix attention_out;  // [width × heads·head_size]
  VectorXf ffn_norm;           // [width]
  WeightMatrix gate;           // [ffn_width × width]
  WeightMatrix up;             // [ffn_width × width]
  WeightMatrix down;           // [width × ffn_width]
  VectorXf query_bias;         // [heads·head_size] or empty
  VectorXf key_bias;           // [kv_heads·head_size] or empty
  VectorXf value_bias;         // [kv_heads·head_size] or empty
};

LayerWeights decode_layer(const model::Layer& layer, unsigned threads) {
  return {.attention_norm = decode_vector(layer.attention_norm),
          .query = decode_matrix(*layer.query, threads),
          .key = decode_matrix(*layer.key, threads),
          .value = decode_matrix(*layer.value, threads),
          .attention_out = decode_matrix(*layer.attention_out, threads),
          .ffn_norm = decode_vector(layer.ffn_norm),
          .gate = decode_matrix(*layer.gate, threads),
          .up = decode_matrix(*layer.up, threads),
          .down = decode_matrix(*layer.down, threads),
          .query_bias = decode_vector(layer.query_bias),
          .key_bias = decode_vector(layer.key_bias),
          .value_bias = decode_vector(layer.value_bias)};
}

/// Keys (after RoPE) and values of every position so far; each matrix is [kv_heads·head_size × capacity].
struct KvCache {
  std::vector<MatrixXf> keys;    // one per layer
  std::vector<MatrixXf> values;  // one per layer
  Index used_positions = 0;

  void make_room(std::size_t layers, Index kv_width, Index positions) {
    keys.resize(layers);
    values.resize(layers);
    const Index capacity = keys.front().cols();
    if (positions <= capacity) return;
    const Index grown = std::max(positions, 2 * capacity);
    for (MatrixXf& matrix : keys) matrix.conservativeResize(kv_width, grown);
    for (MatrixXf& matrix : values) matrix.conservativeResize(kv_width, grown);
  }
};

/// weights · input, rows shared out over the threads. input: [columns × positions]; result: [rows × positions].
MatrixXf multiply(const WeightMatrix& weights, const MatrixXf& input, unsigned threads) {
  MatrixXf result(weights.rows(), input.cols());
  for_parts(weights.rows(), threads, [&](Index first, Index end) {
    result.middleRows(first, end - first).noalias() = weights.middleRows(first, end - first) * input;
  });
  return result;
}

/// RMSNorm of each column, times the gain. input and result: [width × positions].
MatrixXf normalise(const MatrixXf& input, const VectorXf& gain, float epsilon) {
  MatrixXf result(input.rows(), input.cols());
  for (Index position = 0; position < input.cols(); ++position) {
    const double mean_square = input.col(position).cast<double>().squaredNorm() / static_cast<double>(input.rows());
    const auto scale = static_cast<float>(1.0 / std::sqrt(mean_square + static_cast<double>(epsilon)));
    result.col(position) = (input.col(position) * scale).cwiseProduct(gain);
  }
  return result;
}

/// Scores to weights that sum to one. scores: [positions seen], already scaled.
void softmax(Eigen::Ref<VectorXf> scores) {
  scores = (scores.array() - scores.maxCoeff()).exp();
  scores *= static_cast<float>(1.0 / scores.cast<double>().sum());
}

}  // namespace

struct Decoder::State {
  std::shared_ptr<const model::Model> model;
  unsigned threads = 1;
  WeightMatrix embedding;  // [vocabulary × width]
  WeightMatrix own_head;   // [vocabulary × width]; empty when the head is the embedding
  VectorXf output_norm;    // [width]
  std::vector<LayerWeights> layers;
  std::vector<double> turns_per_position;  // [head_size/2]: angle that each pair of a head turns by, in radians
  KvCache running;                         // the text that step() has seen

  [[nodiscard]] const model::Hyperparameters& shape() const { return model->shape(); }

  void check(std::span<const TokenId> tokens, Index first_position) const {
    const auto end = static_cast<std::size_t>(first_position) + tokens.size();
    if (end > shape().context_limit_tokens) {
      fail(ExitCode::kDoesNotFit, "{}: position {} is beyond the model's context of {} tokens; give a shorter text",
           shape().name, end - 1, shape().context_limit_tokens);
    }
    for (const TokenId token : tokens) {
      if (token < 0 || static_cast<std::uint32_t>(token) >= shape().vocabulary) {
        fail(ExitCode::kBadInput, "{}: token id {} is outside the vocabulary of {}; use the model's own tokenizer",
             shape().name, token, shape().vocabulary);
      }
    }
  }

  /// Turns every head of every column by its position's angles. vectors: [heads·head_size × positions].
  void rotate(MatrixXf& vectors, Index first_position) const {
    const Index head_size = shape().head_size;
    const Index pairs = head_size / 2;
    const bool interleaved = shape().rope_style == model::RopeStyle::kInterleaved;
    for (Index column = 0; column < vectors.cols(); ++column) {
      const auto position = static_cast<double>(first_position + column);
      for (Index pair = 0; pair < pairs; ++pair) {
        const double angle = position * turns_per_position[static_cast<std::size_t>(pair)];
        const auto cosine = static_cast<float>(std::cos(angle));
        const auto sine = static_cast<float>(std::sin(angle));
        for (Index head_row = 0; head_row < vectors.rows(); head_row += head_size) {
          float& first = vectors(head_row + (interleaved ? 2 * pair : pair), column);
          float& second = vectors(head_row + (interleaved ? 2 * pair + 1 : pair + pairs), column);
          const float turned = first * cosine - second * sine;
          second = first * sine + second * cosine;
          first = turned;
        }
      }
    }
  }

  /// Causal attention of the new columns over all positions. query, result: [heads·head_size × positions].
  [[nodiscard]] MatrixXf attend(const MatrixXf& query, const MatrixXf& keys, const MatrixXf& values,
                                Index first_position) const {
    const Index head_size = shape().head_size;
    const Index heads_per_kv = shape().heads / shape().kv_heads;
    const float scale = 1.0F / std::sqrt(static_cast<float>(head_size));
    const Index seen = first_position + query.cols();
    MatrixXf result(query.rows(), query.cols());
    for_heads([&](Index head) {
      const auto head_keys = keys.block(head / heads_per_kv * head_size, 0, head_size, seen);
      const auto head_values = values.block(head / heads_per_kv * head_size, 0, head_size, seen);
      MatrixXf weights(seen, query.cols());
      weights.noalias() = head_keys.transpose() * query.middleRows(head * head_size, head_size);
      weights *= scale;
      for (Index column = 0; column < query.cols(); ++column) {
        const Index visible = first_position + column + 1;
        softmax(weights.col(column).head(visible));
        weights.col(column).tail(seen - visible).setZero();
      }
      result.middleRows(head * head_size, head_size).noalias() = head_values * weights;
    });
    return result;
  }

  /// Calls work(head) for all heads, spread over the threads by turns.
  template <typename Work>
  void for_heads(const Work& work) const {
    std::vector<std::jthread> helpers;
    const unsigned parts = std::min(threads, shape().heads);
    const auto share = [this, parts, &work](unsigned first) {
      for (unsigned head = first; head < shape().heads; head += parts) work(static_cast<Index>(head));
    };
    for (unsigned part = 1; part < parts; ++part) helpers.emplace_back([&share, part] { share(part); });
    share(0);
  }

  /// Appends tokens to the cache; writes the logits of the columns from first_scored on.
  /// logits: [tokens.size() - first_scored × vocabulary].
  void forward(std::span<const TokenId> tokens, KvCache& cache, std::size_t first_scored,
               std::span<float> logits) const {
    const Index first_position = cache.used_positions;
    const auto count = static_cast<Index>(tokens.size());
    check(tokens, first_position);
    cache.make_room(layers.size(), Index{shape().kv_heads} * shape().head_size, first_position + count);

    MatrixXf residual(Index{shape().width}, count);
    for (Index column = 0; column < count; ++column) {
      residual.col(column) = embedding.row(tokens[static_cast<std::size_t>(column)]).transpose();
    }
    for (std::size_t index = 0; index < layers.size(); ++index) {
      run_layer(layers[index], residual, cache.keys[index], cache.values[index], first_position);
    }
    cache.used_positions += count;

    const auto scored = count - static_cast<Index>(first_scored);
    const MatrixXf last = normalise(residual.rightCols(scored), output_norm, shape().norm_epsilon);
    const WeightMatrix& head = own_head.size() != 0 ? own_head : embedding;
    Eigen::Map<MatrixXf> result(logits.data(), head.rows(), scored);
    for_parts(head.rows(), threads, [&](Index first, Index end) {
      result.middleRows(first, end - first).noalias() = head.middleRows(first, end - first) * last;
    });
  }

  /// One layer, in place. residual: [width × positions]; keys, values: [kv_heads·head_size × capacity].
  void run_layer(const LayerWeights& layer, MatrixXf& residual, MatrixXf& keys, MatrixXf& values,
                 Index first_position) const {
    const Index count = residual.cols();
    const MatrixXf attention_in = normalise(residual, layer.attention_norm, shape().norm_epsilon);
    MatrixXf query = multiply(layer.query, attention_in, threads);
    MatrixXf key = multiply(layer.key, attention_in, threads);
    MatrixXf value = multiply(layer.value, attention_in, threads);
    if (layer.query_bias.size() != 0) query.colwise() += layer.query_bias;
    if (layer.key_bias.size() != 0) key.colwise() += layer.key_bias;
    if (layer.value_bias.size() != 0) value.colwise() += layer.value_bias;
    rotate(query, first_position);
    rotate(key, first_position);
    keys.middleCols(first_position, count) = key;
    values.middleCols(first_position, count) = value;
    residual += multiply(layer.attention_out, attend(query, keys, values, first_position), threads);

    const MatrixXf ffn_in = normalise(residual, layer.ffn_norm, shape().norm_epsilon);
    MatrixXf hidden = multiply(layer.gate, ffn_in, threads);
    const MatrixXf up = multiply(layer.up, ffn_in, threads);
    hidden = (hidden.array() / (1.0F + (-hidden.array()).exp()) * up.array()).matrix();
    residual += multiply(layer.down, hidden, threads);
  }
};

Decoder::Decoder(std::shared_ptr<const model::Model> model, unsigned threads) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.model = std::move(model);
  state.threads = std::max(threads, 1U);
  const model::Hyperparameters& shape = state.shape();
  state.embedding = decode_matrix(state.model->embedding(), state.threads);
  if (&state.model->head() != &state.model->embedding()) {
    state.own_head = decode_matrix(state.model->head(), state.threads);
  }
  state.output_norm = decode_vector(&state.model->output_norm());
  for (const model::Layer& layer : state.model->layers()) {
    state.layers.push_back(decode_layer(layer, state.threads));
  }
  for (std::uint32_t pair = 0; pair < shape.head_size / 2; ++pair) {
    const double exponent = -2.0 * pair / shape.head_size;
    const double factor = shape.rope_factors.empty() ? 1.0 : static_cast<double>(shape.rope_factors[pair]);
    state.turns_per_position.push_back(std::pow(static_cast<double>(shape.rope_base), exponent) / factor /
                                       static_cast<double>(shape.rope_scale));
  }
}

Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

std::vector<float> Decoder::logits(std::span<const TokenId> tokens, std::size_t first_scored) const {
  if (first_scored >= tokens.size()) {
    fail(ExitCode::kInternal, "the reference was asked for logits from token {} of {}", first_scored, tokens.size());
  }
  std::vector<float> result((tokens.size() - first_scored) * state_->shape().vocabulary);
  KvCache window;
  state_->forward(tokens, window, first_scored, result);
  return result;
}

void Decoder::step(TokenId token, std::span<float> logits) {
  if (logits.size() != state_->shape().vocabulary) {
    fail(ExitCode::kInternal, "the reference was given room for {} logits, not for {}", logits.size(),
         state_->shape().vocabulary);
  }
  state_->forward({&token, 1}, state_->running, 0, logits);
}

void Decoder::reset() { state_->running.used_positions = 0; }

std::size_t Decoder::position_tokens() const { return static_cast<std::size_t>(state_->running.used_positions); }

}  // namespace lpu::reference
