// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/orient/match_orientations.h"

namespace sonde::stem {

struct GrainOptions {
  double angle =
      5;           ///< degrees: positions that touch are of one grain where their orientations differ by less; 0: none
  Index size = 3;  ///< positions: what is smaller is no grain
};

/// Positions of nearly one orientation.
struct Grain {
  std::size_t crystal = 0;  ///< of several the number of its crystal
  Orientation mean{};       ///< of unit quaternions, each of the equal ones nearest the mean
  Index positions = 0;      ///< its size
  double row = 0, col = 0;  ///< mean place in the scan
  double spread = 0;        ///< rad: root mean square of the misorientation to the mean
  /// rad: root mean square of the angle between the mean and the true orientation of a grain that is not bent,
  /// e^2 = s^2 + max(0, m - n s^2), s^2 = spread^2 / (n - 1), n positions, m the mean square of the standard errors of
  /// their orientations. What these state above the scatter of the positions is the same in all of them, as are the
  /// deviations from kinematic intensities in a grain, and does not average. Without refinement s; then NaN for one
  /// position.
  double standard_error = 0;
};

/// What the neighbours of a position say about its orientation.
enum class Settled : std::uint8_t {
  one,        ///< the pattern has no second one
  kept,       ///< of two the neighbours have that of the larger overlap
  exchanged,  ///< of two they have the other
  open,       ///< of two they have both or none
};

/// Grains of a scan; lists by position are in the order of the scan.
struct GrainMap {
  std::vector<std::int32_t> grain{};  ///< 1 for the first of `grains`; 0: none
  std::vector<double> from_mean{};    ///< rad, to the mean of its grain; NaN without one
  std::vector<double> boundary{};     ///< rad, the largest misorientation to the four neighbours; NaN without one
  std::vector<Settled> settled{};
  std::vector<Grain> grains{};  ///< the largest first, equal ones in the order of the scan

  [[nodiscard]] Index count(Settled what) const;
  [[nodiscard]] bool empty() const { return grain.empty(); }
};

/// Grains of rows times cols positions by their best match: those that touch along an edge (four neighbours), with a
/// misorientation below the angle, and what is connected in this way. So a grain may bend by more than the angle, which
/// its spread shows. Positions without a match are in none.
///
/// Of a position with two orientations (OrientationMatch::other) that one is kept whose grain has more positions with
/// only one. Where that does not decide, as in grains in which all have two, positions are `open`: all of a grain get
/// the same one, which is the first, of the larger overlap, of more positions. `matches` gets the orientation that is
/// kept as its first, the second as `other`; covariances are the same for both, as are their patterns.
///
/// `proper` are the turns of the crystal. Positions run in parallel; results do not depend on the number of threads.
/// Costs about 6 misorientation() for each position without a second orientation, holds grain_bytes().
[[nodiscard]] GrainMap find_grains(std::span<PatternMatch> matches, Index rows, Index cols,
                                   const std::vector<Mat3>& proper, const GrainOptions& options);

/// What find_grains() holds, its result too.
[[nodiscard]] std::size_t grain_bytes(Index positions);

}  // namespace sonde::stem
