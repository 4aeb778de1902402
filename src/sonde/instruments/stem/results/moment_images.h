// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/stem/image/expression.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// Images of first moments in place of sums over a mask, by the words com-row, com-col, com-magnitude and com-angle.
enum class Moment { row, col, magnitude, angle };

/// Which one a detector is, in any case; spaces around it do not count. Nothing for an expression.
[[nodiscard]] std::optional<Moment> moment_of(const std::string& detector);
[[nodiscard]] bool is_moment(const std::string& detector);

/// The first moment over the total along rows or columns, resident pixels, f64 (scan rows, scan cols); NaN where
/// nothing was counted.
[[nodiscard]] Array centre_of_mass(const Dataset& dataset, bool of_rows);

/// Where deflections are measured from, in resident pixels.
struct DeflectionOrigin {
  double row = 0, col = 0;
  bool is_beam = true;  ///< the centre of the bright-field disk; else the mean over the scan
};

/// The centre of the geometry; where it has none, the first moment over the total of the whole scan, which is the mean
/// of all positions with the counts of each as its weight.
[[nodiscard]] DeflectionOrigin deflection_origin(const Dataset& dataset, const DetectorGeometry& geometry);

/// Of a deflection in pixels: a component or the length times `per_px`, or the direction atan2(row, col) in rad from
/// -pi to pi: 0 along the columns, pi/2 along the rows, so clockwise on a screen.
[[nodiscard]] double deflection(Moment moment, double row, double col, double per_px);

/// The same at every scan position, f64; NaN where nothing was counted.
[[nodiscard]] Array deflection_image(const Dataset& dataset, Moment moment, const DeflectionOrigin& origin,
                                     double per_px = 1);

/// What deflections are shown in: "mrad" where the angle of a detector pixel is known, else "px"; "rad" for directions.
struct DeflectionUnit {
  double per_px = 1;
  std::string name;
};
[[nodiscard]] DeflectionUnit deflection_unit(Moment moment, std::optional<double> pixel_mrad);
[[nodiscard]] DeflectionUnit deflection_unit(Moment moment, const Dataset& dataset);

}  // namespace sonde::stem
