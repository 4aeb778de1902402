// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bragg/bragg_calibration.h"

#include <fmt/format.h>

#include <limits>
#include <numbers>
#include <utility>

#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/load/calibration_file.h"
#include "sonde/instruments/stem/load/given_calibration.h"
#include "sonde/instruments/stem/read/calibration.h"

namespace sonde::stem {
namespace {

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
    const auto count = static_cast<double>(frames.size()), bin = static_cast<double>(dataset.det_bin());  // none: NaN
    made.origin_y.push_back(binned_place(y / count, bin));
    made.origin_x.push_back(binned_place(x / count, bin));
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

ChosenBraggCalibration with_calibration_file(BraggCalibration known, const DetectorAndScan& of, const std::string& path,
                                             const std::string& file, const Budget& budget) {
  GivenCalibration given = read_calibration(file, budget);
  CalibrationFrame frame{of.rows, of.cols, given.frame.transposed, given.frame.scan};
  if (given.frame.scan.rows != of.scan_rows || given.frame.scan.cols != of.scan_cols) {
    frame.scan.rows = of.scan_rows;
    frame.scan.cols = of.scan_cols;
  }
  ChosenBraggCalibration chosen{std::move(known), {}};
  const Calibration steps = calibration_for(given, path, frame, chosen.choices);
  Calibration replaced;  // what the file of the disks has, as far as the report names it
  BraggCalibration& made = chosen.calibration;
  if (made.pixel_inv_a) replaced.detector_step_inv_a = Quantity{*made.pixel_inv_a};
  if (made.pixel_mrad) replaced.detector_step_mrad = Quantity{*made.pixel_mrad};
  if (made.rotation_rad) replaced.rotation_rad = Quantity{*made.rotation_rad};
  if (made.high_tension_v) replaced.high_tension_v = Quantity{*made.high_tension_v};
  replaced.ellipse = made.ellipse;
  replaced.transpose = made.transpose;
  take_steps(given, steps, replaced, chosen.choices);
  derive_detector_steps(replaced);
  const BraggCalibration taken = steps_of(replaced, 1, 1);
  made.pixel_inv_a = taken.pixel_inv_a;
  made.pixel_mrad = taken.pixel_mrad;
  made.ellipse = taken.ellipse;
  made.rotation_rad = taken.rotation_rad;
  made.transpose = taken.transpose;
  if (!steps.origin) return chosen;
  made.origin_y.clear();
  made.origin_x.clear();
  for (Index row = 0; row < of.scan_rows; ++row)
    for (Index col = 0; col < of.scan_cols; ++col) {
      const auto at = static_cast<std::size_t>(frame.scan.frame(row, col));
      made.origin_y.push_back(steps.origin->y.at(at));
      made.origin_x.push_back(steps.origin->x.at(at));
    }
  return chosen;
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
