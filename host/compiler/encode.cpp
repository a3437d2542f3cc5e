// Rows, blocks and constants to their places in the memory image. See encode.hpp.
#include "host/compiler/encode.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "host/base/error.hpp"
#include "host/compiler/encode_block.hpp"

namespace lpu::compiler {

namespace {

/// Where a machine row comes from.
struct RowSource {
  const model::Tensor* tensor;
  std::uint32_t row;
};

/// Machine row i of a rotated projection: rounds of heads for Q, pairs next to each other where the file splits halves.
std::uint32_t rotated_row(std::uint32_t head_row, std::uint32_t head_size, model::RopeStyle style) {
  if (style == model::RopeStyle::kInterleaved) return head_row;
  const std::uint32_t within = head_row % head_size;
  return head_row - within + within / 2 + (within % 2) * (head_size / 2);
}

class Encoder {
 public:
  Encoder(const model::Model& model, const Layout& layout, bundle::Contents& contents,
          const std::function<void(double)>& progress)
      : model_(model), l_(layout), g_(layout.geometry), out_(contents), progress_(progress) {}

  std::vector<EncodingError> run();

 private:
  void matrix(const MatrixPlace& place, const std::vector<RowSource>& rows,
              const std::vector<std::uint32_t>& column_blocks);
  void layer(std::uint32_t index);
  void grids(const model::Layer& layer, const LayerPlace& place, const model::Tensor& norm);
  void grid(const model::Tensor& weights, const model::Tensor* bias, const std::vector<float>& gain,
            double gain_of_rotation, int limit, std::uint32_t address);
  void gains(std::uint32_t address, const model::Tensor& tensor);
  void bias(std::uint32_t address, const model::Tensor* tensor, bool is_query, bool rotated);
  void rope();
  std::vector<RowSource> plain_rows(const model::Tensor& tensor) const;
  std::vector<RowSource> held_rows(const model::Tensor& tensor) const;  ///< of the ids that the card holds
  std::vector<float> values(const model::Tensor& tensor) const;
  std::uint32_t query_row(std::uint32_t index) const {
    return rotated_row(g_.query_row_in_file(index, l_.shape.head_size), l_.shape.head_size, model_.shape().rope_style);
  }

