// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/calibration.h"

#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "sonde/engine/math/wavelength.h"

namespace sonde::stem {
namespace {

StatedBy weaker(const Quantity& a, const Quantity& b) {
  for (const StatedBy who : {StatedBy::user, StatedBy::calibration})
    if (a.stated_by == who || b.stated_by == who) return who;
  return StatedBy::file;
}

/// (x, y) to (x, y).
using Turn = std::array<std::array<int, 2>, 2>;

/// From the stored axes of a scan to those it is seen along: transposed first, then mirrored.
Turn turn_of(const ScanOrder& order) {
  const int x = order.flip_cols ? -1 : 1, y = order.flip_rows ? -1 : 1;
  return order.transpose ? Turn{{{0, x}, {y, 0}}} : Turn{{{x, 0}, {0, y}}};
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

Calibration with_exchanged_axes(Calibration c) {
  if (c.ellipse) c.ellipse->theta = std::numbers::pi / 2 - c.ellipse->theta;
  if (c.origin) c.origin = std::make_shared<const OriginMap>(OriginMap{c.origin->y, c.origin->x});
  if (c.centre) std::swap(c.centre->row, c.centre->col);
  if (c.rotation_rad) c.transpose = !c.transpose.value_or(false);
  return c;
}

double binned_place(double place, double bin) { return (place + 0.5) / bin - 0.5; }

std::optional<BeamCentre> resident_centre(const Calibration& c, Index det_bin) {
  if (!c.centre) return std::nullopt;
  const auto bin = static_cast<double>(det_bin);
  return BeamCentre{binned_place(c.centre->row, bin), binned_place(c.centre->col, bin)};
}

Calibration with_binned_pixels(Calibration c, double bin) {
  if (bin == 1) return c;
  const auto moved = [bin](double place) { return binned_place(place, bin); };
  for (auto* step : {&c.detector_pixel_m, &c.detector_step_mrad, &c.detector_step_inv_a})
    if (*step) (*step)->value *= bin;
  if (c.centre) c.centre = BeamCentre{moved(c.centre->row), moved(c.centre->col)};
  if (c.origin) {
    OriginMap map = *c.origin;
    for (std::vector<double>* places : {&map.x, &map.y})
      for (double& place : *places) place = moved(place);
    c.origin = std::make_shared<const OriginMap>(std::move(map));
  }
  return c;
}

Calibration with_scan_order(Calibration c, const ScanOrder& from, const ScanOrder& to) {
  if (!c.rotation_rad) return c;
  const Turn back = turn_of(from), on = turn_of(to);
  const double cosine = std::cos(c.rotation_rad->value), sine = std::sin(c.rotation_rad->value);
  // R T, and R where the columns are exchanged.
  double m[2][2] = {{cosine, -sine}, {sine, cosine}};
  if (c.transpose.value_or(false)) {
    std::swap(m[0][0], m[0][1]);
    std::swap(m[1][0], m[1][1]);
  }
  double seen[2][2] = {};
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j)
      for (std::size_t k = 0; k < 2; ++k)
        for (std::size_t l = 0; l < 2; ++l) seen[i][j] += on[i][k] * back[l][k] * m[l][j];  // on back^T m
  const bool transpose = seen[0][0] * seen[1][1] - seen[0][1] * seen[1][0] < 0;
  const std::size_t first = transpose ? 1 : 0;  // the column of R that is (cos, sin)
  c.rotation_rad->value = std::atan2(seen[1][first], seen[0][first]);
  c.transpose = transpose;
  return c;
}

}  // namespace sonde::stem
