// What the golden card says a token does: for every place the writes in their order, each with its value, the cycle
// from which on it can be read and the run that makes it; the issue cycle of every run; the logits; the result. Relies
// on hls/golden/observer.hpp; the values are copied out after each instruction, when they stand in its state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hls/golden/machine.hpp"
#include "hls/golden/observer.hpp"
#include "host/bundle/bundle.hpp"

namespace lpu::cosim {

/// Kinds of places, and two of events that are no places: the issue of a run, and a logit.
/// first, second: kAccumulator entry, segment; kBlock bank, address; kResidual first row, 0; kWord address, group ·
/// lanes + lane; kScale register, 0; kExponent and kInverse round, segment; kLogit id, 0; kIssue unit, run.
enum class Kind : std::uint8_t { kAccumulator, kBlock, kResidual, kWord, kScale, kExponent, kInverse, kLogit, kIssue };

struct Place {
  Kind kind = Kind::kIssue;
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  bool operator==(const Place&) const = default;
};
std::string name_of(const Place& place, std::uint32_t lanes);

/// Words of 32 bits of one element of a place's value, and what an element is called; a value may have several.
/// kAccumulator: a lane's 88 bits; kBlock: 32 mantissas and the exponent; kResidual: a row; kWord: the word's 144 bits;
/// kExponent: E and E − N.
std::uint32_t element_words(Kind kind);

struct Expected {
  Place place;
  std::uint32_t run = 0;
  std::uint32_t value_at = 0;  ///< in Expectation::values
  std::uint32_t value_words = 0;
  std::uint64_t cycle = 0;  ///< of the token; from it on the place can be read. kIssue: in it the run issues
  bool has_value = true;
  bool has_cycle = true;
  bool ignores_side_bits = false;  ///< K's words after the first: V's scale is put there later
};

struct Expectation {
  std::int32_t token = 0;
  std::uint32_t position = 0;
  bool with_head = true;
  std::vector<golden::TimedRun> runs;
  std::vector<Expected> items;  ///< for each place in order
  std::vector<std::uint32_t> values;
  golden::StepResult result;
};

/// Runs the golden card one token further and notes everything. Throws golden::Fault.
Expectation expect(golden::Machine& machine, const bundle::Bundle& bundle, std::int32_t token, std::uint32_t position,
                   const golden::StepOptions& options);

}  // namespace lpu::cosim
