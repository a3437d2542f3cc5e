// Hand-written programs and random memory images for tests of whatever runs them: instructions with issue cycles that
// the test chooses, or one after another with room to spare. It exists so that a test of a machine doesn't depend on
// the compiler. Relies on hls/contract only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "hls/contract/latencies.hpp"
#include "hls/contract/program.hpp"

namespace lpu::testing {

/// One of the named configurations with another array.
inline contract::HardwareConfig small_config(int lanes, int groups, int vector_lanes = 2, int softmax_lanes = 2) {
  contract::HardwareConfig config = contract::kHardwareConfigs[0];
  config.lanes = lanes;
  config.column_groups = groups;
  config.vector_lanes = vector_lanes;
  config.softmax_lanes = softmax_lanes;
  return config;
}

inline contract::Instruction instruction(contract::Opcode opcode) {
  contract::Instruction in;
  in.common.opcode = static_cast<std::uint32_t>(opcode);
  in.vector.slice_cycles = 1;
  return in;
}

class ProgramBuilder {
 public:
  ProgramBuilder(const contract::HardwareConfig& config, std::uint32_t context_tokens)
      : config_(config), steps_((context_tokens + 31) / 32) {
    loop(1);
  }

  /// Starts another loop; instructions added from here on belong to it. An empty first loop is replaced.
  void loop(std::uint32_t iterations, bool is_head = false) {
    if (loops_.empty() || !loops_.back().instructions.empty()) loops_.emplace_back();
    loops_.back().iterations = iterations;
    loops_.back().is_head = is_head;
  }

  /// After everything before it has certainly ended. Returns its index in the program.
  std::size_t add(const contract::Instruction& in) { return add_at(in, loops_.back().end); }

  /// At a cycle counted from the loop's start; the first loop starts in cycle kIssueLeadCycles of the token.
  std::size_t add_at(const contract::Instruction& in, std::uint32_t cycle) {
    Part& part = loops_.back();
    part.instructions.push_back(in);
    part.issues.push_back(cycle);
    part.end = std::max(part.end, cycle + longest(in));
    return count_++;
  }

  contract::Program build() const {
    contract::Program program;
    program.length_steps = steps_;
    std::uint32_t last[contract::kUnits] = {};         // issue of a unit's newest instruction
    std::uint32_t start = contract::kIssueLeadCycles;  // of the first loop: nothing of the MVU and SMX is earlier
    for (const Part& part : loops_) {
      contract::Loop out;
      out.first_instruction = static_cast<std::uint32_t>(program.instructions.size());
      out.instruction_count = static_cast<std::uint32_t>(part.instructions.size());
      out.iterations = part.iterations;
      out.is_head = part.is_head ? 1 : 0;
      std::uint32_t* entries[contract::kUnits] = {&out.entry_delay_mvu, &out.entry_delay_vpu, &out.entry_delay_smx};
      std::size_t first[contract::kUnits], newest[contract::kUnits];
      bool has[contract::kUnits] = {};
      for (std::size_t i = 0; i < part.instructions.size(); ++i) {
        contract::Instruction in = part.instructions[i];
        const auto unit = static_cast<std::size_t>(contract::unit_of(in.opcode()));
        if (has[unit]) {
          in.common.delay = part.issues[i] - part.issues[newest[unit]];
        } else {
          first[unit] = i;
          *entries[unit] = static_cast<std::uint32_t>(program.delays.size() / steps_);
          program.delays.insert(program.delays.end(), steps_, start + part.issues[i] - last[unit]);
        }
        has[unit] = true;
        newest[unit] = i;
        program.instructions.push_back(in);
      }
      for (std::size_t unit = 0; unit < contract::kUnits; ++unit) {
        if (!has[unit]) {
          *entries[unit] = contract::kNoEntryDelay;
          continue;
        }
        program.instructions[out.first_instruction + first[unit]].common.delay =
            part.end + part.issues[first[unit]] - part.issues[newest[unit]];
        last[unit] = start + part.end * (part.iterations - 1) + part.issues[newest[unit]];
      }
      start += part.end * part.iterations;
      program.loops.push_back(out);
    }
    program.cycles_with_head.assign(steps_, start);
    program.cycles_without_head.assign(steps_, start);
    return program;
  }

