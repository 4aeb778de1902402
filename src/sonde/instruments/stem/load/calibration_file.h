// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/base/choice.h"
#include "sonde/engine/io/contents.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/panel/stored_result.h"
#include "sonde/instruments/stem/load/load_options.h"
#include "sonde/instruments/stem/read/acquisition.h"

namespace sonde::stem {

/// What the pixels and positions of a calibration are.
struct CalibrationFrame {
  Index rows = 0, cols = 0;  ///< the detector as stored, rows and columns exchanged where it is transposed
  bool transposed = false;
  ScanOrder scan;
};
[[nodiscard]] CalibrationFrame calibration_frame(const Acquisition& acquisition, const LoadOptions& options);
/// Adds it to a result as the numbers frame/*, with the bin of the detector that places in the result count.
void describe(const CalibrationFrame& frame, Index det_bin, Contents& contents);
/// Of such a result. Throws Error(bad_file) where it lacks one of them, or one is not possible.
[[nodiscard]] CalibrationFrame stored_frame(const panel::StoredResult& stored);

/// The calibration of a file, in pixels of the detector that it belongs to.
struct GivenCalibration {
  std::string path;
  /// Of its steps those that the file has; StatedBy::calibration. Voltage and scan step are those of a scan, so none.
  Calibration steps;
  CalibrationFrame frame;
};

/// Reads a result of `sonde stem calibrate` (size of a pixel, ellipse, centre), of `com` or `phase` (rotation,
/// transposition, origins and their mean), or opens a scan, which states what its format holds: EMD 1.0 of py4DSTEM
/// all of it. Throws Error(bad_file) for other files, damaged ones, and scans that state none of it.
[[nodiscard]] GivenCalibration read_calibration(const std::string& path, const Budget& budget);

/// What `given` says in pixels and positions of another scan. Detectors whose extents are a whole multiple of each
/// other along both axes are bins of each other, and converted exactly (with_binned_pixels). Origins of frames are
/// those of one scan: of a scan of another shape they are left out, which `choices` gets. Throws Error(bad_input) for
/// other detectors; `path` names the scan.
[[nodiscard]] Calibration calibration_for(const GivenCalibration& given, const std::string& path,
                                          const CalibrationFrame& frame, std::vector<Choice<std::string>>& choices);

/// Puts the steps of `given` in place of those of `calibration`; `choices` gets each, with the file that says it.
void take_steps(const GivenCalibration& given, const Calibration& steps, Calibration& calibration,
                std::vector<Choice<std::string>>& choices);

}  // namespace sonde::stem
