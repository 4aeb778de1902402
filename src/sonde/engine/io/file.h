// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace sonde {

/// What the system may prepare for: reading from front to back, or this range soon.
enum class Advice { sequential, will_need };

/// A file opened for reading. Movable; closed by the destructor. Thread-safe: reads carry their own offset.
class File {
 public:
  /// Throws Error(bad_file) when it is missing or is not a regular file, Error(io) when it may not be read.
  explicit File(std::string path);
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Bytes when it was opened.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// The descriptor, for calls that this class does not wrap; stays owned here.
  [[nodiscard]] int descriptor() const { return descriptor_; }

  /// Fills all of `bytes` from `offset` on. Throws Error(bad_file) when the file ends before, Error(io) when the device
  /// fails; both name path and offset.
  void read_at(std::uint64_t offset, std::span<std::byte> bytes) const;

  /// A hint about [offset, offset + size); size 0 means to the end of the file. Never fails.
  void advise(Advice advice, std::uint64_t offset = 0, std::uint64_t size = 0) const noexcept;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// A whole file as read-only memory, paged in on use. A file that is truncated while mapped ends the process (SIGBUS),
/// so this is for small metadata and for files that nobody else writes; detector data are read with File.
class MappedFile {
 public:
  /// Throws like File.
  explicit MappedFile(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  /// Gives the memory of what was read back to the system, which pages it in again on use.
  void release_pages() const noexcept;

 private:
  std::span<const std::byte> bytes_;
};

/// The content of a small file. Throws like File, and Error(bad_file) when it is larger than `most_bytes`.
[[nodiscard]] std::string read_text(const std::string& path, std::size_t most_bytes = std::size_t{16} << 20);

}  // namespace sonde
