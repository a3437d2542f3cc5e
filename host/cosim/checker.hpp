// Compares what a card writes with what it should: the n-th write to a place must be the n-th expected one, in value
// and cycle; nothing expected may stay away, nothing else may come. It knows no card: writes come as (place, cycle,
// value). Relies on expectation.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/cosim/expectation.hpp"

namespace lpu::cosim {

struct Mismatch {
  std::string what;  ///< "value", "cycle", "missing", "unexpected", "token" (its result)
  Place place;
  bool has_run = false;  ///< an unexpected write belongs to no run
  std::uint32_t run = 0;
  std::uint32_t element = 0;  ///< of the value: lane, mantissa or row that differs first
  std::string expected;       ///< hexadecimal, of that element
  std::string got;
  std::optional<std::uint64_t> cycle_expected;  ///< of the token
  std::optional<std::uint64_t> cycle_got;
};

class Checker {
 public:
  /// Starts a token; what was expected before is forgotten.
  void begin(Expectation expectation);
  /// Before the first token nothing is expected.
  [[nodiscard]] const Expectation& expectation() const { return expectation_; }

  /// A write that can be read from `cycle` of the token on. value: as Expected's.
  void take(const Place& place, std::uint64_t cycle, std::span<const std::uint32_t> value);
  /// Every write that can be read from `cycle` on has been taken: what should have come by then is missing.
  void reached(std::uint64_t cycle);
  /// The token has ended: everything must have come.
  void end();
  /// The token's result differs from the expectation's in `what`.
  void differs(const char* what, std::uint64_t expected, std::uint64_t got);

  /// The next write to this place that is expected, or null.
  [[nodiscard]] const Expected* next(const Place& place) const;
  /// In the order in which they were found. A missing write that comes later turns into one whose cycle differs.
  [[nodiscard]] const std::vector<Mismatch>& mismatches() const { return mismatches_; }

  [[nodiscard]] std::uint64_t instructions() const { return instructions_; }
  [[nodiscard]] std::uint64_t writes() const { return writes_; }
  [[nodiscard]] std::uint64_t differing_values() const { return differing_values_; }
  [[nodiscard]] std::uint64_t differing_cycles() const { return differing_cycles_; }

 private:
  void compare(std::uint32_t at, std::uint64_t cycle, std::span<const std::uint32_t> value);
  void missing(std::uint32_t item);

  Expectation expectation_;
  std::unordered_map<std::uint64_t, std::uint32_t> heads_;  ///< place → its next item
  std::vector<std::uint32_t> following_;                    ///< item → the place's item after it
  std::vector<bool> taken_;                                 ///< [items]
  std::vector<std::uint32_t> by_cycle_;                     ///< items that have a cycle
  std::size_t due_ = 0;                                     ///< in by_cycle_
  std::unordered_map<std::uint32_t, std::size_t> missing_;  ///< item → its place in mismatches_
  std::vector<Mismatch> mismatches_;
  std::uint64_t instructions_ = 0, writes_ = 0, differing_values_ = 0, differing_cycles_ = 0;
};

}  // namespace lpu::cosim
