// `lpu cosim`: the golden card and the Verilated core in lockstep, every write compared. Relies on host/cosim.
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "host/base/number_text.hpp"
#include "host/base/progress.hpp"
#include "host/cli/card_options.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/console.hpp"
#include "host/cosim/lockstep.hpp"
#include "host/runtime/metrics.hpp"
#include "host/runtime/text_model.hpp"

namespace lpu::cli {
namespace {

struct Options {
  CardChoice card;
  std::optional<std::string> prompt;
  std::optional<std::string> prompt_ids;
  std::optional<std::string> inject;
  std::optional<std::string> waveform;
  bool one_by_one = false;
  bool json = false;
  cosim::Options run;
};

std::vector<std::int32_t> prompt_of(const Options& options, const runtime::TextModel& text,
                                    const bundle::Bundle& bundle) {
  if (options.prompt && options.prompt_ids)
    fail(ExitCode::kUsage, "Give the prompt in one way: --prompt TEXT or --prompt-ids IDS.");
  std::vector<std::int32_t> ids = {0};
  if (options.prompt) ids = text.tokenizer().encode(*options.prompt, true, true);
  if (options.prompt_ids) ids = parse_ids("--prompt-ids", *options.prompt_ids);
  const contract::ModelShape& shape = bundle.shape();
  if (ids.empty()) fail(ExitCode::kUsage, "The prompt is empty; write some text between the quotes.");
  if (ids.size() > shape.context_tokens)
    fail(ExitCode::kDoesNotFit, "The prompt has {} tokens, the bundle's context {}; shorten it.", ids.size(),
         shape.context_tokens);
  if (ids.size() > options.run.tokens)
    fail(ExitCode::kUsage, "The prompt has {} tokens, and --tokens {} counts them, too; write {} or more.", ids.size(),
         options.run.tokens, ids.size());
  for (const std::int32_t id : ids)
    if (id < 0 || static_cast<std::uint32_t>(id) >= shape.vocabulary)
      fail(ExitCode::kUsage, "Token {} isn't in the vocabulary of {}.", id, shape.vocabulary);
  return ids;
}

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json finding_json(const cosim::Finding& finding) {
  const cosim::Mismatch& mismatch = finding.mismatch;
  return {{"what", mismatch.what},
          {"program_counter", or_null(finding.program_counter)},
          {"opcode", text_or_null(finding.opcode)},
          {"layer", or_null(finding.layer)},
          {"matrix", text_or_null(finding.matrix)},
          {"loop", finding.program_counter ? Json(finding.loop) : Json(nullptr)},
          {"iteration", finding.program_counter ? Json(finding.iteration) : Json(nullptr)},
          {"token", finding.token},
          {"position", finding.position},
          {"place", finding.place},
          {"address", or_null(finding.address)},
          {"element", mismatch.element},
          {"expected", text_or_null(mismatch.expected)},
          {"got", text_or_null(mismatch.got)},
          {"cycle_expected", or_null(mismatch.cycle_expected)},
          {"cycle_got", or_null(mismatch.cycle_got)},
          {"core_cycle", finding.core_cycle}};
}

/// Whether the injected fault showed; none without one.
std::optional<bool> fault_found(const Options& options, const cosim::Report& report) {
  if (!options.inject || (report.interrupted && !report.first_mismatch)) return std::nullopt;
  return report.first_mismatch.has_value();
}

double cycles_per_second(const cosim::Report& report) {
  return report.core_seconds > 0 ? static_cast<double>(report.timed_cycles) / report.core_seconds : 0;
}

Json report_json(const Options& options, const bundle::Bundle& bundle, const cosim::Report& report) {
  return {{"tokens", report.tokens},
          {"instructions", report.instructions},
          {"writes", report.writes},
          {"differing_values", report.differing_values},
          {"differing_cycles", report.differing_cycles},
          {"first_mismatch", report.first_mismatch ? finding_json(*report.first_mismatch) : Json(nullptr)},
          {"model", bundle.model_name()},
          {"hardware", bundle.hardware_name()},
          {"next_tokens", report.next},
          {"predicted_cycles", report.predicted_cycles},
          {"measured_cycles", report.measured_cycles},
          {"jitter_cycles", runtime::jitter_cycles(report.predicted_cycles, report.measured_cycles)},
          {"core_cycles", report.core_cycles},
          {"seconds", report.core_seconds},
          {"cycles_per_second", cycles_per_second(report)},
          {"interrupted", report.interrupted},
          {"fault_found", or_null(fault_found(options, report))}};
}

std::string finding_text(const cosim::Finding& finding) {
  const cosim::Mismatch& mismatch = finding.mismatch;
  const auto number = [](const auto& value) { return value ? fmt::format("{}", *value) : std::string("-"); };
  const auto text = [](const std::string& value) { return value.empty() ? std::string("-") : value; };
  std::string out = fmt::format("\nfirst mismatch: {} of {}, token {} (position {})\n", mismatch.what, finding.place,
                                finding.token, finding.position);
  if (finding.program_counter)
    out += fmt::format("  instruction {} ({}), loop {}, iteration {}, layer {}, matrix {}\n", *finding.program_counter,
                       finding.opcode, finding.loop, finding.iteration, number(finding.layer), text(finding.matrix));
  else
    out += "  no instruction of the program makes it\n";
  out += fmt::format("  address {}, element {}\n  expected {}, got {}\n  cycle expected {}, got {}\n",
                     number(finding.address), mismatch.element, text(mismatch.expected), text(mismatch.got),
                     number(mismatch.cycle_expected), number(mismatch.cycle_got));
  return out;
}

std::string report_text(const Options& options, const bundle::Bundle& bundle, const cosim::Report& report) {
  std::string out = fmt::format(
      "{} on {}: {} tokens in lockstep, {} instructions, {} writes compared\n"
      "differing values {}, differing cycles {}; measured - predicted cycles of a token: {}\n"
      "{} cycles of the core in {} ({:.0f} a second), loading not included\n",
      bundle.model_name(), bundle.hardware_name(), grouped_text(report.tokens), grouped_text(report.instructions),
      grouped_text(report.writes), report.differing_values, report.differing_cycles,
      runtime::jitter_cycles(report.predicted_cycles, report.measured_cycles), grouped_text(report.timed_cycles),
      seconds_text(report.core_seconds), cycles_per_second(report));
  if (report.interrupted)
    out += fmt::format("interrupted after {} of {} tokens\n", grouped_text(report.tokens),
                       grouped_text(options.run.tokens));
  if (fault_found(options, report) == false)
    out += report.fault_is_in ? "the fault changed nothing that was compared\n"
                              : "the fault changed nothing at all: what it names was so before, or was never written\n";
  if (!report.first_mismatch) return out;
  out += finding_text(*report.first_mismatch);
  if (options.run.waveform.empty())
    out += fmt::format(
        "  the 200 cycles around it: the same command with --waveform FILE.fst (model: scripts/build.sh "
        "--target rtl-{}-trace)\n",
        bundle.hardware().name);
  else
    out += fmt::format("  the 200 cycles around it: {}\n", options.run.waveform);
  return out;
}

ExitCode run(Options options) {
  catch_interrupts();
  options.card.quiet = options.card.quiet || options.json;
  const bundle::Bundle bundle = open_bundle(options.card);
  Progress progress(!options.card.quiet);
  cosim::Options& wanted = options.run;
  // Opened for token ids, too: what it refuses in a bundle, `lpu run` refuses with the same sentence.
  wanted.prompt = prompt_of(options, runtime::TextModel(bundle), bundle);
  wanted.threads = options.card.threads;
  wanted.back_to_back = !options.one_by_one;
  if (!std::isfinite(wanted.temperature) || (wanted.temperature > 0 && wanted.temperature < 0.01F))
    fail(ExitCode::kUsage, "--temperature: choose 0 (the likeliest token), or 0.01 and more.");
  if (options.inject) wanted.injection = cosim::parse_injection(*options.inject, bundle);
  if (options.waveform) wanted.waveform = *options.waveform;
  if (options.waveform && wanted.waveform.empty())
    fail(ExitCode::kUsage, "--waveform: the name is empty; name a file, such as mismatch.fst.");
  wanted.progress = [&](double share) { progress.update("comparing", share); };
  wanted.is_interrupted = was_interrupted;
  const cosim::Report report = cosim::run(bundle, wanted);
  progress.clear();
  if (options.json)
    put_json(report_json(options, bundle, report));
  else
    put_out(report_text(options, bundle, report));
  if (report.first_mismatch) return ExitCode::kCard;
  return report.interrupted ? ExitCode::kInterrupted : ExitCode::kSuccess;
}

}  // namespace

void add_cosim(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("cosim", "Run the RTL beside the golden card and compare every write, value and cycle");
  const auto options = std::make_shared<Options>();
  command->add_option("BUNDLE", options->card.bundle, "The folder that `lpu compile` wrote")->required();
  command->add_option("--tokens", options->run.tokens, "Tokens to run, those of the prompt included")
      ->required()
      ->check(whole_number())
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32));
  command->add_option("--prompt", options->prompt, "The text that each session begins with");
  command->add_option("--prompt-ids", options->prompt_ids, "Token ids instead of text, like 1,2,3 (default: 0)");
  command->add_option("--temperature", options->run.temperature, "0: always the likeliest token; above: sample")
      ->check(CLI::Range(0.0, 1e30))
      ->capture_default_str();
  command->add_option("--seed", options->run.seed, "For sampling; each further session takes the next")
      ->check(whole_number())
      ->capture_default_str();
  command->add_option("--threads", options->card.threads, "Threads of the golden card; 0: all cores")
      ->check(whole_number())
      ->check(CLI::Range(0U, 256U))
      ->capture_default_str();
  command->add_option("--inject", options->inject, "A fault for the RTL's copy of the bundle, KIND:… (below)");
  command->add_option("--waveform", options->waveform,
                      "Write the 200 cycles around the first mismatch, or around an error of the core, to this file "
                      "(FST, for GTKWave and Surfer)");
  command->add_flag("--one-by-one", options->one_by_one,
                    "The host asks for each token; otherwise generated tokens follow one another without it");
  command->add_flag("--load-through-port", options->run.load_through_port,
                    "Fill the memories through the host port; slow");
  command->add_flag("--json", options->json, "Print JSON (keys: docs/json.md)");
  command->add_flag("--quiet", options->card.quiet, "No progress on standard error");
  command->footer(
      "Every write of the RTL is compared with the golden card's: its place, its value, and the cycle from which on it "
      "can be read.\n"
      "The first difference ends the run with exit code 6. A context that is full begins anew, as another session.\n"
      "An RTL model that isn't built ends it with 5.\n\n"
      "Faults: weight:ADDRESS:BIT, minimum:ADDRESS:BIT, exponent:WORD:BIT, constant:INDEX:BIT, rope:PAIR:BIT (a bit of "
      "an element of\n"
      "that memory), delay:PC:+N or -N, opcode:PC:VALUE, instruction:PC:BIT, activation:BANK:ADDRESS:BIT.\n\n"
      "Examples:\n"
      "  lpu cosim model.bundle --tokens 64 --prompt \"Once upon a time\"\n"
      "  lpu cosim model.bundle --tokens 2 --inject weight:100:7 --waveform fault.fst --json\n");
  command->callback([options, &chosen] { chosen = [options] { return run(*options); }; });
}

}  // namespace lpu::cli
