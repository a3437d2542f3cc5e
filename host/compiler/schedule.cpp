// Timing of whole tokens, their account, and the rolling of equal layers into loops. See schedule.hpp.
#include "host/compiler/schedule.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "host/base/error.hpp"
#include "host/compiler/timeline.hpp"

namespace lpu::compiler {

namespace {

/// Delays of one iteration: for each operation the cycles since the unit's issue before it, in this iteration or an
/// earlier one.
std::vector<std::uint64_t> relative(const std::vector<Operation>& operations, const std::vector<std::uint64_t>& issue,
                                    std::uint64_t (&last)[contract::kUnits]) {
  std::vector<std::uint64_t> out(issue.size());
  for (std::size_t i = 0; i < issue.size(); ++i) {
    std::uint64_t& before = last[static_cast<std::size_t>(contract::unit_of(operations[i].instruction.opcode()))];
    out[i] = issue[i] - before;
    before = issue[i];
  }
  return out;
}

/// A stage's operations from one of its iterations on, rolled into so many.
std::vector<Operation> stage_operations(const Layout& layout, const Stage& stage, std::uint32_t iteration,
                                        std::uint32_t iterations) {
  if (!stage.is_layer) return stage.operations;
  std::vector<Operation> operations = ordered_layer(layout, stage.first_layer + iteration, iterations, stage.order);
  if (iteration + iterations == stage.iterations) send_residual(operations, stage.receivers);
  return operations;
}

}  // namespace

namespace {

/// The card's layers as stages of one kind each; receivers: of the last layer's residual.
std::vector<Stage> layer_stages(const Layout& layout, const CompileOptions& options, std::uint32_t effort,
                                contract::Receivers receivers, KnownOrders& known) {
  std::vector<Stage> stages;
  const auto count = static_cast<std::uint32_t>(layout.layers.size());
  // A last layer that sends has instructions of its own.
  const bool sends = receivers != contract::Receivers::kNobody;
  for (std::uint32_t first = 0; first < count;) {
    const LayerPlace& place = layout.layers[first];
    std::uint32_t iterations = 1;
    while (first + iterations < (sends ? count - 1 : count) && place.same_kind(layout.layers[first + iterations]))
      ++iterations;
    auto found =
        std::find_if(known.begin(), known.end(), [&](const auto& entry) { return entry.first.same_kind(place); });
    if (found == known.end()) {
      const auto progress = [&](double share) {
        if (options.progress) options.progress("order", share);
      };
      known.emplace_back(place, options.order_seed != 0 ? random_order(layout, first, options.order_seed)
                                                        : search_order(layout, first, effort, progress));
      found = known.end() - 1;
    }
    Stage stage{{}, first, iterations, true, false, found->second};
    if (first + iterations == count) stage.receivers = receivers;
    stage.operations = stage_operations(layout, stage, 0, iterations);
    stages.push_back(std::move(stage));
    first += iterations;
  }
  return stages;
}

}  // namespace

Schedule make_schedule(const Layout& layout, const CompileOptions& options, std::uint32_t effort) {
  Schedule schedule;
  schedule.stages.push_back({lower_embedding(layout)});
  KnownOrders known;
  for (Stage& stage : layer_stages(layout, options, effort, contract::Receivers::kNobody, known))
    schedule.stages.push_back(std::move(stage));
  schedule.stages.push_back({lower_head(layout), 0, 1, false, true});
  return schedule;
}

GroupSchedule make_group_schedule(const Layout& layout, const CompileOptions& options, std::uint32_t effort,
                                  std::uint64_t block_cycles, KnownOrders& known) {
  GroupSchedule schedule;
  schedule.embedding = {{{lower_embedding(layout)}}, contract::Phase::kEmbedding};
  schedule.layers = {{{lower_receive(layout, layout.first_gain, block_cycles)}}, contract::Phase::kLayers};
  for (Stage& stage :
       layer_stages(layout, options, effort,
                    layout.share.is_last() ? contract::Receivers::kOtherCards : contract::Receivers::kNextCard, known))
    schedule.layers.stages.push_back(std::move(stage));
  schedule.head.phase = contract::Phase::kHead;
  if (!layout.share.is_last()) schedule.head.stages.push_back({lower_receive(layout, layout.head_gain, block_cycles)});
  schedule.head.stages.push_back({lower_head(layout)});
  return schedule;
}

TokenTiming time_token(const Schedule& schedule, const Layout& layout, std::uint32_t blocks,
                       const std::vector<std::uint64_t>& arrivals, std::uint64_t noise_lead) {
  const Places places(layout);
  Timeline timeline(places, layout.hardware, arrivals, noise_lead);
  TokenTiming timing;
  for (const Stage& stage : schedule.stages) {
    if (stage.is_head) timing.cycles_without_head = timeline.end();
    std::vector<Footprint> footprints;
    for (const Operation& op : stage.operations)
      footprints.push_back(footprint_of(op.instruction, layout, places, blocks));
    std::vector<std::vector<std::uint64_t>> issue;
    for (std::uint32_t iteration = 0; iteration < stage.iterations; ++iteration) {
      std::vector<std::uint64_t> cycles;
      cycles.reserve(footprints.size());
      for (const Footprint& footprint : footprints) {
        cycles.push_back(timeline.issue(footprint));
        for (const std::uint32_t after : footprint.sent) timing.sent.push_back(cycles.back() + after);
      }
      issue.push_back(std::move(cycles));
      // Two iterations alike to the cycle after another two alike: every place was rewritten, so the rest repeats.
      const std::size_t n = issue.size();
      if (n < 3 || iteration + 1 == stage.iterations) continue;
      const std::uint64_t period = issue[n - 1][0] - issue[n - 2][0];
      bool steady = true;
      for (std::size_t i = 0; i < footprints.size() && steady; ++i)
        steady = issue[n - 1][i] - issue[n - 2][i] == period && issue[n - 2][i] - issue[n - 3][i] == period;
      if (!steady) continue;
      for (; iteration + 1 < stage.iterations; ++iteration) {
        std::vector<std::uint64_t> next = issue.back();
        for (std::uint64_t& cycle : next) cycle += period;
        timeline.skip(period);
        issue.push_back(std::move(next));
      }
    }
    timing.issue.push_back(std::move(issue));
  }
  timing.cycles_with_head = timeline.end();
  return timing;
}

PositionCycles account(const Schedule& schedule, const Layout& layout, std::uint32_t position) {
  const std::uint32_t blocks = position / contract::kBlockValues + 1;
  const TokenTiming timing = time_token(schedule, layout, blocks);
  PositionCycles out;
  out.position = position;
  out.cycles = timing.cycles_with_head;
  std::uint64_t free = 0;
  bool first = true;
  for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
    const Stage& stage = schedule.stages[s];
    for (const std::vector<std::uint64_t>& issue : timing.issue[s])
      for (std::size_t i = 0; i < issue.size(); ++i) {
        const Operation& op = stage.operations[i];
        if (op.instruction.opcode() != contract::Opcode::kMatvec) continue;
        const MatvecExtent extent = extent_of(op.instruction.matvec, layout.geometry, blocks);
        const std::uint64_t beats =
            std::uint64_t{extent.row_groups} * extent.column_sets * op.instruction.matvec.nibbles;
        if (first)
          out.prologue_cycles = issue[i];
        else if (issue[i] > free)
          out.idle_cycles[op.name] += issue[i] - free;
        first = false;
        free = issue[i] + beats;
        out.beats += beats;
      }
  }
  out.idle_cycles["token_end"] = out.cycles - free;

