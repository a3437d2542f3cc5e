// What lies behind the card's host port, and where: the memories that a host fills before a program runs, the control
// registers it commands the card with, and the errors that the card reports there.
// Part of the contract: C++14, relies on hardware_config.hpp and instructions.hpp. A bundle's sections are the
// memories' bytes.
#pragma once

#include <cstdint>

#include "hls/contract/hardware_config.hpp"
#include "hls/contract/instructions.hpp"
#include "hls/contract/number_formats.hpp"

namespace lpu {
namespace contract {

/// One 64 GiB window of the host port's byte addresses for each memory, and one for the control registers.
enum class Region : std::uint32_t {
  kLaneWords = 0,     ///< [address][column group][lane] words of kWordBytes: weights, then KV
  kMinimumWords = 1,  ///< [address][column group][lane] words of kMinimumBytes
  kExponents = 2,     ///< [word][lane] signed bytes
  kConstants = 3,     ///< binary32: gains and biases
  kRope = 4,          ///< [position][pair][2] binary32: cosine, sine
  kInstructions = 5,  ///< instruction words
  kLoops = 6,         ///< loop records
  kDelays = 7,        ///< [row][length step] 32-bit cycles, then the two rows of token lengths (with head, without)
  kControl = 8        ///< ControlRegister: 32-bit words; no memory, nothing of a bundle
};
constexpr int kRegions = 8;       ///< that are memories
constexpr int kRegionShift = 36;  ///< a region's first byte address is its number << kRegionShift
constexpr int kConstantBytes = 4;
constexpr int kRopePairBytes = 8;
constexpr int kDelayBytes = 4;
constexpr int kControlBytes = 4;

/// X(name, word number in Region::kControl, access, meaning). Words that aren't named read as zero.
#define LPU_CONTROL_REGISTERS(X)                                                                                   \
  X(ContractLow, 0, "read", "low half of the contract's hash: a bundle's must be equal")                           \
  X(ContractHigh, 1, "read", "high half of the contract's hash")                                                   \
  X(Status, 2, "read", "bit 0 busy, bit 1 error, bits 15:8 commands waiting, bits 23:16 results waiting")          \
  X(ErrorCode, 3, "read", "the first error since reset, a card error; the core has stopped")                       \
  X(ErrorIndex, 4, "read", "number of the run in its token, in list order, that the error names")                  \
  X(Reset, 5, "write", "1: resets the core and its queues, not the memories; ready again after 64 cycles")         \
  X(Width, 8, "read, write", "residual values")                                                                    \
  X(InverseWidth, 9, "read, write", "1 / width, binary32")                                                         \
  X(Epsilon, 10, "read, write", "of the norm, binary32")                                                           \
  X(HeadSize, 11, "read, write", "values of a head")                                                               \
  X(Loops, 12, "read, write", "loops of the program")                                                              \
  X(LengthSteps, 13, "read, write", "columns of the delay table")                                                  \
  X(CyclesWithHead, 14, "read, write", "entry of the delay table at which the token lengths with head begin")      \
  X(CyclesWithoutHead, 15, "read, write", "entry of the delay table at which those without head begin")            \
  X(Vocabulary, 16, "read, write", "token ids")                                                                    \
  X(FirstLogitRow, 17, "read, write", "first row of the program's first kLogits")                                  \
  X(ContextTokens, 18, "read, write", "positions that the KV cache holds")                                         \
  X(Token, 32, "read, write", "command: token id")                                                                 \
  X(Position, 33, "read, write", "command: its position")                                                          \
  X(Flags, 34, "read, write", "command: bit 0 with head, bit 1 samples")                                           \
  X(InverseTemperature, 35, "read, write", "command: 1 / temperature, binary32")                                   \
  X(SeedLow, 36, "read, write", "command: low half of the sampling seed")                                          \
  X(SeedHigh, 37, "read, write", "command: high half of the sampling seed")                                        \
  X(Follow, 38, "read, write", "command: further tokens to run on its own results")                                \
  X(Start, 39, "write", "any value: the command waits in the queue of 16, or runs at once")                        \
  X(ResultNext, 48, "read", "oldest result: id of the next token")                                                 \
  X(ResultCycles, 49, "read", "oldest result: cycles measured, from the token's start to its last write readable") \
  X(ResultBusyBeats, 50, "read", "oldest result: beats of the MVU")                                                \
  X(ResultFlags, 51, "read", "oldest result: bit 0 with head, bit 1 a number saturated")                           \
  X(ResultPosition, 52, "read", "oldest result: position of the token that ran")                                   \
  X(ResultPop, 53, "write", "any value: drops the oldest result of the queue of 64")                               \
  X(TokensLow, 56, "read", "tokens since reset, low half")                                                         \
  X(TokensHigh, 57, "read", "tokens since reset, high half")                                                       \
  X(CyclesLow, 58, "read", "cycles of tokens since reset, low half")                                               \
  X(CyclesHigh, 59, "read", "cycles of tokens since reset, high half")                                             \
  X(BusyBeatsLow, 60, "read", "beats since reset, low half")                                                       \
  X(BusyBeatsHigh, 61, "read", "beats since reset, high half")

/// Word number in Region::kControl; what each holds: LPU_CONTROL_REGISTERS.
#define LPU_ENUMERATOR(name, word, access, meaning) k##name = word,
enum class ControlRegister : std::uint32_t { LPU_CONTROL_REGISTERS(LPU_ENUMERATOR) };
#undef LPU_ENUMERATOR
constexpr int kControlWords = 64;

/// X(name, number, sentence for people: what happened, what to do). The first error stops the core until it is reset.
#define LPU_CARD_ERRORS(X)                                                                                             \
  X(None, 0, "no error")                                                                                               \
  X(Late, 1,                                                                                                           \
    "an instruction was fetched after its issue cycle or has a delay of 0: compile the bundle anew for this card")     \
  X(Opcode, 2, "an instruction has an opcode that the card doesn't know: load the program again, or compile it anew")  \
  X(Address, 3, "an instruction addresses a word beyond its memory: the bundle was compiled for a larger card")        \
  X(Port, 4, "two units used one memory port in one cycle: the program's schedule isn't this card's, compile it anew") \
  X(Hazard, 5, "a place was read before it was ready: the program's schedule isn't this card's, compile it anew")      \
  X(Length, 6,                                                                                                         \
    "a token didn't end in the cycle that the program declares: load the program again, or compile it anew")           \
  X(Load, 7,                                                                                                           \
    "a memory was written out of order or while a token ran: reset the card and write each region from its start")     \
  X(Command, 8,                                                                                                        \
    "a command has a token or position out of range, or the queue was full: check both, wait for results first")       \
  X(Results, 9, "the result queue was full when a token ended: reset the card and take results more often")            \
  X(Busy, 10,                                                                                                          \
    "an instruction began while its unit was inside another: the schedule isn't this card's, compile it anew")         \
  X(Loops, 11, "the program has no loops or more than the card holds: load it again, or compile a smaller program")

/// What stopped the core, as ControlRegister::kErrorCode reads it.
#define LPU_ENUMERATOR(name, number, sentence) k##name = number,
enum class CardError : std::uint32_t { LPU_CARD_ERRORS(LPU_ENUMERATOR) };
#undef LPU_ENUMERATOR

/// One sentence for people: what happened, and what to do.
#define LPU_SENTENCE(name, number, sentence) \
  case CardError::k##name:                   \
    return sentence;
constexpr const char* describe(CardError error) {
  switch (error) { LPU_CARD_ERRORS(LPU_SENTENCE) }
  return "the card reports an error number that this program doesn't know: use the program that the card came with";
}
#undef LPU_SENTENCE

/// Bytes of one element, as the depths of HardwareConfig count them: one address of all lanes, one word of exponents,
/// one value.
constexpr std::int64_t element_bytes(Region region, const HardwareConfig& config) {
  switch (region) {
    case Region::kLaneWords:
      return static_cast<std::int64_t>(config.lanes) * config.column_groups * kWordBytes;
    case Region::kMinimumWords:
      return static_cast<std::int64_t>(config.lanes) * config.column_groups * kMinimumBytes;
    case Region::kExponents:
      return config.lanes;
    case Region::kConstants:
      return kConstantBytes;
    case Region::kRope:
      return kRopePairBytes;
    case Region::kInstructions:
      return kInstructionWords * 4;
    case Region::kLoops:
      return kLoopWords * 4;
    case Region::kDelays:
      return kDelayBytes;
    case Region::kControl:
      return kControlBytes;
  }
  return 0;
}
/// How many elements the card has room for.
constexpr std::int64_t capacity_elements(Region region, const HardwareConfig& config) {
  switch (region) {
    case Region::kLaneWords:
      return config.lane_words;
    case Region::kMinimumWords:
      return config.minimum_words;
    case Region::kExponents:
      return config.exponent_words;
    case Region::kConstants:
      return config.constant_values;
    case Region::kRope:
      return config.rope_pairs;
    case Region::kInstructions:
    case Region::kLoops:
      return config.program_instructions;
    case Region::kDelays:
      return config.delay_entries;
    case Region::kControl:
      return kControlWords;
  }
  return 0;
}

constexpr bool every_region_fits_its_window() {
  for (int i = 0; i < kHardwareConfigCount; ++i)
    for (int r = 0; r <= static_cast<int>(Region::kControl); ++r)
      if (element_bytes(static_cast<Region>(r), kHardwareConfigs[i]) *
              capacity_elements(static_cast<Region>(r), kHardwareConfigs[i]) >
          (static_cast<std::int64_t>(1) << kRegionShift))
        return false;
  return true;
}
static_assert(every_region_fits_its_window(),
              "each memory of each named configuration must fit its window of the host port");

}  // namespace contract
}  // namespace lpu
