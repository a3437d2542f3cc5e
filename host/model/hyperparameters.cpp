// A model's hyper-parameters: read from the keys of its architecture, checked against each other and against what the
// machine's formats allow. Whatever would silently change the arithmetic (experts, sliding windows, other kinds of
// RoPE scaling) is refused by name. Relies on gguf.hpp, whose look-ups check types.
#include "host/model/hyperparameters.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "host/base/error.hpp"
#include "host/model/gguf_cursor.hpp"

namespace lpu::model {
namespace {

constexpr std::uint32_t kBlock = 32;  // values that share an exponent in the machine's activations
constexpr std::uint64_t kWidthLimit = 65536;
constexpr std::uint64_t kVocabularyLimit = 1U << 20;
constexpr std::uint64_t kLayerLimit = 1024;
constexpr std::uint64_t kHeadSizeLimit = 256;

/// The keys of one file's architecture, with errors that name file, key and offset.
class Keys {
 public:
  Keys(const GgufFile& file, std::string architecture) : file_(file), prefix_(std::move(architecture) + ".") {}

  template <typename... Args>
  [[noreturn]] void refuse(std::string_view key, std::string_view remedy, fmt::format_string<Args...> format,
                           Args&&... args) const {
    const std::string problem = fmt::format(format, std::forward<Args>(args)...);
    const std::string name = prefix_ + std::string(key);
    const std::uint64_t offset = file_.offset_of(name);
    const std::string place = offset != 0 ? fmt::format("at byte {}", offset) : "(absent, so implied by others)";
    fail(ExitCode::kBadInput, "{}: key '{}' {}: {}; {}", file_.path().string(), name, place, problem, remedy);
  }

  [[nodiscard]] std::optional<std::uint64_t> find_unsigned(std::string_view key) const {
    return file_.find_unsigned(prefix_ + std::string(key));
  }
  [[nodiscard]] std::optional<double> find_float(std::string_view key) const {
    return file_.find_float(prefix_ + std::string(key));
  }
  [[nodiscard]] std::optional<bool> find_bool(std::string_view key) const {
    return file_.find_bool(prefix_ + std::string(key));
  }
  [[nodiscard]] const std::string* find_string(std::string_view key) const {
    return file_.find_string(prefix_ + std::string(key));
  }

  /// A count from 1 to limit. An array with one number for each layer is accepted when all are the same.
  [[nodiscard]] std::optional<std::uint32_t> find_count(std::string_view key, std::uint64_t limit,
                                                        std::uint32_t layers) const {
    const auto found = file_.values().find(prefix_ + std::string(key));
    if (found == file_.values().end()) return std::nullopt;
    const auto* items = std::get_if<std::vector<std::int64_t>>(&found->second);
    if (items == nullptr || layers == 0) return in_range(key, find_unsigned(key).value(), limit);
    if (items->size() != layers) refuse(key, kDamaged, "has {} numbers for {} layers", items->size(), layers);
    const std::int64_t first = items->front();
    const auto other = std::find_if(items->begin(), items->end(), [first](std::int64_t item) { return item != first; });
    if (other != items->end()) {
      refuse(key, "choose a model whose layers all have the same shape", "differs between layers: {} and {}", first,
             *other);
    }
    return in_range(key, first < 0 ? 0 : static_cast<std::uint64_t>(first), limit);
  }

  [[nodiscard]] std::uint32_t count(std::string_view key, std::uint64_t limit, std::uint32_t layers) const {
    const auto value = find_count(key, limit, layers);
    if (!value) {
      fail(ExitCode::kBadInput, "{}: key '{}{}' is missing; convert the model again with a current converter",
           file_.path().string(), prefix_, key);
    }
    return *value;
  }

  /// A number above zero, finite in binary32.
  [[nodiscard]] std::optional<float> find_positive(std::string_view key) const {
    const auto value = find_float(key);
    if (!value) return std::nullopt;
    const auto narrow = static_cast<float>(*value);
    if (!(narrow > 0) || !std::isfinite(narrow))
      refuse(key, kDamaged, "is {}, but must be above zero and finite", *value);
    return narrow;
  }

