// Drives a Verilated lpu_vector_unit and compares every port in every cycle: a valid bit that comes a cycle early or
// late, or where none is expected, fails as a wrong value does. What enters when, and what must come out when, is
// filled in by script.hpp before the run. Relies on wires.hpp; latencies are hls/contract/latencies.hpp's, less the
// write into the memory behind each port.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "hls/contract/number_formats.hpp"
#include "hls/engine/quantise.hpp"
#include "tests/cosim/wires.hpp"

namespace lpu {
namespace cosim {

using Cycle = std::uint64_t;

/// What a slice of rows brings, cycle 0 of its way.
struct Entry {
  unsigned kind = 0;
  std::uint32_t lanes = 0;  ///< bit l: lane l's row is there
  unsigned slot = 0;
  bool block_end = false, start = false, end = false, has_bias = false, wide = false;
  int grid = 0;
  std::uint32_t row = 0;
  int exponent_offset = 0;
  float scale = 0;
  std::vector<engine::Int128> sums;  ///< [VectorLanes]
  std::vector<int> row_exponents;    ///< [VectorLanes]
};

struct Codes {
  unsigned block = 0;
  std::vector<int> codes;  ///< [32]
  unsigned scale = 0;
};
struct Lanes {
  std::uint32_t lanes = 0;
  std::vector<float> values;  ///< [VectorLanes]
};

/// By cycle: what enters, and what must be at the ports.
struct Traffic {
  std::map<Cycle, Entry> entries;
  std::map<Cycle, std::vector<float>> gains, biases, cosines, sines;
  std::map<Cycle, std::vector<std::int32_t>> noises;
  std::map<Cycle, Lanes> residuals, logits;
  std::map<Cycle, engine::Block> norm_blocks, queries, mixes, swiglus;
  std::map<Cycle, float> scales;
  std::map<Cycle, Codes> keys, values;
  std::map<Cycle, std::pair<std::uint32_t, float>> bests;
  std::map<Cycle, std::pair<std::uint32_t, std::int64_t>> samples;  ///< id and key
  Cycle end = 0;                                                    ///< first cycle in which nothing can come any more
};

template <typename Module, int VectorLanes>
class VectorBench {
 public:
  VectorBench() { reset(); }
  /// One cycle of reset.
  void reset() {
    module_.entry_valid_i = 0;
    module_.rst_ni = 0;
    tick(module_);
    module_.rst_ni = 1;
  }
  Module& module() { return module_; }

  /// Runs all of it; whether a saturation was reported.
  bool run(const Traffic& traffic) {
    bool saturated = false;
    for (Cycle cycle = 0; cycle < traffic.end && !::testing::Test::HasFatalFailure(); ++cycle) {
      drive(traffic, cycle);
      module_.eval();
      check(traffic, cycle);
      tick(module_);
      saturated = saturated || module_.saturated_o != 0;
    }
    return saturated;
  }

 private:
  template <typename Port>
  void put_floats(Port& port, const std::map<Cycle, std::vector<float>>& all, Cycle cycle, int count) {
    const auto found = all.find(cycle);
    // Where nothing is due the port holds what must not matter.
    for (int l = 0; l < count; ++l)
      put(port, 32 * l, 32,
          found == all.end() ? 0x7f7fffffu : engine::bits_from_float(found->second[static_cast<std::size_t>(l)]));
  }

  void drive(const Traffic& traffic, Cycle cycle) {
    put_floats(module_.gain_i, traffic.gains, cycle, VectorLanes);
    put_floats(module_.bias_i, traffic.biases, cycle, VectorLanes);
    put_floats(module_.cosine_i, traffic.cosines, cycle, VectorLanes / 2);
    put_floats(module_.sine_i, traffic.sines, cycle, VectorLanes / 2);
    const auto noise = traffic.noises.find(cycle);
    for (int l = 0; l < VectorLanes; ++l)
      put(module_.noise_i, 32 * l, 32,
          noise == traffic.noises.end() ? 0x7fffffffu
                                        : static_cast<std::uint32_t>(noise->second[static_cast<std::size_t>(l)]));
    const auto found = traffic.entries.find(cycle);
    module_.entry_valid_i = found != traffic.entries.end();
    if (found == traffic.entries.end()) return;  // the other ports keep the last slice: it must not be taken again
    const Entry& entry = found->second;
    module_.entry_kind_i = static_cast<unsigned char>(entry.kind);
    put(module_.entry_lanes_i, 0, VectorLanes, entry.lanes);
    module_.entry_slot_i = static_cast<unsigned char>(entry.slot);
    module_.entry_block_end_i = entry.block_end;
    module_.entry_start_i = entry.start;
    module_.entry_end_i = entry.end;
    module_.entry_has_bias_i = entry.has_bias;
    module_.entry_wide_i = entry.wide;
    module_.entry_grid_i = static_cast<unsigned char>(entry.grid & 0xff);
    module_.entry_row_i = entry.row;
    module_.exponent_offset_i = static_cast<std::uint16_t>(entry.exponent_offset & 0x3ff);
    module_.scale_i = engine::bits_from_float(entry.scale);
    for (int l = 0; l < VectorLanes; ++l) {
      const engine::Int128 sum = entry.sums[static_cast<std::size_t>(l)];
      put(module_.sum_i, 88 * l, 64, static_cast<std::uint64_t>(sum));
      put(module_.sum_i, 88 * l + 64, 24, static_cast<std::uint64_t>(sum >> 64));
      put(module_.row_exponent_i, 8 * l, 8,
          static_cast<std::uint64_t>(entry.row_exponents[static_cast<std::size_t>(l)]));
    }
  }

