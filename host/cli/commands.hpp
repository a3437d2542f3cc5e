// The subcommands of `lpu`, a file each. Each adds itself to the command line and, when it is the one that was chosen,
// does its work and returns the exit code. Relies on CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "host/base/error.hpp"

namespace lpu::cli {

/// Set by the chosen subcommand's callback; run by main() after the command line is understood.
using Chosen = std::function<ExitCode()>;

void add_inspect(CLI::App& app, Chosen& chosen);
void add_compile(CLI::App& app, Chosen& chosen);
void add_estimate(CLI::App& app, Chosen& chosen);
void add_run(CLI::App& app, Chosen& chosen);
void add_chat(CLI::App& app, Chosen& chosen);
void add_evaluate(CLI::App& app, Chosen& chosen);
void add_bench(CLI::App& app, Chosen& chosen);
void add_cosim(CLI::App& app, Chosen& chosen);

}  // namespace lpu::cli
