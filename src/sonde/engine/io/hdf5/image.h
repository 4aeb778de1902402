// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "sonde/engine/io/file.h"
#include "sonde/engine/io/hdf5/bytes.h"

namespace sonde::hdf5 {

/// Which file it is, whatever its name: device and inode.
using FileIdentity = std::pair<std::uint64_t, std::uint64_t>;

/// The bytes of a file from its base address on. No access leaves the file, and what is read as structure is counted:
/// a file whose structures are read more often than any sound file needs is a Fault, so that none costs more than
/// seconds. Thread-safe.
class Image {
 public:
  /// Throws like File: named pipes, devices and folders are refused before they can block.
  explicit Image(const std::string& path);

  [[nodiscard]] const File& file() const { return file_; }
  [[nodiscard]] const std::string& path() const { return file_.path(); }
  [[nodiscard]] FileIdentity identity() const;

  /// Set once, when the superblock has been found.
  void set_base(std::uint64_t base) { base_ = base; }
  [[nodiscard]] std::uint64_t base() const { return base_; }
  /// Bytes from `address` to the end of the file; 0 outside.
  [[nodiscard]] std::uint64_t room(std::uint64_t address) const {
    return base_ > file_.size() || address > file_.size() - base_ ? 0 : file_.size() - base_ - address;
  }
  /// A Fault unless all of these bytes are inside the file.
  void require(std::uint64_t address, std::uint64_t count) const;

  /// Bytes of a structure, counted and cached.
  [[nodiscard]] Bytes read(std::uint64_t address, std::uint64_t count) const;
  /// The same for at most `count` bytes: fewer at the end of the file.
  [[nodiscard]] Bytes read_most(std::uint64_t address, std::uint64_t count) const;
  /// A structure that is read only once, from amid the elements: counted, not cached.
  [[nodiscard]] Bytes read_once(std::uint64_t address, std::uint64_t count) const;
  /// Bytes of elements, straight from the file.
  void read_elements(std::uint64_t address, std::span<std::byte> bytes) const;

  /// Counts work that is not reading: texts copied, nodes visited.
  void charge(std::uint64_t bytes) const;

 private:
  // Metadata lie together: of most files a few blocks hold all. More blocks than this are forgotten at once.
  static constexpr std::uint64_t block_bytes = 16384;
  static constexpr std::size_t most_blocks = 4096;
  using Block = std::array<std::byte, block_bytes>;

  const Block& block(std::uint64_t number) const;

  File file_;
  std::uint64_t stored_bytes_;  // what the file takes on its disk: a sparse one may be of any size
  std::uint64_t base_ = 0;
  mutable std::atomic<std::uint64_t> spent_ = 0;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::uint64_t, std::unique_ptr<Block>> blocks_;
};

}  // namespace sonde::hdf5
