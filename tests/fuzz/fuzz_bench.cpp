// Fuzzes what another server streams to `lpu bench --endpoint`: the first byte says where the stream is cut, the rest
// is the stream. Properties: events don't depend on the cut; a chunk is read or refused by an Error; what is quoted of
// it can't touch a terminal.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/error.hpp"
#include "host/bench/event_stream.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::vector<std::string> events_of(std::string_view bytes, std::size_t cut) {
  std::vector<std::string> events;
  lpu::bench::EventStream stream([&](std::string_view data) { events.emplace_back(data); });
  stream.push(bytes.substr(0, cut));
  stream.push(bytes.substr(cut));
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::vector<std::string> events = events_of(bytes, 0);
  require(events == events_of(bytes, std::min<std::size_t>(data[0], bytes.size())));
  for (const std::string& event : events) {
    const std::string words = lpu::bench::error_message(event);
    require(std::all_of(words.begin(), words.end(), [](char c) { return c >= ' ' && c <= '~'; }));
    try {
      const lpu::bench::Chunk chunk = lpu::bench::read_chunk(event);
      require(!chunk.done || chunk.text.empty());
    } catch (const lpu::Error& error) {
      require(std::string_view(error.what()).size() < 1000);
    }
  }
  return 0;
}
