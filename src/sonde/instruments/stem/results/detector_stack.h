// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/image/expression.h"
#include "sonde/instruments/stem/results/detector_images.h"
#include "sonde/instruments/stem/results/save_image.h"

namespace sonde::stem {

/// The detectors of each of these texts (expand_detector); words of moment_of() are detectors of their own. Throws
/// Error(usage) for a family with `inclusive`, whose members would share pixels.
[[nodiscard]] std::vector<DetectorSet> detector_sets(const DetectorOptions& options);

/// The options with the members of the sets, one after another.
[[nodiscard]] DetectorOptions with_members(DetectorOptions options, std::span<const DetectorSet> sets);

/// The images of the members of a set as one, (members, scan rows, scan cols). Its detector is the text of the set, its
/// area that of all members.
struct DetectorStack {
  DetectorImage image;
  Value members = Value::list();  ///< expression, area_pixels and mask_hash of each
};
[[nodiscard]] DetectorStack stack_of(const DetectorSet& set, std::span<const DetectorImage> images);

/// save_image() of a stack. HDF5: /image (detector, row, column) with the edges of each detector beside it,
/// inner_radius and outer_radius in px, and with sectors first_angle and last_angle in rad. TIFF: one page for each
/// detector. PNG: pictures side by side, rings below each other where they have sectors; those of a ring have one
/// range.
void save_stack(const std::string& path, const Dataset& dataset, const DetectorSet& set, const DetectorStack& stack,
                const DetectorGeometry& geometry, const PictureOptions& picture, Value record);

}  // namespace sonde::stem
