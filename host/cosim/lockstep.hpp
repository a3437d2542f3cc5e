// The golden card and the Verilated core side by side: every write of the core is compared with the golden card's,
// place by place, in value and cycle, until the first difference. Relies on host/card for the core, on expectation.hpp
// for the golden side and on checker.hpp for the comparison.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/bundle/bundle.hpp"
#include "host/cosim/checker.hpp"
#include "host/cosim/injection.hpp"

namespace lpu::cosim {

struct Options {
  std::vector<std::int32_t> prompt;  ///< first tokens of every session; not empty
  std::uint64_t tokens = 1;          ///< that run, prompt tokens included
  float temperature = 0;
  std::uint64_t seed = 0;    ///< of the first session; each further one has the next
  unsigned threads = 0;      ///< of the golden card; 0: all cores
  bool back_to_back = true;  ///< generated tokens follow one another without the host
  bool load_through_port = false;
  Injection injection;
  std::string waveform;                  ///< FST file for the 200 cycles around the first mismatch; "": none
  std::function<void(double)> progress;  ///< share of the tokens that is done; may be empty
  std::function<bool()> is_interrupted;  ///< may be empty
};

/// The first mismatch in the program's terms.
struct Finding {
  Mismatch mismatch;
  std::uint64_t token = 0;  ///< which, from 0
  std::uint32_t position = 0;
  std::uint64_t core_cycle = 0;                  ///< since the core was made: where a waveform would be looked at
  std::optional<std::uint32_t> program_counter;  ///< none for a write that no instruction makes
  std::string opcode;
  std::optional<std::uint32_t> layer;
  std::uint32_t loop = 0;
  std::uint32_t iteration = 0;
  std::string matrix;  ///< "" where the program doesn't tell
  std::string place;
  std::optional<std::uint64_t> address;
};

struct Report {
  std::uint64_t tokens = 0;        ///< compared, the one that differs included
  std::uint64_t instructions = 0;  ///< issued by the core
  std::uint64_t writes = 0;        ///< compared
  std::uint64_t differing_values = 0;
  std::uint64_t differing_cycles = 0;
  std::optional<Finding> first_mismatch;
  std::vector<std::int32_t> next;               ///< of each token that made one
  std::vector<std::uint64_t> predicted_cycles;  ///< of each token
  std::vector<std::uint64_t> measured_cycles;
  double core_seconds = 0;         ///< wall time of the tokens, the golden card's included, loading not
  std::uint64_t core_cycles = 0;   ///< simulated, loading included
  std::uint64_t timed_cycles = 0;  ///< of these, within core_seconds
  bool interrupted = false;        ///< before all tokens had run; `tokens` counts the whole ones
  bool fault_is_in = false;        ///< the injection changed something in the core's memories
};

/// Error(kCard) when the core stops with an error of its own or a golden hazard (its waveform is written, too);
/// otherwise as RtlDriver and Machine.
Report run(const bundle::Bundle& bundle, const Options& options);

}  // namespace lpu::cosim
