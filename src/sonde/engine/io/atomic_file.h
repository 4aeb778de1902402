// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "sonde/engine/io/mark.h"

namespace sonde {

/// How far the bytes of a finished file have come: to the system, which writes them soon, or to the disk, so that a
/// power failure does not lose them.
enum class Durability { handed_over, on_disk };

/// What a file is to the run that writes it.
struct OutputRole {
  std::string what = "the output";  ///< the subject of messages: "the report"
  FileMark replaces =
      FileMark::none;      ///< only files of sonde of this kind; none: any regular file, as a named result may
  bool continues = false;  ///< a checkpoint or its like: may take the place of the one that the run continues
};

/// What was not named, and reports: it takes the place of its own kind only.
[[nodiscard]] inline OutputRole side_output(std::string what, FileMark kind) { return {std::move(what), kind}; }

/// Throws what AtomicFile(path) would throw for a place that cannot take the file: before hours of work, not after.
/// From then on it is an output of the run (base/run_files.h): an input that is the same file is an error when it is
/// opened.
void require_place(const std::string& path, const OutputRole& role = {});

/// A file that appears under its name only when it is complete. It is written as "<name>.partial-<n>" in the same
/// folder and renamed by commit(), which replaces an older file; without commit() the destructor removes it. A process
/// that is killed leaves the partial name behind, and the next AtomicFile of the same name removes it: whose writer
/// lives is known by a lock (flock) that the system drops with the process. Between hosts of a network file system
/// locks are not relied on: there the partial name holds that of the host. One thread at a time.
class AtomicFile {
 public:
  /// Throws Error(io) when the folder is missing or may not be written, or when `path` exists and is no regular file;
  /// Error(bad_input) when it is an input of the run, or when its role does not allow to replace what is there.
  explicit AtomicFile(std::string path, const OutputRole& role = {});
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
  /// written. Throws Error(io); the partial file is then removed. It holds no descriptor and no lock any more (a set
  /// may have thousands): of two runs that write one set at a time the one whose partial files the other removed fails
  /// in commit().
  void close(Durability durability = Durability::handed_over);
  /// Closes and renames. Throws Error(io); the partial file is then removed.
  void commit(Durability durability = Durability::handed_over);

 private:
  void remove() noexcept;

  enum class Lock { given_back, kept };
  void close_file(Durability durability, Lock lock);

  std::string path_, target_;  // as given, and with links followed
  std::string partial_path_;   // empty once committed or removed
  int descriptor_ = -1;
  int lock_ = -1;  // of a file that is closed and has not its name yet
  std::uint64_t written_bytes_ = 0;
};

}  // namespace sonde