  const model::Model& model_;
  const Layout& l_;
  const Geometry& g_;
  bundle::Contents& out_;
  const std::function<void(double)>& progress_;
  std::uint64_t words_done_ = 0;
  struct Total {
    EncodingError error;
    double error_sum = 0;                                         ///< relative to each tensor's largest value
    std::map<const model::Tensor*, std::vector<double>> tensors;  ///< largest value, error sum, largest error
  };
  std::map<std::string, Total> totals_;
};

std::vector<RowSource> Encoder::plain_rows(const model::Tensor& tensor) const {
  std::vector<RowSource> rows;
  for (std::uint32_t r = 0; r < tensor.rows(); ++r) rows.push_back({&tensor, r});
  return rows;
}

std::vector<RowSource> Encoder::held_rows(const model::Tensor& tensor) const {
  std::vector<RowSource> rows;
  for (std::uint32_t i = 0; i < l_.share.ids; ++i) rows.push_back({&tensor, l_.share.first_id + i});
  return rows;
}

std::vector<float> Encoder::values(const model::Tensor& tensor) const {
  std::vector<float> out(tensor.columns());
  model::dequantise_row(tensor.type, tensor.row(0), out);
  return out;
}

void Encoder::matrix(const MatrixPlace& place, const std::vector<RowSource>& rows,
                     const std::vector<std::uint32_t>& column_blocks) {
  const auto words = static_cast<std::size_t>(place.format.nibbles);
  for (std::size_t r = 0; r < rows.size(); ++r)
    if (r == 0 || rows[r].row == 0) model::check_values(*rows[r].tensor);
  for (std::uint32_t r = 0; r < rows.size(); ++r) {
    const model::Tensor& tensor = *rows[r].tensor;
    const EncodedRow row =
        encode_row(read_blocks(tensor.type, tensor.row(rows[r].row), tensor.columns(), place.format), place.format);
    const std::size_t row_group = r / g_.lanes, lane = r % g_.lanes;
    out_.exponents[(place.exponent_address + row_group) * g_.lanes + lane] = static_cast<std::uint8_t>(row.exponent);
    for (std::uint32_t b = 0; b < place.blocks; ++b) {
      const EncodedBlock& block = row.blocks[column_blocks.empty() ? b : column_blocks[b]];
      const std::size_t set = b / g_.groups, group = b % g_.groups;
      const std::size_t address = place.address + row_group * place.row_group_words() + set * words;
      for (std::size_t n = 0; n < words; ++n) {
        std::uint8_t* word =
            out_.lane_words.data() + (((address + n) * g_.groups + group) * g_.lanes + lane) * contract::kWordBytes;
        for (std::size_t j = 0; j < contract::kBlockValues; j += 2) {
          const unsigned low = static_cast<unsigned>(block.codes[j]) >> (4 * n) & 15;
          const unsigned high = static_cast<unsigned>(block.codes[j + 1]) >> (4 * n) & 15;
          word[j / 2] = static_cast<std::uint8_t>(low | high << 4);
        }
        if (n == 0) {
          word[16] = static_cast<std::uint8_t>(block.side);
          word[17] = static_cast<std::uint8_t>(block.side >> 8);
        }
      }
      if (place.format.has_minimum) {
        const std::size_t index = place.minimum_address + row_group * place.sets + set;
        std::uint8_t* word =
            out_.minimum_words.data() + ((index * g_.groups + group) * g_.lanes + lane) * contract::kMinimumBytes;
        word[0] = static_cast<std::uint8_t>(block.minimum);
        word[1] = static_cast<std::uint8_t>(block.minimum >> 8);
      }
    }
    Total& total = totals_[model::type_name(tensor.raw_type)];
    total.error.code = describe(place.format);
    total.error.values += tensor.columns();
    total.error.lossless = total.error.lossless && row.lossless;
    std::vector<double>& own = total.tensors.try_emplace(&tensor, std::vector<double>(3)).first->second;
    own[0] = std::max(own[0], row.value_largest);
    own[1] += row.error_sum;
    own[2] = std::max(own[2], row.error_largest);
  }
  words_done_ += place.words();
  if (progress_) progress_(static_cast<double>(words_done_) / static_cast<double>(l_.weight_words));
}

void Encoder::gains(std::uint32_t address, const model::Tensor& tensor) {
  model::check_values(tensor);
  const std::vector<float> from = values(tensor);
  std::copy(from.begin(), from.end(), out_.constants.begin() + address);
}

void Encoder::bias(std::uint32_t address, const model::Tensor* tensor, bool is_query, bool rotated) {
  if (tensor == nullptr) return;
  model::check_values(*tensor);
  const std::vector<float> from = values(*tensor);
  for (std::uint32_t i = 0; i < from.size(); ++i)
    out_.constants[address + i] = from[is_query  ? query_row(i)
                                       : rotated ? rotated_row(i, l_.shape.head_size, model_.shape().rope_style)
                                                 : i];
}

/// The static grid of each K/V head: the smallest exponent with which the largest value that the head can make still
/// fits. A normalised vector has at most length √width, so a row w with gains g makes at most √width·|w∘g| + |bias|.
void Encoder::grid(const model::Tensor& weights, const model::Tensor* bias_tensor, const std::vector<float>& gain,
                   double gain_of_rotation, int limit, std::uint32_t address) {
  std::vector<float> row(weights.columns());
  const std::vector<float> added = bias_tensor == nullptr ? std::vector<float>(weights.rows()) : values(*bias_tensor);
  for (std::uint32_t head = 0; head < l_.shape.kv_heads; ++head) {
    double largest = 0;
    for (std::uint32_t d = 0; d < l_.shape.head_size; ++d) {
      const std::uint32_t index = head * l_.shape.head_size + d;
      model::dequantise_row(weights.type, weights.row(index), row);
      double sum = 0;
      for (std::size_t c = 0; c < row.size(); ++c) sum += double(row[c]) * gain[c] * row[c] * gain[c];
      largest = std::max(largest, std::sqrt(sum * double(row.size())) + std::fabs(double(added[index])));
    }
    int exponent = 0;
    const double needed = largest * gain_of_rotation / limit / contract::kKvScaleMax;
    if (needed > 0) std::frexp(needed, &exponent);
    exponent = std::clamp(exponent, contract::kRowExponentMin, contract::kRowExponentMax);
    out_.exponents[(address + head / g_.lanes) * g_.lanes + head % g_.lanes] = static_cast<std::uint8_t>(exponent);
  }
}

/// What the RoPE table multiplies by: scores come out in base 2 and divided by √head_size, half of it in Q, half in K.
double rotation_gain(std::uint32_t head_size) {
  return std::sqrt(1.4426950408889634074 / std::sqrt(double(head_size)));
}

void Encoder::grids(const model::Layer& layer, const LayerPlace& place, const model::Tensor& norm) {
  const std::vector<float> gain = values(norm);
  const int key_limit = (1 << (l_.shape.kv_bits - 1)) - 1, value_limit = (1 << (contract::kKvMantissaBits - 1)) - 1;
  // A rotated value is at most √2 times the larger of its pair.
  grid(*layer.key, layer.key_bias, gain, std::sqrt(2.0) * rotation_gain(l_.shape.head_size), key_limit, place.key_grid);
  grid(*layer.value, layer.value_bias, gain, 1, value_limit, place.value_grid);
}

void Encoder::layer(std::uint32_t index) {
  const std::uint32_t of_model = l_.share.first_layer + index;
  const model::Layer& layer = model_.layers()[of_model];
  const LayerPlace& place = l_.layers[index];
  const std::uint32_t head_size = l_.shape.head_size;
  std::vector<RowSource> key, query, gate_up;
  for (std::uint32_t r = 0; r < place.key.rows; ++r)
    key.push_back({layer.key, rotated_row(r, head_size, model_.shape().rope_style)});
  for (std::uint32_t r = 0; r < place.query.rows; ++r) query.push_back({layer.query, query_row(r)});
  for (std::uint32_t r = 0; r < place.gate_up.rows; ++r) gate_up.push_back({r % 2 == 0 ? layer.gate : layer.up, r / 2});
  std::vector<std::uint32_t> heads(place.out.blocks);
  for (std::uint32_t b = 0; b < heads.size(); ++b)
    heads[b] = g_.query_row_in_file(b * contract::kBlockValues, head_size) / contract::kBlockValues;
  matrix(place.key, key, {});
  matrix(place.query, query, {});
  matrix(place.value, plain_rows(*layer.value), {});
  matrix(place.out, plain_rows(*layer.attention_out), heads);
  matrix(place.gate_up, gate_up, {});
  matrix(place.down, plain_rows(*layer.down), {});
  gains(place.ffn_gain, *layer.ffn_norm);
  gains(place.next_gain,
        of_model + 1 < model_.layers().size() ? *model_.layers()[of_model + 1].attention_norm : model_.output_norm());
  bias(place.query_bias, layer.query_bias, true, true);
  bias(place.key_bias, layer.key_bias, false, true);
  bias(place.value_bias, layer.value_bias, false, false);
  grids(layer, place, *layer.attention_norm);
}

void Encoder::rope() {
  const model::Hyperparameters& h = model_.shape();
  const double gain = rotation_gain(h.head_size);
  const std::uint32_t pairs = h.head_size / 2;
  for (std::uint32_t pos = 0; pos < l_.shape.context_tokens; ++pos)
    for (std::uint32_t i = 0; i < pairs; ++i) {
      const double factor = h.rope_factors.empty() ? 1 : double(h.rope_factors[i]);
      const double angle = pos / double(h.rope_scale) * std::pow(double(h.rope_base), -2.0 * i / h.head_size) / factor;
      float* pair = out_.rope.data() + (std::size_t{pos} * pairs + i) * 2;
      pair[0] = static_cast<float>(std::cos(angle) * gain);
      pair[1] = static_cast<float>(std::sin(angle) * gain);
    }
}

std::vector<EncodingError> Encoder::run() {
  const std::size_t array = std::size_t{g_.groups} * g_.lanes;
  out_.lane_word_count = l_.weight_words;
  out_.kv_word_count = l_.kv_words;
  out_.minimum_word_count = l_.minimum_words;
  out_.lane_words.assign(l_.weight_words * array * contract::kWordBytes, 0);
  out_.minimum_words.assign(l_.minimum_words * array * contract::kMinimumBytes, 0);
  out_.exponents.assign(l_.exponent_words * g_.lanes, 0);
  out_.constants.assign(l_.constant_values, 0);
  out_.rope.assign(l_.rope_pairs * 2, 0);
  gains(l_.first_gain, *model_.layers()[l_.share.first_layer].attention_norm);
  if (l_.share.is_of_group() && !l_.share.is_last()) gains(l_.head_gain, model_.output_norm());
  for (std::uint32_t index = 0; index < l_.layers.size(); ++index) layer(index);
  matrix(l_.head, held_rows(model_.head()), {});
  if (!l_.tied_head) matrix(l_.embedding, held_rows(model_.embedding()), {});
  rope();

  std::vector<EncodingError> report;
  for (auto& [type, total] : totals_) {
    EncodingError& error = total.error;
    error.tensor_type = type;
    error.tensors = total.tensors.size();
    double sum = 0;
    for (const auto& [tensor, own] : total.tensors) {
      if (own[0] == 0) continue;
      error.largest = std::max(error.largest, own[2] / own[0]);
      sum += own[1] / own[0];
    }
    error.mean = sum / static_cast<double>(std::max<std::uint64_t>(1, error.values));
    report.push_back(error);
  }
  return report;
}

}  // namespace

std::vector<EncodingError> encode(const model::Model& model, const Layout& layout, bundle::Contents& contents,
                                  const std::function<void(double)>& progress) {
  return Encoder(model, layout, contents, progress).run();
}

}  // namespace lpu::compiler
