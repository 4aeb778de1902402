// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/results/detector_images.h"
#include "sonde/instruments/stem/results/save_image.h"

namespace sonde::stem {

/// What makes one image, kept beside it: provenance(), how it is shown, the detector with centre and radius as
/// resolved, and how it was computed. `sonde stem image --from` repeats the image from it, bit for bit.
[[nodiscard]] Value image_record(const Dataset& dataset, const DetectorImage& image, const DetectorOptions& options,
                                 PictureOptions picture, const DetectorGeometry& geometry,
                                 const std::optional<Centre>& centre);

}  // namespace sonde::stem
