// The head: logits, the best of them, log-sum buckets, and a sampled token (docs/numbers.md §11).
// Relies on hls/engine; each part of the rows keeps its own best and buckets, whose merging is exact and has a
// canonical order.
#include "hls/engine/gumbel.hpp"
#include "hls/engine/random.hpp"
#include "hls/golden/execute.hpp"
#include "hls/golden/rows.hpp"

namespace lpu {
namespace golden {
namespace {

struct Part {
  engine::BestLogits best;
  engine::LogSum buckets;
  bool has_key = false;
  std::int64_t key = 0;
  std::uint32_t id = 0;

  void take_key(std::int64_t candidate, std::uint32_t candidate_id) {
    if (has_key && (candidate < key || (candidate == key && candidate_id > id))) return;
    has_key = true;
    key = candidate;
    id = candidate_id;
  }
};

}  // namespace

void execute_logits(State& state, const contract::VectorFields& f, std::uint32_t iteration) {
  const Rows rows(state, f, iteration);
  const float scale = state.scales[f.scale_register];
  TokenState& token = state.token;
  std::vector<Part> parts(state.pool.parts());
  for_blocks(state, f.rows, 1, [&](std::uint32_t first, std::uint32_t end, unsigned part, engine::Status& status) {
    Part& own = parts[part];
    float logits[contract::kBlockValues];
    for (std::uint32_t base = first; base < end; base += 32) {
      const std::uint32_t count = std::min(end - base, 32u);
      rows.convert(base, count, logits, status);
      for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t id = f.first_row + base + i;
        const float logit = engine::multiply(logits[i], scale, status);
        if (token.logits != nullptr) token.logits[id] = logit;
        own.best.insert(logit, id);
        own.buckets.insert(logit, status);
        if (!token.samples) continue;
        const std::int32_t noise = engine::gumbel(engine::random_number(token.seed, token.position, id));
        own.take_key(engine::sampling_key(logit, token.inverse_temperature, noise, status), id);
      }
    }
  });
  Part all;
  all.has_key = token.has_key;
  all.key = token.best_key;
  all.id = token.best_key_id;
  for (const Part& part : parts) {
    for (int i = 0; i < part.best.count; ++i) token.best.insert(part.best.logits[i], part.best.ids[i]);
    token.buckets.merge(part.buckets);
    if (part.has_key) all.take_key(part.key, part.id);
  }
  token.has_key = all.has_key;
  token.best_key = all.key;
  token.best_key_id = all.id;
}

}  // namespace golden
}  // namespace lpu
