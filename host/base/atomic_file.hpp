// Files and folders that appear complete or not at all: written under a temporary name beside their place, synced to
// the disk, renamed. Why: a full disk, a crash or Ctrl-C must never leave half a bundle that looks like a whole one.
// Relies on error.hpp; every failure of the system is an Error(kIo) that names the path.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace lpu {

/// The bytes of a text.
std::span<const std::byte> bytes_of(std::string_view text);

/// Writes a new file and syncs it. Error(kIo) when the system refuses; what was written stays (see TemporaryFolder).
void write_synced(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// A file that is written piece by piece and appears when it is complete; an existing one is replaced. What isn't a
/// regular file (a device, a pipe) is written directly: it has no content that could be half there.
class AtomicFile {
 public:
  /// Error(kIo) when it can't be created.
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  /// Syncs and puts the file in place; without it, nothing is left behind.
  void publish();

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;  ///< what is written
  bool is_direct_;
  int descriptor_;
};

/// A whole file at once.
void write_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// A new folder beside its future place, removed with all that is in it unless published.
class TemporaryFolder {
 public:
  /// Error(kIo) when the folder beside `target` can't be made; its parent must exist.
  explicit TemporaryFolder(const std::filesystem::path& target);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Syncs the folder and renames it to the target. A folder that is there already is replaced: the caller has made
  /// sure that it may be.
  void publish();

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
};

}  // namespace lpu
