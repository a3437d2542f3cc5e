// The small interface behind which every card stands, and cards by string: "golden" (hls/golden in process), "rtl" (the
// Verilated core of rtl/ in process).
// Relies on host/bundle. A card runs one token at a time; time is counted in the card's own cycles.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hls/contract/number_formats.hpp"
#include "host/bundle/bundle.hpp"

namespace lpu::card {

struct Candidate {
  std::int32_t id;
  float logit;
};

struct TokenRequest {
  std::int32_t token = 0;
  std::uint32_t position = 0;
  bool want_next = true;  ///< false for prompt tokens before the last: the head isn't run
  float temperature = 0;  ///< 0: arg-max; else Gumbel-max on the card
  std::uint64_t seed = 0;
  std::vector<float>* logits = nullptr;  ///< filled with the vocabulary's logits when not null
};

struct TokenResult {
  std::int32_t next = -1;
  std::uint64_t cycles = 0;  ///< measured by the card
  std::uint64_t busy_beats = 0;
  std::vector<Candidate> best;                                    ///< up to 64, best first; empty without want_next
  std::array<std::uint64_t, contract::kLogSumBuckets> log_sum{};  ///< numbers.md §11
};

class Card {
 public:
  virtual ~Card() = default;
  virtual std::string name() const = 0;
  /// Forgets the session: position 0, empty KV cache.
  virtual void reset() = 0;
  /// Error(kCard) on a hazard, a saturation, or an address out of range.
  virtual TokenResult step(const TokenRequest& request) = 0;
};

struct CardOptions {
  unsigned threads = 0;            ///< golden: 0 = all cores
  bool fast = true;                ///< golden: vectorised exact dots
  bool load_through_port = false;  ///< rtl: fills the memories as a host would, not by copy
  bool unchecked = false;          ///< rtl: runs a program that the host would refuse
};

/// "golden", which is a group of golden cards where the bundle is a group's, and "rtl"; Error(kUsage) naming the known
/// cards otherwise, for a bundle of one card of a group, and for a group on "rtl".
std::unique_ptr<Card> open_card(const std::string& name, const bundle::Bundle& bundle, const CardOptions& options);

/// Error(kUsage), which names the group's folder, for the bundle of one card of a group.
void check_whole(const bundle::Bundle& bundle);
/// Error(kUsage) for that and for a group: what only the Verilated core's users call, since it has no links yet.
void check_single(const bundle::Bundle& bundle);

}  // namespace lpu::card
