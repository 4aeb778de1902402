// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/given_calibration.h"

#include <optional>

#include "sonde/instruments/stem/read/calibration.h"

namespace sonde::stem {

Calibration with_given(Calibration calibration, const LoadOptions& options) {
  const auto given = [](std::optional<Quantity>& quantity, std::optional<double> value, double factor) {
    if (value) quantity = Quantity{*value * factor, StatedBy::user};
  };
  given(calibration.high_tension_v, options.voltage, 1e3);
  given(calibration.camera_length_m, options.camera_length, 1);
  given(calibration.scan_step_row_nm, options.scan_step, 1);
  given(calibration.scan_step_col_nm, options.scan_step, 1);
  given(calibration.scan_rotation, options.rotation, 1);
  derive_detector_steps(calibration);  // what the user gives may be what was missing for them
  return calibration;
}

}  // namespace sonde::stem
