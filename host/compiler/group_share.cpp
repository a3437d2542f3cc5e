// See group_share.hpp.
#include "host/compiler/group_share.hpp"

#include <algorithm>
#include <numeric>

#include "host/base/error.hpp"

namespace lpu::compiler {

namespace {

/// How fast a card is with this model: what its array's shape makes of it, padding included.
struct Speed {
  std::uint64_t ids = 0;     ///< rows of the head, in so many beats as all cards get
  std::uint64_t layers = 0;  ///< layers, likewise
};

std::vector<Speed> speeds_of(const model::Model& model, const GroupOptions& options) {
  constexpr std::uint64_t kBeats = 1ULL << 32;
  std::vector<Speed> speeds;
  for (const GroupCard& card : options.cards) {
    CardShare share = whole_model(model);
    share.layers = 1;
    const Layout one = place(model, card.hardware, options.common.context_tokens, options.common.kv_bits, share);
    const LayerPlace& layer = one.layers[0];
    std::uint64_t beats = 0;
    for (const MatrixPlace* m : {&layer.key, &layer.query, &layer.value, &layer.out, &layer.gate_up, &layer.down})
      beats += m->words();
    speeds.push_back({kBeats * one.geometry.lanes / one.head.row_group_words(), kBeats / beats});
  }
  return speeds;
}

void number(std::vector<CardShare>& shares) {
  std::uint32_t layer = 0, id = 0;
  for (std::size_t k = 0; k < shares.size(); ++k) {
    shares[k].index = static_cast<std::uint32_t>(k);
    shares[k].cards = static_cast<std::uint32_t>(shares.size());
    shares[k].first_layer = layer;
    shares[k].first_id = id;
    layer += shares[k].layers;
    id += shares[k].ids;
  }
}

/// Rows of the head by speed, in whole granules; the last card that has any takes what is left.
void share_ids(const model::Model& model, const GroupOptions& options, HeadSplit split,
               const std::vector<Speed>& speeds, std::vector<CardShare>& shares) {
  const std::uint32_t granule = id_granule(options), vocabulary = model.shape().vocabulary;
  std::uint64_t speed = 0, before = 0;
  for (const Speed& card : speeds) speed += card.ids;
  std::uint32_t first = 0;
  for (std::size_t k = 0; k < shares.size(); ++k) {
    before += speeds[k].ids;
    auto end = static_cast<std::uint32_t>(vocabulary * before / speed / granule * granule);
    // Every card holds a few rows: a program without a head would be another kind of program.
    const auto behind = static_cast<std::uint32_t>(shares.size() - 1 - k);
    if (split == HeadSplit::kLastCard) end = first + granule;
    end = std::clamp(end, first + granule, vocabulary / granule * granule - behind * granule);
    if (behind == 0) end = vocabulary;
    shares[k].ids = end - first;
    first = end;
  }
}

}  // namespace

std::uint32_t id_granule(const GroupOptions& options) {
  std::uint32_t granule = 1;
  for (const GroupCard& card : options.cards)
    granule = std::lcm(granule, static_cast<std::uint32_t>(card.hardware.lanes));
  return granule;
}

bool holds(const model::Model& model, const GroupOptions& options, const CardShare& share) {
  const Layout layout =
      place(model, options.cards[share.index].hardware, options.common.context_tokens, options.common.kv_bits, share);
  const std::vector<MemoryUse> memory = memory_use(layout);
  return std::all_of(memory.begin(), memory.end(), [](const MemoryUse& m) { return m.fits(); });
}

bool move_ids(std::vector<CardShare>& shares, std::size_t from, std::size_t to, std::uint32_t ids) {
  if (shares[from].ids <= ids) return false;
  shares[from].ids -= ids;
  shares[to].ids += ids;
  number(shares);
  return true;
}

std::vector<CardShare> share_model(const model::Model& model, const GroupOptions& options, HeadSplit split) {
  const std::uint32_t layers = model.shape().layers, granule = id_granule(options);
  const auto cards = static_cast<std::uint32_t>(options.cards.size());
  if (layers < cards)
    fail(ExitCode::kDoesNotFit, "{}: has {} layers for {} cards; each card holds at least one, so use {} or fewer",
         model.file().path().string(), layers, cards, layers);
  if (model.shape().vocabulary < cards * granule)
    fail(ExitCode::kDoesNotFit, "{}: has {} tokens for {} cards of {} lanes; use {} or fewer cards",
         model.file().path().string(), model.shape().vocabulary, cards, granule,
         std::max(1u, model.shape().vocabulary / granule));
  std::vector<CardShare> shares(cards);
  const std::vector<Speed> speeds = speeds_of(model, options);
  share_ids(model, options, split, speeds, shares);
  // One layer after another goes to the card that has the fewest for its speed, while its memories hold it.
  for (CardShare& share : shares) share.layers = 1;
  number(shares);
  std::vector<bool> full(cards, false);
  for (std::uint32_t left = layers - cards; left > 0; --left) {
    std::size_t best = cards;
    for (std::size_t k = 0; k < cards; ++k) {
      if (full[k]) continue;
      if (best == cards || shares[k].layers * speeds[best].layers < shares[best].layers * speeds[k].layers) best = k;
    }
    if (best == cards) {  // it doesn't fit: even shares say best by how much
      shares[(left - 1) % cards].layers += 1;
      continue;
    }
    CardShare more = shares[best];
    more.layers += 1;
    more.first_layer = std::min(more.first_layer, layers - more.layers);
    if (holds(model, options, more)) {
      shares[best].layers += 1;
    } else {
      full[best] = true;
      ++left;
    }
  }
  number(shares);
  return shares;
}

}  // namespace lpu::compiler
