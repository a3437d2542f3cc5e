// A wire between the two units, in the receiver's time: beats arrive after a latency, in order, one a cycle at most,
// perhaps later than they could. Faults are done to the list of beats before it is played, so that a test knows what
// each of them hit. Relies on link_bench.hpp.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/cosim/link/link_bench.hpp"

namespace lpu {
namespace cosim {

/// A beat under way: when it arrives at the earliest, and what it is.
struct Flight {
  Beat beat;
  int cycle;   // of the receiver
  int vector;  // its number
  int place;   // of the beat in its vector
};

/// What the send unit makes of vectors whose blocks come every `pace_cycles`, a vector `gap_cycles` after the one
/// before; stalled in some cycles, but at most kJitterCycles in a row.
template <typename Size>
std::vector<Flight> send_all(const std::vector<Vector>& vectors, int pace_cycles, int gap_cycles, Random& random) {
  SendBench<Size> unit;
  std::vector<Flight> flights;
  std::size_t sent = 0;
  int place = 0, next = 0, vector = 0, beat_place = 0;
  while (vector < static_cast<int>(vectors.size()) && unit.cycle() < 1'000'000) {
    if (sent < vectors.size() && unit.cycle() >= next) {
      unit.offer(vectors[sent], place);
      next = unit.cycle() + pace_cycles;
      if (++place == vectors[sent].length()) {
        ++sent;
        place = 0;
        next += gap_cycles;
      }
    }
    const int cycle = unit.cycle();
    if (auto beat = unit.step(!random.one_in(8))) {
      flights.push_back({*beat, cycle, vector, beat_place++});
      if (beat->last) {
        ++vector;
        beat_place = 0;
      }
    }
  }
  EXPECT_EQ(unit.error(), LinkError::kNone);
  return flights;
}

/// What a run of the receiver ended with.
struct Outcome {
  LinkError error = LinkError::kNone;
  std::vector<std::vector<Block>> taken;  // [vector][block]
  std::vector<int> checked;
};

/// Plays the beats to a receiver whose schedule takes `vectors`, until all are checked, an error, or `limit` cycles.
template <typename Size>
Outcome play(const std::vector<Flight>& flights, const std::vector<Vector>& vectors, int pace_cycles, int delay_cycles,
             int deadline_cycles, int limit) {
  ReceiveBench<Size> unit;
  Schedule<Size> schedule(vectors, pace_cycles, delay_cycles, deadline_cycles);
  Outcome run;
  std::size_t next = 0;
  while (unit.cycle() < limit && !(schedule.done() && next == flights.size()) && unit.error() == LinkError::kNone) {
    schedule.act(unit);
    if (next < flights.size() && flights[next].cycle <= unit.cycle()) unit.beat(flights[next++].beat);
    unit.step();
  }
  run.error = unit.error();
  for (int cycle = 0; cycle < 20; ++cycle) {  // nothing may come behind an error
    schedule.act(unit);
    if (next < flights.size()) unit.beat(flights[next++].beat);
    unit.step();
  }
  if (run.error == LinkError::kNone) run.error = unit.error();
  EXPECT_EQ(unit.error(), run.error);
  run.taken = std::move(schedule.taken);
  run.checked = std::move(schedule.checked);
  return run;
}

}  // namespace cosim
}  // namespace lpu
