// See timeline.hpp.
#include "host/compiler/timeline.hpp"

#include <algorithm>
#include <utility>

#include "hls/contract/latencies.hpp"

namespace lpu::compiler {

Timeline::Timeline(const Places& places, const contract::HardwareConfig& hardware, std::vector<std::uint64_t> arrivals,
                   std::uint64_t noise_lead)
    : places_(places.count()), ports_(places.ports()), arrivals_(std::move(arrivals)), noise_(hardware) {
  noise_.start_token(noise_lead);
}

bool Timeline::ports_free(const Footprint& footprint, std::uint32_t cycle) const {
  return std::none_of(footprint.ports.begin(), footprint.ports.end(), [&](const PortUse& use) {
    const std::uint32_t at = cycle + use.cycle;
    const std::vector<std::uint64_t>& used = ports_[use.port];
    return at / 64 < used.size() && (used[at / 64] >> (at % 64) & 1) != 0;
  });
}

/// The first cycle in which logits may issue so that each slice finds its noise. An instruction has no more slices than
/// the queue (lower_head), so none of them waits for a place that its own instruction frees.
std::uint32_t Timeline::noise_from(const Footprint& footprint) const {
  contract::NoiseClock noise = noise_;
  std::uint64_t cycle = skipped_;
  for (const std::uint32_t after : footprint.logits) {
    if (noise.available() > cycle + after) cycle = noise.available() - after;
    noise.enter(cycle + after);
  }
  return static_cast<std::uint32_t>(cycle - skipped_);
}

std::uint64_t Timeline::issue(const Footprint& footprint) {
  const auto unit = static_cast<std::size_t>(footprint.unit);
  std::uint32_t cycle = unit_free_[unit];
  if (footprint.unit != contract::Unit::kVpu) cycle = std::max<std::uint32_t>(cycle, contract::kIssueLeadCycles);
  const auto not_before = [&cycle](std::uint32_t when, std::uint32_t offset) {
    if (when > cycle + offset) cycle = when - offset;
  };
  for (const Read& read : footprint.reads) not_before(places_[read.place].ready, read.first);
  for (const Write& write : footprint.writes) {
    not_before(places_[write.place].read_until,
               write.change);                                 // write after read: changes after the last reading cycle
    not_before(places_[write.place].ready + 1, write.ready);  // write after write: in order, never together
  }
  if (footprint.mvu_port_until != 0) not_before(unit_free_[static_cast<std::size_t>(contract::Unit::kMvu)], 0);
  if (!footprint.logits.empty()) not_before(noise_from(footprint), 0);
  for (std::size_t i = 0; i < footprint.received.size(); ++i)
    not_before(static_cast<std::uint32_t>(arrivals_.at(footprint.first_block + i)), footprint.received[i]);
  while (!ports_free(footprint, cycle)) ++cycle;

  for (const Read& read : footprint.reads)
    places_[read.place].read_until = std::max(places_[read.place].read_until, cycle + read.last + 1);
  for (const Write& write : footprint.writes)
    places_[write.place].ready = std::max(places_[write.place].ready, cycle + write.ready);
  for (const PortUse& use : footprint.ports) {
    std::vector<std::uint64_t>& used = ports_[use.port];
    const std::uint32_t at = cycle + use.cycle;
    if (at / 64 >= used.size()) used.resize(at / 64 + 16);
    used[at / 64] |= std::uint64_t{1} << (at % 64);
  }
  for (const std::uint32_t after : footprint.logits) noise_.enter(cycle + skipped_ + after);
  unit_free_[unit] = cycle + footprint.occupied;
  std::uint32_t& mvu_free = unit_free_[static_cast<std::size_t>(contract::Unit::kMvu)];
  if (footprint.mvu_port_until != 0) mvu_free = std::max(mvu_free, cycle + footprint.mvu_port_until);
  end_ = std::max(end_, cycle + footprint.end);
  return cycle + skipped_;
}

}  // namespace lpu::compiler
