// What a run was: text, cycles, times, as JSON and as a table for people. Keys: docs/json.md.
// Relies on host/runtime.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/cli/console.hpp"
#include "host/runtime/session.hpp"

namespace lpu::cli {

struct RunFacts {
  const bundle::Bundle& bundle;
  std::string card;
  std::vector<std::int32_t> prompt;
  std::string text;
  runtime::Generation generation;
};

/// Over the steps of generated tokens, head included: what the model needed / what the array could have done. nullopt
/// where the bundle's report doesn't say.
std::optional<double> mac_utilisation(const bundle::Bundle& bundle,
                                      const std::vector<const runtime::Generation*>& runs);

Json generation_json(const RunFacts& facts);
std::string generation_text(const RunFacts& facts);

}  // namespace lpu::cli
