// Placement, order and time: addresses don't overlap, the account adds up, the search is repeatable and beats the plain
// order.
#include "host/compiler/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/test_models.hpp"

namespace lpu::compiler {
namespace {

CompileOptions options_for(const std::string& hardware, std::uint32_t context) {
  CompileOptions options;
  options.hardware = find_hardware(hardware);
  options.hardware_name = hardware;
  options.context_tokens = context;
  return options;
}

TEST(Place, MatricesAndCachesDontOverlap) {
  for (const char* name : {"odd_shape", "qwen2_q8_0", "head_128", "tied_q4_1"}) {
    const auto model = model::Model::open(test::model(name));
    const Layout layout = place(*model, find_hardware("tiny"), 64, 8);
    const Geometry& g = layout.geometry;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    const auto add = [&](std::uint64_t first, std::uint64_t words) { ranges.emplace_back(first, first + words); };
    for (const LayerPlace& p : layout.layers) {
      for (const MatrixPlace* m : {&p.key, &p.query, &p.value, &p.out, &p.gate_up, &p.down})
        add(m->address, m->words());
      add(p.key_cache, std::uint64_t{g.slots} * g.key_slot_words);
      add(p.value_cache, std::uint64_t{g.slots} * g.value_slot_words);
    }
    add(layout.head.address, layout.head.words());
    if (!layout.tied_head) add(layout.embedding.address, layout.embedding.words());
    std::sort(ranges.begin(), ranges.end());
    EXPECT_EQ(ranges.front().first, 0u) << name;
    for (std::size_t i = 1; i < ranges.size(); ++i) EXPECT_EQ(ranges[i].first, ranges[i - 1].second) << name;
    EXPECT_EQ(ranges.back().second, layout.weight_words + layout.kv_words) << name;
  }
}

TEST(Place, QueryRowsAreAPermutation) {
  const auto model = model::Model::open(test::model("q4_1"));
  const Layout layout = place(*model, find_hardware("virtual"), 64, 8);
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < layout.layers[0].query.rows; ++i)
    rows.push_back(layout.geometry.query_row_in_file(i, layout.shape.head_size));
  std::sort(rows.begin(), rows.end());
  for (std::uint32_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i], i);
}

TEST(Account, BeatsIdleAndPrologueAddUpToTheToken) {
  for (const char* hardware : {"tiny", "virtual", "virtual:16x2"}) {
    const auto model = model::Model::open(test::model("tied_q4_1"));
    const CompileOptions options = options_for(hardware, 96);
    const Layout layout = place(*model, options.hardware, 96, 8);
    const Schedule schedule = make_schedule(layout, options, 500);
    for (const std::uint32_t position : {0u, 31u, 32u, 95u}) {
      const PositionCycles p = account(schedule, layout, position);
      std::uint64_t sum = p.beats + p.prologue_cycles;
      for (const auto& [cause, cycles] : p.idle_cycles) sum += cycles;
      EXPECT_EQ(sum, p.cycles) << hardware << " position " << position;
      EXPECT_LE(p.useful_beats, static_cast<double>(p.beats));
      EXPECT_GT(p.mac_utilisation, 0);
      EXPECT_LE(p.mac_utilisation, 1);
    }
  }
}

TEST(SearchOrder, IsRepeatableAndNoWorseThanLittleEffort) {
  const auto model = model::Model::open(test::model("head_64"));
  const Layout layout = place(*model, find_hardware("virtual"), 64, 8);
  const LayerOrder a = search_order(layout, 0, 3000, {}), b = search_order(layout, 0, 3000, {});
  EXPECT_EQ(a.order, b.order);
  EXPECT_EQ(a.cycles, b.cycles);
  EXPECT_LE(a.cycles, search_order(layout, 0, 1, {}).cycles);
}

TEST(MakeProgram, EqualLayersBecomeOneLoop) {
  const auto file = test::smollm2();
  if (!file) GTEST_SKIP() << "models/SmolLM2-135M-Instruct.Q4_1.gguf is absent: scripts/get_model.sh smollm2-135m";
  const auto model = model::Model::open(*file);
  const CompileOptions options = options_for("virtual", 256);
  const Layout layout = place(*model, options.hardware, 256, 8);
  const contract::Program program = make_program(make_schedule(layout, options, 2000), layout, options);
  EXPECT_LT(program.instructions.size(), 300u);  // 30 layers of 50: unrolled they would be 1,500
  std::uint64_t most = 0;
  for (const contract::Loop& loop : program.loops) most = std::max<std::uint64_t>(most, loop.iterations);
  EXPECT_GE(most, 27u);
}

