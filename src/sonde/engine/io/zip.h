// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/file.h"

namespace sonde {

enum class ZipMethod { stored, deflated };

/// One file in a ZIP archive, as the directory at the archive's end says.
struct ZipEntry {
  std::string name;
  ZipMethod method = ZipMethod::stored;
  std::uint32_t crc = 0;
  std::uint64_t stored_bytes = 0, bytes = 0;  ///< in the archive, and unpacked
  std::uint64_t header_offset = 0;
};

/// Reads archives, ZIP64 included. Throws Error(bad_file) for what is broken, Error(not_supported) for encryption and
/// other methods than stored and deflated.
class ZipReader {
 public:
  explicit ZipReader(const std::string& path);
  [[nodiscard]] const std::vector<ZipEntry>& entries() const { return entries_; }
  /// The unpacked bytes, with their checksum verified.
  [[nodiscard]] std::vector<std::byte> read(const ZipEntry& entry) const;

  /// Where the bytes of a stored entry begin in the file, for who maps it instead of reading it. Throws Error(bad_file)
  /// when they are not inside the file, Error(not_supported) when the entry is deflated.
  [[nodiscard]] std::uint64_t offset(const ZipEntry& entry) const;
  /// Throws Error(bad_file) when these bytes, the entry's, have another checksum. Costs as much as crc32_of().
  void check(const ZipEntry& entry, std::span<const std::byte> bytes) const;

 private:
  [[nodiscard]] std::uint64_t packed_offset(const ZipEntry& entry) const;

  File file_;
  std::vector<ZipEntry> entries_;
};

/// Writes an archive front to back, ZIP64 throughout, so that no size is limited. Dates are fixed: equal content gives
/// equal archives.
class ZipWriter {
 public:
  explicit ZipWriter(std::string path, const OutputRole& role = {}) : file_(std::move(path), role) {}
  /// One entry whose bytes are the parts one after the other.
  void add(const std::string& name, std::span<const std::span<const std::byte>> parts, ZipMethod method);
  /// Writes the directory and gives the archive its name.
  void commit();

 private:
  AtomicFile file_;
  std::vector<ZipEntry> entries_;
};

}  // namespace sonde
