// Writes a bundle: its files into a temporary folder, the manifest last, then one rename. Relies on
// host/base/atomic_file.
#include <algorithm>
#include <span>
#include <system_error>

#include "hls/contract/describe.hpp"
#include "host/base/atomic_file.hpp"
#include "host/base/error.hpp"
#include "host/bundle/bundle.hpp"
#include "host/bundle/checksum.hpp"
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

void check_target(const fs::path& folder) {
  if (folder.empty()) fail(ExitCode::kUsage, "The bundle's folder has an empty name; say where it should be written.");
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status))
    fail(ExitCode::kUsage, "{}: is there already and no folder; choose another name for the bundle", folder.string());
  if (!fs::is_empty(folder) && !holds_only_a_bundle(folder))
    fail(ExitCode::kUsage,
         "{}: is there already and holds other things than a bundle, so it isn't replaced; choose another name",
         folder.string());
}

template <typename T>
std::span<const std::byte> view(const std::vector<T>& values) {
  return std::as_bytes(std::span<const T>(values));
}

}  // namespace

void write(const fs::path& folder, const Contents& contents) {
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
  const std::string text = manifest_text(manifest);
  write_synced(temporary.path() / kManifestFile, bytes_of(text));
  write_synced(temporary.path() / kManifestChecksumFile, bytes_of(crc32_text(crc32_of(bytes_of(text))) + "\n"));
  temporary.publish();
}

}  // namespace lpu::bundle
