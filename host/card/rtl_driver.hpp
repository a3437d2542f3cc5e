// The host's side of a Verilated core: fills its memories, writes its control registers, starts tokens and waits for
// their results, cycle by cycle. RtlCard and the lockstep both stand on it.
// Relies on rtl_library.hpp for the core and on docs/isa.md, "Control registers", for the protocol.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "host/bundle/bundle.hpp"
#include "host/card/card.hpp"
#include "host/card/rtl_image.hpp"
#include "host/card/rtl_library.hpp"

namespace lpu::card {

/// What a token left in the card's result queue.
struct RtlResult {
  std::int32_t next = -1;
  std::uint64_t cycles = 0;
  std::uint64_t busy_beats = 0;
  bool with_head = false;
  bool saturated = false;
  std::uint32_t position = 0;
};

struct RtlOptions {
  bool load_through_port = false;  ///< as a host would; slow. Otherwise memories are filled by copy where they can be
  bool with_waveform = false;      ///< loads the model that can record one
  std::vector<ImageFault> faults;
};

class RtlDriver {
 public:
  /// Called after every cycle; returns whether wait() is to go on.
  using Watch = std::function<bool(const LpuRtlOutputs&)>;

  /// Loads the bundle, which has to outlive this. Errors as RtlLibrary::open(), Error(kCard) from the card.
  RtlDriver(const bundle::Bundle& bundle, RtlOptions options);
  ~RtlDriver();
  RtlDriver(const RtlDriver&) = delete;
  RtlDriver& operator=(const RtlDriver&) = delete;

  /// Resets the core and empties the KV cache.
  void reset();
  /// Writes a memory anew through the host port, with these faults instead of the options'.
  void reload(contract::Region region, const std::vector<ImageFault>& faults);
  /// Hands a command to the card: this token, and `follow` more on the card's own results.
  void start(const TokenRequest& request, std::uint32_t follow = 0);
  /// From now on; an empty one ends it.
  void set_watch(Watch watch);
  /// Runs until the oldest result is there and takes it; false when the watch ended it. Error(kCard) for an error of
  /// the card, a failed assertion, and for a card that is silent for most_cycles.
  bool wait(std::uint64_t most_cycles, RtlResult* result);
  /// Runs `cycles` cycles, whatever happens in them.
  void run(std::uint64_t cycles);

  std::uint32_t read(contract::ControlRegister which);
  void write(contract::ControlRegister which, std::uint32_t value);
  /// Starts recording; Error(kIo) when the file can't be written.
  void record_waveform(const std::string& path);
  void end_waveform();
  /// Of the core: arrays that can be looked into, empty when this model has none of the kind.
  [[nodiscard]] std::vector<LpuRtlMemory> memories(std::uint32_t region) const;
  [[nodiscard]] std::uint64_t cycle() const { return cycle_; }

 private:
  /// Throws what the card's error, or a failed assertion, means.
  [[noreturn]] void stop();
  const LpuRtlOutputs& tick(const LpuRtlInputs& in);
  void load();
  bool copy(contract::Region region);
  void stream(contract::Region region, const std::vector<ImageFault>& faults);
  void clear_kv();
  void write_constants();
  [[nodiscard]] std::string run_text(std::uint32_t index) const;

  const bundle::Bundle& bundle_;
  const RtlOptions options_;
  const RtlLibrary library_;
  const RtlImage image_;
  LpuRtlModel* model_;
  std::uint64_t cycle_ = 0;  ///< that comes next
  Watch watch_;
  bool stopped_ = false;   ///< by the watch
  bool with_head_ = true;  ///< of the newest command
};

}  // namespace lpu::card
