// Several cards: the compiler's front door for a group, `lpu compile --hardware 3xu55c` (docs/several_cards.md).
//
// The layers are split over the cards in their order, embedding and head by rows; each card gets a bundle of its own
// with three phases. Steps, a file each: group_hardware (which cards), group_share (who holds what), group_time (what a
// token takes, links included), group (the plan that is chosen, its report, the bundles). Relies on the single card's
// steps and on the contract's link_clock.hpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hls/contract/link_clock.hpp"
#include "host/compiler/compiler.hpp"
#include "host/compiler/layout.hpp"

namespace lpu::compiler {

constexpr std::size_t kMostCards = 64;  ///< of a group

struct GroupCard {
  contract::HardwareConfig hardware{};
  std::string name;  ///< "u55c"
};

struct GroupOptions {
  CompileOptions common;  ///< hardware_name as the user wrote it ("3xu55c"); its hardware isn't used
  std::vector<GroupCard> cards;
  contract::LinkConfig link{};
};

/// "3xu55c", "2xu55c+1xu250": the cards in the order in which a token visits them; one card for a plain name.
/// Error(kUsage) for what isn't a hardware name, more than 64 cards, or cards of different clocks.
std::vector<GroupCard> find_cards(const std::string& name);
/// The fewest cards of one kind that hold the model, as "4xu55c". Error(kDoesNotFit) where 64 don't, or where there are
/// more than layers.
std::string smallest_group(const model::Model& model, const GroupOptions& options, const std::string& card);
/// A link by name. Error(kUsage) lists the names.
contract::LinkConfig find_link(const std::string& name);

/// A card's part of a token at one position, in cycles.
struct CardCycles {
  std::uint64_t embedding = 0, layers = 0, head = 0;  ///< lengths of its phases
  std::uint64_t layers_start = 0, head_start = 0;     ///< since the token's start
};

struct GroupPosition {
  std::uint32_t position = 0;
  std::uint64_t cycles = 0;         ///< one user's token, links and head included
  std::uint64_t prompt_cycles = 0;  ///< from one prompt token to the next, all cards at work
  std::vector<CardCycles> cards;
};

/// A split that was looked at.
struct Alternative {
  std::string what;
  std::uint64_t cycles = 0;  ///< a token's at the last position; 0: it doesn't fit
  bool chosen = false;
};

struct GroupCardReport {
  std::string hardware;
  CardShare share;
  std::vector<MemoryUse> memory;
};

struct GroupReport {
  bool fits = false;
  std::vector<std::string> misfits;
  std::vector<GroupCardReport> cards;
  std::vector<GroupPosition> positions;  ///< at 0, context/2, context − 1
  std::vector<Alternative> alternatives;
  std::uint64_t cycles_per_token = 0;  ///< at the last position
  double clock_mhz = 0;
  std::uint64_t resident_bytes = 0;  ///< of all cards
  double seconds = 0;                ///< wall time of the compilation
};

/// From the model file's header only. Doesn't throw when the model is too large: see GroupReport::fits.
GroupReport estimate_group(const model::Model& model, const GroupOptions& options);
/// Writes a group's bundle into `folder`, all or nothing. Throws Error(kDoesNotFit) with the misfits' sentences.
GroupReport compile_group(const model::Model& model, const GroupOptions& options, const std::filesystem::path& folder);

}  // namespace lpu::compiler
