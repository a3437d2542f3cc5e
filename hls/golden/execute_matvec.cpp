// A burst of beats: exact sums of weight blocks times activation blocks into the accumulators (docs/numbers.md §4).
// Relies on the engine's block_dot, block_term and accumulate, or on fast_dot.hpp, which gives the same integers. Work
// is cut by (row group, segment, tile of 16 lanes), so that two threads share even a single row group.
#include <algorithm>

#include "hls/engine/accumulate.hpp"
#include "hls/engine/align.hpp"
#include "hls/engine/block_dot.hpp"
#include "hls/engine/softmax.hpp"
#include "hls/golden/execute.hpp"
#include "hls/golden/fast_dot.hpp"
#include "hls/golden/walk.hpp"

namespace lpu {
namespace golden {
namespace {

constexpr std::size_t kShareTiles = 160;  ///< below this many tiles of work a burst stays on one thread

/// One activation block as the burst sees it.
struct BlockView {
  const std::int16_t* mantissas = nullptr;
  int offset = 0;
  bool skip = false;
};

struct Burst {
  State& state;
  const contract::MatvecFields& f;
  BurstSize size;
  std::uint64_t weights;
  std::uint64_t minimums;
  std::size_t part;  ///< groups of a segment
  bool starts_at_zero;
  std::vector<BlockView> blocks;  ///< [sets][groups]