 private:
  struct Part {
    std::vector<contract::Instruction> instructions;
    std::vector<std::uint32_t> issues;
    std::uint32_t iterations = 1;
    bool is_head = false;
    std::uint32_t end = 0;
  };

  /// Cycles after which everything that the instruction did can be read, at the longest context.
  std::uint32_t longest(const contract::Instruction& in) const {
    const auto lanes = static_cast<std::uint32_t>(config_.lanes);
    const std::uint32_t margin = 128 + 8 * 256;  // above any chain, and a V column's row groups
    switch (contract::unit_of(in.opcode())) {
      case contract::Unit::kMvu: {
        const std::uint32_t rows =
            in.matvec.length_dimension == 1 ? (32 * steps_ + lanes - 1) / lanes : in.matvec.row_groups;
        return rows * (in.matvec.length_dimension == 2 ? steps_ : in.matvec.column_sets) * in.matvec.nibbles + 32;
      }
      case contract::Unit::kSmx:
        return ((32 * steps_ + lanes - 1) / lanes + 1) * in.softmax.pitch_cycles + 128;
      case contract::Unit::kVpu:
        break;
    }
    const std::uint32_t entries = in.opcode() == contract::Opcode::kEmbed ? in.vector.column_sets
                                  : in.opcode() == contract::Opcode::kMix ? in.vector.segments * in.vector.row_groups
                                                                          : in.vector.row_groups;
    return entries * in.vector.pitch_cycles + margin;
  }

  contract::HardwareConfig config_;
  std::uint32_t steps_;
  std::vector<Part> loops_;
  std::size_t count_ = 0;
};

/// A memory image that owns its bytes, filled with random words.
struct TestImage {
  std::vector<std::uint8_t> lane_words, minimum_words, exponents, constants, rope;
  contract::MemoryImage view;

  TestImage(const contract::HardwareConfig& config, std::uint64_t weights, std::uint64_t kv, std::uint64_t minimums,
            std::uint64_t exponent_words, std::uint64_t constant_count, std::uint64_t rope_pairs, unsigned seed) {
    std::mt19937 random(seed);
    const auto lanes = static_cast<std::uint64_t>(config.lanes),
               all = lanes * static_cast<std::uint64_t>(config.column_groups);
    fill(lane_words, weights * all * contract::kWordBytes, random);
    fill(minimum_words, minimums * all * contract::kMinimumBytes, random);
    exponents.resize(exponent_words * lanes);
    for (std::uint8_t& byte : exponents) byte = static_cast<std::uint8_t>(-27 - static_cast<int>(random() % 3));
    std::normal_distribution<float> normal;
    reals(constants, constant_count, [&] { return 1.0f + 0.25f * normal(random); });
    reals(rope, rope_pairs * 2, [&] { return 0.3f * normal(random); });
    view.lane_words = lane_words.data();
    view.lane_word_count = weights;
    view.kv_word_count = kv;
    view.minimum_words = minimum_words.data();
    view.minimum_word_count = minimums;
    view.exponents = exponents.data();
    view.exponent_word_count = exponent_words;
    view.constants = constants.data();
    view.constant_count = constant_count;
    view.rope = rope.data();
    view.rope_pair_count = rope_pairs;
  }
  TestImage(const TestImage&) = delete;
  TestImage& operator=(const TestImage&) = delete;

 private:
  static void fill(std::vector<std::uint8_t>& bytes, std::uint64_t count, std::mt19937& random) {
    bytes.resize(count);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random() >> 8);
  }
  template <typename Next>
  static void reals(std::vector<std::uint8_t>& bytes, std::uint64_t count, Next next) {
    bytes.resize(4 * count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const float value = next();
      std::memcpy(bytes.data() + 4 * i, &value, 4);
    }
  }
};

}  // namespace lpu::testing
