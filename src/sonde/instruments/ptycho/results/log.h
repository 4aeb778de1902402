// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "sonde/engine/io/atomic_file.h"
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"
#include "sonde/instruments/ptycho/results/changes.h"

namespace sonde::ptycho {

/// What a log is to the run that writes it.
[[nodiscard]] OutputRole log_role();
/// require_place() for a log, which may also be something else than a file.
void require_log(const std::string& path);

/// The metrics of every iteration as JSON lines: one object per line, on the disk when the iteration is over, so that
/// others can follow a run. Members are iteration, engine and those of metric_names(). What a person changed meanwhile
/// is a line between them: {"change": ...} with the members of to_value(Change). The first line is the head,
/// {"schema": "sonde.log/1"}, by which a later log knows what it may replace.
class MetricsLog {
 public:
  /// Replaces an older log; what is no regular file (a pipe, /dev/stderr) is written into. Throws Error(io) when it
  /// cannot be written, Error(bad_input) when it is an input of the run or a file that is no log of sonde.
  explicit MetricsLog(std::string path);
  void add(const IterationRecord& record);
  void add(const Change& change);
  /// Both, as they followed each other: `history` is of what came after the last restart.
  void add(const std::vector<IterationRecord>& history, const std::vector<Change>& changes);

 private:
  void line(const Value& value);

  std::string path_;
  std::ofstream file_;
  bool begun_ = false;
};

}  // namespace sonde::ptycho
