// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/instruments/stem/correct/centre.h"
#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/results/detector_images.h"

namespace sonde::stem {

/// The images of one scan, and what they were made of.
struct ScanImages {
  Dataset dataset;  ///< read once (Dataset::sampled_frames) or loaded
  DetectorGeometry geometry;
  std::optional<Centre> centre;  ///< where it was found
  std::vector<DetectorImage> images;
};

/// Opens the scan, as often as it is asked to.
using OpenScan = std::function<std::unique_ptr<Source>()>;

/// The images of `detectors` from a scan. Where they are sums of counts over boolean masks, and the options ask for
/// nothing else (can_survey), every frame is read once and none is held; bad pixels and the centre are then those of a
/// sample. Else, or where a centre is not clear in the sample, the scan is loaded. One of the choices of the data set
/// says which. Throws what load() and detector_images() throw.
[[nodiscard]] ScanImages image_scan(const OpenScan& open, const LoadOptions& load, const DetectorOptions& detectors,
                                    const Budget& budget, Device device);

}  // namespace sonde::stem
