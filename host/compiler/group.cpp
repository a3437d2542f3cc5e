// The plan that is chosen among those looked at, its report, and the group's bundles. See group.hpp.
#include "host/compiler/group.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "host/base/error.hpp"
#include "host/bundle/bundle.hpp"
#include "host/compiler/encode.hpp"
#include "host/compiler/group_report.hpp"
#include "host/compiler/group_share.hpp"
#include "host/compiler/group_time.hpp"
#include "host/compiler/tokenizer_section.hpp"

namespace lpu::compiler {

namespace {

constexpr std::uint32_t kSearchEffort = 40000;  ///< as for a card alone
constexpr std::uint32_t kMostRowMoves = 64;     ///< of head rows, tried to make the cards end together

struct Plan {
  std::unique_ptr<GroupTimer> timer;
  GroupReport report;
};

class Planner {
 public:
  Planner(const model::Model& model, const GroupOptions& options) : model_(model), options_(options) {}

  Plan choose() {
    Plan plan;
    std::vector<CardShare> best = share_model(model_, options_, HeadSplit::kAllCards);
    if (fits(best)) best = fastest(best, plan.report.alternatives);
    plan.timer = timer(best);
    return plan;
  }

 private:
  [[nodiscard]] bool fits(const std::vector<CardShare>& shares) const {
    return std::all_of(shares.begin(), shares.end(),
                       [&](const CardShare& share) { return holds(model_, options_, share); });
  }
  std::unique_ptr<GroupTimer> timer(const std::vector<CardShare>& shares) {
    return std::make_unique<GroupTimer>(model_, options_, shares, known_, kSearchEffort);
  }
  std::uint64_t cycles(const std::vector<CardShare>& shares) {
    const std::unique_ptr<GroupTimer> timed = timer(shares);
    return timed->token(timed->time(timed->layout(0).geometry.context_blocks)).cycles;
  }

  /// Of the splits that are looked at; `in_proportion` fits.
  std::vector<CardShare> fastest(const std::vector<CardShare>& in_proportion, std::vector<Alternative>& tried) {
    struct Split {
      const char* what;
      std::vector<CardShare> shares;
    };
    std::vector<Split> splits = {{"head by rows over all cards, until they end together", in_proportion},
                                 {"head by rows over all cards, in proportion", in_proportion},
                                 {"head on the last card, but for a row group of each other",
                                  share_model(model_, options_, HeadSplit::kLastCard)}};
    balance(splits[0].shares, cycles(in_proportion));
    std::size_t best = 0;
    for (std::size_t i = 0; i < splits.size(); ++i) {
      tried.push_back({splits[i].what, fits(splits[i].shares) ? cycles(splits[i].shares) : 0, false});
      if (tried[i].cycles != 0 && tried[i].cycles < tried[best].cycles) best = i;
    }
    tried[best].chosen = true;
    return splits[best].shares;
  }

  /// Moves rows of the head from the card that ends last to the one that ends first, while that helps.
  void balance(std::vector<CardShare>& shares, std::uint64_t best) {
    const std::uint32_t blocks = timer(shares)->layout(0).geometry.context_blocks;
    for (std::uint32_t move = 0; move < kMostRowMoves; ++move) {
      const std::unique_ptr<GroupTimer> timed = timer(shares);
      const GroupPosition at = timed->token(timed->time(blocks));
      const auto end = [&](std::size_t k) { return at.cards[k].head_start + at.cards[k].head; };
      std::size_t last = 0, first = 0;
      for (std::size_t k = 1; k < shares.size(); ++k) {
        if (end(k) > end(last)) last = k;
        if (end(k) < end(first)) first = k;
      }
      const MatrixPlace& head = timed->layout(last).head;
      const std::uint64_t row_group_beats = head.row_group_words(), spare = (end(last) - end(first)) / 2;
      const auto lanes = static_cast<std::uint64_t>(options_.cards[last].hardware.lanes);
      const std::uint64_t rows = spare / std::max<std::uint64_t>(1, row_group_beats) * lanes;
      const std::uint32_t granule = id_granule(options_);
      const auto ids = static_cast<std::uint32_t>(rows / granule * granule);
      if (ids == 0) break;
      std::vector<CardShare> moved = shares;
      if (!move_ids(moved, last, first, ids) || !fits(moved)) break;
      const std::uint64_t now = cycles(moved);
      if (now >= best) break;
      best = now;
      shares = moved;
    }
  }

