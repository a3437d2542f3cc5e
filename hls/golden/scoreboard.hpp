// The golden card's clock: when every instruction of a token issues, which places it reads and writes in which cycle,
// and whether that fits its meaning (docs/isa.md, "A program and its time"). It exists so that a schedule is checked by
// something that shares no code with the compiler that made it, but for the contract's noise clock; values are no part
// of it. Relies on hls/contract/latencies.hpp and on check_program() having accepted the program. Cheap: a burst is
// looked at by its rows and its sets, not by its beats.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hls/contract/latencies.hpp"
#include "hls/contract/noise_clock.hpp"
#include "hls/contract/program.hpp"
#include "hls/golden/link_vector.hpp"
#include "hls/golden/observer.hpp"
#include "hls/golden/walk.hpp"

namespace lpu {
namespace golden {

struct TokenTime {
  std::uint32_t cycles = 0;  ///< from the token's start to the cycle in which the next one may start
  std::uint64_t busy_beats = 0;
};

class Scoreboard {
 public:
  Scoreboard(const contract::HardwareConfig& config, const contract::Program& program, std::uint64_t weight_words,
             std::uint64_t kv_words);

  /// Runs one token's time, or a phase's. Throws Fault at the first hazard. received: when the blocks that the phase
  /// receives are there; writes: gets every write, in the order of meaning.
  TokenTime token(std::uint32_t position, const TokenPart& part, const LinkVector* received = nullptr,
                  std::vector<TimedWrite>* writes = nullptr);
  /// Of the last token: the cycles in which the blocks of the vector that it sends were handed to the link.
  const std::vector<std::uint64_t>& sent() const { return sent_; }
  /// Of the last token.
  const std::vector<TimedRun>& runs() const { return runs_; }

 private:
  /// One place of docs/isa.md. A stamp other than the token's means: nobody has touched it in this token.
  struct Place {
    std::uint32_t stamp = 0;
    std::uint32_t ready = 0;   ///< first cycle in which the newest value can be read; kNever: not finished
    std::uint32_t writer = 0;  ///< run that makes it, + 1
    std::uint32_t last_read = 0;
    std::uint32_t reader = 0;  ///< run that reads last, + 1
  };
  struct Port {
    std::uint32_t stamp = 0;
    std::uint32_t cycle = 0;
    std::uint32_t user = 0;
  };
  using Kind = PlaceKind;
  struct Name {
    Kind kind;
    std::uint64_t first;
    std::uint64_t second;
  };
  struct Busy {
    std::uint64_t free = 0;  ///< first cycle in which the unit may issue again
    std::uint32_t user = 0;
  };
  struct Interval {
    std::uint64_t first;
    std::uint64_t end;
    std::uint32_t run;
  };
  struct EmbedReads {
    std::uint64_t first;
    std::uint64_t sets;
    std::uint64_t pitch;
    std::uint64_t nibbles;
    std::uint32_t run;
  };

  Place& fresh(Place& place) const;
  void read(Place& place, const Name& name, std::uint64_t first, std::uint64_t last);
  void write(Place& place, const Name& name, std::uint64_t change, std::uint64_t ready, bool in_order = true);
  void take_port(std::vector<Port>& ports, std::uint64_t index, std::uint64_t cycle, const char* what);
  void occupy(contract::Unit unit, std::uint64_t issue, std::uint64_t free);
  void check_length(std::uint64_t cycle) const;
  void ends(std::uint64_t cycle);
  void check_embed(const EmbedReads& reads, const Interval& burst) const;

  void matvec(const contract::MatvecFields& fields);
  void matvec_words(const contract::MatvecFields& fields, const BurstSize& size, std::uint64_t address);
  void matvec_residual(const contract::MatvecFields& fields, std::uint64_t row_groups, std::uint64_t beats_apart);
  void vector(contract::Opcode opcode, const contract::VectorFields& fields);
  void embed(const contract::VectorFields& fields);
  void receive(const contract::VectorFields& fields);
  void residual(const contract::VectorFields& fields);
  void query(const contract::VectorFields& fields);
  void key(const contract::VectorFields& fields);
  void value(const contract::VectorFields& fields);
  void mix(const contract::VectorFields& fields);
  void swiglu(const contract::VectorFields& fields);
  void logits(const contract::VectorFields& fields);
  void softmax(const contract::SoftmaxFields& fields);

  std::uint64_t row_cycle(const contract::VectorFields& fields, std::uint64_t row) const;
  void read_rows(const contract::VectorFields& fields, std::uint64_t entry_base, std::uint64_t segment);
  void read_scale(const contract::VectorFields& fields);
  void write_block(std::uint64_t bank, std::uint64_t address, std::uint64_t ready);
  void write_linear(const contract::VectorFields& fields, std::uint64_t block, std::uint64_t ready);
  void write_word(std::uint64_t address, std::uint64_t group, std::uint64_t written, std::uint64_t ready);
  void use_word_port(std::uint64_t group, std::uint64_t first, std::uint64_t cycles);
  void value_scale(std::uint64_t address, std::uint64_t group, std::uint64_t value_ready);
  void residual_value_chain(const contract::VectorFields& fields, std::uint64_t first, std::uint64_t end,
                            std::uint64_t cycle);
  void end_norm(const contract::VectorFields& fields, std::uint64_t last);

  std::string describe(std::uint32_t run) const;
  std::string describe(const Name& name) const;

  const contract::HardwareConfig config_;
  const contract::Program& program_;
  const std::uint64_t lanes_, groups_, vector_lanes_,
      slices_;  ///< of a row group: lanes / vector lanes
  const std::uint64_t weight_words_;

  std::uint32_t stamp_ = 0;
  std::uint64_t position_ = 0, blocks_ = 0, end_ = 0, beats_ = 0;
  std::uint32_t run_ = 0;    ///< number of the run at work
  std::uint64_t issue_ = 0;  ///< its issue cycle
  std::uint32_t iteration_ = 0;
  std::vector<TimedRun> runs_;
  std::vector<TimedWrite>* log_ = nullptr;  ///< of the token at work, or null
  const LinkVector* received_ = nullptr;
  std::vector<std::uint64_t> sent_;  ///< [blocks]
  Busy busy_[contract::kUnits];
  contract::NoiseClock noise_;
  std::vector<Interval> bursts_;
  std::vector<EmbedReads> embeds_;
  std::vector<Place> accumulators_;   ///< [entries][groups]
  std::vector<Place> blocks_places_;  ///< [groups][activation_blocks]
  std::vector<Place> residual_;       ///< [residual_values / vector_lanes]
  std::vector<Place> words_read_;     ///< [kv_words]: all groups of an address together, as a beat reads them
  std::vector<Place> words_;          ///< [kv_words][groups]: as they are written
  std::vector<Place> scales_;         ///< [2]
  std::vector<Place> exponents_;      ///< [kMaxRounds][groups]
  std::vector<Place> inverses_;       ///< [kMaxRounds][groups]
  std::vector<Port> bank_ports_;      ///< [groups][kPortWindow]
  std::vector<Port> word_ports_;      ///< [groups][kPortWindow]
};

}  // namespace golden
}  // namespace lpu
