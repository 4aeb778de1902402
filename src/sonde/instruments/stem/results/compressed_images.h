// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <span>
#include <vector>

#include "sonde/instruments/stem/results/detector_images.h"

namespace sonde::stem {

/// mask_images for the compressed and file layouts: by AND and popcount on bit planes where the frames allow it
/// (bitshuffle chunks, no bins, nothing interpolated, at most sixteen masks), else by decoding block after block.
[[nodiscard]] std::vector<DetectorImage> compressed_images(const Dataset& dataset, std::span<const Mask> masks);

}  // namespace sonde::stem
