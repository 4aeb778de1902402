// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <optional>
#include <vector>

#include "sonde/engine/array/view.h"

namespace sonde::stem {

struct Place {
  double row = 0, col = 0;
};

struct LineProfile {
  Place p0, p1;                ///< the ends, on the image
  std::vector<double> values;  ///< equally spaced from p0 to p1, both included
  double step_px = 0;          ///< at most one pixel
  std::optional<double> fwhm_px;
};

/// Values along a straight line, bilinear between pixel centres (half a pixel around the image is filled with its
/// edge), each the mean over `width` pixels across the line, in lines one pixel apart. Only the part of the line that
/// lies on the image is taken, half a pixel around it included. Throws Error(bad_input) when none does. However far
/// away the ends are and however wide the line is, it costs at most a few operations per pixel of a square around the
/// image.
[[nodiscard]] LineProfile line_profile(View<const double, 2> image, Place p0, Place p1, double width);

/// Full width at half maximum in samples: from the largest value down on both sides to the middle between it and the
/// smallest value, linear between samples. Nothing when one side never comes down, or all values are equal.
[[nodiscard]] std::optional<double> full_width_at_half_maximum(const std::vector<double>& values);

}  // namespace sonde::stem