  // Block products that the model needs, 4 bits by 32 columns each, positions really attended to included.
  const contract::ModelShape& s = layout.shape;
  const Geometry& g = layout.geometry;
  const auto products = [](const MatrixPlace& m) { return double(m.rows) * m.blocks * m.format.nibbles; };
  double needed = products(layout.head);
  for (const LayerPlace& p : layout.layers) {
    for (const MatrixPlace* m : {&p.key, &p.query, &p.value, &p.out, &p.gate_up, &p.down}) needed += products(*m);
    const double attended = double(position) + 1;
    needed += s.heads * attended * g.head_blocks * g.key_nibbles +
              s.heads * double(s.head_size) * attended / contract::kBlockValues * 2;
  }
  out.useful_beats = needed / (double(g.lanes) * g.groups);
  out.mac_utilisation = out.useful_beats / static_cast<double>(out.cycles);
  return out;
}

namespace {

/// Rows of the delay table, each a delay for every context length; equal rows are kept once, constant ones not at all.
class DelayTable {
 public:
  explicit DelayTable(std::uint32_t steps) : steps_(steps) {}
  std::uint32_t row(const std::vector<std::uint32_t>& delays) {
    const auto [found, added] = rows_.try_emplace(delays, static_cast<std::uint32_t>(rows_.size()));
    if (added) table_.insert(table_.end(), delays.begin(), delays.end());
    return found->second;
  }
  void set(contract::CommonFields& fields, const std::vector<std::uint32_t>& delays) {
    const bool constant = std::all_of(delays.begin(), delays.end(), [&](std::uint32_t d) { return d == delays[0]; });
    fields.delay_by_length = !constant;
    fields.delay = constant ? delays[0] : row(delays);
  }
  [[nodiscard]] std::vector<std::uint32_t> take() { return std::move(table_); }
  [[nodiscard]] std::uint32_t steps() const { return steps_; }