 private:
  [[nodiscard]] std::uint32_t in_range(std::string_view key, std::uint64_t value, std::uint64_t limit) const {
    if (value == 0) refuse(key, kDamaged, "is 0 or negative, but must be at least 1");
    if (value > limit) refuse(key, "choose a smaller model", "is {}, but {} is the most supported", value, limit);
    return static_cast<std::uint32_t>(value);
  }

  const GgufFile& file_;
  std::string prefix_;
};

void check_kind_of_file(const GgufFile& file) {
  if (const auto parts = file.find_unsigned("split.count"); parts && *parts > 1) {
    fail(ExitCode::kBadInput,
         "{}: key 'split.count' at byte {}: this is part {} of a model split into {} files; merge the parts into one "
         "file first",
         file.path().string(), file.offset_of("split.count"), file.find_unsigned("split.no").value_or(0) + 1, *parts);
  }
  if (const std::string* type = file.find_string("general.type"); type != nullptr && *type != "model") {
    fail(ExitCode::kBadInput,
         "{}: key 'general.type' at byte {}: the file holds '{}', not a model; give a model's file",
         file.path().string(), file.offset_of("general.type"), printable(*type));
  }
}

std::string architecture_of(const GgufFile& file) {
  const std::string* name = file.find_string("general.architecture");
  if (name == nullptr) {
    fail(ExitCode::kBadInput, "{}: key 'general.architecture' is missing; convert the model again",
         file.path().string());
  }
  if (*name != "llama" && *name != "qwen2") {
    fail(ExitCode::kBadInput,
         "{}: key 'general.architecture' at byte {}: '{}' is not supported; choose a model of architecture 'llama' "
         "(Llama, Mistral, SmolLM2, TinyLlama) or 'qwen2'",
         file.path().string(), file.offset_of("general.architecture"), printable(*name));
  }
  return *name;
}

void read_heads(const Keys& keys, Hyperparameters& shape) {
  shape.heads = keys.count("attention.head_count", kWidthLimit / kBlock, shape.layers);
  shape.kv_heads = keys.find_count("attention.head_count_kv", kWidthLimit / kBlock, shape.layers).value_or(shape.heads);
  if (shape.heads % shape.kv_heads != 0) {
    keys.refuse("attention.head_count_kv", kDamaged, "{} key/value heads do not divide {} heads", shape.kv_heads,
                shape.heads);
  }
  const auto key_length = keys.find_unsigned("attention.key_length");
  const auto value_length = keys.find_unsigned("attention.value_length");
  if (!key_length && shape.width % shape.heads != 0) {
    keys.refuse("embedding_length", kDamaged, "width {} is not a multiple of {} heads", shape.width, shape.heads);
  }
  const std::uint64_t implied = shape.width / shape.heads;
  const std::uint64_t head_size = key_length.value_or(implied);
  const std::string_view key = key_length ? "attention.key_length" : "attention.head_count";
  if (head_size == 0 || head_size % kBlock != 0 || head_size > kHeadSizeLimit) {
    keys.refuse(key, "choose another model", "heads of {} values are not supported: multiples of {} up to {} are",
                head_size, kBlock, kHeadSizeLimit);
  }
  if (value_length.value_or(implied) != head_size) {
    keys.refuse("attention.value_length", "choose a model whose keys and values have the same size",
                "values of {} beside keys of {} are not supported", value_length.value_or(implied), head_size);
  }
  shape.head_size = static_cast<std::uint32_t>(head_size);
  const std::uint64_t query_rows = std::uint64_t{shape.heads} * shape.head_size;
  if (query_rows > kWidthLimit) {
    keys.refuse(key, "choose a smaller model", "{} heads of {} values are more than the {} supported", shape.heads,
                shape.head_size, kWidthLimit);
  }
}

void read_rope(const Keys& keys, Hyperparameters& shape) {
  shape.rope_style = shape.architecture == "qwen2" ? RopeStyle::kHalfSplit : RopeStyle::kInterleaved;
  shape.rope_base = keys.find_positive("rope.freq_base").value_or(10000.0F);
  const std::uint64_t rotated = keys.find_unsigned("rope.dimension_count").value_or(shape.head_size);
  if (rotated % 2 != 0) keys.refuse("rope.dimension_count", kDamaged, "is {}, but must be even", rotated);
  if (rotated != shape.head_size) {
    keys.refuse("rope.dimension_count", "choose a model that rotates whole heads",
                "{} rotated values of a head of {} are not supported", rotated, shape.head_size);
  }
  const std::string* type = keys.find_string("rope.scaling.type");
  if (type != nullptr && *type != "none" && *type != "linear") {
    keys.refuse("rope.scaling.type", "choose a model without it",
                "RoPE scaling '{}' is not supported: 'none' and 'linear' are", printable(*type));
  }
  if (const auto factor = keys.find_float("rope.scaling.attn_factor"); factor && *factor != 1.0) {
    keys.refuse("rope.scaling.attn_factor", "choose a model without it", "a factor of {} is not supported: 1 is",
                *factor);
  }
  if (type != nullptr && *type == "none") return;
  // Converters write a factor of 0 for none; older ones wrote it under another name.
  for (const std::string_view key : {"rope.scaling.factor", "rope.scale_linear"}) {
    if (const auto factor = keys.find_float(key); factor && *factor != 0) {
      shape.rope_scale = keys.find_positive(key).value();
      return;
    }
  }
}

void refuse_other_arithmetic(const Keys& keys, const Hyperparameters& shape) {
  if (const auto experts = keys.find_unsigned("expert_count"); experts && *experts > 0) {
    keys.refuse("expert_count", "choose a dense model", "a mixture of {} experts is not supported", *experts);
  }
  if (const auto window = keys.find_unsigned("attention.sliding_window");
      window && *window > 0 && *window < shape.context_limit_tokens) {
    keys.refuse("attention.sliding_window", "choose a model with full attention",
                "a sliding window of {} tokens, smaller than the context of {}, is not supported", *window,
                shape.context_limit_tokens);
  }
  if (!keys.find_bool("attention.causal").value_or(true)) {
    keys.refuse("attention.causal", "choose a decoder-only model", "attention that looks ahead is not supported");
  }
}

}  // namespace

Hyperparameters read_hyperparameters(const GgufFile& file) {
  check_kind_of_file(file);
  Hyperparameters shape;
  shape.architecture = architecture_of(file);
  const std::string* name = file.find_string("general.name");
  shape.name = name != nullptr && !name->empty() ? *name : file.path().stem().string();
  const Keys keys(file, shape.architecture);
  shape.layers = keys.count("block_count", kLayerLimit, 0);
  shape.width = keys.count("embedding_length", kWidthLimit, 0);
  shape.ffn_width = keys.count("feed_forward_length", kWidthLimit, shape.layers);
  shape.context_limit_tokens = keys.count("context_length", std::numeric_limits<std::uint32_t>::max(), 0);
  shape.vocabulary = keys.find_count("vocab_size", kVocabularyLimit, 0).value_or(0);
  for (const auto& [key, value] :
       {std::pair{"embedding_length", shape.width}, {"feed_forward_length", shape.ffn_width}}) {
    if (value % kBlock != 0) {
      keys.refuse(key, "choose another model", "{} is not a multiple of {}, the machine's block", value, kBlock);
    }
  }
  read_heads(keys, shape);
  const auto epsilon = keys.find_positive("attention.layer_norm_rms_epsilon");
  if (!epsilon) {
    fail(ExitCode::kBadInput, "{}: key '{}.attention.layer_norm_rms_epsilon' is missing; convert the model again",
         file.path().string(), shape.architecture);
  }
  shape.norm_epsilon = *epsilon;
  read_rope(keys, shape);
  refuse_other_arithmetic(keys, shape);
  return shape;
}

}  // namespace lpu::model
