// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "sonde/instruments/stem/orient/orientation_plan.h"

namespace sonde::stem {

/// An orientation whose kinematic pattern has the largest overlap_of() with peaks, and how well it is known.
struct RefinedOrientation {
  Orientation orientation{};
  double overlap = 0;  ///< with the width corr_kernel_size / 2; at most about 1
  /// rad^2, of small turns about the detector's x and y and about the beam. By leaving out one spot after the other:
  /// the sum over spots j of d_j d_j^T, d_j = (H - H_j)^-1 s_j the shift of the maximum without spot j, to first order,
  /// where H is the curvature of ln overlap, H_j what the spot adds to it, and s_j what it adds to the slope. So errors
  /// of positions and intensities count as they scatter about the kinematic pattern, independent from disk to disk:
  /// of intensities that are counts their noise, and what kinematic theory misses. Errors that all disks share (size of
  /// a pixel, ellipse, origin) are not seen.
  Mat3 covariance{};
  std::size_t start = 0;  ///< which of the orientations it was found from
  /// A maximum more than 5 degrees away (turns of the crystal do not count) whose overlap is less than 1 % smaller.
  std::optional<Orientation> other{};

  /// Root mean square of the angle between this and the true orientation, rad.
  [[nodiscard]] double standard_error() const;
};

/// Climbs from every start, and from the start turned by 180 degrees about the beam, to a maximum of ln
/// overlap_of(peaks, corr_kernel_size / 2), then from the best one's partners: half a turn about an axis near the beam
/// across which nearly all of its pattern is. Newton steps in three small turns with analytic derivatives, damped where
/// the curvature is not that of a maximum, and kept only where the overlap grows. None where no start has a spot near a
/// peak. About 10 evaluations for each start, of 20 flops for each reflection and 200 for each pair of a spot and a
/// peak within 6 widths: 0.3 ms of a core for the 14 disks of gold at 200 kV from 5 starts, beside 1 ms for the match
/// (rough: 2000 patterns, a shared machine).
[[nodiscard]] std::optional<RefinedOrientation> refine_orientation(const OrientationPlan& plan,
                                                                   std::span<const Orientation> starts,
                                                                   std::span<const DiffractionPeak> peaks);

/// How well the kinematic pattern (g, J) of an orientation explains peaks (q, I), at most about 1:
/// sum over i, j of sqrt(I_i J_j) exp(-|q_i - g_j|^2 / (2 width^2)) / sqrt(sum I sum J).
[[nodiscard]] double overlap_of(const OrientationPlan& plan, const Orientation& orientation,
                                std::span<const DiffractionPeak> peaks, double width);

}  // namespace sonde::stem
