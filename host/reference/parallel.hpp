// Splits a range over a few threads. Relies on nothing; a product of the reference lasts milliseconds, so starting
// threads anew for each one costs little and keeps no state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace lpu::reference {

/// Calls work(first, end) on contiguous parts of [0, count), the last part on the calling thread.
/// Parts are multiples of 16 items long (a matrix product's register tiles), except the last. work must not throw.
template <typename Work>
void for_parts(std::ptrdiff_t count, unsigned threads, const Work& work) {
  constexpr std::ptrdiff_t kTile = 16;
  const std::ptrdiff_t wanted = std::max<std::ptrdiff_t>(threads, 1);
  const std::ptrdiff_t part = ((count + wanted - 1) / wanted + kTile - 1) / kTile * kTile;
  std::vector<std::jthread> helpers;
  std::ptrdiff_t first = 0;
  for (; first + part < count; first += part) helpers.emplace_back([&work, first, part] { work(first, first + part); });
  if (first < count) work(first, count);
}

}  // namespace lpu::reference
