// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/array/array.h"
#include "sonde/instruments/separate/run/separation.h"

namespace sonde::separate {

/// Separates a signal in memory, (channels, count) at the network's rate, to (stems, channels, count): the bits that
/// separate_file() gives for a file of these samples. Of the settings, overlap, policy, shifts and tta count. Throws
/// Error(bad_input) for other channels than the network's and for no samples, Error(interrupted) between two chunks.
[[nodiscard]] Array separate_samples(View<const float, 2> samples, const SeparationSettings& settings,
                                     const Config& config, Network& network);

/// A signal (channels, count) at another rate, as long as AudioReader says that a file of it is. A single channel is
/// put into each of `channels`. Throws Error(bad_input) for other channels, and for samples that are no numbers.
[[nodiscard]] Array resampled(View<const float, 2> samples, Index rate, Index to_rate, Index channels,
                              ResampleQuality quality = ResampleQuality::very_high);

}  // namespace sonde::separate
