// The manifest of a group of cards, group.json: what the group was made from and for, which bundle stands where, and
// what the cards have to know of each other. JSON text to typed values and back; every field is checked, and the cards'
// bundles against it. Keys: docs/card_bundle.md. Relies on hls/contract; nlohmann-json is used inside only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "host/bundle/bundle.hpp"

namespace lpu::bundle {

struct GroupManifest {
  std::uint64_t contract_hash = 0;
  std::string hardware_name;  ///< "3xu55c"
  std::string model_name;
  std::uint64_t model_file_bytes = 0;
  contract::ModelShape shape;  ///< of the whole model
  GroupPlan plan;
  std::vector<std::uint32_t> card_checksums;    ///< [cards] CRC-32 of each card's manifest.json
  std::vector<std::uint32_t> cycles_with_head;  ///< [length steps]
  std::string report_json;
};

std::string group_text(const GroupManifest& group);

/// name: what errors call the file. Errors as parse_manifest's.
GroupManifest parse_group(std::string_view text, const std::string& name);

/// Before the cards are opened: each card's bundle is there and is the one that belongs to its place, told by its
/// manifest's checksum. Error(kBadInput) names the folder.
void check_places(const std::filesystem::path& folder, const GroupManifest& group);

/// That the cards make up the whole: clock, shape, layers, ids. Error(kBadInput) names file and field.
void check_cards(const std::filesystem::path& folder, const GroupManifest& group, const std::vector<Bundle>& cards);

}  // namespace lpu::bundle
