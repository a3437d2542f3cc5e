// Which requests a benchmark draws, and which of them fit.
#include "host/bench/workload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "host/base/error.hpp"
#include "tests/bench/words_tokenizer.hpp"

namespace lpu::test {
namespace {

const WordsTokenizer kTokenizer;

TEST(Workload, TasksAreThoseOfTheirNames) {
  EXPECT_EQ(bench::find_task("llmperf").prompt_tokens, 550u);
  EXPECT_EQ(bench::find_task("llmperf").prompt_deviation_tokens, 150u);
  EXPECT_EQ(bench::find_task("llmperf").output_tokens, 150u);
  EXPECT_EQ(bench::find_task("long").output_tokens, 1000u);
  const bench::Task task = bench::find_task("long");
  EXPECT_EQ(task.prompt_tokens + task.output_tokens - 1, 1023u);  // so that it fits a context of 1,024
  EXPECT_THROW(bench::find_task("short"), Error);
}

TEST(Workload, SameSeedSameRequestsAndOtherSeedOthers) {
  const bench::Task task{"t", 60, 20, 5};
  const auto a = bench::draw_requests(task, 5, 7, kTokenizer);
  const auto b = bench::draw_requests(task, 5, 7, kTokenizer);
  const auto c = bench::draw_requests(task, 5, 8, kTokenizer);
  std::set<std::string> beginnings;
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(a[i].index, i);
    EXPECT_EQ(a[i].prompt, b[i].prompt);
    EXPECT_EQ(a[i].prompt_ids, kTokenizer.encode(a[i].prompt, false, true));
    EXPECT_NE(a[i].prompt, c[i].prompt);
    beginnings.insert(a[i].prompt.substr(0, 2));
  }
  EXPECT_EQ(beginnings.size(), 5u);
}

TEST(Workload, LengthsAreExactAndSpreadAsAsked) {
  const auto alike = bench::draw_requests({"t", 37, 0, 5}, 4, 1, kTokenizer);
  for (const auto& request : alike) EXPECT_EQ(request.prompt_ids.size(), 37u);
  const auto requests = bench::draw_requests({"t", 200, 40, 5}, 300, 3, kTokenizer);
  double sum = 0;
  double squares = 0;
  for (const auto& request : requests) {
    const auto length = static_cast<double>(request.prompt_ids.size());
    sum += length;
    squares += length * length;
  }
  const double mean = sum / 300;
  EXPECT_NEAR(mean, 200, 8);  // the mean's own deviation is 40/√300 = 2.3
  EXPECT_NEAR(std::sqrt(squares / 300 - mean * mean), 40, 6);
}

TEST(Workload, LengthBelowOneIsDrawnAgain) {
  for (const auto& request : bench::draw_requests({"t", 2, 50, 5}, 40, 1, kTokenizer)) {
    EXPECT_GE(request.prompt_ids.size(), 1u);
    EXPECT_FALSE(request.prompt.empty());
  }
}

TEST(Workload, RequestThatFillsTheContextFitsAndOneMoreDoesNot) {
  // 37 + 20 − 1 = 56 positions
  EXPECT_EQ(bench::admit(bench::draw_requests({"t", 37, 0, 20}, 1, 1, kTokenizer), 56).admitted.size(), 1u);
  const auto refused = bench::admit(bench::draw_requests({"t", 37, 0, 20}, 1, 1, kTokenizer), 55).refused;
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].prompt_tokens, 37u);
  EXPECT_EQ(refused[0].why, "37 tokens in and 20 out need a context of 56, but the bundle's holds 55.");
}

TEST(Workload, OnesThatFitAreAdmittedBesideOnesThatDoNot) {
  const auto drawn = bench::draw_requests({"t", 40, 15, 10}, 20, 5, kTokenizer);
  const auto admission = bench::admit(drawn, 49);
  EXPECT_GT(admission.admitted.size(), 0u);
  EXPECT_GT(admission.refused.size(), 0u);
  EXPECT_EQ(admission.admitted.size() + admission.refused.size(), 20u);
  for (const auto& request : admission.admitted) EXPECT_EQ(request.prompt, drawn[request.index].prompt);
}

}  // namespace
}  // namespace lpu::test
