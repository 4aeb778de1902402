// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bragg/bragg_calibration.h"

#include <fmt/format.h>

#include <limits>
#include <numbers>
#include <utility>

#include "sonde/engine/base/text.h"

namespace sonde::stem {
namespace {

/// A pixel i of bins of b holds the stored pixels from b i on: the middle of the first is (b - 1) / 2.
double binned_place(double place, Index bin) {
  const auto width = static_cast<double>(bin);
  return (place - (width - 1) / 2) / width;
}

void take_origin(const Dataset& dataset, const OriginMap& map, BraggCalibration& made) {
  const LoadOptions& options = dataset.options();
  const ScanGrid scan = ScanGrid::make(dataset.acquisition(), options.region(), dataset.scan_bin(), options.edge);
  std::vector<Index> frames;
  for (Index position = 0; position < dataset.positions(); ++position) {
    scan.frames_of(position, frames);
    double y = 0, x = 0;
    for (const Index frame : frames) {
      y += map.y[static_cast<std::size_t>(frame)];
      x += map.x[static_cast<std::size_t>(frame)];
    }
    const auto count = static_cast<double>(frames.size());  // none: NaN
    made.origin_y.push_back(binned_place(y / count, dataset.det_bin()));
    made.origin_x.push_back(binned_place(x / count, dataset.det_bin()));
  }
}

}  // namespace

BraggCalibration steps_of(const Calibration& of, Index det_bin, Index scan_bin) {
  const auto times = [](const std::optional<Quantity>& quantity, Index bin) {
    return quantity ? std::optional(quantity->value * static_cast<double>(bin)) : std::nullopt;
  };
  return {.pixel_inv_a = times(of.detector_step_inv_a, det_bin),
          .pixel_mrad = times(of.detector_step_mrad, det_bin),
          .high_tension_v = times(of.high_tension_v, 1),
          .scan_step_row_nm = times(of.scan_step_row_nm, scan_bin),
          .scan_step_col_nm = times(of.scan_step_col_nm, scan_bin),
          .rotation_rad = times(of.rotation_rad, 1),
          .transpose = of.transpose,
          .ellipse = of.ellipse,
          .origin_y = {},
          .origin_x = {}};
}

BraggCalibration calibration_of(const Dataset& dataset) {
  const Calibration& of = dataset.calibration();
  BraggCalibration made = steps_of(of, dataset.det_bin(), dataset.scan_bin());
  if (of.origin) take_origin(dataset, *of.origin, made);
  return made;
}

BraggCalibration without(BraggCalibration calibration, const std::vector<CalibrationStep>& steps) {
  for (const CalibrationStep step : steps) {
    switch (step) {
      case CalibrationStep::origin:
        calibration.origin_y.clear();
        calibration.origin_x.clear();
        break;
      case CalibrationStep::ellipse:
        calibration.ellipse.reset();
        break;
      case CalibrationStep::pixel:
        calibration.pixel_inv_a.reset();
        calibration.pixel_mrad.reset();
        break;
      case CalibrationStep::transpose:
        calibration.transpose.reset();
        break;
      case CalibrationStep::rotation:
        calibration.rotation_rad.reset();
        break;
    }
  }
  return calibration;
}

std::string steps_text(const BraggCalibration& calibration) {
  constexpr double degrees = 180 / std::numbers::pi;
  std::vector<std::string> steps;
  if (calibration.has_origin()) steps.emplace_back("origin of every position");
  if (const auto& ellipse = calibration.ellipse)
    steps.push_back(
        fmt::format("ellipse {:.4g} : {:.4g} at {:.1f} degrees", ellipse->a, ellipse->b, ellipse->theta * degrees));
  if (calibration.pixel_inv_a) steps.push_back(fmt::format("pixel {:.6g} 1/A", *calibration.pixel_inv_a));
  if (calibration.transpose.value_or(false)) steps.emplace_back("transpose");
  if (calibration.rotation_rad)
    steps.push_back(fmt::format("rotation {:.2f} degrees", *calibration.rotation_rad * degrees));
  return join_words(steps, ", ");
}

}  // namespace sonde::stem
