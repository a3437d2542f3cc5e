// The golden card's machine: runs a Program on a MemoryImage, token by token, with the bits of hls/engine and the
// cycles of its own scoreboard. It exists as the one C++ meaning of docs/isa.md: the RTL and every real card are
// compared to it. Relies on hls/engine, hls/contract and threads; knows nothing of host/.
#pragma once

#include <cstdint>
#include <memory>

#include "hls/contract/program.hpp"
#include "hls/engine/best_logits.hpp"
#include "hls/engine/log_sum.hpp"
#include "hls/golden/fault.hpp"
#include "hls/golden/lane_memory.hpp"
#include "hls/golden/link_vector.hpp"
#include "hls/golden/observer.hpp"

namespace lpu {
namespace golden {

struct State;
class Scoreboard;

struct StepOptions {
  bool want_logits = true;  ///< false: the head's loops are left out, no next token
  float temperature = 0;    ///< 0: the largest logit; above: Gumbel-max with the seed
  std::uint64_t seed = 0;
  float* logits = nullptr;  ///< [vocabulary], or null
  bool fast = true;         ///< vectorised dots; the bits are the same
  Observer* observer = nullptr;
};

struct StepResult {
  std::uint32_t cycles = 0;  ///< from the token's start to the cycle in which the next may start
  std::uint64_t busy_beats = 0;
  std::int32_t next_token = -1;  ///< −1 without logits
  std::uint32_t saturations = 0;
  engine::BestLogits best;
  engine::LogSum buckets;
  bool has_key = false;  ///< of a sampled token: the greatest key and its id
  std::int64_t best_key = 0;
  LinkVector sent;  ///< of a phase that sends: what, and when
};

class Machine {
 public:
  /// Checks everything and copies what it needs; the image may go away afterwards. Throws Fault.
  Machine(const contract::HardwareConfig& config, const contract::ModelShape& shape, const contract::Program& program,
          const contract::MemoryImage& image, unsigned threads, const ImageUsed& image_used = ImageUsed());
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// One token at a position. Throws Fault: a request out of range, or a hazard (then no value has changed).
  StepResult step(std::int32_t token, std::uint32_t position, const StepOptions& options) {
    return run(contract::Phase::kToken, token, position, options, nullptr);
  }
  /// One phase of a token. received: the vector that the phase takes from the link, with the cycles (of this phase)
  /// from which on its blocks are there; null where it takes none. A card that doesn't hold the token's row of the
  /// embedding tells the embedding's time, not its values.
  StepResult run(contract::Phase phase, std::int32_t token, std::uint32_t position, const StepOptions& options,
                 const LinkVector* received);
  /// KV cache and all state as after construction.
  void reset();

  State& state() { return *state_; }  ///< for lockstep comparison and tests

 private:
  void clear_state();
  void check_request(std::int32_t token, std::uint32_t position, const StepOptions& options) const;

  contract::Program program_;
  std::unique_ptr<State> state_;
  std::unique_ptr<Scoreboard> scoreboard_;
};

}  // namespace golden
}  // namespace lpu
