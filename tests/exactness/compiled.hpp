// Compiles a model for a machine into a temporary bundle and runs tokens on the golden card: what the exactness tests
// share. Relies on host/compiler, host/bundle, hls/golden.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "hls/golden/machine.hpp"
#include "host/bundle/bundle.hpp"
#include "host/compiler/compiler.hpp"

namespace lpu::test {

struct CompileFor {
  std::string hardware = "tiny";
  std::uint32_t context_tokens = 96;
  std::uint32_t kv_bits = 8;
  std::uint64_t order_seed = 0;
};

/// A bundle in a folder of its own, removed with it.
class Compiled {
 public:
  Compiled(const std::filesystem::path& model, const CompileFor& how);
  ~Compiled();
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  [[nodiscard]] const bundle::Bundle& bundle() const { return *bundle_; }
  [[nodiscard]] const compiler::Report& report() const { return report_; }
  [[nodiscard]] std::unique_ptr<golden::Machine> machine(unsigned threads) const;
  /// The cycles that the compiler predicts for a token at `position`.
  [[nodiscard]] std::uint32_t predicted(std::uint32_t position, bool with_head) const;

 private:
  std::filesystem::path folder_;
  compiler::Report report_;
  std::unique_ptr<bundle::Bundle> bundle_;
};

/// Logits of every position for these tokens, [tokens × vocabulary].
std::vector<float> run_tokens(golden::Machine& machine, const std::vector<std::int32_t>& tokens,
                              std::uint32_t vocabulary);
/// `count` seeded token ids.
std::vector<std::int32_t> random_tokens(std::size_t count, std::uint32_t vocabulary, std::uint64_t seed);
/// FNV-1a (64 bits) over the logits' bytes.
std::uint64_t hash_of(const std::vector<float>& logits);

}  // namespace lpu::test
