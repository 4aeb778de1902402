// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/figure/chart.h"
#include "sonde/engine/io/contents.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/calibrate/calibrate_options.h"
#include "sonde/instruments/stem/calibrate/ring_ellipse.h"
#include "sonde/instruments/stem/calibrate/ring_lines.h"
#include "sonde/instruments/stem/load/calibration_file.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// What the rings of a mean pattern say about the detector.
struct CalibrateResult {
  RingEllipse ellipse;
  bool fitted = true;  ///< the ellipse; else circles
  RingRange range;
  Index det_bin = 1;
  CalibrationFrame frame{};            ///< that the calibration belongs to
  std::vector<double> radius;          ///< px as loaded, of the circles of equal area
  std::vector<double> profile, sigma;  ///< mean counts and their standard errors
  std::vector<Line> lines;             ///< of the calibrant; empty: none was given
  std::vector<RingPeak> peaks;
  std::optional<RingScale> scale;
  std::string calibrant;
  std::vector<std::string> warnings;

  /// 1/A of a stored pixel; nothing where no value is to be used.
  [[nodiscard]] std::optional<double> q_pixel_stored() const;
  [[nodiscard]] Value to_value() const;
  [[nodiscard]] std::vector<std::string> lines_of_report() const;
  /// calibration/* as numbers, which `calibration_file.h` reads, the profile, and the rings that were found.
  [[nodiscard]] Contents contents(const std::string& command) const;
  [[nodiscard]] Chart chart() const;
};

/// Of the mean pattern of a scan. Throws what find_centre and fit_ring_ellipse throw, and Error(bad_input) where no
/// ring range is left.
[[nodiscard]] CalibrateResult make_calibration(const Dataset& dataset, const CalibrateOptions& options);

}  // namespace sonde::stem
