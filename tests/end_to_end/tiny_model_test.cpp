// The committed tiny model, whole: opened, compiled for two arrays, and run on the golden card until its story ends.
// Why: it is what simulations and small boards run, and its text is known to the last letter (sample.txt beside it).
#include <gtest/gtest.h>

#include <string>

#include "host/card/card.hpp"
#include "host/compiler/compiler.hpp"
#include "host/model/model.hpp"
#include "host/runtime/session.hpp"
#include "host/runtime/text_model.hpp"
#include "tests/bundle/small_bundle.hpp"

namespace lpu::test {
namespace {

const std::filesystem::path kFolder = OPENLPU_TINY_MODEL_FOLDER;
const std::string kPrompt = "Once upon a time";
constexpr std::uint32_t kContextTokens = 256;

compiler::CompileOptions options_for(const std::string& hardware) {
  compiler::CompileOptions options;
  options.hardware = compiler::find_hardware(hardware);
  options.hardware_name = hardware;
  options.context_tokens = kContextTokens;
  return options;
}

TEST(TinyModel, FileHoldsTheShapeThatIsWrittenDown) {
  const auto model = model::Model::open(kFolder / "openlpu-tiny.gguf");
  const auto& shape = model->shape();
  EXPECT_EQ(shape.layers, 2u);
  EXPECT_EQ(shape.width, 128u);
  EXPECT_EQ(shape.heads, 4u);
  EXPECT_EQ(shape.kv_heads, 1u);
  EXPECT_EQ(shape.head_size, 32u);
  EXPECT_EQ(shape.ffn_width, 192u);
  EXPECT_EQ(shape.vocabulary, 512u);
  EXPECT_EQ(shape.context_limit_tokens, kContextTokens);
  EXPECT_TRUE(shape.tied_head);
  EXPECT_LE(std::filesystem::file_size(kFolder / "openlpu-tiny.gguf"), 400'000u);
}

class TinyModelOn : public testing::TestWithParam<const char*> {};

TEST_P(TinyModelOn, FitsAndKeepsTheArrayBusy) {
  const auto model = model::Model::open(kFolder / "openlpu-tiny.gguf");
  const compiler::Report report = compiler::estimate(*model, options_for(GetParam()));
  EXPECT_TRUE(report.fits);
  EXPECT_GE(report.mac_utilisation, 0.7);
}

TEST_P(TinyModelOn, LikeliestStoryIsTheCommittedOne) {
  std::string sample = read_bytes(kFolder / "sample.txt");
  ASSERT_TRUE(sample.ends_with('\n'));
  sample.pop_back();
  ASSERT_TRUE(sample.starts_with(kPrompt));

  const TemporaryPlace place;
  const std::filesystem::path folder = place.path() / "tiny.bundle";
  compiler::compile(*model::Model::open(kFolder / "openlpu-tiny.gguf"), options_for(GetParam()), folder, std::nullopt);
  const auto bundle = bundle::Bundle::open(folder);
  const runtime::TextModel text(bundle);
  const auto card = card::open_card("golden", bundle, {});
  runtime::Session session(*card, bundle);
  runtime::GenerateOptions options;
  options.is_end = [&](std::int32_t id) { return text.tokenizer().is_end(id); };
  const auto generation = session.generate(text.tokenizer().encode(kPrompt, false, true), options);

  EXPECT_EQ(generation.end, runtime::EndReason::kStop);
  EXPECT_GE(generation.tokens.size(), 100u);
  EXPECT_EQ(kPrompt + text.tokenizer().decode(generation.tokens), sample);
  EXPECT_EQ(generation.measured_cycles, generation.predicted_cycles);
}

INSTANTIATE_TEST_SUITE_P(Arrays, TinyModelOn, testing::Values("ulx3s", "tiny"),
                         [](const auto& parameter) { return std::string(parameter.param); });

}  // namespace
}  // namespace lpu::test
