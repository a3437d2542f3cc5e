// Groups of cards and links by name. See group.hpp.
#include <charconv>

#include "host/base/error.hpp"
#include "host/compiler/group.hpp"

namespace lpu::compiler {

namespace {

/// "3x" at the start of a part, if there is a hardware name behind it; 1 and the whole part otherwise.
std::pair<std::size_t, std::string> count_of(const std::string& part, const std::string& whole) {
  const std::size_t digits = part.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string::npos || part[digits] != 'x') return {1, part};
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + digits, count);
  if (error != std::errc() || count < 1 || count > kMostCards)
    fail(ExitCode::kUsage, "--hardware {}: '{}' isn't a number of cards from 1 to {}", whole, part.substr(0, digits),
         kMostCards);
  return {count, part.substr(digits + 1)};
}

}  // namespace

std::vector<GroupCard> find_cards(const std::string& name) {
  std::vector<GroupCard> cards;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t plus = std::min(name.find('+', at), name.size());
    const auto [count, card] = count_of(name.substr(at, plus - at), name);
    if (cards.size() + count > kMostCards)
      fail(ExitCode::kUsage, "--hardware {}: a group has at most {} cards", name, kMostCards);
    cards.insert(cards.end(), count, GroupCard{find_hardware(card), card});
    at = plus + 1;
  }
  for (const GroupCard& card : cards)
    if (card.hardware.clock_mhz != cards[0].hardware.clock_mhz)
      fail(ExitCode::kUsage,
           "--hardware {}: {} runs at {} MHz and {} at {} MHz; a group's cards share one clock frequency", name,
           cards[0].name, cards[0].hardware.clock_mhz, card.name, card.hardware.clock_mhz);
  return cards;
}

contract::LinkConfig find_link(const std::string& name) {
  std::string names;
  for (const contract::LinkConfig& link : contract::kLinkConfigs) {
    if (name == link.name) return link;
    names += (names.empty() ? "" : ", ") + std::string(link.name);
  }
  fail(ExitCode::kUsage, "--link {}: no such link; there are {}", name, names);
}

}  // namespace lpu::compiler