  std::uint64_t word(std::uint64_t r, std::uint64_t c) const {
    return weights + r * f.row_group_words + c * f.column_set_words;
  }
  std::uint64_t minimum(std::uint64_t r, std::uint64_t c) const {
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): check_program() refuses a block of no words
    return minimums + r * (f.row_group_words / f.nibbles) + c * (f.column_set_words / f.nibbles);
  }
};

void view_blocks(Burst& burst) {
  State& state = burst.state;
  burst.blocks.resize(burst.size.column_sets * state.groups);
  for (std::size_t c = 0; c < burst.size.column_sets; ++c)
    for (std::size_t g = 0; g < state.groups; ++g) {
      const ActivationBlock& block = state.activation(g, burst.f.activation_address + c);
      BlockView& view = burst.blocks[c * state.groups + g];
      view.mantissas = block.mantissas;
      view.offset = block.offset;
      if (burst.f.relative_exponents != 0) {
        const RoundRegister& round = state.rounds[burst.f.round * state.groups + g / burst.part];
        view.offset = engine::relative_offset(block.exponent, round.exponent);
        view.skip = view.offset < 0 || view.offset >= contract::kWindowBinades;
      }
    }
}

/// Takes a finished part of a sum to its accumulator.
void put(const Burst& burst, engine::Int128* at, engine::Int128 total) {
  *at = burst.starts_at_zero ? total : *at + total;
}

/// Lets the sums start at the residual, in each row's own unit.
void start_at_residual(Burst& burst, std::uint64_t exponent_address) {
  State& state = burst.state;
  engine::Status status;
  for (std::uint64_t r = 0; r < burst.size.row_groups; ++r) {
    engine::Int128* sums = state.entry_sums(burst.f.accumulator + r, 0);
    for (std::size_t lane = 0; lane < state.lanes; ++lane) {
      const std::size_t row = burst.f.residual_row + r * state.lanes + lane;
      const int exponent = engine::sum_exponent(state.exponents[(exponent_address + r) * state.lanes + lane]);
      sums[lane] = row < state.shape.width ? engine::align(state.residual[row], exponent, status) : engine::Int128{0};
    }
  }
  state.token.saturations += status.saturations;
  burst.starts_at_zero = false;
}

// ---- the engine's own path
engine::Int128 plain_sum(const Burst& burst, std::uint64_t r, std::size_t segment, std::size_t lane) {
  const contract::MatvecFields& f = burst.f;
  const LaneMemory& memory = burst.state.memory;
  engine::Int128 sum = 0;
  for (std::uint64_t c = 0; c < burst.size.column_sets; ++c)
    for (std::size_t g = segment * burst.part; g < (segment + 1) * burst.part; ++g) {
      const BlockView& block = burst.blocks[c * burst.state.groups + g];
      if (block.skip) continue;
      std::uint8_t words[engine::kMaxNibbles * engine::kWordDataBytes];
      for (std::uint64_t n = 0; n < f.nibbles; ++n)
        memory.read_data(burst.word(r, c) + n, g, lane, words + n * engine::kWordDataBytes);
      const std::int32_t dot =
          engine::block_dot(words, static_cast<int>(f.nibbles), f.signed_code != 0, block.mantissas);
      const std::int32_t scale =
          f.unit_scale != 0 ? 1 : engine::scale_value(memory.side_bits(burst.word(r, c), g, lane), f.signed_scale != 0);
      const std::uint16_t minimum = f.has_minimum != 0 ? memory.minimum(burst.minimum(r, c), g, lane) : 0;
      const engine::Int128 term = engine::block_term(dot, scale, engine::block_sum(block.mantissas),
                                                     engine::minimum_mantissa(minimum), engine::minimum_shift(minimum));
      sum = engine::accumulate(sum, term, block.offset);
    }
  return sum;
}

void run_plain(const Burst& burst) {
  State& state = burst.state;
  const std::size_t rows = burst.size.row_groups * burst.f.segments;
  state.pool.run(rows * state.lanes, [&](std::size_t first, std::size_t end, unsigned) {
    for (std::size_t i = first; i < end; ++i) {
      const std::size_t lane = i % state.lanes, segment = i / state.lanes % burst.f.segments;
      const std::uint64_t r = i / state.lanes / burst.f.segments;
      put(burst, state.entry_sums(burst.f.accumulator + r, segment) + lane, plain_sum(burst, r, segment, lane));
    }
  });
}

// ---- the vectorised path
void prepare(const Burst& burst, const DotFormat& format, PreparedBurst* prepared) {
  const std::size_t count = burst.blocks.size();
  prepared->blocks.resize(count);
  std::vector<std::uint8_t> offsets(count);
  std::vector<std::int32_t> magnitudes(count);
  for (std::size_t i = 0; i < count; ++i) {
    const BlockView& view = burst.blocks[i];
    prepared->blocks[i].skip = view.skip;
    if (view.skip) continue;
    prepare_block(view.mantissas, &prepared->blocks[i]);
    offsets[i] = static_cast<std::uint8_t>(view.offset);
    for (int column = 0; column < contract::kBlockValues; ++column)
      magnitudes[i] += view.mantissas[column] < 0 ? -view.mantissas[column] : view.mantissas[column];
  }
  choose_buckets(format, offsets.data(), magnitudes.data(), prepared);
}

/// A tile's sums to its lanes' accumulators. Nearly every burst needs one bucket only.
void fold_tile(const Burst& burst, const PreparedBurst& prepared, const std::int64_t* sums, std::size_t bucket_sums,
               std::size_t lanes, engine::Int128* to) {
  if (prepared.buckets == 1 && lanes == kTileLanes) {
    const std::int64_t unit = std::int64_t{1} << prepared.base;  // a wide product is one instruction, a wide shift many
    if (burst.starts_at_zero)
      for (std::size_t lane = 0; lane < kTileLanes; ++lane) to[lane] = engine::Int128{sums[sum_index(lane)]} * unit;
    else
      for (std::size_t lane = 0; lane < kTileLanes; ++lane) to[lane] += engine::Int128{sums[sum_index(lane)]} * unit;
    return;
  }
  for (std::size_t lane = 0; lane < lanes; ++lane) put(burst, to + lane, fold(prepared, sums, bucket_sums, lane));
}

/// Tiles first…end − 1 of one row group and segment.
void fast_tiles(const Burst& burst, const PreparedBurst& prepared, SetKernel kernel, std::uint64_t r,
                std::size_t segment, std::size_t first_tile, std::size_t end_tile, std::vector<std::int64_t>& sums) {
  State& state = burst.state;
  const LaneMemory& memory = state.memory;
  const std::size_t first_group = segment * burst.part;
  SetJob job;
  job.group_bytes = memory.group_bytes();
  job.word_bytes = memory.word_bytes();
  job.minimum_group = memory.tiles() * kTileLanes;
  job.groups = burst.part;
  job.first_tile = first_tile;
  job.end_tile = end_tile;
  job.bucket_sums = memory.tiles() * kTileLanes;
  std::fill(sums.begin(), sums.end(), 0);
  job.sums = sums.data();
  for (std::uint64_t c = 0; c < burst.size.column_sets; ++c) {
    job.words = memory.tile(burst.word(r, c), first_group);
    if (burst.f.has_minimum != 0) job.minimums = memory.minimums(burst.minimum(r, c), first_group);
    job.blocks = prepared.blocks.data() + c * state.groups + first_group;
    kernel(job);
  }
  engine::Int128* to = state.entry_sums(burst.f.accumulator + r, segment);
  for (std::size_t tile = first_tile; tile < end_tile; ++tile)
    fold_tile(burst, prepared, sums.data() + tile * kTileLanes, job.bucket_sums,
              std::min<std::size_t>(kTileLanes, state.lanes - tile * kTileLanes), to + tile * kTileLanes);
}

void run_fast(const Burst& burst) {
  State& state = burst.state;
  DotFormat format;
  format.nibbles = static_cast<int>(burst.f.nibbles);
  format.signed_code = burst.f.signed_code != 0;
  format.signed_scale = burst.f.signed_scale != 0;
  format.unit_scale = burst.f.unit_scale != 0;
  format.has_minimum = burst.f.has_minimum != 0;
  PreparedBurst prepared;
  prepare(burst, format, &prepared);
  const SetKernel kernel = set_kernel(format);
  const std::size_t tiles = state.memory.tiles(), segments = burst.f.segments;
  const std::size_t items = burst.size.row_groups * segments * tiles;
  const auto work = [&](std::size_t first, std::size_t end, unsigned) {
    std::vector<std::int64_t> sums(static_cast<std::size_t>(prepared.buckets) * tiles * kTileLanes);
    while (first < end) {
      const std::size_t row = first / tiles, tile = first % tiles;
      const std::size_t stop = std::min(end - first + tile, tiles);
      fast_tiles(burst, prepared, kernel, row / segments, row % segments, tile, stop, sums);
      first += stop - tile;
    }
  };
  if (items * burst.size.column_sets * burst.part * burst.f.nibbles < kShareTiles)
    work(0, items, 0);
  else
    state.pool.run(items, work);
}

void keep_value_scales(const Burst& burst) {
  State& state = burst.state;
  for (std::uint64_t r = 0; r < burst.size.row_groups; ++r)
    for (std::size_t segment = 0; segment < burst.f.segments; ++segment)
      for (std::size_t lane = 0; lane < state.lanes; ++lane)
        state.entry_scales(burst.f.accumulator + r, segment)[lane] =
            state.memory.side_bits(burst.word(r, 0) + 1, segment * burst.part, lane);
}

}  // namespace

void execute_matvec(State& state, const contract::MatvecFields& fields, std::uint32_t iteration) {
  Burst burst{state,
              fields,
              burst_size(state.config, fields, state.token.blocks),
              strided(fields.weight_address, fields.weight_stride, iteration),
              strided(fields.minimum_address, fields.minimum_stride, iteration),
              state.groups / fields.segments,
              fields.start != 0,
              {}};
  view_blocks(burst);
  if (fields.start != 0 && fields.adds_residual != 0)
    start_at_residual(burst, strided(fields.exponent_address, fields.exponent_stride, iteration));
  if (state.token.fast)
    run_fast(burst);
  else
    run_plain(burst);
  if (fields.keeps_value_scale != 0) keep_value_scales(burst);
}

}  // namespace golden
}  // namespace lpu
