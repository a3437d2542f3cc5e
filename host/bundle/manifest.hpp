// The manifest of a bundle: what it was made from and for, and what its files must look like. JSON text to typed values
// and back; every field is checked. Keys: docs/card_bundle.md. Relies on hls/contract; nlohmann-json is used inside
// only.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "hls/contract/program.hpp"
#include "host/bundle/layout.hpp"

namespace lpu::bundle {

struct FileEntry {
  std::uint64_t bytes = 0;  ///< 0: the file isn't there (a section may be empty)
  std::uint32_t crc32 = 0;
};

struct Manifest {
  std::uint64_t contract_hash = 0;
  std::string hardware_name;       ///< as the user wrote it
  std::string configuration_name;  ///< hardware.name is not to be used: it points into nothing
  std::string configuration_note;  ///< nor is hardware.note
  contract::HardwareConfig hardware{};
  std::string model_name;
  std::uint64_t model_file_bytes = 0;
  contract::ModelShape shape;
  std::uint64_t lane_word_count = 0;
  std::uint64_t kv_word_count = 0;
  std::uint64_t minimum_word_count = 0;
  std::array<FileEntry, kSectionFiles.size()> files{};
  std::string report_json;

  [[nodiscard]] const FileEntry& file(Section section) const { return files[static_cast<std::size_t>(section)]; }
};

std::string manifest_text(const Manifest& manifest);

/// name: what errors call the file. Error(kBadInput) names the field; Error(kCard) for another contract than this
/// build's, found before any field whose meaning the contract defines.
Manifest parse_manifest(std::string_view text, const std::string& name);

}  // namespace lpu::bundle
