// SPDX-License-Identifier: Apache-2.0
// Private to the room: passes through the published drum network in its full size.
#pragma once

#include <vector>

#include "sonde/instruments/separate/network/plan.h"

namespace sonde::separate {

/// The network of five stems with values made from their names, and a chunk of so many frames.
struct DrumPass {
  Config config;
  Plan plan;
  std::vector<float> samples, stems;
  double network_s = 0;  ///< of the last pass, without the Fourier transforms

  explicit DrumPass(Index frames);
  void run();
};

}  // namespace sonde::separate
