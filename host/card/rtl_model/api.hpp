// The C interface of a Verilated core in a shared library, liblpu_rtl_NAME.so: one configuration each, built by
// scripts/cmake/OpenLpuRtlModels.cmake from rtl/lpu_core.sv and rtl_model/lpu_rtl_model.cpp. It exists so that the
// program loads a core at run time, and so that nothing of Verilator reaches the host's code.
// Relies on nothing. Wide numbers are 32-bit words, lowest bits first, as the ports of rtl/lpu_core.sv say.
#pragma once

#include <cstdint>

extern "C" {

constexpr std::uint32_t kLpuRtlApiVersion = 1;

struct LpuRtlModel;

/// The core's parameters, as HardwareConfig names them; depths are those of this model.
struct LpuRtlParameters {
  std::uint64_t contract_hash;
  const char* name;
  std::int32_t lanes, column_groups, vector_lanes, softmax_lanes, has_minimum;
  std::int32_t lane_words, minimum_words, accumulator_entries, activation_blocks, residual_values, exponent_words,
      constant_values, rope_pairs, program_instructions, delay_entries;
  std::int32_t has_waveform;
};

/// Activation banks aren't behind the host port; only faults are put in there.
constexpr std::uint32_t kLpuRtlActivations = 100;

/// An array of the core that may be read and written between two cycles.
struct LpuRtlMemory {
  std::uint32_t region;  ///< contract::Region, or kLpuRtlActivations
  std::uint32_t part;    ///< column group or bank; of other memories: which of several copies
  std::uint32_t word_bits;
  std::uint32_t stride_bytes;  ///< from one word to the next
  std::uint64_t first_word;    ///< of the memory, that this array begins with
  std::uint64_t words;
  std::uint8_t* data;
};

struct LpuRtlInputs {
  std::uint64_t address;  ///< byte address of the host port
  std::uint32_t data;
  std::uint8_t write, read;
};

/// What the ports show in a cycle. Pointers: [words of the port], valid until the next tick, and only where the flag
/// beside them is set.
struct LpuRtlOutputs {
  std::uint64_t cycle;  ///< since the model was made
  std::uint32_t host_data;
  std::uint8_t host_valid;
  std::uint8_t token_start, beat;
  std::uint8_t issue[3];  ///< MVU, VPU, SMX
  std::uint8_t has_block, has_word, has_residual, has_scale, has_round, has_inverse, has_sum, has_logits, has_next;
  std::uint32_t issue_index[3];
  const std::uint32_t* block_write;     ///< mask of [G] banks
  const std::uint32_t* block_address;   ///< [G × 16 bits]
  const std::uint32_t* blocks;          ///< [G × 337 bits]
  const std::uint32_t* word_write;      ///< mask of [G × L] lanes
  const std::uint32_t* word_address;    ///< [G × 24 bits]
  const std::uint32_t* words;           ///< [G × L × 144 bits]
  const std::uint32_t* residual_lanes;  ///< mask of [VL]
  const std::uint32_t* residual;        ///< [VL × 32 bits]
  const std::uint32_t* exponents;       ///< [G × 17 bits]
  const std::uint32_t* differences;     ///< [G × 6 bits]
  const std::uint32_t* inverses;        ///< [G × 32 bits]
  const std::uint32_t* sum_write;       ///< mask of [G] segments
  const std::uint32_t* sums;            ///< [G][lower, upper half][L × 44 bits]
  const std::uint32_t* logits_lanes;    ///< mask of [VL]
  const std::uint32_t* logits;          ///< [VL × 32 bits]
  std::uint32_t residual_row, scale_register, scale, round, inverse_round, sum_entry, logits_row, next;
};

struct LpuRtlFunctions {
  std::uint32_t version;  ///< kLpuRtlApiVersion
  LpuRtlParameters parameters;
  LpuRtlModel* (*create)();  ///< held in reset until the first tick; null: no memory
  void (*destroy)(LpuRtlModel*);
  std::uint32_t (*memories)(LpuRtlModel*, const LpuRtlMemory** first);  ///< how many
  const LpuRtlOutputs* (*tick)(LpuRtlModel*, const LpuRtlInputs*);      ///< one cycle: its outputs, then the edge
  const char* (*error_text)(LpuRtlModel*);                              ///< of failed assertions; "" without
  void (*clear_error_text)(LpuRtlModel*);
  /// Records from now on into this FST file; null ends it. 0: can't (a model without waveforms, an unwritable file).
  int (*waveform)(LpuRtlModel*, const char* path);
};

/// The library's only symbol.
using LpuRtlEntry = const LpuRtlFunctions* (*)();
}

constexpr const char* kLpuRtlEntryName = "lpu_rtl_functions";
