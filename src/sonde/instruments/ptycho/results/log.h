// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"
#include "sonde/instruments/ptycho/results/changes.h"

namespace sonde::ptycho {

/// The metrics of every iteration as JSON lines: one object per line, on the disk when the iteration is over, so that
/// others can follow a run. Members are iteration, engine and those of metric_names(). What a person changed meanwhile
/// is a line between them: {"change": ...} with the members of to_value(Change).
class MetricsLog {
 public:
  /// Replaces an older file. Throws Error(io) when it cannot be written.
  explicit MetricsLog(std::string path);
  void add(const IterationRecord& record);
  void add(const Change& change);
  /// Both, as they followed each other: `history` is of what came after the last restart.
  void add(const std::vector<IterationRecord>& history, const std::vector<Change>& changes);

 private:
  void line(const Value& value);

  std::string path_;
  std::ofstream file_;
};

}  // namespace sonde::ptycho