/// Cycles in which a token's slices of logits enter, in their order.
std::vector<std::uint64_t> logit_entries(const Layout& layout, const Schedule& schedule, const TokenTiming& timing) {
  std::vector<std::uint64_t> entries;
  const std::vector<Operation>& head = schedule.stages.back().operations;
  const auto slice = static_cast<std::uint32_t>(layout.hardware.vector_lanes);
  for (std::size_t i = 0; i < head.size(); ++i) {
    const contract::VectorFields& v = head[i].instruction.vector;
    if (head[i].instruction.opcode() != contract::Opcode::kLogits) continue;
    for (std::uint32_t row = 0; row < v.rows; row += slice)
      entries.push_back(timing.issue.back()[0][i] + row / layout.geometry.lanes * v.pitch_cycles +
                        row % layout.geometry.lanes / slice * v.slice_cycles);
  }
  return entries;
}

TEST(TimeToken, LogitsFasterThanTheirNoiseWaitForItAndNoLonger) {
  const auto model = model::Model::open(test::model("many_tokens"));
  const CompileOptions options = options_for("virtual", 64);
  const Layout layout = place(*model, options.hardware, 64, 8);
  const Schedule schedule = make_schedule(layout, options, 200);
  const TokenTiming timing = time_token(schedule, layout, 2);
  const std::vector<std::uint64_t> entries = logit_entries(layout, schedule, timing);
  ASSERT_EQ(entries.size(), 1563u);  // of 32 ids
  // docs/isa.md, "Noise", counted from the cycles in which a slice's first ids are asked for.
  std::vector<std::uint64_t> asked;
  std::uint64_t least_wait = UINT64_MAX;
  for (std::size_t k = 0; k < entries.size(); ++k) {
    std::uint64_t cycle = k == 0 ? 1 : asked[k - 1] + 4;
    if (k >= 512) cycle = std::max(cycle, entries[k - 512] + 12 + 1);
    asked.push_back(cycle);
    const std::uint64_t there = cycle + 35 + 4;
    ASSERT_GE(entries[k], there) << "slice " << k;
    if (k >= 1024) least_wait = std::min(least_wait, entries[k] - there);
  }
  EXPECT_EQ(least_wait, 0u);  // the head would be done long before the noise
  EXPECT_GE(entries.back(), 1 + 4 * entries.size());
  EXPECT_LE(entries.back(), 40 + 4 * entries.size() + 1024);
}

TEST(TimeToken, LayersThatAreNotSteppedThroughCountForTheNoise) {
  const auto model = model::Model::open(test::model("many_tokens"));
  const CompileOptions options = options_for("virtual", 64);
  Layout layout = place(*model, options.hardware, 64, 8);
  layout.layers.assign(40, layout.layers[0]);  // repeats: its last layers are skipped
  const Schedule schedule = make_schedule(layout, options, 200);
  const TokenTiming timing = time_token(schedule, layout, 2);
  ASSERT_GT(timing.cycles_without_head, 4u * 512 + 64);  // the queue is full when the head starts
  const std::vector<std::uint64_t> entries = logit_entries(layout, schedule, timing);
  // 512 slices come as fast as the head makes them: two row groups in four cycles.
  EXPECT_LE(entries[511] - entries[0], 2u * 512);
}

TEST(Estimate, LongerContextsTakeMoreBeats) {
  const auto model = model::Model::open(test::model("q8_0"));
  const Report report = estimate(*model, options_for("virtual", 128));
  ASSERT_EQ(report.positions.size(), 3u);
  EXPECT_LT(report.positions[0].beats, report.positions[2].beats);
  EXPECT_EQ(report.cycles_per_token, report.positions[2].cycles);
}

TEST(Estimate, KeyBitsAndContextAreChecked) {
  const auto model = model::Model::open(test::model("q8_0"));
  CompileOptions options = options_for("virtual", 64);
  options.kv_bits = 9;
  EXPECT_THROW(estimate(*model, options), std::runtime_error);
  options.kv_bits = 8;
  options.context_tokens = 0;
  EXPECT_THROW(estimate(*model, options), std::runtime_error);
}

}  // namespace
}  // namespace lpu::compiler
