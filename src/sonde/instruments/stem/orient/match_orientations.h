// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/orient/orientation_plan.h"
#include "sonde/instruments/stem/orient/refine_orientation.h"

namespace sonde::stem {

struct MatchOptions {
  Index matches = 1;           ///< for each pattern: overlapping crystals
  Index min_number_peaks = 3;  ///< fewer have no match
  bool refine = true;          ///< from the five best candidates, more than 3 degrees apart
};

struct OrientationMatch {
  Orientation orientation{};
  double correlation = 0;  ///< of pattern and plan, both with the norm 1: at most 1
  Index zone = 0;          ///< in the plan
  /// rad: the orientation is orientation_along(beam) turn_in_plane(-in_plane); of a mirrored one
  /// orientation_along(-beam) diag(-1, 1, -1) turn_in_plane(in_plane).
  double in_plane = 0;
  bool mirrored = false;  ///< the mirror image of the zone's pattern: the opposite direction
  /// A different orientation that explains the peaks as well to 1 % (overlap_of()). Where all peaks are of the plane
  /// across one axis of the crystal, half a turn about that axis gives the same pattern with the opposite tilt.
  std::optional<Orientation> other{};
  std::optional<RefinedOrientation> refined{};  ///< where it was asked for; `orientation` and `other` are its

  /// Makes `other` the first and the first `other`; their patterns are one, so that all else holds for both.
  void exchange();
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

}  // namespace sonde::stem
