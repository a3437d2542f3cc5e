// Whole compilations: the same model gives the same bundle, byte for byte, and what can't be compiled leaves nothing
// behind.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "host/base/error.hpp"
#include "host/bundle/bundle.hpp"
#include "host/compiler/compiler.hpp"
#include "tests/support/test_models.hpp"

namespace lpu::compiler {
namespace {

class Compile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "openlpu-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static CompileOptions options(std::uint32_t context) {
    CompileOptions out;
    out.hardware = find_hardware("tiny");
    out.hardware_name = "tiny";
    out.context_tokens = context;
    return out;
  }
  /// File name → bytes of everything in a folder.
  static std::map<std::string, std::string> files_of(const std::filesystem::path& folder) {
    std::map<std::string, std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      std::ifstream stream(entry.path(), std::ios::binary);
      out[entry.path().filename().string()] = {std::istreambuf_iterator<char>(stream),
                                               std::istreambuf_iterator<char>()};
    }
    return out;
  }
  std::filesystem::path folder_;
};

TEST_F(Compile, SameModelGivesTheSameBytes) {
  const auto model = model::Model::open(test::model("qwen2_tied_q4_1"));
  compile(*model, options(64), folder_ / "a", std::nullopt);
  compile(*model, options(64), folder_ / "b", std::nullopt);
  const auto a = files_of(folder_ / "a"), b = files_of(folder_ / "b");
  EXPECT_GT(a.size(), 5u);
  EXPECT_EQ(a, b);
}

