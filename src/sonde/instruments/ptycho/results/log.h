// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <string>

#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"

namespace sonde::ptycho {

/// The metrics of every iteration as JSON lines: one object per line, on the disk when the iteration is over, so that
/// others can follow a run. Members are iteration, engine and those of metric_names().
class MetricsLog {
 public:
  /// Replaces an older file. Throws Error(io) when it cannot be written.
  explicit MetricsLog(std::string path);
  void add(const IterationRecord& record);

 private:
  std::string path_;
  std::ofstream file_;
};

}  // namespace sonde::ptycho
