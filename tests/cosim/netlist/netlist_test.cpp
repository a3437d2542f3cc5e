// The netlist that Yosys makes of lpu_core, Verilated, beside the RTL that it was made of and beside the golden card:
// in every cycle of whole tokens the outputs of both cores are equal, and so is every write with the golden card's.
// Compiled once for each level. Relies on the library in OPENLPU_NETLIST_FOLDER (scripts/cmake/OpenLpuNetlist.cmake),
// which has the same interface as the RTL's; its memories are filled through the host port.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "host/card/rtl_driver.hpp"
#include "host/cosim/lockstep.hpp"
#include "tests/card/rtl_fixture.hpp"
#include "tests/support/cosim_report.hpp"

namespace lpu::test {
namespace {

/// What the ports of a core show in each cycle, as a flat list: [cycle, kind, words …] wherever a kind is there.
class Recorder {
 public:
  explicit Recorder(const LpuRtlParameters& parameters, std::uint64_t first_cycle)
      : groups_(static_cast<std::size_t>(parameters.column_groups)),
        lanes_(static_cast<std::size_t>(parameters.lanes)),
        vector_lanes_(static_cast<std::size_t>(parameters.vector_lanes)),
        first_cycle_(first_cycle) {}

  void take(const LpuRtlOutputs& out) {
    cycle_ = static_cast<std::uint32_t>(out.cycle - first_cycle_);
    add(kHost, out.host_valid != 0, {}, {out.host_data});
    add(kStart, out.token_start != 0, {}, {});
    add(kBeat, out.beat != 0, {}, {});
    for (std::uint32_t unit = 0; unit < 3; ++unit) add(kIssue, out.issue[unit] != 0, {}, {unit, out.issue_index[unit]});
    add(kBlock, out.has_block != 0,
        {{out.block_write, groups_},
         {out.block_address, groups_ * 16},
         {out.blocks, groups_ * contract::kActivationBlockBits}},
        {});
    add(kWord, out.has_word != 0,
        {{out.word_write, groups_ * lanes_}, {out.word_address, groups_ * 24}, {out.words, groups_ * lanes_ * 144}},
        {});
    add(kResidual, out.has_residual != 0, {{out.residual_lanes, vector_lanes_}, {out.residual, vector_lanes_ * 32}},
        {out.residual_row});
    add(kScale, out.has_scale != 0, {}, {out.scale_register, out.scale});
    add(kRound, out.has_round != 0, {{out.exponents, groups_ * 17}, {out.differences, groups_ * 6}}, {out.round});
    add(kInverse, out.has_inverse != 0, {{out.inverses, groups_ * 32}}, {out.inverse_round});
    add(kSum, out.has_sum != 0, {{out.sum_write, groups_}, {out.sums, groups_ * lanes_ * 88}}, {out.sum_entry});
    add(kLogits, out.has_logits != 0, {{out.logits_lanes, vector_lanes_}, {out.logits, vector_lanes_ * 32}},
        {out.logits_row});
    add(kNext, out.has_next != 0, {}, {out.next});
  }

  [[nodiscard]] const std::vector<std::vector<std::uint32_t>>& shown() const { return shown_; }
  [[nodiscard]] std::size_t count(std::uint32_t kind) const {
    return static_cast<std::size_t>(
        std::count_if(shown_.begin(), shown_.end(), [kind](const auto& entry) { return entry[1] == kind; }));
  }

  enum Kind : std::uint32_t {
    kHost,
    kStart,
    kBeat,
    kIssue,
    kBlock,
    kWord,
    kResidual,
    kScale,
    kRound,
    kInverse,
    kSum,
    kLogits,
    kNext,
    kKinds
  };

 private:
  struct Port {
    const std::uint32_t* words;
    std::size_t bits;
  };
  void add(Kind kind, bool is_there, std::initializer_list<Port> ports, std::initializer_list<std::uint32_t> values) {
    if (!is_there) return;
    std::vector<std::uint32_t>& entry = shown_.emplace_back(std::vector<std::uint32_t>{cycle_, kind});
    entry.insert(entry.end(), values);
    for (const Port& port : ports) entry.insert(entry.end(), port.words, port.words + (port.bits + 31) / 32);
  }

