// `lpu`: understands the command line, runs one subcommand, turns every error into one sentence and an exit code, and
// into the one JSON object of a command that was asked for JSON. Relies on CLI11; the work is done by the subcommands'
// files.
#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <new>
#include <string>
#include <string_view>

#include "hls/contract/describe.hpp"
#include "host/base/error.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/console.hpp"

namespace {

using lpu::ExitCode;

constexpr const char* kFooter =
    "From a model file to text:\n"
    "  lpu inspect model.gguf\n"
    "  lpu compile model.gguf --hardware virtual --context 256 -o model.bundle\n"
    "  lpu run model.bundle --chat --prompt \"What is the capital of France?\"\n"
    "\n"
    "Results go to standard output, progress and summaries to standard error.\n"
    "\n"
    "Exit codes:\n"
    "  0    success\n"
    "  1    a defect of this program\n"
    "  2    wrong command line\n"
    "  3    a file or text that can't be used: damaged, unsupported\n"
    "  4    model, context or prompt too large\n"
    "  5    the system refused: missing file or RTL model, unwritable folder, full disk\n"
    "  6    the card stopped with an error, or the bundle was made for another contract\n"
    "  130  interrupted with Ctrl-C\n";

/// Sees to it that a command with --json prints one object, whatever ends it: here, for all commands at once.
class Complaint {
 public:
  /// Of the subcommand that was chosen. A command line that wasn't understood is searched for the word, for its reading
  /// may have ended before it.
  void look_for_json(const CLI::App& command, int argc, char** argv, bool is_understood) {
    const CLI::Option* const option = command.get_option_no_throw("--json");
    if (option == nullptr) return;
    wants_json_ = is_understood ? option->count() != 0 : std::count(argv, argv + argc, std::string_view("--json")) != 0;
  }

  [[nodiscard]] int operator()(ExitCode code, const std::string& sentence) const {
    // Not fmt::print, which throws when standard error can't be written.
    std::fputs(("lpu: " + sentence + "\n").c_str(), stderr);
    // A result that couldn't be written is followed by nothing.
    if (wants_json_ && std::ferror(stdout) == 0)
      std::fputs(lpu::cli::json_text({{"error", sentence}, {"exit_code", static_cast<int>(code)}}).c_str(), stdout);
    return static_cast<int>(code);
  }

 private:
  bool wants_json_ = false;
};

int run(int argc, char** argv, Complaint& complain) {
  CLI::App app(
      "OpenLPU: compiles a language model for an FPGA machine whose every cycle is known beforehand, and runs it.",
      "lpu");
  app.set_version_flag("--version", "lpu " OPENLPU_VERSION "\ncontract " + lpu::contract::contract_hash_text());
  app.require_subcommand(1);
  app.footer(kFooter);
  lpu::cli::Chosen chosen;
  lpu::cli::add_inspect(app, chosen);
  lpu::cli::add_compile(app, chosen);
  lpu::cli::add_estimate(app, chosen);
  lpu::cli::add_run(app, chosen);
  lpu::cli::add_chat(app, chosen);
  lpu::cli::add_evaluate(app, chosen);
  lpu::cli::add_bench(app, chosen);
  lpu::cli::add_cosim(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    const auto used = app.get_subcommands();
    if (!used.empty()) complain.look_for_json(*used.front(), argc, argv, false);
    if (used.empty() && argc > 1 && argv[1][0] != '-')
      return complain(ExitCode::kUsage, fmt::format("There is no subcommand \"{}\"; lpu --help lists them.", argv[1]));
    return complain(ExitCode::kUsage, fmt::format("{} (see: lpu {}--help)", error.what(),
                                                  used.empty() ? "" : used.front()->get_name() + " "));
  }
  complain.look_for_json(*app.get_subcommands().front(), argc, argv, true);
  return static_cast<int>(chosen());
}

}  // namespace

int main(int argc, char** argv) {
  // A file that may grow no more is an error to report, not a signal to die of.
  ::signal(SIGXFSZ, SIG_IGN);
  Complaint complain;
  try {
    return run(argc, argv, complain);
  } catch (const lpu::Error& error) {
    return complain(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return complain(ExitCode::kDoesNotFit,
                    "There isn't enough memory for this; close other programs or use a smaller model.");
  } catch (const std::exception& error) {
    return complain(ExitCode::kInternal, fmt::format("Unexpected error, a defect of this program: {}", error.what()));
  }
}