  /// True where something is due; fails where the valid bit says otherwise.
  template <typename Map>
  bool due(const Map& map, Cycle cycle, bool valid, const char* what) {
    const bool wanted = map.count(cycle) != 0;
    EXPECT_EQ(valid, wanted) << what << (valid ? " came unasked" : " didn't come") << " in cycle " << cycle;
    return wanted && valid;
  }

  template <typename Port>
  void check_block(const std::map<Cycle, engine::Block>& map, Cycle cycle, bool valid, const Port& mantissas,
                   unsigned offset, const char* what) {
    if (!due(map, cycle, valid, what)) return;
    const engine::Block& block = map.at(cycle);
    ASSERT_EQ(offset, block.offset) << what << ", cycle " << cycle;
    for (int j = 0; j < 32; ++j)
      ASSERT_EQ(get_signed(mantissas, 10 * j, 10), block.mantissas[j]) << what << " " << j << ", cycle " << cycle;
  }
  template <typename Port>
  void check_lanes(const std::map<Cycle, Lanes>& map, Cycle cycle, bool valid, const Port& port, std::uint32_t lanes,
                   const char* what) {
    if (!due(map, cycle, valid, what)) return;
    const Lanes& want = map.at(cycle);
    ASSERT_EQ(lanes, want.lanes) << what << ", cycle " << cycle;
    for (int l = 0; l < VectorLanes; ++l)
      if (((want.lanes >> l) & 1) != 0) {
        ASSERT_EQ(get(port, 32 * l, 32), engine::bits_from_float(want.values[static_cast<std::size_t>(l)]))
            << what << " lane " << l << ", cycle " << cycle;
      }
  }
  template <typename Port>
  void check_codes(const std::map<Cycle, Codes>& map, Cycle cycle, bool valid, const Port& codes, int width,
                   unsigned scale, unsigned block, const char* what) {
    if (!due(map, cycle, valid, what)) return;
    const Codes& want = map.at(cycle);
    ASSERT_EQ(scale, want.scale) << what << ", cycle " << cycle;
    ASSERT_EQ(block, want.block) << what << ", cycle " << cycle;
    for (int j = 0; j < 32; ++j)
      ASSERT_EQ(get_signed(codes, width * j, width), want.codes[static_cast<std::size_t>(j)])
          << what << " " << j << ", cycle " << cycle;
  }

  void check(const Traffic& t, Cycle cycle) {
    Module& m = module_;
    check_lanes(t.residuals, cycle, m.residual_valid_o, m.residual_o, m.residual_lanes_o, "residual");
    check_lanes(t.logits, cycle, m.logits_valid_o, m.logits_o, m.logits_lanes_o, "logits");
    check_block(t.norm_blocks, cycle, m.norm_block_valid_o, m.norm_mantissas_o, m.norm_offset_o, "norm block");
    check_block(t.queries, cycle, m.query_valid_o, m.query_mantissas_o, m.query_offset_o, "query block");
    check_block(t.mixes, cycle, m.mix_valid_o, m.mix_mantissas_o, m.mix_offset_o, "mix block");
    check_block(t.swiglus, cycle, m.swiglu_valid_o, m.swiglu_mantissas_o, m.swiglu_offset_o, "swiglu block");
    check_codes(t.keys, cycle, m.key_valid_o, m.key_codes_o, 12, m.key_scale_o, 0, "key codes");
    check_codes(t.values, cycle, m.value_valid_o, m.value_codes_o, 8, m.value_scale_o, m.value_block_o, "value codes");
    if (due(t.scales, cycle, m.scale_valid_o, "1/rms")) {
      ASSERT_EQ(m.scale_o, engine::bits_from_float(t.scales.at(cycle))) << "cycle " << cycle;
    }
    if (due(t.samples, cycle, m.sample_valid_o, "sample")) {
      ASSERT_EQ(m.sample_id_o, t.samples.at(cycle).first) << "cycle " << cycle;
      ASSERT_EQ(get_signed(m.sample_key_o, 0, 34), t.samples.at(cycle).second) << "cycle " << cycle;
    }
    if (due(t.bests, cycle, m.best_valid_o, "best logit")) {
      ASSERT_EQ(m.best_id_o, t.bests.at(cycle).first) << "cycle " << cycle;
      // −0 and 0 are one logit here.
      ASSERT_EQ(engine::float_from_bits(m.best_logit_o), t.bests.at(cycle).second) << "cycle " << cycle;
    }
  }

  Module module_;
};

}  // namespace cosim
}  // namespace lpu