  std::size_t groups_, lanes_, vector_lanes_;
  std::uint64_t first_cycle_;
  std::uint32_t cycle_ = 0;
  std::vector<std::vector<std::uint32_t>> shown_;
};

struct Played {
  std::vector<std::vector<std::uint32_t>> shown;
  std::vector<std::uint64_t> results;
  std::vector<std::size_t> kinds;  ///< how often each kind of write was there
  std::uint64_t cycles = 0;
};

class Netlist : public testing::Test {
 protected:
  static std::filesystem::path folder() { return OPENLPU_NETLIST_FOLDER; }

  void SetUp() override {
    if (!has_rtl("tiny") || !std::filesystem::exists(folder() / "liblpu_rtl_tiny.so"))
      GTEST_SKIP() << "no netlist: cmake --build <build folder> --target rtl-tiny rtl-tiny-words rtl-tiny-gates";
  }

  /// Three tokens: without a head; with it, greedily; and what that chose, sampled.
  [[nodiscard]] Played play(const std::filesystem::path& from, bool load_through_port) const {
    ::setenv("OPENLPU_RTL_PATH", from.c_str(), 1);
    card::RtlOptions options;
    options.load_through_port = load_through_port;
    card::RtlDriver driver(bundle_, options);
    Recorder recorder(card::RtlLibrary::open(bundle_, false).parameters(), driver.cycle());
    const std::uint64_t begin = driver.cycle();
    driver.set_watch([&](const LpuRtlOutputs& out) {
      recorder.take(out);
      return true;
    });
    Played played;
    card::TokenRequest request;
    request.token = 5;
    for (std::uint32_t position = 0; position < 3; ++position) {
      request.position = position;
      request.want_next = position != 0;
      request.temperature = position == 2 ? 0.8F : 0.0F;
      request.seed = 77;
      card::RtlResult result;
      driver.start(request);
      EXPECT_TRUE(driver.wait(kMostCycles, &result));
      played.results.insert(played.results.end(),
                            {static_cast<std::uint64_t>(result.next), result.cycles, result.busy_beats,
                             std::uint64_t{result.with_head}, std::uint64_t{result.saturated}, result.position});
      request.token = result.with_head ? result.next : 9;
    }
    played.shown = recorder.shown();
    for (std::uint32_t kind = 0; kind < Recorder::kKinds; ++kind) played.kinds.push_back(recorder.count(kind));
    played.cycles = driver.cycle() - begin;
    return played;
  }

  static constexpr std::uint64_t kMostCycles = 100000;  ///< of a token
  TemporaryPlace place_;
  bundle::Bundle bundle_ = compiled("tied_q4_1", place_.path() / "b");
};

TEST_F(Netlist, EveryOutputInEveryCycleEqualsTheRtls) {
  const Played rtl = play(OPENLPU_RTL_FOLDER, false);
  const Played netlist = play(folder(), true);
  for (std::uint32_t kind = 0; kind < Recorder::kKinds; ++kind)
    EXPECT_GT(rtl.kinds[kind], 0u) << "kind " << kind << " never came";
  EXPECT_EQ(netlist.results, rtl.results);
  EXPECT_EQ(netlist.cycles, rtl.cycles);
  ASSERT_EQ(netlist.shown.size(), rtl.shown.size());
  for (std::size_t i = 0; i < rtl.shown.size(); ++i)
    ASSERT_EQ(netlist.shown[i], rtl.shown[i]) << "[cycle, kind, words] of output " << i;
}

TEST_F(Netlist, TokensEqualTheGoldenCardsInEveryWrite) {
  ::setenv("OPENLPU_RTL_PATH", folder().c_str(), 1);
  cosim::Options options;
  options.prompt = {5, 9};
  options.tokens = 3;  // the last two back to back
  options.threads = 1;
  options.load_through_port = true;
  const cosim::Report report = cosim::run(bundle_, options);
  expect_no_difference(report, 3);
  EXPECT_EQ(report.next.size(), 2u);
  EXPECT_GT(report.writes, 0u);
}

}  // namespace
}  // namespace lpu::test
