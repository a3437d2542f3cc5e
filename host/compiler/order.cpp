// Plans, conflict tables and the search. See order.hpp.
#include "host/compiler/order.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "host/compiler/timeline.hpp"

namespace lpu::compiler {

namespace {

constexpr std::uint32_t kWarmLayers = 2;  ///< layers until a layer's cycles no longer depend on the token's start

/// Which pairs of a list's operations may not change places.
class Conflicts {
 public:
  Conflicts(const std::vector<Operation>& operations, const std::vector<Footprint>& footprints)
      : count_(operations.size()) {
    std::vector<std::vector<std::uint32_t>> reads(count_), writes(count_);
    for (std::size_t i = 0; i < count_; ++i) {
      for (const Read& read : footprints[i].reads) reads[i].push_back(read.place);
      for (const Write& write : footprints[i].writes) writes[i].push_back(write.place);
      for (auto* list : {&reads[i], &writes[i]}) {
        std::sort(list->begin(), list->end());
        list->erase(std::unique(list->begin(), list->end()), list->end());
      }
    }
    table_.assign(count_ * count_, false);
    for (std::size_t i = 0; i < count_; ++i)
      for (std::size_t j = i + 1; j < count_; ++j) {
        // Residual operations share the norm's sum of squares.
        const bool both_residual = operations[i].instruction.opcode() == contract::Opcode::kResidual &&
                                   operations[j].instruction.opcode() == contract::Opcode::kResidual;
        const bool conflict =
            both_residual || meet(writes[i], writes[j]) || meet(writes[i], reads[j]) || meet(reads[i], writes[j]);
        table_[i * count_ + j] = table_[j * count_ + i] = conflict;
      }
  }
  [[nodiscard]] bool between(std::uint32_t a, std::uint32_t b) const { return table_[a * count_ + b]; }

 private:
  static bool meet(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
      if (a[i] == b[j]) return true;
      a[i] < b[j] ? ++i : ++j;
    }
    return false;
  }
  std::size_t count_;
  std::vector<bool> table_;
};

/// A layer's operations with their footprints at the whole context, and what one order of them costs.
class Candidate {
 public:
  Candidate(const Layout& layout, std::uint32_t layer, const LayerPlan& plan)
      : places_(layout), hardware_(layout.hardware), operations_(lower_layer(layout, layer, 1, plan)) {
    const std::uint32_t blocks = layout.geometry.context_blocks;
    for (const Operation& op : lower_embedding(layout))
      start_.push_back(footprint_of(op.instruction, layout, places_, blocks));
    for (const Operation& op : operations_)
      footprints_.push_back(footprint_of(op.instruction, layout, places_, blocks));
  }
  [[nodiscard]] std::size_t size() const { return operations_.size(); }
  [[nodiscard]] Conflicts conflicts() const { return {operations_, footprints_}; }

  /// Cycles of one layer once layers repeat: from one layer's last beat to the next one's.
  [[nodiscard]] std::uint32_t cycles(const std::vector<std::uint32_t>& order) const {
    Timeline timeline(places_, hardware_);
    for (const Footprint& footprint : start_) timeline.issue(footprint);
    std::uint32_t before = 0, period = 0;
    for (std::uint32_t layer = 0; layer <= kWarmLayers; ++layer) {
      for (const std::uint32_t index : order) timeline.issue(footprints_[index]);
      const std::uint32_t now = timeline.unit_free(contract::Unit::kMvu);
      period = now - before;
      before = now;
    }
    return period;
  }

