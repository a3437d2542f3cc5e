// `lpu compile` and `lpu estimate`: the same questions to the compiler, with and without a bundle to show for it.
// Relies on host/compiler.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "host/base/progress.hpp"
#include "host/cli/card_options.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/console.hpp"
#include "host/cli/report_text.hpp"
#include "host/compiler/compiler.hpp"
#include "host/compiler/report_json.hpp"
#include "host/model/model.hpp"

namespace lpu::cli {
namespace {

struct Options {
  std::string model;
  std::string hardware;
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
                  "The machine: a name, NAME:LANESxGROUPS for another array, or FILE.json")
      ->required();
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
  result.hardware = compiler::find_hardware(options.hardware);
  result.hardware_name = options.hardware;
  result.context_tokens = options.context_tokens;
  result.kv_bits = options.kv_bits;
  result.progress = [&progress](const std::string& step, double share) {
    throw_if_interrupted();
    progress.update(step, share);
  };
  return result;
}

void print(const Options& options, const model::Model& model, const compiler::Report& report) {
  Json out = {{"model", model.shape().name},
              {"hardware", options.hardware},
              {"context_tokens", options.context_tokens},
              {"kv_bits", options.kv_bits},
              {"bundle", options.bundle.empty() ? Json(nullptr) : Json(options.bundle)}};
  out.update(Json::parse(compiler::report_json(report)));
  if (options.json) {
    put_json(out);
    return;
  }
  put_out(fmt::format("{} on {}, context {}, {}-bit keys\n\n", model.shape().name, options.hardware,
                      options.context_tokens, options.kv_bits) +
          report_text(report));
}

ExitCode run_compile(const Options& options) {
  catch_interrupts();
  Progress progress(!options.json && !options.quiet);
  const compiler::CompileOptions wanted = compile_options(options, progress);
  const std::shared_ptr<const model::Model> model = model::Model::open(options.model);
  std::optional<std::filesystem::path> trace;
  if (!options.trace.empty()) trace = options.trace;
  const compiler::Report report = compiler::compile(*model, wanted, options.bundle, trace);
  progress.clear();
  print(options, *model, report);
  if (!options.json) put_out(fmt::format("bundle: {}\n", options.bundle));
  return ExitCode::kSuccess;
}

ExitCode run_estimate(const Options& options) {
  catch_interrupts();
  Progress progress(!options.json && !options.quiet);
  const compiler::CompileOptions wanted = compile_options(options, progress);
  const std::shared_ptr<const model::Model> model = model::Model::open(options.model);
  const compiler::Report report = compiler::estimate(*model, wanted);
  if (report.fits && !options.trace.empty()) compiler::write_trace(*model, wanted, options.trace);
  progress.clear();
  print(options, *model, report);
  for (const std::string& misfit : report.misfits) std::fputs(fmt::format("lpu: {}\n", misfit).c_str(), stderr);
  return report.fits ? ExitCode::kSuccess : ExitCode::kDoesNotFit;
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
      "  lpu estimate model.gguf --hardware mine.json --context 1024 --json\n");
  command->callback([options, &chosen] { chosen = [options] { return run_estimate(*options); }; });
}

}  // namespace lpu::cli
