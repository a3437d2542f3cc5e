// Read-only mappings by mmap. See mapped_file.hpp; relies on POSIX.
#include "host/base/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "host/base/error.hpp"

namespace lpu {

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    fail(ExitCode::kIo, "{}: cannot be opened: {}; check the path", path.string(), std::strerror(errno));
  struct stat status {};
  const bool known = ::fstat(descriptor, &status) == 0;
  const char* trouble = !known                     ? "its size cannot be read"
                        : S_ISDIR(status.st_mode)  ? "is a folder, not a file"
                        : !S_ISREG(status.st_mode) ? "is not a regular file"
                        : status.st_size == 0      ? "is empty"
                                                   : nullptr;
  if (trouble != nullptr) {
    ::close(descriptor);
    fail(ExitCode::kIo, "{}: {}; give the path of a complete file", path.string(), trouble);
  }
  const auto size_bytes = static_cast<std::size_t>(status.st_size);
  void* address = ::mmap(nullptr, size_bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int reason = errno;
  ::close(descriptor);
  if (address == MAP_FAILED) fail(ExitCode::kIo, "{}: cannot be mapped: {}", path.string(), std::strerror(reason));
  bytes_ = {static_cast<const std::byte*>(address), size_bytes};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void MappedFile::forget(std::size_t offset_bytes, std::size_t length_bytes) const {
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t first = offset_bytes / page_bytes * page_bytes;
  const std::size_t end = std::min(offset_bytes + length_bytes, bytes_.size());
  if (first < end) ::madvise(const_cast<std::byte*>(bytes_.data()) + first, end - first, MADV_DONTNEED);
}

}  // namespace lpu
