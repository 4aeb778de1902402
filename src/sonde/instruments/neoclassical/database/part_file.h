// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/io/atomic_file.h"

namespace sonde::neoclassical {

/// One solved point of a table, with what only the report needs: the time it took.
struct FinishedPoint {
  Index radius = 0, nu = 0, field = 0;  ///< indices on the axes
  double D11 = 0, D31 = 0, D13 = 0, D33 = 0, D33_spitzer = 0;
  double residual = 0, onsager_residual = 0;
  int n_xi_used = 0, path_code = 0, status = 0;
  double seconds = 0;
  int precision_code = 0;
  friend bool operator==(const FinishedPoint&, const FinishedPoint&) = default;
};

/// The sidecar of a table that is being made: a header with the key of the work and one record of 128 bytes per
/// finished point, each with its checksum. A process may be killed at any moment: what was appended before is there, a
/// record cut in two is not. One process at a time may have it open. append() is thread-safe.
class PartFile {
 public:
  /// What it is to the run that writes it: the run may continue an earlier one.
  [[nodiscard]] static OutputRole role();
  /// Opens or makes the file. `key` says everything the points depend on (axes, hash of the geometry, grid, options) in
  /// lines "name = value". A file of another key is left as it is: Error(bad_input) names what differs. Throws
  /// Error(io) when it cannot be written or another process has it, Error(bad_file) when a file of that name is
  /// something else, which is then left as it is, too.
  PartFile(std::string path, const std::string& key);
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  ~PartFile();

  [[nodiscard]] const std::string& path() const { return path_; }
  /// The points that an earlier run finished, in the order of finishing; each place at most once, as it was
  /// solved last.
  [[nodiscard]] const std::vector<FinishedPoint>& earlier() const { return earlier_; }
  /// What at the end of the file was left out, cut in two when a process was killed; empty when nothing was.
  [[nodiscard]] const std::string& left_out() const { return left_out_; }

  /// Throws Error(io), for instance on a full disk; the file then ends with the record before.
  void append(const FinishedPoint& point);

  /// Deletes the file: the complete table has its name now.
  void remove();

 private:
  void begin(const std::string& header);
  void read_records(std::size_t header_bytes);

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;  ///< of whole records and header
  std::vector<FinishedPoint> earlier_;
  std::string left_out_;
  std::mutex mutex_;
};

}  // namespace sonde::neoclassical
