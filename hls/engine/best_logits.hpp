// The 64 largest logits with their ids, in canonical order (docs/numbers.md §11): logit descending, then id ascending,
// so that neither the order of arrival nor the number of cards matters. Compared as numbers: −0 equals 0. Runs behind
// the logits within kLogitCycles. Relies on number_formats.hpp.
#pragma once

#include <cstdint>

#include "hls/contract/number_formats.hpp"

namespace lpu {
namespace engine {

struct BestLogits {
  float logits[contract::kBestLogits];       ///< [64], the first `count` are valid
  std::uint32_t ids[contract::kBestLogits];  ///< [64]
  int count = 0;

  /// Whether (logit, id) stands before the entry.
  bool stands_before(float logit, std::uint32_t id, int entry) const {
    return logit > logits[entry] || (logit == logits[entry] && id < ids[entry]);
  }

  /// A register chain: every entry compares at once, those behind the new one move on by one place.
  void insert(float logit, std::uint32_t id) {
    const int last = contract::kBestLogits - 1;
    if (count == contract::kBestLogits && !stands_before(logit, id, last)) return;
    const int filled = count;
    count = filled < contract::kBestLogits ? filled + 1 : filled;
    for (int entry = last; entry >= 0; --entry) {
      const bool before_this = entry >= filled || stands_before(logit, id, entry);
      const bool before_previous = entry > 0 && (entry - 1 >= filled || stands_before(logit, id, entry - 1));
      if (before_previous) {
        logits[entry] = logits[entry - 1];
        ids[entry] = ids[entry - 1];
      } else if (before_this) {
        logits[entry] = logit;
        ids[entry] = id;
      }
    }
  }
};

}  // namespace engine
}  // namespace lpu
