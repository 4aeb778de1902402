// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/calibration.h"

#include <cmath>

namespace sonde::stem {
namespace {

StatedBy weaker(const Quantity& a, const Quantity& b) {
  return a.stated_by == StatedBy::user || b.stated_by == StatedBy::user ? StatedBy::user : StatedBy::file;
}

}  // namespace

double electron_wavelength_a(double volts) {
  // SI 2019 and CODATA 2018 values.
  constexpr double planck = 6.62607015e-34, charge = 1.602176634e-19, light = 299792458.0, mass = 9.1093837015e-31;
  const double energy = charge * volts;
  return 1e10 * planck / std::sqrt(2 * mass * energy * (1 + energy / (2 * mass * light * light)));
}

void derive_detector_steps(Calibration& c) {
  if (!c.detector_step_mrad && c.detector_pixel_m && c.camera_length_m)
    c.detector_step_mrad = Quantity{1e3 * c.detector_pixel_m->value / c.camera_length_m->value,
                                    weaker(*c.detector_pixel_m, *c.camera_length_m)};
  if (!c.high_tension_v) return;
  const double wavelength = electron_wavelength_a(c.high_tension_v->value);
  if (!c.detector_step_inv_a && c.detector_step_mrad)
    c.detector_step_inv_a =
        Quantity{1e-3 * c.detector_step_mrad->value / wavelength, weaker(*c.detector_step_mrad, *c.high_tension_v)};
  else if (!c.detector_step_mrad && c.detector_step_inv_a)
    c.detector_step_mrad =
        Quantity{1e3 * c.detector_step_inv_a->value * wavelength, weaker(*c.detector_step_inv_a, *c.high_tension_v)};
}

}  // namespace sonde::stem