  const model::Model& model_;
  const GroupOptions& options_;
  std::vector<KnownOrders> known_;
};

bool fits(const model::Model& model, const GroupOptions& options) {
  try {
    const std::vector<CardShare> shares = share_model(model, options, HeadSplit::kAllCards);
    return std::all_of(shares.begin(), shares.end(),
                       [&](const CardShare& share) { return holds(model, options, share); });
  } catch (const Error&) {
    return false;  // fewer layers than cards, or a limit that no memory would cure
  }
}

/// The smallest changes that would make it fit: more cards like the last, or a shorter context.
std::string advice(const model::Model& model, const GroupOptions& options) {
  std::vector<std::string> ways;
  GroupOptions more = options;
  while (more.cards.size() < std::min<std::size_t>(kMostCards, model.shape().layers)) {
    more.cards.push_back(more.cards.back());
    if (!fits(model, more)) continue;
    const std::size_t added = more.cards.size() - options.cards.size();
    ways.push_back(fmt::format("with {} more {}{}", added, more.cards.back().name, added == 1 ? "" : "s"));
    break;
  }
  GroupOptions shorter = options;
  for (std::uint32_t blocks = options.common.context_tokens / contract::kBlockValues; blocks > 0; --blocks) {
    shorter.common.context_tokens = blocks * contract::kBlockValues;
    if (shorter.common.context_tokens == options.common.context_tokens || !fits(model, shorter)) continue;
    ways.push_back(fmt::format("with --context {}", shorter.common.context_tokens));
    break;
  }
  if (ways.empty()) return "neither more cards nor a shorter context would make it fit";
  return "it would fit " + ways.front() + (ways.size() > 1 ? " or " + ways.back() : "");
}

void check_link(const GroupOptions& options) {
  if (const char* fault = contract::fault_of(options.link)) fail(ExitCode::kUsage, "--link: {}", fault);
}

Plan plan_group(const model::Model& model, const GroupOptions& options) {
  check_link(options);
  Plan plan = Planner(model, options).choose();
  GroupReport& report = plan.report;
  const GroupTimer& timer = *plan.timer;
  report.clock_mhz = options.cards[0].hardware.clock_mhz;
  for (std::size_t k = 0; k < options.cards.size(); ++k) {
    report.cards.push_back({options.cards[k].name, timer.shares()[k], memory_use(timer.layout(k))});
    for (const MemoryUse& m : report.cards[k].memory) {
      if (m.name != "activation" && m.name != "residual") report.resident_bytes += m.used_bytes;
      if (!m.fits())
        report.misfits.push_back(fmt::format("card {} ({}), {} memory: {} {} are needed, {} are there: {} too few", k,
                                             options.cards[k].name, m.name, m.used_depth, m.unit, m.capacity_depth,
                                             m.used_depth - m.capacity_depth));
    }
  }
  report.fits = report.misfits.empty();
  if (!report.fits) report.misfits.push_back(advice(model, options));
  const std::uint32_t context = options.common.context_tokens;
  std::vector<std::uint32_t> positions = {0, context / 2, context - 1};
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  for (const std::uint32_t position : positions) {
    report.positions.push_back(timer.token(timer.time(position / contract::kBlockValues + 1)));
    report.positions.back().position = position;
  }
  report.cycles_per_token = report.positions.back().cycles;
  return plan;
}

}  // namespace

std::string smallest_group(const model::Model& model, const GroupOptions& options, const std::string& card) {
  GroupOptions group = options;
  group.cards.clear();
  const std::size_t most = std::min<std::size_t>(kMostCards, model.shape().layers);
  while (group.cards.size() < most) {
    group.cards.push_back({find_hardware(card), card});
    if (group.cards.size() > 1 ? fits(model, group) : holds(model, group, whole_model(model)))
      return group.cards.size() == 1 ? card : fmt::format("{}x{}", group.cards.size(), card);
  }
  fail(ExitCode::kDoesNotFit,
       "{}: doesn't fit {} cards of {}, one a layer at most; use a shorter --context or larger cards",
       model.file().path().string(), most, card);
}

GroupReport estimate_group(const model::Model& model, const GroupOptions& options) {
  return plan_group(model, options).report;
}

GroupReport compile_group(const model::Model& model, const GroupOptions& options, const std::filesystem::path& folder) {
  const auto begin = std::chrono::steady_clock::now();
  Plan plan = plan_group(model, options);
  if (!plan.report.fits) {
    std::string sentence = fmt::format("{} doesn't fit {}", model.file().path().string(), options.common.hardware_name);
    for (const std::string& misfit : plan.report.misfits) sentence += "; " + misfit;
    throw Error(ExitCode::kDoesNotFit, sentence);
  }
  const GroupTimer& timer = *plan.timer;
  bundle::GroupContents contents;
  contents.hardware_name = options.common.hardware_name;
  contents.shape = place(model, options.cards[0].hardware, options.common.context_tokens, options.common.kv_bits).shape;
  contents.model_name = model.shape().name;
  contents.model_file_bytes = model.file().size_bytes();
  contents.plan.link_name = options.link.name;
  contents.plan.link = options.link;
  contents.plan.cards.resize(options.cards.size());
  std::vector<std::vector<TimedCard>> lengths;  // [length step][card]
  const std::uint32_t steps = timer.layout(0).geometry.context_blocks;
  for (std::uint32_t step = 0; step < steps; ++step) {
    lengths.push_back(timer.time(step + 1));
    contents.cycles_with_head.push_back(static_cast<std::uint32_t>(timer.token(lengths.back()).cycles));
    for (std::size_t k = 0; k < options.cards.size(); ++k) {
      const TimedCard& card = lengths.back()[k];
      bundle::GroupPlan::CardTimes& times = contents.plan.cards[k];
      times.embedding_sends.push_back(static_cast<std::uint32_t>(card.embedding.timing.sent.front()));
      times.layers_send.push_back(static_cast<std::uint32_t>(card.layers.timing.sent.front()));
    }
    if (options.common.progress) options.common.progress("time", static_cast<double>(step + 1) / steps);
  }
  contents.report_json = group_report_json(plan.report);
  contents.card = [&](std::size_t k) {
    bundle::Contents card;
    card.hardware = options.cards[k].hardware;
    card.hardware_name = options.cards[k].name;
    card.shape = timer.layout(k).shape;
    card.model_name = model.shape().name;
    card.model_file_bytes = model.file().size_bytes();
    card.program = make_group_program(
        timer.schedule(k), timer.layout(k),
        [&](const Schedule& phase, std::uint32_t blocks) {
          const TimedCard& timed = lengths[blocks - 1][k];
          return (phase.phase == contract::Phase::kEmbedding ? timed.embedding
                  : phase.phase == contract::Phase::kLayers  ? timed.layers
                                                             : timed.head)
              .timing;
        },
        1);
    card.tokenizer_gguf = tokenizer_section(model.file());
    try {
      encode(model, timer.layout(k), card, [&](double share) {
        if (options.common.progress)
          options.common.progress("encode",
                                  (static_cast<double>(k) + share) / static_cast<double>(options.cards.size()));
      });
    } catch (const Error& error) {
      throw Error(error.code(), model.file().path().string() + ": " + error.what());
    }
    card.report_json = group_report_json(plan.report);
    return card;
  };
  bundle::write_group(folder, contents);
  plan.report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return plan.report;
}

}  // namespace lpu::compiler
