// What the golden card and the golden group share: a machine made from a bundle, requests turned into the machine's,
// and the machine's faults into the user's errors. Relies on card.hpp and hls/golden; for this folder's use.
#pragma once

#include <memory>
#include <string>

#include "hls/golden/machine.hpp"
#include "host/base/error.hpp"
#include "host/card/card.hpp"

namespace lpu::card {

/// Runs `work`, which calls the machine. who: what errors call it, "The golden card".
template <typename Work>
auto translate(const std::string& who, const Work& work) {
  try {
    return work();
  } catch (const golden::Fault& fault) {
    fail(ExitCode::kCard, "{} stopped: {}", who, fault.what());
  }
}

/// The bundle's pages that the machine has copied are dropped.
std::unique_ptr<golden::Machine> make_machine(const bundle::Bundle& bundle, const CardOptions& options,
                                              const std::string& who);

/// Logits are given room for the whole vocabulary.
golden::StepOptions step_options(const TokenRequest& request, std::uint32_t vocabulary, bool fast);

/// Error(kCard) where numbers were too large.
void check_saturations(const std::string& who, const TokenRequest& request, std::uint32_t saturations);

TokenResult to_result(const TokenRequest& request, const golden::StepResult& step);

}  // namespace lpu::card
