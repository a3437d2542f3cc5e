// The compiler's front door: a model and a hardware configuration in, a bundle or an estimate out.
//
// Steps, in order, a file each: place (where every tensor, activation and constant lies), lower (the token as bursts
// and vector instructions), order (search of the beat order), time (issue cycles), check (fields and hazards), encode
// (weights to lane words), write (the bundle). Relies on host/model, host/bundle, hls/contract.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "hls/contract/program.hpp"
#include "host/compiler/report.hpp"
#include "host/model/model.hpp"

namespace lpu::compiler {

struct CompileOptions {
  contract::HardwareConfig hardware{};
  std::string hardware_name;  ///< as the user wrote it ("virtual:16x2")
  std::uint32_t context_tokens = 0;
  std::uint32_t kv_bits = 8;     ///< 8 or 12
  std::uint64_t order_seed = 0;  ///< not 0: a random legal beat order instead of the searched one (for tests)
  std::function<void(const std::string& step, double share)> progress;  ///< share 0…1; may be empty
};

/// From the model file's header only. Doesn't throw when the model is too large: see Report::fits.
Report estimate(const model::Model& model, const CompileOptions& options);

/// Writes a bundle into `folder` (atomically: the folder appears complete or not at all). Throws Error(kDoesNotFit)
/// with the misfits' sentences. trace_file: where to write one token (at the last position) as a Chrome/Perfetto trace.
Report compile(const model::Model& model, const CompileOptions& options, const std::filesystem::path& folder,
               const std::optional<std::filesystem::path>& trace_file);

/// Only the trace, for `lpu estimate --trace`.
void write_trace(const model::Model& model, const CompileOptions& options, const std::filesystem::path& trace_file);

/// A configuration by name ("u55c"), with another array ("virtual:16x2", LANESxGROUPS), or from FILE.json.
/// Error(kUsage) lists the names; Error(kBadInput) names the JSON field at fault.
contract::HardwareConfig find_hardware(const std::string& name_or_file);

}  // namespace lpu::compiler
