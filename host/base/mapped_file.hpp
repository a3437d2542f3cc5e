// A file mapped read-only into memory, so that a model of gigabytes costs only the pages that are touched.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace lpu {

class MappedFile {
 public:
  /// Throws Error(kIo) when the file is missing, unreadable, a folder, or empty.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Tells the system that these bytes won't be read again soon, so that they stop counting as resident.
  void forget(std::size_t offset_bytes, std::size_t length_bytes) const;

 private:
  std::filesystem::path path_;
  std::span<const std::byte> bytes_;
};

}  // namespace lpu
