// Writes a bundle: its files into a temporary folder, the manifest last, then one rename; of a group, its cards'
// bundles first. Relies on host/base/atomic_file.
#include <algorithm>
#include <span>
#include <system_error>

#include "hls/contract/describe.hpp"
#include "host/base/atomic_file.hpp"
#include "host/base/error.hpp"
#include "host/bundle/bundle.hpp"
#include "host/bundle/checksum.hpp"
#include "host/bundle/group.hpp"
#include "host/bundle/manifest.hpp"
#include "host/bundle/program_file.hpp"

namespace lpu::bundle {
namespace {

namespace fs = std::filesystem;

/// Whether every entry of the folder is a file that bundles have: only then may it be removed.
bool holds_only_a_bundle(const fs::path& folder) {
  bool has_manifest = false;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool known = name == kManifestFile || name == kManifestChecksumFile ||
                       std::find(kSectionFiles.begin(), kSectionFiles.end(), name) != kSectionFiles.end();
    if (!known || !entry.is_regular_file()) return false;
    has_manifest = has_manifest || name == kManifestFile;
  }
  return has_manifest;
}

/// The same for a group's: its own two files, and bundles in card0, card1 …
bool holds_only_a_group(const fs::path& folder) {
  bool has_manifest = false;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory()) {
      const bool is_card =
          name.size() > 4 && name.starts_with("card") && name.find_first_not_of("0123456789", 4) == std::string::npos;
      if (!is_card || entry.is_symlink() || !holds_only_a_bundle(entry.path())) return false;
    } else {
      if ((name != kGroupFile && name != kGroupChecksumFile) || !entry.is_regular_file()) return false;
      has_manifest = has_manifest || name == kGroupFile;
    }
  }
  return has_manifest;
}

void check_target(const fs::path& folder) {
  if (folder.empty()) fail(ExitCode::kUsage, "The bundle's folder has an empty name; say where it should be written.");
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status))
    fail(ExitCode::kUsage, "{}: is there already and no folder; choose another name for the bundle", folder.string());
  if (!fs::is_empty(folder) && !holds_only_a_bundle(folder) && !holds_only_a_group(folder))
    fail(ExitCode::kUsage,
         "{}: is there already and holds other things than a bundle, so it isn't replaced; choose another name",
         folder.string());
}

template <typename T>
std::span<const std::byte> view(const std::vector<T>& values) {
  return std::as_bytes(std::span<const T>(values));
}

/// A manifest and its checksum's file; returns the checksum.
std::uint32_t write_manifest(const fs::path& folder, const std::string& text, std::string_view name,
                             std::string_view checksum_name) {
  const std::uint32_t checksum = crc32_of(bytes_of(text));
  write_synced(folder / name, bytes_of(text));
  write_synced(folder / checksum_name, bytes_of(crc32_text(checksum) + "\n"));
  return checksum;
}

/// Returns the manifest's checksum.
std::uint32_t write_card(const fs::path& folder, const Contents& contents) {
  check_target(folder);
  const std::vector<std::byte> program = program_bytes(contents.program);
  const std::array<std::span<const std::byte>, kSectionFiles.size()> sections = {program,
                                                                                 view(contents.lane_words),
                                                                                 view(contents.minimum_words),
                                                                                 view(contents.exponents),
                                                                                 view(contents.constants),
                                                                                 view(contents.rope),
                                                                                 contents.tokenizer_gguf};

  Manifest manifest;
  manifest.contract_hash = contract::contract_hash();
  manifest.hardware_name = contents.hardware_name;
  manifest.configuration_name = contents.hardware.name == nullptr ? "" : contents.hardware.name;
  manifest.configuration_note = contents.hardware.note == nullptr ? "" : contents.hardware.note;
  manifest.hardware = contents.hardware;
  manifest.model_name = contents.model_name;
  manifest.model_file_bytes = contents.model_file_bytes;
  manifest.shape = contents.shape;
  manifest.lane_word_count = contents.lane_word_count;
  manifest.kv_word_count = contents.kv_word_count;
  manifest.minimum_word_count = contents.minimum_word_count;
  manifest.report_json = contents.report_json;

  TemporaryFolder temporary(folder);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    manifest.files[i] = {sections[i].size(), crc32_of(sections[i])};
    if (!sections[i].empty()) write_synced(temporary.path() / kSectionFiles[i], sections[i]);
  }
  const std::uint32_t checksum =
      write_manifest(temporary.path(), manifest_text(manifest), kManifestFile, kManifestChecksumFile);
  temporary.publish();
  return checksum;
}

}  // namespace

void write(const fs::path& folder, const Contents& contents) { (void)write_card(folder, contents); }

void write_group(const fs::path& folder, const GroupContents& contents) {
  check_target(folder);
  GroupManifest group;
  group.contract_hash = contract::contract_hash();
  group.hardware_name = contents.hardware_name;
  group.model_name = contents.model_name;
  group.model_file_bytes = contents.model_file_bytes;
  group.shape = contents.shape;
  group.plan = contents.plan;
  group.cycles_with_head = contents.cycles_with_head;
  group.report_json = contents.report_json;
  TemporaryFolder temporary(folder);
  for (std::size_t i = 0; i < contents.plan.cards.size(); ++i)
    group.card_checksums.push_back(write_card(temporary.path() / card_folder(i), contents.card(i)));
  (void)write_manifest(temporary.path(), group_text(group), kGroupFile, kGroupChecksumFile);
  temporary.publish();
}

}  // namespace lpu::bundle
