// A Verilated core that is made to run programs which the host would refuse, and what comes of it: an error code, or
// results that can be compared bit for bit. It exists so that tests need no card that checks.
// Relies on card::RtlDriver for the core, on tests/card/rtl_fixture.hpp for a bundle of a small model on `tiny`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hls/golden/fault.hpp"
#include "hls/golden/scoreboard.hpp"
#include "host/card/rtl_driver.hpp"
#include "tests/card/rtl_fixture.hpp"

namespace lpu::test {

using contract::CardError;
using contract::ControlRegister;
using contract::Program;
using contract::Region;

constexpr std::uint64_t kSilence = 4096;  ///< cycles beyond two tokens' after which a core counts as dead

/// The bytes of a program's three memories, as they lie behind the host port.
inline std::vector<std::pair<Region, std::vector<std::uint32_t>>> words_of(const Program& program) {
  std::vector<std::pair<Region, std::vector<std::uint32_t>>> regions = {
      {Region::kInstructions, {}}, {Region::kLoops, {}}, {Region::kDelays, program.delays}};
  std::uint32_t words[contract::kInstructionWords];
  for (const contract::Instruction& in : program.instructions) {
    contract::pack(in, words);
    regions[0].second.insert(regions[0].second.end(), words, words + contract::kInstructionWords);
  }
  for (const contract::Loop& loop : program.loops) {
    contract::pack(loop, words);
    regions[1].second.insert(regions[1].second.end(), words, words + contract::kLoopWords);
  }
  for (const auto* lengths : {&program.cycles_with_head, &program.cycles_without_head})
    regions[2].second.insert(regions[2].second.end(), lengths->begin(), lengths->end());
  return regions;
}

/// What has to be inverted for `to` to stand where `from` does. Both are of the same size.
inline std::vector<card::ImageFault> difference(const Program& from, const Program& to) {
  std::vector<card::ImageFault> faults;
  const auto before = words_of(from), after = words_of(to);
  for (std::size_t region = 0; region < before.size(); ++region)
    for (std::size_t i = 0; i < before[region].second.size(); ++i)
      for (unsigned byte = 0; byte < 4; ++byte) {
        const std::uint32_t flip = (before[region].second[i] ^ after[region].second[i]) >> (8 * byte) & 0xFFU;
        if (flip != 0)
          faults.push_back({before[region].first, 4 * std::uint64_t{i} + byte, static_cast<std::uint8_t>(flip)});
      }
  return faults;
}

/// What tokens made that followed one another.
struct Outcome {
  CardError error = CardError::kNone;
  std::string text;           ///< the driver's sentence, if it threw
  bool is_silent = false;     ///< neither a result nor an error in time
  std::uint32_t waiting = 0;  ///< results in the queue after an error
  std::vector<card::RtlResult> results;
  std::vector<std::map<std::uint32_t, std::uint32_t>> logits;  ///< of each token: by row
  std::vector<std::uint8_t> words;                             ///< of the lanes afterwards: weights, K and V

  [[nodiscard]] bool stopped() const { return error != CardError::kNone; }
  [[nodiscard]] bool same_values(const Outcome& other) const {
    return std::equal(results.begin(), results.end(), other.results.begin(), other.results.end(),
                      [](const card::RtlResult& a, const card::RtlResult& b) {
                        return a.next == b.next && a.cycles == b.cycles && a.busy_beats == b.busy_beats &&
                               a.saturated == b.saturated;
                      }) &&
           logits == other.logits && words == other.words;
  }
};

class ForcedCore {
 public:
  explicit ForcedCore(const bundle::Bundle& bundle) : bundle_(bundle), driver_(bundle, {}) {}

  card::RtlDriver& driver() { return driver_; }

  /// Resets the core, puts `program` into it and runs tokens from position 0 on, each on the last one's result.
  Outcome run(const Program& program, std::int32_t token, std::size_t count = 2) {
    driver_.reset();
    const std::vector<card::ImageFault> faults = difference(bundle_.program(), program);
    for (const Region region : {Region::kInstructions, Region::kLoops, Region::kDelays}) driver_.reload(region, faults);
    return run_tokens(token, count);
  }
  Outcome run_tokens(std::int32_t token, std::size_t count = 2) {
    Outcome outcome;
    std::size_t at = 0;
    outcome.logits.resize(count);
    driver_.set_watch([&](const LpuRtlOutputs& out) {
      if (out.has_logits == 0) return true;
      for (std::uint32_t lane = 0; lane < static_cast<std::uint32_t>(bundle_.hardware().vector_lanes); ++lane)
        if ((out.logits_lanes[lane / 32] >> (lane % 32) & 1U) != 0)
          outcome.logits[std::min(at, count - 1)][out.logits_row + lane] = out.logits[lane];
      return true;
    });
    card::TokenRequest request;
    request.token = token;
    driver_.start(request, static_cast<std::uint32_t>(count) - 1);
    try {
      for (; at < count; ++at) {
        card::RtlResult result;
        driver_.wait(2 * std::uint64_t{bundle_.program().cycles_with_head[0]} + kSilence, &result);
        outcome.results.push_back(result);
      }
    } catch (const Error& error) {
      outcome.text = error.what();
      outcome.error = static_cast<CardError>(driver_.read(ControlRegister::kErrorCode));
      outcome.is_silent = outcome.error == CardError::kNone;
      outcome.waiting = driver_.read(ControlRegister::kStatus) >> 16 & 0xFFU;
    }
    driver_.set_watch({});
    outcome.words = lane_words();
    return outcome;
  }

 private:
  std::vector<std::uint8_t> lane_words() {
    std::vector<std::uint8_t> bytes;
    for (const LpuRtlMemory& memory : driver_.memories(static_cast<std::uint32_t>(Region::kLaneWords)))
      bytes.insert(bytes.end(), memory.data, memory.data + memory.words * memory.stride_bytes);
    return bytes;
  }

  const bundle::Bundle& bundle_;
  card::RtlDriver driver_;
};

/// Why the golden card's clock refuses a program's first two tokens; "" if it doesn't. A length that isn't the declared
/// one begins with "length".
inline std::string golden_refusal(const bundle::Bundle& bundle, const Program& program) {
  golden::Scoreboard clock(bundle.hardware(), program, bundle.image().lane_word_count, bundle.image().kv_word_count);
  try {
    for (std::uint32_t position = 0; position < 2; ++position) {
      const std::uint32_t cycles = clock.token(position, golden::TokenPart::whole(true)).cycles;
      if (cycles != program.cycles_with_head[0]) return "length " + std::to_string(cycles);
    }
  } catch (const golden::Fault& fault) {
    return fault.what();
  }
  return "";
}

}  // namespace lpu::test
