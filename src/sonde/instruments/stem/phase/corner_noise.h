// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// Values of the pixels in the four corners of the detector, over a sample of frames: what a detector gives where few
/// electrons arrive. Exact sums of counts; the same for any number of threads.
struct CornerNoise {
  double mean = 0, sigma = 0;  ///< of single values, of the resident detector
  Index pixels = 0, frames = 0;

  /// Values up to this are taken for noise: mean + 3 sigma.
  [[nodiscard]] double threshold() const { return mean + 3 * sigma; }
};

/// The good pixels of squares as wide as 1/16 of the shorter side, in at most 256 frames spread over the scan, which
/// are decoded again. Throws Error(bad_input) when no such pixel is good.
[[nodiscard]] CornerNoise corner_noise(const Dataset& dataset);

}  // namespace sonde::stem
