// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/given_calibration.h"

#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "sonde/instruments/stem/load/calibration_file.h"
#include "sonde/instruments/stem/read/calibration.h"

namespace sonde::stem {

ChosenCalibration with_given(Calibration known, const std::string& path, const CalibrationFrame& frame,
                             const LoadOptions& options, const Budget& budget) {
  ChosenCalibration chosen{std::move(known)};
  Calibration& calibration = chosen.calibration;
  if (!options.calibration.empty()) {
    const GivenCalibration file = read_calibration(options.calibration, budget);
    const Calibration steps = calibration_for(file, path, frame, chosen.choices);
    take_steps(file, steps, calibration, chosen.choices);
  }
  const auto given = [](std::optional<Quantity>& quantity, std::optional<double> value, double factor) {
    if (value) quantity = Quantity{*value * factor, StatedBy::user};
  };
  given(calibration.high_tension_v, options.voltage, 1e3);
  given(calibration.camera_length_m, options.camera_length, 1);
  given(calibration.scan_step_row_nm, options.scan_step, 1);
  given(calibration.scan_step_col_nm, options.scan_step, 1);
  given(calibration.scan_rotation, options.rotation, 1);
  derive_detector_steps(calibration);  // what the user gives may be what was missing for them
  return chosen;
}

ChosenCalibration with_given(const Acquisition& acquisition, const LoadOptions& options, const Budget& budget) {
  ChosenCalibration chosen =
      with_given(acquisition.calibration, acquisition.path, calibration_frame(acquisition, options), options, budget);
  std::shared_ptr<const OriginMap>& origin = chosen.calibration.origin;
  const auto frames = static_cast<std::size_t>(acquisition.frames);
  if (origin && origin->x.size() < frames) {  // frames beyond those of the scan
    OriginMap map = *origin;
    map.x.resize(frames, std::numeric_limits<double>::quiet_NaN());
    map.y.resize(frames, std::numeric_limits<double>::quiet_NaN());
    origin = std::make_shared<const OriginMap>(std::move(map));
  }
  return chosen;
}

}  // namespace sonde::stem
