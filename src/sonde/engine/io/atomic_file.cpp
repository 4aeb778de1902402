// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <utility>

#include "sonde/engine/base/error.h"

namespace sonde {
namespace {

Error write_error(const std::string& path, const std::string& activity, int error) {
  Error failure(ErrorKind::io, fmt::format("{}: {} failed: {}", path, activity, std::strerror(error)));
  if (error == ENOSPC || error == EDQUOT) failure.hint("free space there, or write to another disk");
  if (error == EFBIG) failure.hint("raise the file size limit (ulimit -f), or write to another file system");
  if (error == EACCES || error == EPERM || error == EROFS) failure.hint("choose a folder that you may write to");
  return failure;
}

/// The file that a link points to, so that the link itself survives the rename.
std::string behind_links(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> target(::realpath(path.c_str(), nullptr), &std::free);
  return target ? target.get() : path;
}

}  // namespace

void require_place(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    throw Error(ErrorKind::io, fmt::format("{}: is {}, it cannot be replaced by a file", path,
                                           S_ISDIR(status.st_mode) ? "a folder" : "not a regular file"))
        .hint("give the name of a file");
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty()) return;
  if (::stat(folder.c_str(), &status) != 0)
    throw Error(ErrorKind::io, fmt::format("{}: there is no folder {}", path, folder)).hint("mkdir -p " + folder);
  if (!S_ISDIR(status.st_mode))
    throw Error(ErrorKind::io, fmt::format("{}: {} is not a folder", path, folder)).hint("give another name");
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  require_place(path_);
  const std::string target = behind_links(path_);
  std::random_device random;
  do {
    partial_path_ = fmt::format("{}.partial-{:08x}", target, random());
    descriptor_ = ::open(partial_path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ >= 0) return;
  const int error = errno;
  partial_path_.clear();
  throw write_error(path_, "creating it", error);
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      partial_path_(std::exchange(other.partial_path_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      written_bytes_(other.written_bytes_) {}

AtomicFile::~AtomicFile() { remove(); }

void AtomicFile::remove() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!partial_path_.empty()) ::unlink(partial_path_.c_str());
  partial_path_.clear();
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30;  // a system call takes less than 2^31
  const std::size_t total = bytes.size();
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor_, bytes.data(), std::min(bytes.size(), most_bytes));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw write_error(path_, fmt::format("writing {} bytes at offset {}", total, written_bytes_), errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    written_bytes_ += static_cast<std::uint64_t>(put);
  }
}

void AtomicFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void AtomicFile::close(Durability durability) {
  if (descriptor_ < 0) return;
  if (durability == Durability::on_disk && ::fsync(descriptor_) != 0) {
    const int error = errno;
    remove();
    throw write_error(path_, "writing it to the disk", error);
  }
  const int closed = ::close(std::exchange(descriptor_, -1));  // some file systems report a full disk only here
  if (closed == 0 || errno == EINTR) return;
  const int error = errno;
  remove();
  throw write_error(path_, fmt::format("closing it after {} bytes", written_bytes_), error);
}

void AtomicFile::commit(Durability durability) {
  assert(!partial_path_.empty());
  close(durability);
  const std::string target = partial_path_.substr(0, partial_path_.rfind(".partial-"));
  if (::rename(partial_path_.c_str(), target.c_str()) != 0) {
    const int error = errno;
    remove();
    throw write_error(path_, "renaming " + partial_path_, error);
  }
  partial_path_.clear();
}

}  // namespace sonde
