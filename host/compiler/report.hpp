// What a compilation or an estimate tells: memory, cycles, where they go, and what encoding cost. Plain data; the
// program `lpu` prints it as text and as JSON (keys: docs/json.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lpu::compiler {

/// One memory of the card, counted behind its ports.
struct MemoryUse {
  std::string name;  ///< "lane", "minimum", "activation" …
  std::string unit;  ///< what depth counts, for people: "words of 144 bits per lane"
  std::uint64_t used_depth = 0;
  std::uint64_t capacity_depth = 0;
  std::uint64_t used_bytes = 0;
  std::uint64_t capacity_bytes = 0;
  [[nodiscard]] bool fits() const { return used_depth <= capacity_depth; }
};

/// One token's cycles at one position, head included.
struct PositionCycles {
  std::uint32_t position = 0;
  std::uint64_t cycles = 0;
  std::uint64_t beats = 0;            ///< cycles in which the array multiplies (padding included)
  std::uint64_t prologue_cycles = 0;  ///< from the token's start to the first beat
  std::map<std::string, std::uint64_t>
      idle_cycles;             ///< by cause: the matrix or step that waited; sums with beats and prologue to cycles
  double useful_beats = 0;     ///< block products the model needs / (lanes × column groups)
  double mac_utilisation = 0;  ///< useful_beats / cycles
};

/// What re-encoding a tensor type added, over all tensors of that type: relative to each tensor's largest |value|.
struct EncodingError {
  std::string tensor_type;  ///< "Q4_1"
  std::string code;         ///< "4 bits + minimum"
  std::uint64_t tensors = 0;
  std::uint64_t values = 0;
  double largest = 0;    ///< max |encoded − file| / max |file|
  double mean = 0;       ///< mean |encoded − file| / max |file|
  bool lossless = true;  ///< every value equal bit for bit
};

struct Report {
  bool fits = false;
  std::vector<std::string> misfits;  ///< a sentence per memory that is too small, and one with what would do
  std::vector<MemoryUse> memory;
  std::vector<PositionCycles> positions;  ///< at 0, context/2, context − 1
  std::uint64_t cycles_per_token = 0;     ///< at the last position
  double microseconds_per_token = 0;      ///< cycles_per_token / clock
  double clock_mhz = 0;
  double mac_utilisation = 0;        ///< at the last position
  double useful_beats = 0;           ///< at the last position
  std::uint64_t resident_bytes = 0;  ///< weights, scales, minimums, KV, tables on the card
  std::uint64_t program_bytes = 0;
  std::uint64_t instructions = 0;
  std::vector<EncodingError> encoding;  ///< empty in an estimate
  double seconds = 0;                   ///< wall time of the compilation
  std::uint64_t peak_memory_bytes = 0;  ///< of the process
};

}  // namespace lpu::compiler
