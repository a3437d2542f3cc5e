// The streaming matrix-vector engine: a matrix that stays in on-chip memory, a vector that streams in, exact sums that
// stream out. One beat a cycle: every one of Groups × Lanes memories gives one word, a nibble plane of one block
// (docs/numbers.md §4). Row groups of Lanes rows one after another; inside them the column sets of Groups blocks;
// inside those the planes. Weights lie in the order in which they are read, so that an address is a counter. Relies on
// hls/engine for all arithmetic. Formatted by hand: clang-format breaks pragmas.
#pragma once

#include <hls_stream.h>

#include "hls/engine/accumulate.hpp"
#include "hls/engine/align.hpp"
#include "hls/engine/block_dot.hpp"
#include "hls/kernels/beats.hpp"

// clang-format off
namespace lpu {
namespace kernels {

/// The sixteen bytes of a word as engine::nibble_dot takes them. bytes: [16].
inline void unpack_word(const WeightWord& word, std::uint8_t* bytes) {
unpack_bytes:
  for (int i = 0; i < engine::kWordDataBytes; ++i) {
#pragma HLS unroll
    bytes[i] = static_cast<std::uint8_t>((i < 8 ? word.low >> (8 * i) : word.high >> (8 * (i - 8))) & 255u);
  }
}

/// Fills the first `count` words of every lane: address by address, group by group, lane by lane.
/// words: [groups][lanes][depth].
template <int Lanes, int Groups, int Words>
void load_words(std::int32_t count, hls::stream<WeightWord>& from, WeightWord (&words)[Groups][Lanes][Words]) {
  const std::int32_t addresses = count < Words ? count : static_cast<std::int32_t>(Words);
load_addresses:
  for (std::int32_t address = 0; address < addresses; ++address) {
#pragma HLS loop_tripcount min=0 max=16384
load_groups:
    for (int group = 0; group < Groups; ++group) {
load_lanes:
      for (int lane = 0; lane < Lanes; ++lane) {
#pragma HLS pipeline ii=1
        words[group][lane][address] = from.read();
      }
    }
  }
}

/// The same for minimum words. minimums: [groups][lanes][depth].
template <int Lanes, int Groups, int Words>
void load_minimums(std::int32_t count, hls::stream<std::uint16_t>& from,
                   std::uint16_t (&minimums)[Groups][Lanes][Words]) {
  const std::int32_t addresses = count < Words ? count : static_cast<std::int32_t>(Words);
load_minimum_addresses:
  for (std::int32_t address = 0; address < addresses; ++address) {
#pragma HLS loop_tripcount min=0 max=16384
load_minimum_groups:
    for (int group = 0; group < Groups; ++group) {
load_minimum_lanes:
      for (int lane = 0; lane < Lanes; ++lane) {
#pragma HLS pipeline ii=1
        minimums[group][lane][address] = from.read();
      }
    }
  }
}

/// The vector's blocks, b in bank b mod Groups. bank: [groups][blocks].
template <int Groups, int Blocks>
void load_vector(std::int32_t column_sets, hls::stream<engine::Block>& from, engine::Block (&bank)[Groups][Blocks]) {
  const std::int32_t sets = column_sets < Blocks ? column_sets : static_cast<std::int32_t>(Blocks);
load_sets:
  for (std::int32_t set = 0; set < sets; ++set) {
#pragma HLS loop_tripcount min=1 max=1024
load_banks:
    for (int group = 0; group < Groups; ++group) {
#pragma HLS pipeline ii=1
      bank[group][set] = from.read();
    }
  }
}

/// The beats. words, minimums: [groups][lanes][depth]; bank: [groups][blocks]. With adds_residual one StartBeat a
/// row group comes in; one SumBeat a row group goes out.
template <int Lanes, int Groups, int Words, int Minimums, int Blocks>
void multiply_beats(std::int32_t row_groups, std::int32_t column_sets, std::int32_t nibbles, bool signed_code,
                    bool signed_scale, bool has_minimum, bool adds_residual,
                    const WeightWord (&words)[Groups][Lanes][Words],
                    const std::uint16_t (&minimums)[Groups][Lanes][Minimums],
                    const engine::Block (&bank)[Groups][Blocks], hls::stream<StartBeat<Lanes>>& starts,
                    hls::stream<SumBeat<Lanes>>& out, std::uint32_t& saturations) {
  SumBeat<Lanes> totals;
#pragma HLS array_partition variable=totals.sums type=complete
  std::int32_t dots[Groups][Lanes];
#pragma HLS array_partition variable=dots type=complete dim=0
  std::uint16_t sides[Groups][Lanes];
#pragma HLS array_partition variable=sides type=complete dim=0
  std::int32_t block_totals[Groups];
#pragma HLS array_partition variable=block_totals type=complete
  StartBeat<Lanes> start;
#pragma HLS array_partition variable=start.values type=complete
#pragma HLS array_partition variable=start.exponents type=complete
  engine::Status status;
  std::int32_t plane = 0;
  std::int32_t set = 0;
  std::int32_t block = 0;  // of the lane: its minimum word's address
  const std::int32_t wanted = row_groups * column_sets * nibbles;
  const std::int32_t beats = wanted < Words ? wanted : static_cast<std::int32_t>(Words);
beats_of_a_burst:
  for (std::int32_t beat = 0; beat < beats; ++beat) {
#pragma HLS pipeline ii=1
#pragma HLS loop_tripcount min=1 max=16384
    const bool ends_block = plane == nibbles - 1;
    const bool ends_row = ends_block && set == column_sets - 1;
    const bool starts_row = ends_block && set == 0;
    if (starts_row && adds_residual) start = starts.read();
beat_sums:
    for (int group = 0; group < Groups; ++group) {
#pragma HLS unroll
      block_totals[group] = engine::block_sum(bank[group][set].mantissas);
    }
beat_lanes:
    for (int lane = 0; lane < Lanes; ++lane) {
#pragma HLS unroll
      engine::Int128 added = 0;  // of all groups, so that only one addition stands between a beat's sum and the next
beat_groups:
      for (int group = 0; group < Groups; ++group) {
#pragma HLS unroll
        const WeightWord word = words[group][lane][beat];
        std::uint8_t bytes[engine::kWordDataBytes];
        unpack_word(word, bytes);
        const std::int32_t plane_dot =
            engine::nibble_dot(bytes, signed_code && ends_block, bank[group][set].mantissas);
        dots[group][lane] = (plane == 0 ? 0 : dots[group][lane]) + plane_dot * (1 << (4 * plane));
        sides[group][lane] = plane == 0 ? word.side : sides[group][lane];
        const std::uint16_t minimum = has_minimum ? minimums[group][lane][block] : static_cast<std::uint16_t>(0);
        const engine::Int128 term =
            engine::block_term(dots[group][lane], engine::scale_value(sides[group][lane], signed_scale),
                               block_totals[group], engine::minimum_mantissa(minimum), engine::minimum_shift(minimum));
        added = engine::accumulate(added, term, bank[group][set].offset);
      }
      engine::Int128 before = totals.sums[lane];
      if (starts_row) {
        before = 0;
        if (adds_residual) {
          before = engine::align(start.values[lane], engine::sum_exponent(start.exponents[lane]), status);
        }
      }
      if (ends_block) totals.sums[lane] = before + added;
    }
    if (ends_row) out.write(totals);
    plane = ends_block ? 0 : plane + 1;
    if (ends_block) {
      set = ends_row ? 0 : set + 1;
      block = block + 1;
    }
  }
  saturations = status.saturations;
}

/// One call: load what is new (0 words: the memories keep what an earlier call loaded), take a vector, multiply.
template <int Lanes, int Groups, int Words, int Minimums, int Blocks>
void matvec(std::int32_t new_words, std::int32_t new_minimums, std::int32_t row_groups, std::int32_t column_sets,
            std::int32_t nibbles, bool signed_code, bool signed_scale, bool has_minimum, bool adds_residual,
            hls::stream<WeightWord>& weights, hls::stream<std::uint16_t>& minimum_words,
            hls::stream<engine::Block>& activations, hls::stream<StartBeat<Lanes>>& starts,
            hls::stream<SumBeat<Lanes>>& sums, std::uint32_t& saturations) {
  // Two URAM of 72 bits a lane, one word of each lane a beat; the second port loads.
  static WeightWord words[Groups][Lanes][Words];
#pragma HLS aggregate variable=words compact=bit
#pragma HLS array_partition variable=words type=complete dim=1
#pragma HLS array_partition variable=words type=complete dim=2
#pragma HLS bind_storage variable=words type=ram_2p impl=uram latency=3
  static std::uint16_t minimums[Groups][Lanes][Minimums];
#pragma HLS array_partition variable=minimums type=complete dim=1
#pragma HLS array_reshape variable=minimums type=complete dim=2
#pragma HLS bind_storage variable=minimums type=ram_2p impl=uram latency=3
  // A whole block a beat from each bank.
  static engine::Block bank[Groups][Blocks];
#pragma HLS aggregate variable=bank compact=bit
#pragma HLS array_partition variable=bank type=complete dim=1
#pragma HLS bind_storage variable=bank type=ram_2p impl=bram latency=2
  load_words<Lanes, Groups, Words>(new_words, weights, words);
  load_minimums<Lanes, Groups, Minimums>(new_minimums, minimum_words, minimums);
  load_vector<Groups, Blocks>(column_sets, activations, bank);
  multiply_beats<Lanes, Groups, Words, Minimums, Blocks>(row_groups, column_sets, nibbles, signed_code, signed_scale,
                                                         has_minimum, adds_residual, words, minimums, bank, starts, sums,
                                                         saturations);
}

}  // namespace kernels
}  // namespace lpu
