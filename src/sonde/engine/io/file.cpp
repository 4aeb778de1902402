// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/base/text.h"

namespace sonde {
namespace {

Error cannot_open(const std::string& path, int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return Error(ErrorKind::bad_file, fmt::format("{}: no such file", path));
    case EACCES:
    case EPERM:
      return Error(ErrorKind::io, fmt::format("{}: no permission to read it", path))
          .hint("check the permissions of the file and of the folders above it");
    default:
      return Error(ErrorKind::io, fmt::format("{}: cannot open it: {}", path, std::strerror(error)));
  }
}

}  // namespace

File::File(std::string path) : path_(std::move(path)) {
  // O_NONBLOCK: opening a named pipe must not wait for a writer; it means nothing for regular files.
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) throw cannot_open(path_, errno);
  struct stat status {};
  const int error = ::fstat(descriptor_, &status) == 0 ? 0 : errno;
  if (error == 0 && S_ISREG(status.st_mode)) {
    size_ = static_cast<std::uint64_t>(status.st_size);
    if (RunFiles* files = run_files()) {
      try {
        files->add_input(path_, {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino)});
      } catch (...) {
        ::close(descriptor_);
        throw;
      }
    }
    return;
  }
  ::close(descriptor_);
  if (error != 0) throw cannot_open(path_, error);
  if (S_ISDIR(status.st_mode)) throw Error(ErrorKind::bad_file, fmt::format("{}: is a folder, expected a file", path_));
  throw Error(ErrorKind::bad_file, fmt::format("{}: is not a regular file", path_));
}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

File& File::operator=(File&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void File::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
  // Linux transfers at most 2^31 - 4096 bytes per call; a smaller, round piece keeps offsets aligned.
  constexpr std::size_t most_bytes = std::size_t{1} << 30;
  const auto ends_early = [&](std::uint64_t available) {
    return Error(ErrorKind::bad_file, fmt::format("{}: ends after {} bytes, {} bytes were expected at offset {}", path_,
                                                  available, bytes.size(), offset))
        .hint("the copy may be incomplete");
  };
  // Checked first: offsets come from files and may not fit into off_t.
  if (offset > size_ || bytes.size() > size_ - offset) throw ends_early(size_);
  for (std::size_t done = 0; done < bytes.size();) {
    const std::size_t part = std::min(bytes.size() - done, most_bytes);
    const ssize_t got = ::pread(descriptor_, bytes.data() + done, part, static_cast<off_t>(offset + done));
    if (got == 0) throw ends_early(offset + done);  // truncated since it was opened
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw Error(ErrorKind::io, fmt::format("{}: reading {} bytes at offset {} failed: {}", path_, part, offset + done,
                                             std::strerror(errno)));
    done += static_cast<std::size_t>(got);
  }
}

void File::advise(Advice advice, std::uint64_t offset, std::uint64_t size) const noexcept {
  const int flag = advice == Advice::sequential ? POSIX_FADV_SEQUENTIAL : POSIX_FADV_WILLNEED;
  (void)::posix_fadvise(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(size), flag);
}

MappedFile::MappedFile(const std::string& path) {
  const File file(path);
  if (file.size() == 0) return;  // an empty mapping is an error to the system
  void* start = ::mmap(nullptr, file.size(), PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (start == MAP_FAILED)
    throw Error(ErrorKind::io, fmt::format("{}: mapping {} failed: {}", path,
                                           format_bytes(static_cast<double>(file.size())), std::strerror(errno)));
  bytes_ = {static_cast<const std::byte*>(start), file.size()};
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

void MappedFile::release_pages() const noexcept {
  if (!bytes_.empty()) (void)::madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

std::string read_text(const std::string& path, std::size_t most_bytes) {
  const File file(path);
  if (file.size() > most_bytes)
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: has {}, expected at most {}", path, format_bytes(static_cast<double>(file.size())),
                            format_bytes(static_cast<double>(most_bytes))));
  std::string text(file.size(), '\0');
  file.read_at(0, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace sonde
