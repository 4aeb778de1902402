// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/results/detector_images.h"
#include "sonde/instruments/stem/results/moment_images.h"
#include "sonde/instruments/stem/results/save_image.h"

namespace sonde::stem {

/// The colours and the unit of a first moment.
[[nodiscard]] Depiction depiction_of(Moment moment, const DeflectionUnit& unit, const DeflectionOrigin& origin);

/// How the image of a detector is shown. Sums: as they are, in counts. First moments: the deflection from the centre of
/// the beam (of the geometry, else found by `method`, else the mean of the scan) in mrad or px; components in two
/// colours that part at zero, directions on a colour circle.
[[nodiscard]] Depiction depiction_of(const Dataset& dataset, const DetectorImage& image,
                                     const DetectorGeometry& geometry, CentreMethod method = CentreMethod::edge);

/// save_image() of a detector's image: numbers as they are, pictures as depicted. The record of a picture of moments
/// says where deflections are measured from.
void save_detector_image(const std::string& path, const Dataset& dataset, const DetectorImage& image,
                         const DetectorGeometry& geometry, CentreMethod method, const PictureOptions& picture,
                         Value record);

}  // namespace sonde::stem
