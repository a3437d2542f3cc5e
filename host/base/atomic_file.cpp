// See atomic_file.hpp. A folder that isn't empty can't be renamed over, so it is exchanged with the new one in a single
// step where the file system can do that, and moved aside first where it can't.
#include "host/base/atomic_file.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include "host/base/error.hpp"

namespace lpu {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kWriteLimitBytes = std::size_t{1} << 30;  // a single write() takes no more than 2 GiB
constexpr const char* kRemedy = "check that the folder is writable and the disk isn't full";

[[noreturn]] void refuse(const fs::path& path, const char* what, int reason) {
  fail(ExitCode::kIo, "{}: {}: {}; {}", path.string(), what, std::strerror(reason), kRemedy);
}

class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags, mode_t mode) : value_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int value() const { return value_; }
  /// close() reports errors that some file systems only find then.
  int close() { return ::close(std::exchange(value_, -1)); }

 private:
  int value_;
};

void sync_folder(const fs::path& path) {
  Descriptor folder(path, O_RDONLY | O_DIRECTORY, 0);
  // EINVAL: a file system that can't sync folders has nothing more to offer.
  if (folder.value() < 0 || (::fsync(folder.value()) != 0 && errno != EINVAL)) refuse(path, "cannot be synced", errno);
}

fs::path parent_of(const fs::path& path) {
  const fs::path parent = path.parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

/// `path` with its links followed and no slash at its end, so that its parent and its name mean what they say.
fs::path settled(const fs::path& path) {
  std::error_code error;
  fs::path result = fs::weakly_canonical(path, error);
  if (error) result = path;
  return result.has_filename() ? result : result.parent_path();
}

void write_all(int descriptor, const fs::path& path, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), std::min(bytes.size(), kWriteLimitBytes));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse(path, "cannot be written", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

/// EINVAL: a device or a pipe, which has nothing to sync.
void sync_file(int descriptor, const fs::path& path) {
  if (::fsync(descriptor) != 0 && errno != EINVAL) refuse(path, "cannot be written", errno);
}

}  // namespace

std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

void write_synced(const fs::path& path, std::span<const std::byte> bytes) {
  Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file.value() < 0) refuse(path, "cannot be created", errno);
  write_all(file.value(), path, bytes);
  sync_file(file.value(), path);
  if (file.close() != 0) refuse(path, "cannot be written", errno);
}

AtomicFile::AtomicFile(const fs::path& path) : target_(path), path_(path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  is_direct_ = fs::exists(status) && !fs::is_regular_file(status);
  if (!is_direct_) {
    target_ = settled(path);
    path_ = target_.string() + ".partial-" + std::to_string(::getpid());
  }
  const int flags = is_direct_ ? O_WRONLY : O_WRONLY | O_CREAT | O_TRUNC;
  descriptor_ = ::open(path_.c_str(), flags | O_CLOEXEC, 0666);
  if (descriptor_ < 0) refuse(path, "cannot be created", errno);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!is_direct_) ::unlink(path_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) { write_all(descriptor_, target_, bytes); }

void AtomicFile::publish() {
  sync_file(descriptor_, target_);
  if (!is_direct_ && ::rename(path_.c_str(), target_.c_str()) != 0) refuse(target_, "cannot be put in place", errno);
  if (::close(std::exchange(descriptor_, -1)) != 0) refuse(target_, "cannot be written", errno);
  if (!is_direct_) sync_folder(parent_of(target_));
}

void write_atomically(const fs::path& path, std::span<const std::byte> bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.publish();
}

TemporaryFolder::TemporaryFolder(const fs::path& target) : target_(settled(target)) {
  std::string pattern = target_.string() + ".partial-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) refuse(target, "no folder can be made there", errno);
  path_ = pattern;
  // mkdtemp() keeps others out; a bundle is as readable as any other file that the user writes.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::chmod(path_.c_str(), 0777 & ~mask);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

void TemporaryFolder::publish() {
  sync_folder(path_);
  std::error_code error;
  const bool replaces = fs::is_directory(target_, error) && !fs::is_empty(target_, error);
  if (!replaces) {
    if (::rename(path_.c_str(), target_.c_str()) != 0) refuse(target_, "cannot be put in place", errno);
    path_.clear();
  } else if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) != 0) {
    const fs::path aside = path_.string() + ".old";
    if (::rename(target_.c_str(), aside.c_str()) != 0) refuse(target_, "cannot be replaced", errno);
    if (::rename(path_.c_str(), target_.c_str()) != 0) {
      const int reason = errno;
      ::rename(aside.c_str(), target_.c_str());
      refuse(target_, "cannot be put in place", reason);
    }
    path_ = aside;  // what is removed now is the old folder
  }
  sync_folder(parent_of(target_));
}

}  // namespace lpu