TEST_F(Compile, ModelThatDoesNotFitLeavesNothing) {
  const auto model = model::Model::open(test::model("q6_k"));
  CompileOptions small = options(64);
  small.hardware.lane_words = 100;
  try {
    compile(*model, small, folder_ / "bundle", std::nullopt);
    FAIL() << "a model of more than 100 words was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kDoesNotFit);
    const std::string sentence = error.what();
    EXPECT_NE(sentence.find("lane memory"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("too few"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("virtual"), std::string::npos) << sentence;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(Compile, ActivationMemoryCountsWholeBlocks) {
  const CompileOptions wanted = options(64);
  for (const MemoryUse& memory : estimate(*model::Model::open(test::model("q4_1")), wanted).memory) {
    if (memory.name != "activation") continue;
    const auto blocks = static_cast<std::uint64_t>(wanted.hardware.column_groups);  // one in each bank
    EXPECT_EQ(memory.capacity_bytes, memory.capacity_depth * (blocks * (32 * 10 + 17) / 8));
    return;
  }
  FAIL() << "no activation memory in the report";
}

TEST_F(Compile, DelayTableCountsTheTokenLengthsBehindIt) {
  const auto model = model::Model::open(test::model("q4_1"));
  CompileOptions exact = options(64);
  const auto used = [&] {
    for (const MemoryUse& memory : estimate(*model, exact).memory)
      if (memory.name == "delay") return static_cast<int>(memory.used_depth);
    return 0;
  };
  exact.hardware.delay_entries = used();
  exact.hardware_name = "exact.json";  // no longer the named configuration
  compile(*model, exact, folder_ / "bundle", std::nullopt);
  const bundle::Bundle bundle = bundle::Bundle::open(folder_ / "bundle");
  const contract::Program& program = bundle.program();
  EXPECT_EQ(program.delays.size() + 2 * program.length_steps, static_cast<std::size_t>(exact.hardware.delay_entries));
  exact.hardware.delay_entries -= 1;
  EXPECT_THROW(compile(*model, exact, folder_ / "small", std::nullopt), Error);
}

TEST_F(Compile, ConstantsAreAligned) {
  for (const char* name : {"odd_shape", "qwen2_q8_0", "wide_heads"}) {
    compile(*model::Model::open(test::model(name)), options(64), folder_ / name, std::nullopt);
    const bundle::Bundle bundle = bundle::Bundle::open(folder_ / name);
    for (const contract::Instruction& in : bundle.program().instructions) {
      if (contract::unit_of(in.opcode()) != contract::Unit::kVpu) continue;
      const contract::VectorFields& v = in.vector;
      for (const std::uint32_t value : {v.gain_address, v.gain_stride, v.bias_address, v.bias_stride})
        EXPECT_EQ(value % 32, 0u) << name;
    }
  }
}

TEST_F(Compile, KeysAndValuesLieAboveWhatSecondPortsOnlyLoad) {
  const auto model = model::Model::open(test::model("qwen2_tied_q4_1"));
  CompileOptions deep = options(64);
  deep.hardware = find_hardware("u55c");
  deep.hardware_name = "u55c";
  compile(*model, deep, folder_ / "a", std::nullopt);
  const bundle::Bundle bundle = bundle::Bundle::open(folder_ / "a");
  const auto low = static_cast<std::uint64_t>(contract::weight_only_words(deep.hardware));
  EXPECT_EQ(low, 512u);
  EXPECT_GE(bundle.image().lane_word_count, low);
  for (const contract::Instruction& in : bundle.program().instructions)
    if (in.opcode() == contract::Opcode::kKey || in.opcode() == contract::Opcode::kValue) {
      EXPECT_GE(in.vector.memory_address, low);
    }
}

TEST_F(Compile, TooFewAccumulatorsAreRefusedAndNamed) {
  const auto model = model::Model::open(test::model("q4_1"));
  CompileOptions small = options(32);
  small.hardware.lanes = 2;
  small.hardware.column_groups = 1;
  small.hardware.lane_words = small.hardware.minimum_words = small.hardware.exponent_words = 200000;
  for (const int entries : {8, 17, 31}) {
    small.hardware.accumulator_entries = entries;
    try {
      estimate(*model, small);
      FAIL() << entries << " accumulators were accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kDoesNotFit);
      EXPECT_NE(std::string(error.what()).find("accumulator_entries"), std::string::npos) << error.what();
    }
  }
}

TEST_F(Compile, MachineTooWideForTheEmbeddingIsToldWhatHelps) {
  const auto model = model::Model::open(test::model("one_layer"));
  CompileOptions wide = options(32);
  wide.hardware.column_groups = 256;
  try {
    estimate(*model, wide);
    FAIL() << "256 column groups were accepted with 2 vector lanes";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kDoesNotFit);
    const std::string said = error.what();
    EXPECT_NE(said.find("pitch_cycles of the embedding"), std::string::npos) << said;
    EXPECT_NE(said.find("256 column groups pass 2 vector lanes; use fewer column groups or more vector lanes"),
              std::string::npos)
        << said;
    EXPECT_EQ(said.find("context"), std::string::npos) << said;
  }
}

TEST_F(Compile, AdviceNamesCardsOnlyWhereCardsHelp) {
  const auto model = model::Model::open(test::model("q8_0"));
  CompileOptions small = options(64);
  small.hardware.residual_values = 32;
  const Report narrow = estimate(*model, small);
  ASSERT_FALSE(narrow.fits);
  EXPECT_EQ(narrow.misfits.back().find("cards"), std::string::npos) << narrow.misfits.back();
  small = options(64);
  small.hardware.lane_words = 300;
  const Report shallow = estimate(*model, small);
  ASSERT_FALSE(shallow.fits);
  EXPECT_NE(shallow.misfits.back().find("cards"), std::string::npos) << shallow.misfits.back();
}

TEST_F(Compile, ContextBeyondTheModelsNamesTheLimit) {
  const auto model = model::Model::open(test::model("one_layer"));
  try {
    compile(*model, options(65), folder_ / "bundle", std::nullopt);
    FAIL() << "65 tokens were accepted by a model of 64";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kDoesNotFit);
    EXPECT_NE(std::string(error.what()).find("64"), std::string::npos) << error.what();
  }
}

TEST_F(Compile, ScalesThatAreNoNumbersAreRefusedWithTheirTensor) {
  const std::filesystem::path damaged = folder_ / "damaged.gguf";
  std::filesystem::copy_file(test::model("q8_0"), damaged);
  const std::uint64_t offset = model::Model::open(damaged)->layers()[1].down->file_offset;
  {
    std::fstream stream(damaged, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(offset));
    stream.write("\x00\x7e", 2);  // a NaN in binary16
  }
  try {
    compile(*model::Model::open(damaged), options(64), folder_ / "bundle", std::nullopt);
    FAIL() << "a NaN was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadInput);
    const std::string sentence = error.what();
    EXPECT_NE(sentence.find("blk.1.ffn_down.weight"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("damaged.gguf"), std::string::npos) << sentence;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "bundle"));
}

}  // namespace
}  // namespace lpu::compiler
