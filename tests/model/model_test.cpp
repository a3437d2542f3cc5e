// What a model must be like to be compiled: every semantic refusal, and the models that open.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/model/refusal.hpp"
#include "tests/support/test_models.hpp"

namespace lpu::test {
namespace {

using model::Model;

TEST(Model, SmallestModelOpens) {
  const auto opened = Model::from(read(smallest_model()));
  const model::Hyperparameters& shape = opened->shape();
  EXPECT_EQ(shape.architecture, "llama");
  EXPECT_EQ(shape.name, "file");  // the stem, where the file has no name
  EXPECT_EQ(shape.layers, 1U);
  EXPECT_EQ(shape.head_size, 32U);
  EXPECT_EQ(shape.vocabulary, 4U);
  EXPECT_EQ(shape.rope_base, 10000.0F);
  EXPECT_EQ(shape.rope_scale, 1.0F);
  EXPECT_EQ(shape.rope_style, model::RopeStyle::kInterleaved);
  EXPECT_FALSE(shape.tied_head);
  EXPECT_FALSE(shape.qkv_bias);
  EXPECT_EQ(opened->layers()[0].query_bias, nullptr);
  EXPECT_EQ(opened->head().name, "output.weight");
}

TEST(Model, WithoutOutputTensorTheHeadIsTheEmbedding) {
  GgufBuilder builder = smallest_model();
  const auto opened = Model::from(read(builder.remove("output.weight")));
  EXPECT_TRUE(opened->shape().tied_head);
  EXPECT_EQ(&opened->head(), &opened->embedding());
}

TEST(Model, Qwen2HasBiasesAndHalfSplitRope) {
  const auto opened = Model::from(read(smallest_model("qwen2")));
  EXPECT_TRUE(opened->shape().qkv_bias);
  EXPECT_EQ(opened->shape().rope_style, model::RopeStyle::kHalfSplit);
  EXPECT_EQ(opened->layers()[0].key_bias->name, "blk.0.attn_k.bias");
}

TEST(Model, ArchitectureMissingOrUnknownIsRefusedNamingWhatIsSupported) {
  GgufBuilder builder = smallest_model();
  builder.set_string("general.architecture", "gemma3");
  expect_model_refused(builder, {"'general.architecture' at byte", "'gemma3' is not supported", "'llama'", "'qwen2'"});
  builder.remove("general.architecture");
  expect_model_refused(builder, {"'general.architecture' is missing"});
}

TEST(Model, EachRequiredKeyMissingIsRefusedByName) {
  for (const std::string key : {"context_length", "embedding_length", "block_count", "feed_forward_length",
                                "attention.head_count", "attention.layer_norm_rms_epsilon"}) {
    GgufBuilder builder = smallest_model();
    builder.remove("llama." + key);
    expect_model_refused(builder, {"'llama." + key + "' is missing"});
  }
}

TEST(Model, EachCountOfZeroIsRefusedByName) {
  for (const std::string key : {"context_length", "embedding_length", "block_count", "feed_forward_length",
                                "attention.head_count", "attention.head_count_kv", "attention.key_length"}) {
    GgufBuilder builder = smallest_model();
    builder.set_u32("llama." + key, 0);
    expect_model_refused(builder, {"'llama." + key + "' at byte"});
  }
}

TEST(Model, CountsBeyondTheLimitsAreRefusedByName) {
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::uint32_t>>{{"block_count", 1025},
                                                                                     {"embedding_length", 65568},
                                                                                     {"feed_forward_length", 65568},
                                                                                     {"attention.head_count", 2049},
                                                                                     {"vocab_size", (1U << 20) + 1}}) {
    GgufBuilder builder = smallest_model();
    builder.set_u32("llama." + key, value);
    expect_model_refused(builder, {"'llama." + key + "' at byte", "is the most supported"});
  }
}

TEST(Model, WidthsThatAreNotWholeBlocksAreRefused) {
  for (const std::string key : {"embedding_length", "feed_forward_length"}) {
    GgufBuilder builder = smallest_model();
    builder.set_u32("llama." + key, 48);
    expect_model_refused(builder, {"'llama." + key + "' at byte", "48 is not a multiple of 32"});
  }
}

TEST(Model, HeadsThatKeyValueHeadsDoNotDivideAreRefused) {
  GgufBuilder builder = smallest_model();
  builder.set_u32("llama.attention.head_count", 3).set_u32("llama.attention.head_count_kv", 2);
  expect_model_refused(builder, {"'llama.attention.head_count_kv' at byte", "2 key/value heads do not divide 3 heads"});
}

TEST(Model, WidthThatIsNotAMultipleOfTheHeadsIsRefused) {
  GgufBuilder builder = smallest_model();
  builder.set_u32("llama.attention.head_count", 3);
  expect_model_refused(builder, {"'llama.embedding_length' at byte", "width 32 is not a multiple of 3 heads"});
}

TEST(Model, HeadSizesThatTheMachineLacksAreRefused) {
  for (const std::uint32_t size : {16U, 33U, 48U, 288U}) {
    GgufBuilder builder = smallest_model();
    builder.set_u32("llama.attention.key_length", size).set_u32("llama.attention.value_length", size);
    expect_model_refused(builder, {"'llama.attention.key_length' at byte", "heads of " + std::to_string(size)});
  }
}

TEST(Model, KeysAndValuesOfDifferentSizesAreRefused) {
  GgufBuilder builder = smallest_model();
  builder.set_u32("llama.attention.key_length", 64);
  expect_model_refused(builder, {"'llama.attention.value_length' (absent", "values of 32 beside keys of 64"});
}

TEST(Model, KeyLengthIsHonouredOverWidthPerHead) {
  GgufBuilder builder = smallest_model();
  builder.set_u32("llama.attention.key_length", 64).set_u32("llama.attention.value_length", 64);
  expect_model_refused(builder, {"tensor 'blk.0.attn_q.weight'", "shape 32 x 32 is not the 32 x 64"});
  for (const char* role : {"attn_q", "attn_k", "attn_v"}) {
    builder.remove(std::string("blk.0.") + role + ".weight")
        .add_f32(std::string("blk.0.") + role + ".weight", {32, 64});
  }
  builder.remove("blk.0.attn_output.weight").add_f32("blk.0.attn_output.weight", {64, 32});
  EXPECT_EQ(Model::from(read(builder))->shape().head_size, 64U);
}

TEST(Model, PerLayerCountsAreAcceptedOnlyWhenEqual) {
  GgufBuilder builder = smallest_model();
  builder.set_array<std::int32_t>("llama.attention.head_count_kv", GgufBuilder::kI32, {1});
  EXPECT_EQ(Model::from(read(builder))->shape().kv_heads, 1U);
  builder.set_array<std::int32_t>("llama.attention.head_count_kv", GgufBuilder::kI32, {1, 1});
  expect_model_refused(builder, {"'llama.attention.head_count_kv' at byte", "has 2 numbers for 1 layers"});
  builder.set_u32("llama.block_count", 2);
  builder.set_array<std::int32_t>("llama.attention.head_count_kv", GgufBuilder::kI32, {1, 2});
  expect_model_refused(builder, {"'llama.attention.head_count_kv' at byte", "differs between layers: 1 and 2"});
  builder.set_array<std::int32_t>("llama.attention.head_count_kv", GgufBuilder::kI32, {-1, -1});
  expect_model_refused(builder, {"'llama.attention.head_count_kv' at byte", "0 or negative"});
}

TEST(Model, EpsilonMustBeAboveZeroAndFinite) {
  for (const float epsilon : {0.0F, -1e-5F, std::nanf(""), std::numeric_limits<float>::infinity()}) {
    GgufBuilder builder = smallest_model();
    builder.set_f32("llama.attention.layer_norm_rms_epsilon", epsilon);
    expect_model_refused(builder,
                         {"'llama.attention.layer_norm_rms_epsilon' at byte", "must be above zero and finite"});
  }
}

TEST(Model, RotatedPartOfAHeadIsRefused) {
  GgufBuilder builder = smallest_model();
  builder.set_u32("llama.rope.dimension_count", 31);
  expect_model_refused(builder, {"'llama.rope.dimension_count' at byte", "must be even"});
  builder.set_u32("llama.rope.dimension_count", 16);
  expect_model_refused(builder, {"'llama.rope.dimension_count' at byte", "16 rotated values of a head of 32"});
}

TEST(Model, RopeBaseAndLinearScalingAreRead) {
  GgufBuilder builder = smallest_model();
  builder.set_f32("llama.rope.freq_base", 1e6F).set_f32("llama.rope.scaling.factor", 4);
  EXPECT_EQ(Model::from(read(builder))->shape().rope_base, 1e6F);
  EXPECT_EQ(Model::from(read(builder))->shape().rope_scale, 4.0F);
  builder.set_string("llama.rope.scaling.type", "linear");
  EXPECT_EQ(Model::from(read(builder))->shape().rope_scale, 4.0F);
  builder.set_string("llama.rope.scaling.type", "none");
  EXPECT_EQ(Model::from(read(builder))->shape().rope_scale, 1.0F);
  builder.set_f32("llama.rope.freq_base", 0);
  expect_model_refused(builder, {"'llama.rope.freq_base' at byte", "above zero"});
}

TEST(Model, OtherRopeScalingIsRefused) {
  for (const std::string type : {"yarn", "longrope"}) {
    GgufBuilder builder = smallest_model();
    builder.set_string("llama.rope.scaling.type", type);
    expect_model_refused(builder, {"'llama.rope.scaling.type' at byte", "'" + type + "' is not supported"});
  }
}

TEST(Model, RopeFactorsAreReadAndChecked) {
  GgufBuilder builder = smallest_model();
  builder.add_f32("rope_freqs.weight", {16}, 8);
  EXPECT_EQ(Model::from(read(builder))->shape().rope_factors, std::vector<float>(16, 8.0F));
  builder.remove("rope_freqs.weight").add_f32("rope_freqs.weight", {16}, 0);
  expect_model_refused(builder, {"tensor 'rope_freqs.weight' at byte", "factor 0 is 0"});
  builder.remove("rope_freqs.weight").add_f32("rope_freqs.weight", {32}, 1);
  expect_model_refused(builder, {"tensor 'rope_freqs.weight' at byte", "shape 32 is not the 16"});
}

TEST(Model, ArithmeticThatTheMachineLacksIsRefused) {
  GgufBuilder experts = smallest_model();
  expect_model_refused(experts.set_u32("llama.expert_count", 8), {"'llama.expert_count'", "mixture of 8 experts"});
  GgufBuilder window = smallest_model();
  expect_model_refused(window.set_u32("llama.attention.sliding_window", 63),
                       {"'llama.attention.sliding_window'", "window of 63 tokens"});
  EXPECT_NO_THROW(Model::from(read(window.set_u32("llama.attention.sliding_window", 64))));
  GgufBuilder encoder = smallest_model();
  expect_model_refused(encoder.set_bool("llama.attention.causal", false), {"'llama.attention.causal'", "looks ahead"});
}

TEST(Model, PartOfASplitFileIsRefused) {
  GgufBuilder builder = smallest_model();
  builder.set_number("split.count", GgufBuilder::kU16, std::uint16_t{3})
      .set_number("split.no", GgufBuilder::kU16, std::uint16_t{1});
  expect_model_refused(builder, {"'split.count' at byte", "part 2 of a model split into 3 files"});
}

TEST(Model, AdapterFileIsRefused) {
  GgufBuilder builder = smallest_model();
  expect_model_refused(builder.set_string("general.type", "adapter"), {"'general.type' at byte", "holds 'adapter'"});
}

TEST(Model, EachMissingTensorIsRefusedByName) {
  const model::GgufFile whole = read(smallest_model("qwen2"));
  for (const model::Tensor& tensor : whole.tensors()) {
    if (tensor.name == "output.weight") continue;
    GgufBuilder builder = smallest_model("qwen2");
    expect_model_refused(builder.remove(tensor.name), {"tensor '" + tensor.name + "' is missing"});
  }
}

TEST(Model, EachTensorOfAnotherShapeIsRefusedByName) {
  const model::GgufFile whole = read(smallest_model("qwen2"));
  for (const model::Tensor& tensor : whole.tensors()) {
    GgufBuilder builder = smallest_model("qwen2");
    builder.remove(tensor.name).add_f32(tensor.name, {64, tensor.rows()});
    expect_model_refused(builder, {"tensor '" + tensor.name + "' at byte", "that the keys ask for"});
  }
}

TEST(Model, TensorOfAnUnsupportedTypeIsRefusedByNameAndType) {
  constexpr std::uint32_t kIq4Nl = 20;
  GgufBuilder builder = smallest_model();
  builder.remove("blk.0.ffn_up.weight")
      .add_tensor("blk.0.ffn_up.weight", {32, 32}, kIq4Nl, std::vector<std::byte>(18 * 32));
  expect_model_refused(builder, {"tensor 'blk.0.ffn_up.weight' at byte", "type IQ4_NL is not supported", "Q4_K"});
}

TEST(Model, TensorWithoutARoleIsRefusedByName) {
  GgufBuilder builder = smallest_model();
  expect_model_refused(builder.add_f32("blk.0.attn_q_norm.weight", {32}),
                       {"tensor 'blk.0.attn_q_norm.weight' at byte"});
}

TEST(Model, VocabularyThatDisagreesWithTheEmbeddingIsRefused) {
  GgufBuilder key = smallest_model();
  expect_model_refused(key.set_u32("llama.vocab_size", 5), {"'llama.vocab_size' at byte", "5 tokens", "has 4 rows"});
  GgufBuilder tokens = smallest_model();
  tokens.set_strings("tokenizer.ggml.tokens", {"a", "b", "c"});
  expect_model_refused(tokens, {"'tokenizer.ggml.tokens' at byte", "3 tokens", "has 4 rows"});
}

TEST(Model, SmolLm2Opens) {
  const auto path = smollm2();
  if (!path) GTEST_SKIP() << "models/SmolLM2-135M-Instruct.Q4_1.gguf is not there";
  const auto opened = Model::open(*path);
  const model::Hyperparameters& shape = opened->shape();
  EXPECT_EQ(opened->file().tensors().size(), 272U);
  EXPECT_EQ(opened->file().values().size(), 33U);
  EXPECT_EQ(shape.layers, 30U);
  EXPECT_EQ(shape.width, 576U);
  EXPECT_EQ(shape.heads, 9U);
  EXPECT_EQ(shape.kv_heads, 3U);
  EXPECT_EQ(shape.head_size, 64U);
  EXPECT_EQ(shape.ffn_width, 1536U);
  EXPECT_EQ(shape.vocabulary, 49152U);
  EXPECT_EQ(shape.context_limit_tokens, 8192U);
  EXPECT_EQ(shape.norm_epsilon, 1e-5F);
  EXPECT_EQ(shape.rope_base, 100000.0F);
  EXPECT_TRUE(shape.tied_head);
  EXPECT_EQ(opened->embedding().type, model::TensorType::kQ8_0);
  EXPECT_EQ(opened->embedding().file_offset, 1785664U);
  EXPECT_EQ(opened->layers()[0].query->type, model::TensorType::kQ4_1);
  EXPECT_EQ(opened->output_norm().file_offset, 98360128U);
  for (const model::Tensor& tensor : opened->file().tensors()) EXPECT_NO_THROW(check_values(tensor));
}

class RandomModel : public testing::TestWithParam<const char*> {};

TEST_P(RandomModel, OpensWithFiniteValues) {
  const auto opened = Model::open(model(GetParam()));
  EXPECT_EQ(opened->layers().size(), opened->shape().layers);
  for (const model::Tensor& tensor : opened->file().tensors()) {
    EXPECT_NO_THROW(check_values(tensor));
    std::vector<float> row(tensor.columns());
    model::dequantise_row(tensor.type, tensor.row(tensor.rows() - 1), row);
    for (const float value : row) ASSERT_TRUE(std::abs(value) < 100) << tensor.name;
    opened->file().forget(tensor);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RandomModel,
                         testing::Values("f32", "f16", "bf16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q4_k", "q5_k",
                                         "q6_k", "tied_q4_1", "tied_q8_0", "qwen2_q8_0", "qwen2_tied_q4_1",
                                         "qwen2_q4_k", "odd_shape", "odd_shape_f32", "one_kv_head", "all_kv_heads",
                                         "head_64", "head_128", "wide_heads", "one_layer", "rope_factors",
                                         "rope_linear"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST(RandomModels, RopeOptionsArriveInTheShape) {
  EXPECT_EQ(Model::open(model("rope_factors"))->shape().rope_factors.size(), 16U);
  EXPECT_EQ(Model::open(model("rope_linear"))->shape().rope_scale, 4.0F);
}

}  // namespace
}  // namespace lpu::test
