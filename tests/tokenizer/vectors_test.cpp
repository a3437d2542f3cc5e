// Token ids of some 2,400 lines in many scripts, equal to those of llama.cpp's llama-tokenize for every pre-tokenizer.
// Where the vectors and the vocabularies come from: tests/tokenizer/vectors/README.md. Relies on models/ for those that
// aren't committed; without them these tests are skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "host/model/gguf.hpp"
#include "host/model/tokenizer.hpp"
#include "tests/support/test_models.hpp"

namespace lpu::model {
namespace {

const std::filesystem::path kFolder = OPENLPU_VECTORS_DIR;
const std::filesystem::path kFetchedFolder = OPENLPU_VOCABULARIES_DIR;

nlohmann::json read_json(const std::string& name) {
  std::ifstream file(kFolder / (name + ".json"));
  return nlohmann::json::parse(file);
}

class TokenizerVectors : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string name = GetParam();
    std::filesystem::path path = kFolder / (name + ".gguf");
    if (name == "smollm") {
      const auto model = test::smollm2();
      if (!model) GTEST_SKIP() << "no SmolLM2 in models/; scripts/get_model.sh smollm2-135m gets it";
      path = *model;
    } else if (name != "gpt-2") {
      path = kFetchedFolder / ("ggml-vocab-" + name + ".gguf");
      if (!std::filesystem::exists(path))
        GTEST_SKIP() << "no " << path << "; scripts/get_model.sh tokenizer-vocabularies gets it";
    }
    tokenizer_ = Tokenizer::from(GgufFile(path));
  }
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_P(TokenizerVectors, LinesOfManyScriptsGiveTheSameIds) {
  const auto lines = read_json("lines").get<std::vector<std::string>>();
  const auto ids = read_json(GetParam())["ids"].get<std::vector<std::vector<TokenId>>>();
  ASSERT_GE(lines.size(), 2000U);
  ASSERT_EQ(ids.size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(tokenizer_->encode(lines[i], false, false), ids[i]) << "line " << i << ": " << lines[i];
    EXPECT_EQ(tokenizer_->encode(lines[i], true, false), ids[i]) << "line " << i << ": " << lines[i];
  }
}

TEST_P(TokenizerVectors, SpecialTokensInTheTextGiveTheSameIds) {
  const nlohmann::json special = read_json(GetParam())["special"];
  ASSERT_GT(special.size(), 150U);
  for (const auto& entry : special) {
    const auto line = entry[0].get<std::string>();
    // Qwen2 has "</s>" as an ordinary token. llama-tokenize takes it for an end mark by its spelling alone; here, as in
    // the model's own tokenizer, it's text.
    const bool is_text = tokenizer_->kind() == "gpt2/qwen2" && line.find("</s>") != std::string::npos;
    EXPECT_EQ(tokenizer_->encode(line, true, false), entry[is_text ? 2 : 1].get<std::vector<TokenId>>()) << line;
    EXPECT_EQ(tokenizer_->encode(line, false, false), entry[2].get<std::vector<TokenId>>()) << line;
  }
}

TEST_P(TokenizerVectors, DecodedIdsGiveTheLineBack) {
  const auto lines = read_json("lines").get<std::vector<std::string>>();
  const auto ids = read_json(GetParam())["ids"].get<std::vector<std::vector<TokenId>>>();
  const bool is_spm = tokenizer_->kind() == "llama";
  std::vector<std::string> rare;  // characters that SmolLM2's vocabulary can't spell
  if (tokenizer_->kind() == "gpt2/smollm")
    rare = {"\x04", "\x06", "\x13", "\x14", "\x16", "\x1D", "\xF1", "\xF2", "\xF4"};
  std::size_t checked = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    // SentencePiece spells a space as U+2581, so that a real one comes back as a space.
    if (is_spm && lines[i].find("▁") != std::string::npos) continue;
    if (std::any_of(rare.begin(), rare.end(), [&](const auto& c) { return lines[i].find(c) != std::string::npos; }))
      continue;
    EXPECT_EQ(tokenizer_->decode(ids[i]), lines[i]) << "line " << i;
    ++checked;
  }
  EXPECT_GT(checked, lines.size() * 8 / 10);
}

TEST_P(TokenizerVectors, HundredKilobytesTakeWellUnderASecond) {
  std::string text;
  for (const auto& line : read_json("lines").get<std::vector<std::string>>()) text += line + "\n";
  while (text.size() < 100000) text += text;
  const auto start = std::chrono::steady_clock::now();
  const auto ids = tokenizer_->encode(text, true, false);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  RecordProperty("seconds_per_100kB", std::to_string(seconds.count() * 100000 / static_cast<double>(text.size())));
  EXPECT_GT(ids.size(), text.size() / 10);
  EXPECT_LT(seconds.count() * 100000 / static_cast<double>(text.size()), 1.0);
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, TokenizerVectors,
                         testing::Values("smollm", "gpt-2", "llama-bpe", "qwen2", "llama-spm"), [](const auto& chosen) {
                           std::string name = chosen.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace lpu::model
