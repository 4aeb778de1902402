// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/array/view.h"

namespace sonde::stem {

/// How the beam is found in a (mean) diffraction pattern. All are deterministic.
///  - edge: half-level contour of the bright disk along 360 rays, circle fit with 3-sigma trimming. Sub-pixel for
///  disks,
///    also when they are partly outside of the detector. The default.
///  - threshold: unweighted centroid of the pixels above mean + standard deviation; radius = sqrt(area / pi).
///  - plateau: 100 thresholds at 0.01 to 0.99 of the maximum; radius = mean of sqrt(area / pi) over those where it
///  hardly
///    changes; centroid of the pattern above their mean.
///  - com: centre of mass of the whole pattern; radius of the uniform disk with the same second moment.
///  - friedel: the point about which the pattern is most symmetric under rotation by 180 degrees (peak of its
///    self-convolution), for patterns without a disk; no radius.
enum class CentreMethod { edge, threshold, plateau, com, friedel };

[[nodiscard]] std::string_view name(CentreMethod method);
/// Throws Error(usage) naming the known ones.
[[nodiscard]] CentreMethod parse_centre_method(std::string_view text);

/// Where the beam is, in pixels; pixel centres are at integer coordinates.
struct Centre {
  double row = 0, col = 0;
  double radius = 0;        ///< of the bright-field disk; 0 when the method gives none (friedel)
  double residual_rms = 0;  ///< edge: rms distance of the kept rays from the circle, in pixels; else 0
  /// edge: fraction of the 360 rays that have one clean edge on the circle, 0 when the disk does not stand out of the
  /// noise; friedel: correlation of the pattern with its rotated self, 0 to 1; others: 1. Below 0.5 the result is a
  /// guess, and `notes` says so.
  double confidence = 0;
  CentreMethod method = CentreMethod::edge;
  std::vector<std::string> notes{};  ///< what a user should know about this result
};

/// Finds the beam. `good` is flat (rows * cols), 1 for pixels that count; empty: all do. Isolated bad pixels are filled
/// by the median of their neighbours, bad regions are left out. Throws Error(bad_input) when the pattern is smaller
/// than 4 x 4, `good` has another size, the good pixels are all equal (no beam at all), or, edge only, when nothing in
/// it has an outline. Cost: edge 0.1 s for 512 x 512; friedel about 100 passes over the pattern; the others a few.
[[nodiscard]] Centre find_centre(View<const double, 2> pattern, std::span<const std::uint8_t> good,
                                 CentreMethod method = CentreMethod::edge);
[[nodiscard]] Centre find_centre(View<const std::uint64_t, 2> pattern, std::span<const std::uint8_t> good,
                                 CentreMethod method = CentreMethod::edge);

/// The same for detectors that are measured in radii of the disk. Where the method edge finds an edge on less than a
/// tenth of the rays (confidence below 0.1), the pixels above mean + standard deviation are taken when at least half of
/// them lie in the disk of their area, which is the confidence then; a note says so. Throws Error(bad_input) when they
/// are scattered: there is no disk that a detector could be measured by.
[[nodiscard]] Centre find_disk(View<const double, 2> pattern, std::span<const std::uint8_t> good, CentreMethod method);

}  // namespace sonde::stem
