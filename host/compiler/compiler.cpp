// The steps in their order, and the report made from what they find. See compiler.hpp.
#include "host/compiler/compiler.hpp"

#include <algorithm>
#include <chrono>

#include "hls/contract/describe.hpp"
#include "hls/contract/memory_map.hpp"
#include "host/base/error.hpp"
#include "host/base/process_memory.hpp"
#include "host/compiler/encode.hpp"
#include "host/compiler/layout.hpp"
#include "host/compiler/report_json.hpp"
#include "host/compiler/schedule.hpp"
#include "host/compiler/tokenizer_section.hpp"
#include "host/compiler/trace.hpp"

namespace lpu::compiler {

namespace {

constexpr std::uint32_t kMostEstimatedLengths = 256;
constexpr std::uint32_t kSearchEffort = 40000;  ///< orders looked at for each kind of layer: about a second

struct Planned {
  Layout layout;
  Schedule schedule;
  contract::Program program;
  Report report;
};

/// Memories that more cards deepen: a card holds some of the layers' weights and caches.
bool is_shared_by_cards(const MemoryUse& m) {
  return m.name == "lane" || m.name == "minimum" || m.name == "exponent" || m.name == "constant";
}

/// Cards of this kind that would hold it, were the layers split evenly; 0 when no number would.
std::uint64_t cards_needed(const std::vector<MemoryUse>& memory) {
  std::uint64_t cards = 1;
  for (const MemoryUse& m : memory) {
    if (m.fits()) continue;
    if (!is_shared_by_cards(m) || m.capacity_depth == 0) return 0;
    cards = std::max(cards, (m.used_depth + m.capacity_depth - 1) / m.capacity_depth);
  }
  return cards;
}

bool fits_memories(const std::vector<MemoryUse>& memory) {
  return std::all_of(memory.begin(), memory.end(), [](const MemoryUse& m) { return m.fits(); });
}

bool would_fit(const model::Model& model, const contract::HardwareConfig& config, const CompileOptions& options) {
  try {
    return fits_memories(memory_use(place(model, config, options.context_tokens, options.kv_bits)));
  } catch (const Error&) {
    return false;
  }
}

/// One sentence on what would hold the model: named configurations, or so many cards.
std::string advice(const model::Model& model, const CompileOptions& options, const std::vector<MemoryUse>& memory) {
  std::string names;
  for (const contract::HardwareConfig& config : contract::kHardwareConfigs) {
    if (!would_fit(model, config, options)) continue;
    names += (names.empty() ? "" : ", ") + std::string(config.name);
  }
  const std::uint64_t number = cards_needed(memory);
  const std::string cards = number == 0 ? "" : fmt::format(" or {} cards of {}", number, options.hardware_name);
  return fmt::format("it would fit {}{}", names.empty() ? "no shipped configuration" : "--hardware " + names, cards);
}

void add_misfits(const model::Model& model, const CompileOptions& options, Report& report) {
  for (const MemoryUse& m : report.memory)
    if (!m.fits())
      report.misfits.push_back(fmt::format("{} memory: {} {} are needed, {} has {}: {} too few", m.name, m.used_depth,
                                           m.unit, options.hardware_name, m.capacity_depth,
                                           m.used_depth - m.capacity_depth));
  report.fits = report.misfits.empty();
  if (!report.fits) report.misfits.push_back(advice(model, options, report.memory));
}

Planned plan(const model::Model& model, const CompileOptions& options, bool whole_program) {
  Planned out{place(model, options.hardware, options.context_tokens, options.kv_bits), {}, {}, {}};
  const Layout& layout = out.layout;
  Report& report = out.report;
  out.schedule = make_schedule(layout, options, kSearchEffort);
  // An estimate of a long context times a sample of its lengths: instructions and table rows come out the same.
  const std::uint32_t every =
      whole_program ? 1 : (layout.geometry.context_blocks + kMostEstimatedLengths - 1) / kMostEstimatedLengths;
  out.program = make_program(out.schedule, layout, options, every);
  // The card keeps the two rows of token lengths behind the table.
  const std::size_t delay_entries =
      (out.program.delays.size() / out.program.length_steps + 2) * layout.geometry.context_blocks;

  report.memory = memory_use(layout);
  const auto add_region = [&](const char* name, const char* unit, std::uint64_t used, contract::Region which) {
    const auto bytes = static_cast<std::uint64_t>(contract::element_bytes(which, options.hardware));
    const auto capacity = static_cast<std::uint64_t>(contract::capacity_elements(which, options.hardware));
    report.memory.push_back({name, unit, used, capacity, used * bytes, capacity * bytes});
  };
  add_region("program", "instructions", out.program.instructions.size(), contract::Region::kInstructions);
  add_region("delay", "table entries", delay_entries, contract::Region::kDelays);
  report.instructions = out.program.instructions.size();
  report.program_bytes = report.memory[report.memory.size() - 2].used_bytes + report.memory.back().used_bytes;
  for (const MemoryUse& m : report.memory)
    if (m.name != "activation" && m.name != "residual") report.resident_bytes += m.used_bytes;

  std::vector<std::uint32_t> positions = {0, options.context_tokens / 2, options.context_tokens - 1};
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  for (const std::uint32_t position : positions) report.positions.push_back(account(out.schedule, layout, position));
  const PositionCycles& last = report.positions.back();
  report.cycles_per_token = last.cycles;
  report.clock_mhz = options.hardware.clock_mhz;
  report.microseconds_per_token = static_cast<double>(last.cycles) / options.hardware.clock_mhz;
  report.mac_utilisation = last.mac_utilisation;
  report.useful_beats = last.useful_beats;
  add_misfits(model, options, report);
  return out;
}

}  // namespace

Report estimate(const model::Model& model, const CompileOptions& options) { return plan(model, options, false).report; }

void write_trace(const model::Model& model, const CompileOptions& options, const std::filesystem::path& trace_file) {
  const Planned planned = plan(model, options, false);
  write_token_trace(planned.schedule, planned.layout, options.context_tokens - 1, trace_file);
}

Report compile(const model::Model& model, const CompileOptions& options, const std::filesystem::path& folder,
               const std::optional<std::filesystem::path>& trace_file) {
  const auto begin = std::chrono::steady_clock::now();
  Planned planned = plan(model, options, true);
  if (!planned.report.fits) {
    std::string sentence = fmt::format("{} doesn't fit {}", model.file().path().string(), options.hardware_name);
    for (const std::string& misfit : planned.report.misfits) sentence += "; " + misfit;
    throw Error(ExitCode::kDoesNotFit, sentence);
  }
  bundle::Contents contents;
  contents.hardware = options.hardware;
  contents.hardware_name = options.hardware_name;
  contents.shape = planned.layout.shape;
  contents.model_name = model.shape().name;
  contents.model_file_bytes = model.file().size_bytes();
  contents.program = planned.program;
  contents.tokenizer_gguf = tokenizer_section(model.file());
  try {
    planned.report.encoding = encode(model, planned.layout, contents, [&](double share) {
      if (options.progress) options.progress("encode", share);
    });
  } catch (const Error& error) {
    throw Error(error.code(), model.file().path().string() + ": " + error.what());
  }
  // Without wall time and memory: the same model gives the same bundle, byte for byte.
  contents.report_json = report_json(planned.report);
  if (options.progress) options.progress("write", 0);
  bundle::write(folder, contents);
  if (trace_file) write_token_trace(planned.schedule, planned.layout, options.context_tokens - 1, *trace_file);
  planned.report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  planned.report.peak_memory_bytes = process_memory().peak_bytes;
  return planned.report;
}

}  // namespace lpu::compiler
