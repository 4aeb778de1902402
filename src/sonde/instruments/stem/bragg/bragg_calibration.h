// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/choice.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/read/calibration_steps.h"

namespace sonde::stem {

/// What is known of the pixels of a detector and the steps of a scan; absent values are never guessed.
struct BraggCalibration {
  std::optional<double> pixel_inv_a;     ///< 1/Angstrom for each pixel, bins counted
  std::optional<double> pixel_mrad;      ///< mrad for each pixel, bins counted
  std::optional<double> high_tension_v;  ///< V
  std::optional<double> scan_step_row_nm, scan_step_col_nm;
  std::optional<double> rotation_rad;  ///< of the detector against the scan: v_scan = R(rotation) T v_detector
  std::optional<bool> transpose;       ///< whether T swaps the axes of the detector first
  std::optional<Distortion> ellipse;   ///< that circles about the origin are
  /// (position) px of the detector, bins counted: the direct beam; NaN where it is not known. Empty: not known at all.
  std::vector<double> origin_y, origin_x;

  [[nodiscard]] bool has_origin() const { return !origin_y.empty(); }
};

/// What a file or its user states, for pixels of so many stored ones and steps of so many positions; without origins.
[[nodiscard]] BraggCalibration steps_of(const Calibration& calibration, Index det_bin, Index scan_bin);

/// What the file of a data set or its user states, for resident pixels and positions: origins are means over the frames
/// of a position.
[[nodiscard]] BraggCalibration calibration_of(const Dataset& dataset);

/// Extents of a detector and of a scan.
struct DetectorAndScan {
  Index rows = 0, cols = 0, scan_rows = 0, scan_cols = 0;
};

/// A calibration with the steps of a calibration file, and what was taken of it.
struct ChosenBraggCalibration {
  BraggCalibration calibration;
  std::vector<Choice<std::string>> choices;
};

/// With the steps of a calibration file in place of those that disks came with. Flips and transpositions of the scan
/// are taken to be those of the file, as disks do not know them; `path` names the disks. Throws what read_calibration
/// and calibration_for throw.
[[nodiscard]] ChosenBraggCalibration with_calibration_file(BraggCalibration known, const DetectorAndScan& of,
                                                           const std::string& path, const std::string& file,
                                                           const Budget& budget);

/// The calibration without some steps.
[[nodiscard]] BraggCalibration without(BraggCalibration calibration, const std::vector<CalibrationStep>& steps);

/// "origin, ellipse, pixel 0.0125 1/A, rotation -21.5 degrees, transposed"; empty where nothing is known.
[[nodiscard]] std::string steps_text(const BraggCalibration& calibration);

}  // namespace sonde::stem
