// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/array/array.h"
#include "sonde/instruments/stem/pass/pass.h"

namespace sonde::stem {

/// What a few frames spread over the scan say before the pass.
struct ScanSample {
  double largest = 0;  ///< largest resident value with the pass's mask, suspects and bins: at most the true maximum
  Array sum;           ///< (rows, cols) u64 or f64: S over the sampled frames, suspects included
  Index frames = 0;
};
/// Reads and decodes the frames of at most so many positions. A broken frame counts as none. Nothing is interpolated.
[[nodiscard]] ScanSample sample_scan(Source& source, const PassSettings& settings, Index samples);

}  // namespace sonde::stem
