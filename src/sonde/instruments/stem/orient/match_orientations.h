// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/orient/orientation_plan.h"

namespace sonde::stem {

struct MatchOptions {
  Index matches = 1;           ///< for each pattern: overlapping crystals
  Index min_number_peaks = 3;  ///< fewer have no match
};

struct OrientationMatch {
  Orientation orientation{};
  double correlation = 0;  ///< of pattern and plan, both with the norm 1: at most 1
  Index zone = 0;          ///< in the plan
  double in_plane = 0;     ///< rad
  bool mirrored = false;   ///< the mirror image of the zone's pattern: the opposite direction
  /// A different orientation that explains the peaks as well to 1 % (overlap_of()). Where all peaks are of the plane
  /// across one axis of the crystal, half a turn about that axis gives the same pattern with the opposite tilt.
  std::optional<Orientation> other{};
};

struct PatternMatch {
  /// The best one, then those of the peaks that the ones before leave: fewer than asked for where too few peaks are
  /// left.
  std::vector<OrientationMatch> matches{};
  /// 100 (1 - c2/c1), c1 the best correlation and c2 the best of zones more than 5 degrees away, equal ones counted.
  double reliability = 0;
};

/// The orientations that explain lists of Bragg peaks: those of pattern i are peaks[first[i]] to peaks[first[i + 1] -
/// 1]. Correlates every pattern and its mirror image with all zone axes and angles of the plan. Patterns run in
/// parallel; results do not depend on the number of threads. About 8 flops for each zone, shell, frequency and
/// pattern, and two Fourier transforms for each zone and pattern.
[[nodiscard]] std::vector<PatternMatch> match_orientations(const OrientationPlan& plan,
                                                           std::span<const DiffractionPeak> peaks,
                                                           std::span<const Index> first,
                                                           const MatchOptions& options = {});

/// How well the kinematic pattern (g, J) of an orientation explains peaks (q, I), at most about 1:
/// sum over i, j of sqrt(I_i J_j) exp(-|q_i - g_j|^2 / (2 width^2)) / sqrt(sum I sum J).
[[nodiscard]] double overlap_of(const OrientationPlan& plan, const Orientation& orientation,
                                std::span<const DiffractionPeak> peaks, double width);

}  // namespace sonde::stem
