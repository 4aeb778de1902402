// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/calibration.h"

#include <cmath>

#include "sonde/engine/math/wavelength.h"

namespace sonde::stem {
namespace {

StatedBy weaker(const Quantity& a, const Quantity& b) {
  return a.stated_by == StatedBy::user || b.stated_by == StatedBy::user ? StatedBy::user : StatedBy::file;
}

}  // namespace

void derive_detector_steps(Calibration& c) {
  if (!c.detector_step_mrad && c.detector_pixel_m && c.camera_length_m)
    c.detector_step_mrad = Quantity{1e3 * c.detector_pixel_m->value / c.camera_length_m->value,
                                    weaker(*c.detector_pixel_m, *c.camera_length_m)};
  // A header may state a tension of 0, which is no beam.
  if (!c.high_tension_v || !(c.high_tension_v->value > 0) || !std::isfinite(c.high_tension_v->value)) return;
  const double wavelength = electron_wavelength(1e-3 * c.high_tension_v->value);
  if (!c.detector_step_inv_a && c.detector_step_mrad)
    c.detector_step_inv_a =
        Quantity{1e-3 * c.detector_step_mrad->value / wavelength, weaker(*c.detector_step_mrad, *c.high_tension_v)};
  else if (!c.detector_step_mrad && c.detector_step_inv_a)
    c.detector_step_mrad =
        Quantity{1e3 * c.detector_step_inv_a->value * wavelength, weaker(*c.detector_step_inv_a, *c.high_tension_v)};
}

}  // namespace sonde::stem
