// SPDX-License-Identifier: Apache-2.0
// Private to the room: the frames of a chunk, on the CPU and on a GPU.
#pragma once

#include <vector>

#include "sonde/engine/base/host_device.h"
#include "sonde/engine/base/index.h"
#include "sonde/instruments/separate/network/config.h"

namespace sonde::separate {

struct SpectrumShape {
  Index n_fft = 0, hop = 0, chunk = 0, frames = 0;
  Index audio_channels = 0, subbands = 0, band = 0;

  [[nodiscard]] SONDE_HOST_DEVICE Index frequencies() const { return n_fft / 2 + 1; }
  /// The sample of the chunk, continued by reflection without repeating its ends, that frame `frame` has at n.
  [[nodiscard]] SONDE_HOST_DEVICE Index sample(Index frame, Index n) const {
    Index i = frame * hop - n_fft / 2 + n;
    if (i < 0) i = -i;
    return i < chunk ? i : 2 * (chunk - 1) - i;
  }
  /// The frames that cover sample p of the signal with n_fft / 2 samples in front.
  [[nodiscard]] SONDE_HOST_DEVICE Index first_covering(Index p) const { return p < n_fft ? 0 : (p - n_fft) / hop + 1; }
  [[nodiscard]] SONDE_HOST_DEVICE Index last_covering(Index p) const {
    return p / hop < frames - 1 ? p / hop : frames - 1;
  }
};

[[nodiscard]] SpectrumShape spectrum_shape(const Config& config);

/// (chunk): 1 / (n_fft sum over t of w^2) at each sample. Throws Error(bad_input) where the windows leave one
/// uncovered.
[[nodiscard]] std::vector<double> spectrum_weights(const Config& config);

}  // namespace sonde::separate