 private:
  std::uint32_t steps_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> rows_;
  std::vector<std::uint32_t> table_;
};

/// [iteration][operation][context length] delays of one stage.
using StageDelays = std::vector<std::vector<std::vector<std::uint32_t>>>;

/// First iteration from which on all iterations have the same delays.
std::uint32_t settled(const StageDelays& delays) {
  std::uint32_t from = static_cast<std::uint32_t>(delays.size()) - 1;
  while (from > 0 && delays[from - 1] == delays.back()) --from;
  return from;
}

class ProgramBuilder {
 public:
  ProgramBuilder(const Layout& layout, std::uint32_t steps) : layout_(layout), table_(steps) {
    program_.length_steps = steps;
  }

  void add_stage(const Stage& stage, contract::Phase phase, const StageDelays& delays) {
    phase_ = phase;
    // The iteration that enters the steady state runs inside the loop: only its first delays differ (entry delays).
    std::uint32_t from = settled(delays);
    if (from > 0 && same_but_entries(stage, delays[from - 1], delays[from])) --from;
    for (std::uint32_t i = 0; i < from; ++i) add_loop(stage, i, 1, delays[i], delays[i]);
    add_loop(stage, from, stage.iterations - from, delays[from], delays.back());
  }
  contract::Program take() {
    program_.delays = table_.take();
    return std::move(program_);
  }
  contract::Program& program() { return program_; }

 private:
  static std::vector<bool> entries(const std::vector<Operation>& operations) {
    bool seen[contract::kUnits] = {};
    std::vector<bool> out;
    for (const Operation& op : operations) {
      bool& unit = seen[static_cast<std::size_t>(contract::unit_of(op.instruction.opcode()))];
      out.push_back(!unit);
      unit = true;
    }
    return out;
  }
  static bool same_but_entries(const Stage& stage, const std::vector<std::vector<std::uint32_t>>& a,
                               const std::vector<std::vector<std::uint32_t>>& b) {
    const std::vector<bool> first = entries(stage.operations);
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!first[i] && a[i] != b[i]) return false;
    return true;
  }

  [[noreturn]] void refuse(std::string_view field, const contract::Instruction& in, const std::string& name) const {
    // The one field that neither context nor model decides: a set of columns, over the vector lanes.
    if (in.opcode() == contract::Opcode::kEmbed && field == "pitch_cycles")
      fail(ExitCode::kDoesNotFit,
           "the machine is too wide for an instruction: field {} of the {} overflows, since {} column groups pass {} "
           "vector lanes; use fewer column groups or more vector lanes",
           field, name, layout_.hardware.column_groups, layout_.hardware.vector_lanes);
    fail(ExitCode::kDoesNotFit,
         "the model is too large for an instruction: field {} of the {} overflows; use a smaller context or model",
         field, name);
  }

  void add_loop(const Stage& stage, std::uint32_t iteration, std::uint32_t iterations,
                const std::vector<std::vector<std::uint32_t>>& entry,
                const std::vector<std::vector<std::uint32_t>>& body) {
    const std::vector<Operation> operations = stage_operations(layout_, stage, iteration, iterations);
    contract::Loop loop;
    loop.first_instruction = static_cast<std::uint32_t>(program_.instructions.size());
    loop.instruction_count = static_cast<std::uint32_t>(operations.size());
    loop.iterations = iterations;
    loop.is_head = stage.is_head;
    loop.phase = static_cast<std::uint32_t>(phase_);
    loop.entry_delay_mvu = loop.entry_delay_vpu = loop.entry_delay_smx = contract::kNoEntryDelay;
    const std::vector<bool> first = entries(operations);
    for (std::size_t i = 0; i < operations.size(); ++i) {
      contract::Instruction in = operations[i].instruction;
      if (first[i]) {
        const contract::Unit unit = contract::unit_of(in.opcode());
        (unit == contract::Unit::kMvu   ? loop.entry_delay_mvu
         : unit == contract::Unit::kVpu ? loop.entry_delay_vpu
                                        : loop.entry_delay_smx) = table_.row(entry[i]);
      }
      table_.set(in.common, body[i]);
      if (const char* field = contract::overflowing_field(in)) refuse(field, in, operations[i].name);
      program_.instructions.push_back(in);
    }
    program_.loops.push_back(loop);
  }

