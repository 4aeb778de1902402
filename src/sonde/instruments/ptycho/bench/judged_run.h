// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <memory>

#include "sonde/instruments/ptycho/bench/scan.h"
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"
#include "sonde/instruments/ptycho/results/log.h"

namespace sonde::ptycho {

/// Iterations of gd as `sonde ptycho run` does them: judged, checked, the best state kept, written to the log.
struct JudgedRun {
  explicit JudgedRun(ScanSize size);
  JudgedRun(const JudgedRun&) = delete;
  JudgedRun& operator=(const JudgedRun&) = delete;
  void iterate() { log.add(run->iterate()); }

  double engine_s = 0;  ///< of the last iteration, what the engine itself took
  BenchScan scan;
  std::unique_ptr<Reconstruction> run;
  MetricsLog log{"/dev/null"};
};

}  // namespace sonde::ptycho
