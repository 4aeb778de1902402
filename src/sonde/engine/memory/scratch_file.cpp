// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/memory/scratch_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"

namespace sonde {
namespace {

Error scratch_error(const std::string& folder, const std::string& activity, int error) {
  return Error(ErrorKind::io, fmt::format("{}: {} failed: {}", folder, activity, std::strerror(error)))
      .hint("choose another folder for temporary files");
}

/// Calls `transfer(done)` until `size` bytes went through; it answers like pread and pwrite.
template <class Transfer>
void transfer_all(const std::string& folder, const char* activity, std::size_t size, Transfer transfer) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t step = transfer(done);
    if (step < 0 && errno == EINTR) continue;
    if (step <= 0) throw scratch_error(folder, fmt::format("{} a temporary file", activity), step < 0 ? errno : EIO);
    done += static_cast<std::size_t>(step);
  }
}

}  // namespace

std::string scratch_folder() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/var/tmp";
}

std::uint64_t free_disk_bytes(const std::string& folder) {
  struct statvfs status {};
  if (statvfs(folder.c_str(), &status) != 0) throw scratch_error(folder, "asking for free space", errno);
  return std::uint64_t{status.f_bavail} * status.f_frsize;
}

ScratchFile::ScratchFile(std::string folder, std::uint64_t bytes)
    : folder_(folder.empty() ? scratch_folder() : std::move(folder)) {
  descriptor_ = open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);  // never has a name
  if (descriptor_ < 0) {                                                      // not every file system can
    std::string pattern = folder_ + "/sonde-scratch-XXXXXX";
    descriptor_ = mkostemp(pattern.data(), O_CLOEXEC);
    if (descriptor_ < 0) throw scratch_error(folder_, "making a temporary file", errno);
    unlink(pattern.c_str());
  }
  if (bytes == 0 || fallocate(descriptor_, 0, 0, static_cast<off_t>(bytes)) == 0) return;
  if (errno == EOPNOTSUPP && ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0) return;
  const int error = errno;
  close(descriptor_);
  throw scratch_error(
      folder_, fmt::format("setting aside {} for a temporary file", format_bytes(static_cast<double>(bytes))), error);
}

ScratchFile::~ScratchFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void ScratchFile::write_at(std::uint64_t offset, const void* bytes, std::size_t size) const {
  transfer_all(folder_, "writing", size, [&](std::size_t done) {
    return pwrite(descriptor_, static_cast<const std::byte*>(bytes) + done, size - done,
                  static_cast<off_t>(offset + done));
  });
}

void ScratchFile::read_at(std::uint64_t offset, void* bytes, std::size_t size) const {
  transfer_all(folder_, "reading", size, [&](std::size_t done) {
    return pread(descriptor_, static_cast<std::byte*>(bytes) + done, size - done, static_cast<off_t>(offset + done));
  });
}

void ScratchFile::will_read(std::uint64_t offset, std::size_t size) const noexcept {
  posix_fadvise(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(size), POSIX_FADV_WILLNEED);
}

void ScratchFile::flush() const {
  if (fdatasync(descriptor_) != 0) throw scratch_error(folder_, "writing a temporary file", errno);
}

}  // namespace sonde