  const Layout& layout_;
  contract::Phase phase_ = contract::Phase::kToken;
  DelayTable table_;
  contract::Program program_;
};

/// Delays of a schedule's stages, length by length: [stage][iteration][operation][length].
class ScheduleDelays {
 public:
  ScheduleDelays(const Schedule& schedule, std::uint32_t steps) : schedule_(schedule), delays_(schedule.stages.size()) {
    for (std::size_t s = 0; s < schedule.stages.size(); ++s)
      delays_[s].assign(schedule.stages[s].iterations,
                        std::vector<std::vector<std::uint32_t>>(schedule.stages[s].operations.size(),
                                                                std::vector<std::uint32_t>(steps)));
  }
  void set(std::uint32_t step, const TokenTiming& timing) {
    std::uint64_t last[contract::kUnits] = {};
    for (std::size_t s = 0; s < schedule_.stages.size(); ++s)
      for (std::size_t k = 0; k < timing.issue[s].size(); ++k) {
        const std::vector<std::uint64_t> from = relative(schedule_.stages[s].operations, timing.issue[s][k], last);
        for (std::size_t i = 0; i < from.size(); ++i) delays_[s][k][i][step] = static_cast<std::uint32_t>(from[i]);
      }
  }
  void add_to(ProgramBuilder& builder) const {
    for (std::size_t s = 0; s < schedule_.stages.size(); ++s)
      builder.add_stage(schedule_.stages[s], schedule_.phase, delays_[s]);
  }

 private:
  const Schedule& schedule_;
  std::vector<StageDelays> delays_;
};

std::uint32_t steps_of(const Layout& layout, std::uint32_t every) {
  return (layout.geometry.context_blocks + every - 1) / every;
}
/// Blocks of a length step: the last is the whole context.
std::uint32_t blocks_of(const Layout& layout, std::uint32_t every, std::uint32_t step) {
  return layout.geometry.context_blocks - (steps_of(layout, every) - 1 - step) * every;
}

}  // namespace

contract::Program make_program(const Schedule& schedule, const Layout& layout, const CompileOptions& options,
                               std::uint32_t every) {
  const std::uint32_t steps = steps_of(layout, every);
  ScheduleDelays delays(schedule, steps);
  ProgramBuilder builder(layout, steps);
  for (std::uint32_t step = 0; step < steps; ++step) {
    const TokenTiming timing = time_token(schedule, layout, blocks_of(layout, every, step));
    delays.set(step, timing);
    builder.program().cycles_with_head.push_back(static_cast<std::uint32_t>(timing.cycles_with_head));
    builder.program().cycles_without_head.push_back(static_cast<std::uint32_t>(timing.cycles_without_head));
    if (options.progress) options.progress("time", static_cast<double>(step + 1) / steps);
  }
  delays.add_to(builder);
  return builder.take();
}

contract::Program make_group_program(const GroupSchedule& schedule, const Layout& layout, const PhaseTiming& timing,
                                     std::uint32_t every) {
  const std::uint32_t steps = steps_of(layout, every);
  ProgramBuilder builder(layout, steps);
  for (const Schedule* phase : {&schedule.embedding, &schedule.layers, &schedule.head}) {
    ScheduleDelays delays(*phase, steps);
    for (std::uint32_t step = 0; step < steps; ++step) {
      const TokenTiming at = timing(*phase, blocks_of(layout, every, step));
      delays.set(step, at);
      builder.program().phase_cycles[static_cast<std::size_t>(phase->phase)].push_back(
          static_cast<std::uint32_t>(at.cycles_with_head));
    }
    delays.add_to(builder);
  }
  return builder.take();
}

}  // namespace lpu::compiler
