// The reference decoder on tiny models: against naive loops, batched against incremental, one RoPE style against the
// other. Sums run in different orders, so these are comparisons with a tolerance, written so that NaN fails.
#include "host/reference/decoder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "host/base/error.hpp"
#include "tests/reference/naive_decoder.hpp"
#include "tests/reference/tiny_model.hpp"

namespace lpu::reference {
namespace {

using testing::naive_logits;
using testing::TinyModel;

constexpr std::array<TokenId, 12> kText = {3, 17, 17, 0, 39, 8, 21, 5, 5, 30, 11, 2};

/// The largest |a − b| must be below the limit; a NaN anywhere makes the comparison false.
template <typename A, typename B>
void expect_close(const A& a, const B& b, double limit) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_TRUE(std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])) < limit)
        << "logit " << i << ": " << a[i] << " and " << b[i];
  }
}

std::span<const float> row_of(const std::vector<float>& logits, std::size_t row, std::size_t vocabulary) {
  return std::span(logits).subspan(row * vocabulary, vocabulary);
}

struct Variant {
  const char* name;
  const char* architecture;
  bool tied;
  bool biases;
  bool rope_factors;
  float rope_scale;
};

void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

class DecoderOfEveryVariant : public ::testing::TestWithParam<Variant> {
 protected:
  DecoderOfEveryVariant() : tiny_(TinyModel::random(GetParam().architecture, GetParam().tied, GetParam().biases, 7)) {
    if (GetParam().rope_factors) {
      std::vector<float> factors;  // [head_size/2]
      for (std::uint32_t pair = 0; pair < tiny_.head_size / 2; ++pair)
        factors.push_back(1.0F + 0.3F * static_cast<float>(pair));
      tiny_.tensors["rope_freqs.weight"] = {{factors.size()}, factors};
    }
    tiny_.rope_scale = GetParam().rope_scale;
  }
  TinyModel tiny_;
};

TEST_P(DecoderOfEveryVariant, WindowGivesTheNaiveLogits) {
  const Decoder decoder(tiny_.open(), 2);
  const std::vector<float> logits = decoder.logits(kText, 0);
  for (std::size_t row = 0; row < kText.size(); ++row) {
    expect_close(row_of(logits, row, tiny_.vocabulary), naive_logits(tiny_, std::span(kText).first(row + 1)), 2e-4);
  }
}

TEST_P(DecoderOfEveryVariant, StepsGiveTheWindowsLogits) {
  Decoder decoder(tiny_.open(), 1);
  const std::vector<float> window = decoder.logits(kText, 0);
  std::vector<float> step(tiny_.vocabulary);
  for (int round = 0; round < 2; ++round) {  // the second after reset()
    for (std::size_t position = 0; position < kText.size(); ++position) {
      EXPECT_EQ(decoder.position_tokens(), position);
      decoder.step(kText[position], step);
      expect_close(step, row_of(window, position, tiny_.vocabulary), 1e-4);
    }
    decoder.reset();
  }
}

INSTANTIATE_TEST_SUITE_P(, DecoderOfEveryVariant,
                         ::testing::Values(Variant{"LlamaTied", "llama", true, false, false, 1.0F},
                                           Variant{"LlamaOwnHead", "llama", false, false, false, 1.0F},
                                           Variant{"LlamaRopeFactors", "llama", true, false, true, 1.0F},
                                           Variant{"Qwen2Tied", "qwen2", true, true, false, 1.0F},
                                           Variant{"Qwen2OwnHeadScaledPositions", "qwen2", false, true, false, 2.5F}),
                         [](const auto& variant) { return std::string(variant.param.name); });

TEST(Decoder, HalfSplitRopeOfPermutedRowsIsInterleavedRope) {
  const TinyModel half_split = TinyModel::random("qwen2", true, true, 11);
  TinyModel interleaved = half_split;
  interleaved.architecture = "llama";
  for (std::uint32_t layer = 0; layer < half_split.layers; ++layer) {
    const std::string prefix = fmt::format("blk.{}.", layer);
    for (const char* name : {"attn_q.weight", "attn_k.weight", "attn_q.bias", "attn_k.bias"}) {
      auto& tensor = interleaved.tensors.at(prefix + name);
      tensor = testing::interleave_head_rows(tensor, interleaved.head_size);
    }
  }
  const Decoder first(half_split.open(), 1);
  const Decoder second(interleaved.open(), 1);
  expect_close(first.logits(kText, 0), second.logits(kText, 0), 1e-4);
}

TEST(Decoder, LaterTokenDoesNotChangeEarlierLogits) {
  const TinyModel tiny = TinyModel::random("llama", true, false, 3);
  const Decoder decoder(tiny.open(), 1);
  std::array<TokenId, kText.size()> changed = kText;
  changed.back() = 25;
  const std::vector<float> first = decoder.logits(kText, 0);
  const std::vector<float> second = decoder.logits(changed, 0);
  const std::size_t before = (kText.size() - 1) * tiny.vocabulary;
  expect_close(std::span(first).first(before), std::span(second).first(before), 1e-6);
  EXPECT_GT(std::abs(first.back() - second.back()), 1e-3F);
}

TEST(Decoder, FirstScoredLeavesOutEarlierRows) {
  const TinyModel tiny = TinyModel::random("llama", false, false, 4);
  const Decoder decoder(tiny.open(), 3);
  const std::vector<float> all = decoder.logits(kText, 0);
  const std::vector<float> last = decoder.logits(kText, 9);
  ASSERT_EQ(last.size(), 3 * tiny.vocabulary);
  expect_close(last, std::span(all).last(last.size()), 1e-5);
}

TEST(Decoder, TokenOutsideTheVocabularyIsRefused) {
  const TinyModel tiny = TinyModel::random("llama", true, false, 5);
  const Decoder decoder(tiny.open(), 1);
  for (const TokenId token : {-1, 40}) {
    try {
      (void)decoder.logits(std::array<TokenId, 2>{1, token}, 0);
      FAIL() << "token " << token << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kBadInput);
    }
  }
}

TEST(Decoder, TextBeyondTheContextIsRefused) {
  const TinyModel tiny = TinyModel::random("llama", true, false, 6);
  const Decoder decoder(tiny.open(), 1);
  const std::vector<TokenId> fits(tiny.context_tokens, 1);
  EXPECT_EQ(decoder.logits(fits, fits.size() - 1).size(), tiny.vocabulary);
  const std::vector<TokenId> too_long(tiny.context_tokens + 1, 1);
  try {
    (void)decoder.logits(too_long, 0);
    FAIL() << "a text longer than the context was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kDoesNotFit);
  }
}

}  // namespace
}  // namespace lpu::reference
