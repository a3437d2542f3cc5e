// A Verilated core as a library that is loaded at run time: where it is looked for, whether it is the machine that a
// bundle was made for, and its functions. Relies on rtl_model/api.hpp and on the system's dlopen().
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "host/bundle/bundle.hpp"
#include "host/card/rtl_model/api.hpp"

namespace lpu::card {

class RtlLibrary {
 public:
  /// The library of the bundle's configuration. Error(kIo) with the command that builds it when it isn't there,
  /// Error(kBadInput) when it is damaged, no model or another configuration's, or the bundle isn't for a named
  /// configuration, Error(kCard) when it is of another version or another contract, Error(kDoesNotFit) when the bundle
  /// needs more than this model holds.
  static RtlLibrary open(const bundle::Bundle& bundle, bool with_waveform);
  ~RtlLibrary();
  RtlLibrary(RtlLibrary&& other) noexcept;
  RtlLibrary(const RtlLibrary&) = delete;
  RtlLibrary& operator=(const RtlLibrary&) = delete;
  RtlLibrary& operator=(RtlLibrary&&) = delete;

  [[nodiscard]] const LpuRtlFunctions& functions() const { return *functions_; }
  [[nodiscard]] const LpuRtlParameters& parameters() const { return functions_->parameters; }

 private:
  RtlLibrary(void* handle, const LpuRtlFunctions* functions) : handle_(handle), functions_(functions) {}

  void* handle_;
  const LpuRtlFunctions* functions_;
};

/// Folders of $OPENLPU_RTL_PATH (between colons), the program's own, and ../lib beside that, in this order.
std::vector<std::filesystem::path> rtl_library_folders();

/// First reason why a model with these parameters can't run the bundle, as the end of a sentence; "" if it can.
std::string rtl_misfit(const LpuRtlParameters& model, const bundle::Bundle& bundle);

}  // namespace lpu::card
