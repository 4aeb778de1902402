// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sonde {

/// How far the bytes of a finished file have come: to the system, which writes them soon, or to the disk, so that a
/// power failure does not lose them.
enum class Durability { handed_over, on_disk };

/// Throws what AtomicFile(path) would throw for a place that cannot take the file: before hours of work, not after.
void require_place(const std::string& path);

/// A file that appears under its name only when it is complete. It is written as "<name>.partial-<random>" in the same
/// folder and renamed by commit(), which replaces an older file; without commit() the destructor removes it. Only a
/// process that is killed leaves the partial name behind. One thread at a time.
class AtomicFile {
 public:
  /// Throws Error(io) when the folder is missing or may not be written, or when `path` exists and is no regular file.
  explicit AtomicFile(std::string path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  /// The final name.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// The name to give to libraries that open files themselves; they must have closed it before commit().
  [[nodiscard]] const std::string& partial_path() const { return partial_path_; }

  /// Appends. Throws Error(io) naming path, bytes and reason (disk full, file size limit, device error).
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// Bytes appended so far.
  [[nodiscard]] std::uint64_t written_bytes() const { return written_bytes_; }

  /// Closes the file without giving it its name yet, for files that appear together with others: nothing more can be
  /// written. Throws Error(io); the partial file is then removed.
  void close(Durability durability = Durability::handed_over);
  /// Closes and renames. Throws Error(io); the partial file is then removed.
  void commit(Durability durability = Durability::handed_over);

 private:
  void remove() noexcept;

  std::string path_;
  std::string partial_path_;  // empty once committed or removed
  int descriptor_ = -1;
  std::uint64_t written_bytes_ = 0;
};

}  // namespace sonde
