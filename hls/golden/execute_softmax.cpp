// One round of softmax: scores in the accumulators to weights' blocks, the row's largest exponent and 1/z
// (docs/numbers.md §9). Relies on hls/engine/softmax.hpp; segments are independent of each other.
#include "hls/engine/softmax.hpp"
#include "hls/golden/execute.hpp"
#include "hls/golden/rows.hpp"

namespace lpu {
namespace golden {

void execute_softmax(State& state, const contract::SoftmaxFields& f, std::uint32_t iteration) {
  const std::uint64_t grids = strided(f.grid_address, f.grid_stride, iteration);
  const std::size_t part = state.groups / f.segments, blocks = state.token.blocks;
  const std::size_t padded = (blocks + part - 1) / part * part, positions = std::size_t{state.token.position} + 1;
  for_blocks(state, f.segments, static_cast<std::uint32_t>(32 * blocks),
             [&](std::uint32_t first, std::uint32_t end, unsigned, engine::Status& status) {
               std::vector<engine::SoftmaxBlock> made(blocks);
               for (std::size_t j = first; j < end; ++j) {
                 const int exponent = engine::sum_exponent(state.grid(grids, f.slot * f.segments + j));
                 for (std::size_t b = 0; b < blocks; ++b) {
                   engine::Weight weights[contract::kBlockValues];
                   const std::size_t unmasked = std::min<std::size_t>(32, positions - 32 * b);
                   for (std::size_t i = 0; i < unmasked; ++i) {
                     const std::size_t at = 32 * b + i, entry = f.accumulator + at / state.lanes;
                     const std::size_t lane = at % state.lanes;
                     weights[i] = engine::softmax_weight(
                         engine::score_to_fixed(state.entry_sums(entry, j)[lane], exponent, status),
                         state.entry_scales(entry, j)[lane]);
                   }
                   made[b] = engine::softmax_block(weights, static_cast<int>(unmasked));
                 }
                 const engine::SoftmaxRow row = engine::combine(made.data(), static_cast<int>(blocks));
                 for (std::size_t b = 0; b < padded; ++b) {
                   ActivationBlock& to = state.activation(j * part + b % part, f.destination + b / part);
                   to = ActivationBlock();
                   to.exponent = engine::kEmptyExponent;
                   if (b >= blocks) continue;
                   std::copy(made[b].mantissas, made[b].mantissas + contract::kBlockValues, to.mantissas);
                   to.exponent = made[b].exponent;
                 }
                 RoundRegister& round = state.rounds[f.round * state.groups + j];
                 round.exponent = row.exponent;
                 round.difference = row.exponent - row.whole;
                 round.inverse = engine::softmax_inverse(row, status);
               }
             });
}

}  // namespace golden
}  // namespace lpu
