// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sonde/engine/array/view.h"
#include "sonde/engine/base/index.h"

namespace sonde::stem {

/// A soft disk of height 1: 1 / (1 + exp((r - radius) / edge)), px.
struct DiskProfile {
  double radius = 0, edge = 0.5;

  [[nodiscard]] double at(double distance) const;
  /// Derivative by the distance.
  [[nodiscard]] double slope(double distance) const;
};

/// What the counts about a place say of a disk there.
struct CountedDisk {
  double height = 0;        ///< counts of a pixel at its middle, without background
  double height_sigma = 0;  ///< standard error
  double background = 0;    ///< counts of a pixel
  double counts = 0;        ///< of the disk
  double bound_y = 0;       ///< least standard deviation of a place that the counts allow along rows, px
  double bound_x = 0;       ///< and along columns
};

/// Counts I = Poisson(background + height P(q - q0)) in the pixels no farther than `reach` from q0: height and
/// background of the largest likelihood (Fisher's scoring), and the Cramer-Rao bound of each coordinate of q0,
///   1 / bound_y^2 = sum (d mu / d y0)^2 / mu,  mu = background + height P.
/// Bounds are infinite where there is no disk. Nothing where the window is not inside the pattern.
[[nodiscard]] std::optional<CountedDisk> count_disk(View<const float, 2> pattern, const DiskProfile& profile, double y,
                                                    double x, double reach);

/// Values at distances from the middle of a disk: mean counts in rings of a quarter of a pixel.
class RadialProfile {
 public:
  explicit RadialProfile(double reach);
  void add(View<const float, 2> pattern, double y, double x);
  /// Radius where the mean falls to a half between the level inside and that beyond the disk; edge from the distance
  /// between a quarter and three quarters, 2 w ln 3. Nothing where it does not fall so.
  [[nodiscard]] std::optional<DiskProfile> disk(double about_radius) const;

 private:
  double reach_;
  std::vector<double> sums_, pixels_;
};

}  // namespace sonde::stem
