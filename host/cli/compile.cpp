// `lpu compile` and `lpu estimate`: the same questions to the compiler, with and without a bundle to show for it.
// Relies on host/compiler.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/base/progress.hpp"
#include "host/cli/card_options.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/console.hpp"
#include "host/cli/group_text.hpp"
#include "host/cli/report_text.hpp"
#include "host/compiler/compiler.hpp"
#include "host/compiler/group.hpp"
#include "host/compiler/group_report.hpp"
#include "host/compiler/report_json.hpp"
#include "host/model/model.hpp"

namespace lpu::cli {
namespace {

struct Options {
  std::string model;
  std::string hardware;
  std::string link = "aurora-25g";
  std::string cards;
  std::uint32_t context_tokens = 0;
  std::uint32_t kv_bits = 8;
  std::string bundle;
  std::string trace;
  bool json = false;
  bool quiet = false;
};

void add_shared(CLI::App& command, Options& options) {
  command.add_option("MODEL", options.model, "The model, a GGUF file")->required();
  command
      .add_option("--hardware", options.hardware,
                  "The machine: a name, NAME:LANESxGROUPS for another array, or FILE.json; several cards: 3xu55c, "
                  "2xu55c+1xu250")
      ->required();
  command.add_option("--link", options.link, "What joins several cards: aurora-25g, udp-100g (docs/several_cards.md)")
      ->capture_default_str();
  command.add_option("--cards", options.cards, "auto: as few cards of the --hardware as hold the model; N: so many")
      ->check([](const std::string& text) {
        const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
        return text == "auto" || (digits && !text.empty() && text.size() < 4) ? std::string()
                                                                              : "must be auto or a number of cards";
      });
  command.add_option("--context", options.context_tokens, "Tokens that the KV cache holds")
      ->required()
      ->check(whole_number())
      ->check(CLI::Range(1U, 1U << 20));
  command.add_option("--kv-bits", options.kv_bits, "Bits of the keys in the KV cache")
      ->check(CLI::IsMember({8U, 12U}))
      ->capture_default_str();
  command.add_option("--trace", options.trace,
                     "Write the schedule of one token as a Chrome/Perfetto trace to this file");
  command.add_flag("--json", options.json, "Print JSON (keys: docs/json.md)");
  command.add_flag("--quiet", options.quiet, "No progress on standard error");
}

compiler::CompileOptions compile_options(const Options& options, Progress& progress) {
  compiler::CompileOptions result;
  result.hardware_name = options.hardware;
  result.context_tokens = options.context_tokens;
  result.kv_bits = options.kv_bits;
  result.progress = [&progress](const std::string& step, double share) {
    throw_if_interrupted();
    progress.update(step, share);
  };
  return result;
}

void print(const Options& options, const model::Model& model, const std::string& report_json,
           const std::string& report_text) {
  Json out = {{"model", model.shape().name},
              {"hardware", options.hardware},
              {"context_tokens", options.context_tokens},
              {"kv_bits", options.kv_bits},
              {"bundle", options.bundle.empty() ? Json(nullptr) : Json(options.bundle)}};
  out.update(Json::parse(report_json));
  if (options.json) {
    put_json(out);
    return;
  }
  put_out(fmt::format("{} on {}, context {}, {}-bit keys\n\n", model.shape().name, options.hardware,
                      options.context_tokens, options.kv_bits) +
          report_text);
}

/// What a command tells of a card or of a group.
struct Told {
  std::string json;
  std::string text;
  std::vector<std::string> misfits;
};

Told told(const compiler::Report& report) {
  return {compiler::report_json(report), report_text(report), report.misfits};
}
Told told(const compiler::GroupReport& report) {
  return {compiler::group_report_json(report), group_text(report), report.misfits};
}

compiler::GroupOptions group_options(const Options& options, const std::vector<compiler::GroupCard>& cards,
                                     Progress& progress) {
  if (!options.trace.empty())
    fail(ExitCode::kUsage, "--trace shows one card's schedule; give --hardware a single card, not {}",
         options.hardware);
  return {compile_options(options, progress), cards, compiler::find_link(options.link)};
}

/// --hardware with --cards: "u55c" and 3 are "3xu55c".
std::string hardware_of(const Options& options, const model::Model& model, Progress& progress) {
  if (options.cards.empty()) return options.hardware;
  if (compiler::find_cards(options.hardware).size() != 1)
    fail(ExitCode::kUsage, "--cards {}: --hardware {} already says how many cards; give one of them", options.cards,
         options.hardware);
  if (options.cards != "auto") return options.cards + "x" + options.hardware;
  return compiler::smallest_group(model, {compile_options(options, progress), {}, compiler::find_link(options.link)},
                                  options.hardware);
}

ExitCode run_compile(const Options& given) {
  catch_interrupts();
  Options options = given;
  Progress progress(!options.json && !options.quiet);
  const std::shared_ptr<const model::Model> model = model::Model::open(options.model);
  options.hardware = hardware_of(options, *model, progress);
  const std::vector<compiler::GroupCard> cards = compiler::find_cards(options.hardware);
  compiler::CompileOptions wanted = compile_options(options, progress);
  Told result;
  if (cards.size() > 1) {
    result = told(compiler::compile_group(*model, group_options(options, cards, progress), options.bundle));
  } else {
    std::optional<std::filesystem::path> trace;
    if (!options.trace.empty()) trace = options.trace;
    wanted.hardware = cards[0].hardware;
    result = told(compiler::compile(*model, wanted, options.bundle, trace));
  }
  progress.clear();
  print(options, *model, result.json, result.text);
  if (!options.json) put_out(fmt::format("bundle: {}\n", options.bundle));
  return ExitCode::kSuccess;
}

ExitCode run_estimate(const Options& given) {
  catch_interrupts();
  Options options = given;
  Progress progress(!options.json && !options.quiet);
  const std::shared_ptr<const model::Model> model = model::Model::open(options.model);
  options.hardware = hardware_of(options, *model, progress);
  const std::vector<compiler::GroupCard> cards = compiler::find_cards(options.hardware);
  compiler::CompileOptions wanted = compile_options(options, progress);
  Told result;
  if (cards.size() > 1) {
    result = told(compiler::estimate_group(*model, group_options(options, cards, progress)));
  } else {
    wanted.hardware = cards[0].hardware;
    const compiler::Report report = compiler::estimate(*model, wanted);
    if (report.fits && !options.trace.empty()) compiler::write_trace(*model, wanted, options.trace);
    result = told(report);
  }
  progress.clear();
  print(options, *model, result.json, result.text);
  for (const std::string& misfit : result.misfits) std::fputs(fmt::format("lpu: {}\n", misfit).c_str(), stderr);
  return result.misfits.empty() ? ExitCode::kSuccess : ExitCode::kDoesNotFit;
}

}  // namespace

void add_compile(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("compile", "Compile a model for a machine into a bundle that a card runs");
  const auto options = std::make_shared<Options>();
  add_shared(*command, *options);
  command->add_option("-o,--output", options->bundle, "Folder of the bundle; one that is there is replaced")
      ->required();
  command->footer(
      "Prints the memory map, the cycles of one token at the first, the middle and the last position of the context, "
      "where they go,\n"
      "and what re-encoding the weights cost.\n\n"
      "Examples:\n"
      "  lpu compile model.gguf --hardware virtual --context 256 -o model.bundle\n"
      "  lpu compile model.gguf --hardware 3xu55c --link aurora-25g --context 256 -o three.bundle\n"
      "  lpu compile model.gguf --hardware virtual:16x2 --context 1024 --kv-bits 12 -o small.bundle --trace "
      "token.json\n");
  command->callback([options, &chosen] { chosen = [options] { return run_compile(*options); }; });
}

void add_estimate(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("estimate", "Tell what compiling would give: does it fit, how fast is it");
  const auto options = std::make_shared<Options>();
  add_shared(*command, *options);
  command->footer(
      "Reads the model file's header only and writes no bundle. Ends with 0 when the model fits, with 4 when it "
      "doesn't.\n"
      "FILE.json describes a machine that we don't ship (fields: docs/json.md).\n\n"
      "Examples:\n"
      "  lpu estimate model.gguf --hardware u55c --context 256\n"
      "  lpu estimate model.gguf --hardware u55c --cards auto --context 2048\n"
      "  lpu estimate model.gguf --hardware mine.json --context 1024 --json\n");
  command->callback([options, &chosen] { chosen = [options] { return run_estimate(*options); }; });
}

}  // namespace lpu::cli
