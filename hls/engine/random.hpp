// Random numbers without a state: Philox4x32-10 (Salmon et al., 2011), a keyed function of a counter, so that a token's
// noise depends only on seed, position and id (docs/numbers.md §11). Ten rounds of two 32 × 32 products. Runs beside
// the logits within kLogitCycles. Relies on nothing.
#pragma once

#include <cstdint>

namespace lpu {
namespace engine {

struct PhiloxWords {
  std::uint32_t word[4];
};

/// The algorithm as published: counter [4], key [2].
inline PhiloxWords philox4x32(const PhiloxWords& counter, std::uint32_t key_low, std::uint32_t key_high) {
  PhiloxWords x = counter;
  std::uint32_t key0 = key_low;
  std::uint32_t key1 = key_high;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = static_cast<std::uint64_t>(0xd2511f53u) * x.word[0];
    const std::uint64_t product1 = static_cast<std::uint64_t>(0xcd9e8d57u) * x.word[2];
    PhiloxWords next;
    next.word[0] = static_cast<std::uint32_t>(product1 >> 32) ^ x.word[1] ^ key0;
    next.word[1] = static_cast<std::uint32_t>(product1);
    next.word[2] = static_cast<std::uint32_t>(product0 >> 32) ^ x.word[3] ^ key1;
    next.word[3] = static_cast<std::uint32_t>(product0);
    x = next;
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return x;
}

/// The four numbers of ids 4·group … 4·group + 3 at a position: counter (group, position, 0, 0), key = seed, low word
/// first.
inline PhiloxWords random_words(std::uint64_t seed, std::uint32_t position, std::uint32_t group) {
  const PhiloxWords counter = {{group, position, 0, 0}};
  return philox4x32(counter, static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
}

/// The number of one id.
inline std::uint32_t random_number(std::uint64_t seed, std::uint32_t position, std::uint32_t id) {
  return random_words(seed, position, id / 4).word[id % 4];
}

}  // namespace engine
}  // namespace lpu
