// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace sonde {

/// A file without a name: gone when it is closed, whatever happens to the process. Movable. Thread-safe: reads and
/// writes carry their own offset.
class ScratchFile {
 public:
  /// In `folder` (empty: scratch_folder()), with room for `bytes` set aside where the file system can. Throws Error(io)
  /// when no file can be made there or the room is not there.
  explicit ScratchFile(std::string folder = "", std::uint64_t bytes = 0);
  ScratchFile(ScratchFile&& other) noexcept
      : folder_(std::move(other.folder_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
  ScratchFile& operator=(ScratchFile&&) = delete;
  ~ScratchFile();

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// Whole pieces, or Error(io) naming the folder.
  void write_at(std::uint64_t offset, const void* bytes, std::size_t size) const;
  void read_at(std::uint64_t offset, void* bytes, std::size_t size) const;
  /// A hint: this part is read soon. The system begins to bring it; never fails.
  void will_read(std::uint64_t offset, std::size_t size) const noexcept;
  /// Waits until what was written is on the disk. Throws Error(io).
  void flush() const;

 private:
  std::string folder_;
  int descriptor_ = -1;
};

/// $TMPDIR, else /var/tmp, which is on a disk where /tmp may be memory.
[[nodiscard]] std::string scratch_folder();

/// Bytes that this process may still write below `folder`. Throws Error(io) when there is no such folder.
[[nodiscard]] std::uint64_t free_disk_bytes(const std::string& folder);

}  // namespace sonde