 private:
  Places places_;
  contract::HardwareConfig hardware_;
  std::vector<Operation> operations_;
  std::vector<Footprint> start_, footprints_;
};

std::vector<std::uint32_t> natural_order(std::size_t count) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

std::vector<LayerPlan> plans(const Layout& layout, std::uint32_t layer) {
  const LayerPlace& p = layout.layers[layer];
  const auto choices = [](std::uint32_t sets, std::initializer_list<std::uint32_t> row_major) {
    std::set<std::uint32_t> out;
    for (const std::uint32_t rows : row_major) out.insert(rows >= sets ? 0 : sets - rows);
    return std::vector<std::uint32_t>(out.begin(), out.end());
  };
  std::vector<LayerPlan> out;
  const std::uint32_t all = UINT32_MAX;
  for (const std::uint32_t qkv : choices(p.query.sets, {1, 2, all}))
    for (const std::uint32_t attention : choices(p.out.sets, {1, 2, all}))
      for (const std::uint32_t ffn : choices(p.gate_up.sets, {1, 2, 3, all}))
        for (const std::uint32_t down : choices(p.down.sets, {1, 2, 3, 4}))
          for (const std::uint32_t lag : {1u, 2u, layout.geometry.rounds})
            for (const bool value_first : {true, false})
              if (lag == 1 || lag < layout.geometry.rounds || lag == layout.geometry.rounds)
                out.push_back({qkv, attention, ffn, down, lag, value_first});
  return out;
}

/// Moves the operation at `from` as near to `to` as the conflicts allow; returns whether anything moved.
bool move(std::vector<std::uint32_t>& order, std::size_t from, std::size_t to, const Conflicts& conflicts) {
  const std::size_t start = from;
  while (from < to && !conflicts.between(order[from], order[from + 1])) std::swap(order[from], order[from + 1]), ++from;
  while (from > to && !conflicts.between(order[from], order[from - 1])) std::swap(order[from], order[from - 1]), --from;
  return from != start;
}

/// Uniform in [0, bound), the same on every machine (std::uniform_int_distribution isn't).
std::uint32_t draw(std::mt19937_64& random, std::size_t bound) { return static_cast<std::uint32_t>(random() % bound); }

/// Moves single operations, keeps what doesn't cost cycles.
std::uint32_t improve(const Candidate& candidate, std::vector<std::uint32_t>& order, std::uint32_t cycles,
                      std::uint32_t steps, std::mt19937_64& random, const std::function<void(double)>& progress) {
  const Conflicts conflicts = candidate.conflicts();
  std::vector<std::uint32_t> attempt;
  for (std::uint32_t step = 0; step < steps; ++step) {
    attempt = order;
    const std::uint32_t moves = 1 + draw(random, 3);
    bool moved = false;
    for (std::uint32_t i = 0; i < moves; ++i) {
      const std::uint32_t from = draw(random, order.size());
      const std::uint32_t reach = 1 + draw(random, std::min<std::size_t>(order.size(), 24));
      const std::size_t to =
          random() % 2 == 0 ? std::min<std::size_t>(order.size() - 1, from + reach) : from - std::min(from, reach);
      moved |= move(attempt, from, to, conflicts);
    }
    if (!moved) continue;
    const std::uint32_t now = candidate.cycles(attempt);
    if (now <= cycles) {
      cycles = now;
      order.swap(attempt);
    }
    if (progress && step % 64 == 0) progress(static_cast<double>(step) / steps);
  }
  return cycles;
}

}  // namespace

LayerOrder search_order(const Layout& layout, std::uint32_t layer, std::uint32_t effort,
                        const std::function<void(double)>& progress) {
  struct Scored {
    LayerPlan plan;
    std::uint32_t cycles;
  };
  std::vector<Scored> scored;
  const std::vector<LayerPlan> all = plans(layout, layer);
  // Each evaluation counts as one step; a small effort looks at a spread of the plans only.
  const std::size_t stride = std::max<std::size_t>(1, all.size() / std::max<std::uint32_t>(1, effort / 4));
  for (std::size_t i = 0; i < all.size(); i += stride) {
    const Candidate candidate(layout, layer, all[i]);
    scored.push_back({all[i], candidate.cycles(natural_order(candidate.size()))});
  }
  std::stable_sort(scored.begin(), scored.end(), [](const Scored& a, const Scored& b) { return a.cycles < b.cycles; });

  std::mt19937_64 random(20251130);
  LayerOrder best;
  best.cycles = UINT32_MAX;
  const std::size_t finalists = std::min<std::size_t>(4, scored.size());
  for (std::size_t i = 0; i < finalists; ++i) {
    const Candidate candidate(layout, layer, scored[i].plan);
    std::vector<std::uint32_t> order = natural_order(candidate.size());
    const auto share = [&](double part) {
      if (progress) progress((static_cast<double>(i) + part) / static_cast<double>(finalists));
    };
    const std::uint32_t cycles =
        improve(candidate, order, scored[i].cycles, effort / static_cast<std::uint32_t>(finalists), random, share);
    if (cycles < best.cycles) best = {scored[i].plan, order, cycles};
  }
  return best;
}

LayerOrder random_order(const Layout& layout, std::uint32_t layer, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::vector<LayerPlan> all = plans(layout, layer);
  LayerOrder out;
  out.plan = all[draw(random, all.size())];
  const Candidate candidate(layout, layer, out.plan);
  out.order = natural_order(candidate.size());
  const Conflicts conflicts = candidate.conflicts();
  for (std::size_t i = 0; i < 20 * candidate.size(); ++i)
    move(out.order, draw(random, candidate.size()), draw(random, candidate.size()), conflicts);
  out.cycles = candidate.cycles(out.order);
  return out;
}

std::vector<Operation> ordered_layer(const Layout& layout, std::uint32_t layer, std::uint32_t iterations,
                                     const LayerOrder& order) {
  std::vector<Operation> natural = lower_layer(layout, layer, iterations, order.plan), out;
  out.reserve(natural.size());
  for (const std::uint32_t index : order.order) out.push_back(natural[index]);
  return out;
}

}  // namespace lpu::compiler
