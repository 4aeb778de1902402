// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/figure/chart.h"
#include "sonde/engine/io/contents.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/correct/centre.h"
#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/radial/radial_options.h"
#include "sonde/instruments/stem/radial/radial_plan.h"

namespace sonde::stem {

/// What a radius of one pixel is. Throws Error(bad_input) where the calibration that the unit needs is missing, naming
/// the options that give it.
struct RadialScale {
  double per_px = 1;
  std::string unit = "px";
};
[[nodiscard]] RadialScale radial_scale(const std::string& path, const Calibration& calibration, Index det_bin,
                                       RadialUnit unit);

/// Mean counts of a pixel over rings and sectors: of every pattern, and of the mean pattern of the scan.
struct RadialResult {
  RadialPlan plan;
  RadialScale scale;
  std::optional<Centre> found;             ///< where the centre was looked for
  bool stated_centre = false;              ///< it is that of the calibration file
  std::optional<StatedBy> ellipse_from{};  ///< who states it; unset: the options, or circles
  std::vector<double> mean;                ///< (bin) of the mean pattern, NaN in bins without a good pixel
  std::vector<double> variance;            ///< of these, of Poisson counts; empty where elements are not counts
  Array means, variances;                  ///< f32 (positions, bins): RadialProfiles
  Array medians, spreads, orders;          ///< RingStatistics; empty unless asked for
  std::vector<double> fluctuation;         ///< (bin) mean over the scan of spread / mean^2, NaN where there is none
  std::vector<std::uint8_t> valid;
  Index scan_rows = 0, scan_cols = 0;
  bool by_electrons = false;  ///< summed from lists of electrons, without frames
  double inside = 0;          ///< share of all counts in good pixels that lie in a bin
  std::vector<std::string> warnings;

  [[nodiscard]] Value to_value() const;
  [[nodiscard]] std::vector<std::string> lines() const;
  [[nodiscard]] Contents contents(const std::string& command) const;
  /// The profile of the mean pattern; with sectors also as a map of radius and angle.
  [[nodiscard]] Chart chart() const;
};

/// The profiles of a loaded scan: finds the centre, prepares the plan, and visits every frame. Throws what
/// share_among_bins, radial_scale and visit_frames throw, Error(bad_input) where no centre is found, and Error(budget).
[[nodiscard]] RadialResult make_radial(const Dataset& dataset, const RadialOptions& options, Budget budget);

}  // namespace sonde::stem
