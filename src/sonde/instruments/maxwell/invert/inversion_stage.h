// SPDX-License-Identifier: Apache-2.0
// Private: what belongs to the stage that runs.
#pragma once

#include <memory>
#include <vector>

#include "sonde/instruments/maxwell/invert/inversion.h"

namespace sonde::maxwell {

struct Inversion::Stage {
  TraceFilter filter;
  Misfit misfit;
  std::vector<Gather> measured{};            // filtered, [shot]
  std::vector<ShotSignals> all{}, active{};  // as runs take them; of every shot, and of the batch
  double scale = 0;                          // misfit of all shots at the start; 0: not known yet
  std::vector<double> diagonal{};
  LbfgsSettings lbfgs{};
  std::unique_ptr<BoundedLbfgs<double>> optimiser{};
  Index iteration = 0, batch = 0;
  struct Seen {
    double objective = 0, chi2 = 0;
  };
  std::vector<Seen> seen{};  // since the stage began or the source changed, the oldest first
};

}  // namespace sonde::maxwell
