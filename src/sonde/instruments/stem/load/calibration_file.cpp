// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/calibration_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <numbers>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/read/calibration.h"
#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {
namespace {

using panel::StoredResult;

constexpr double degree = std::numbers::pi / 180;
constexpr double most_extent = 65536, most_scan = 1 << 24;

Error not_a_calibration(const std::string& path, const std::string& fact) {
  return std::move(
      Error(ErrorKind::bad_file, path + ": " + fact)
          .hint("expected a result of sonde stem calibrate, com or phase, or a scan that states its calibration"));
}

/// The numbers of a result, each checked.
class CalibrationNumbers {
 public:
  explicit CalibrationNumbers(const StoredResult& stored) : stored_(stored) {}

  [[nodiscard]] std::optional<double> maybe(const char* name) const { return stored_.number(name); }
  [[nodiscard]] double between(const char* name, double low, double high) const {
    const std::optional<double> value = maybe(name);
    if (!value) throw damaged(fmt::format("it has no {}", name));
    if (!(*value >= low && *value <= high))
      throw damaged(fmt::format("{} is {:g}; expected {:g} to {:g}", name, *value, low, high));
    return *value;
  }
  [[nodiscard]] std::optional<double> above_zero(const char* name) const {
    const std::optional<double> value = maybe(name);
    if (value && !(*value > 0)) throw damaged(fmt::format("{} is {:g}; expected a number above 0", name, *value));
    return value;
  }
  [[nodiscard]] Index whole(const char* name, double low, double high) const {
    return static_cast<Index>(between(name, low, high));
  }
  [[nodiscard]] bool flag(const char* name) const { return between(name, 0, 1) != 0; }
  [[nodiscard]] Error damaged(const std::string& fact) const {
    return std::move(Error(ErrorKind::bad_file, fmt::format("{}: damaged calibration: {}", stored_.path(), fact))
                         .hint("make the file anew"));
  }

  [[nodiscard]] CalibrationFrame frame() const {
    CalibrationFrame frame;
    frame.rows = whole("frame/detector_rows", 1, most_extent);
    frame.cols = whole("frame/detector_cols", 1, most_extent);
    frame.transposed = flag("frame/detector_transposed");
    frame.scan = {.rows = whole("frame/scan_rows", 1, most_scan),
                  .cols = whole("frame/scan_cols", 1, most_scan),
                  .prescan = whole("frame/scan_prescan", 0, most_scan),
                  .flip_rows = flag("frame/scan_flip_rows"),
                  .flip_cols = flag("frame/scan_flip_cols"),
                  .transpose = flag("frame/scan_transposed")};
    return frame;
  }

  /// A place in the result, in stored pixels.
  [[nodiscard]] BeamCentre stored_place(double row, double col) const {
    const double bin = between("frame/det_bin", 1, most_extent);
    return {.row = (row + 0.5) * bin - 0.5, .col = (col + 0.5) * bin - 0.5};
  }

 private:
  const StoredResult& stored_;
};

Index stored_frames_of(const ScanOrder& scan) {
  const Index rows = scan.transpose ? scan.cols : scan.rows, cols = scan.transpose ? scan.rows : scan.cols;
  return rows * (scan.prescan + cols);
}

void read_rings(const CalibrationNumbers& numbers, GivenCalibration& given) {
  if (const auto q_pixel = numbers.above_zero("calibration/q_pixel"))
    given.steps.detector_step_inv_a = Quantity{*q_pixel, StatedBy::calibration};
  const auto a = numbers.above_zero("calibration/ellipse_a"), b = numbers.above_zero("calibration/ellipse_b"),
             theta = numbers.maybe("calibration/ellipse_theta");
  if (a.has_value() != b.has_value() || a.has_value() != theta.has_value())
    throw numbers.damaged("it has a part of an ellipse");
  if (a) given.steps.ellipse = Distortion{*a, *b, *theta, std::sqrt(*a * *b), StatedBy::calibration};
  given.steps.centre = numbers.stored_place(numbers.between("centre/row", -most_extent, most_extent),
                                            numbers.between("centre/col", -most_extent, most_extent));
}

/// A map over the scan, row after row.
std::vector<double> map_of(const StoredResult& stored, const CalibrationNumbers& numbers, const char* name) {
  const auto found = std::ranges::find(stored.quantities(), name, &panel::Quantity::name);
  if (found == stored.quantities().end() || found->axes.size() != 2 || found->complex())
    throw numbers.damaged(fmt::format("it has no map {}", name));
  const Shape shape{found->axes[0].size, found->axes[1].size};
  return std::move(panel::planes_of(stored.read(*found, Shape{0, 0}, shape)).at(0));
}

void read_origins(const StoredResult& stored, const CalibrationNumbers& numbers, GivenCalibration& given) {
  const std::vector<double> x = map_of(stored, numbers, "com/origin_x"), y = map_of(stored, numbers, "com/origin_y");
  if (x.size() != y.size() || x.empty()) throw numbers.damaged("the maps of the origin differ in size");
  BeamCentre mean;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) throw numbers.damaged("an origin is not a number");
    mean.row += y[i] / static_cast<double>(y.size());
    mean.col += x[i] / static_cast<double>(x.size());
  }
  given.steps.centre = numbers.stored_place(mean.row, mean.col);
  const ScanOrder& scan = given.frame.scan;
  // Of a part of a scan, and of bins of positions, it is not known which frames they are.
  if (static_cast<Index>(x.size()) != scan.rows * scan.cols) return;
  OriginMap map;
  map.x.assign(static_cast<std::size_t>(stored_frames_of(scan)), std::numeric_limits<double>::quiet_NaN());
  map.y = map.x;
  for (Index row = 0; row < scan.rows; ++row)
    for (Index col = 0; col < scan.cols; ++col) {
      const auto from = static_cast<std::size_t>(row * scan.cols + col),
                 to = static_cast<std::size_t>(scan.frame(row, col));
      const BeamCentre place = numbers.stored_place(y[from], x[from]);
      map.x[to] = place.col;
      map.y[to] = place.row;
    }
  given.steps.origin = std::make_shared<const OriginMap>(std::move(map));
}

void read_centres(const StoredResult& stored, const CalibrationNumbers& numbers, GivenCalibration& given) {
  given.steps.rotation_rad = Quantity{numbers.between("rotation/degrees", -360, 360) * degree, StatedBy::calibration};
  given.steps.transpose = numbers.flag("rotation/transpose");
  read_origins(stored, numbers, given);
}

GivenCalibration of_scan(const std::string& path) {
  const Acquisition acquisition = [&] {
    try {
      return open_source(path, {})->acquisition();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::bad_file && error.kind() != ErrorKind::not_supported) throw;
      throw not_a_calibration(path, "no calibration and no scan: " + error.message());
    }
  }();
  const Calibration& of = acquisition.calibration;
  GivenCalibration given{path, {}, calibration_frame(acquisition, {})};
  Calibration& steps = given.steps;
  steps.detector_step_inv_a = of.detector_step_inv_a;
  steps.detector_step_mrad = of.detector_step_mrad;
  steps.rotation_rad = of.rotation_rad;
  steps.transpose = of.transpose;
  steps.ellipse = of.ellipse;
  steps.origin = of.origin;
  for (auto* quantity : {&steps.detector_step_inv_a, &steps.detector_step_mrad, &steps.rotation_rad})
    if (*quantity) (*quantity)->stated_by = StatedBy::calibration;
  if (steps.ellipse) steps.ellipse->stated_by = StatedBy::calibration;
  if (!steps.detector_step_inv_a && !steps.detector_step_mrad && !steps.rotation_rad && !steps.ellipse && !steps.origin)
    throw not_a_calibration(path, "a scan that states no calibration of the detector");
  return given;
}

/// How many pixels of the first detector are one of the second, along each axis.
std::optional<double> bin_between(const CalibrationFrame& from, const CalibrationFrame& to) {
  if (from.rows % to.rows == 0 && from.rows / to.rows * to.cols == from.cols)
    return static_cast<double>(from.rows / to.rows);
  if (to.rows % from.rows == 0 && to.rows / from.rows * from.cols == to.cols)
    return static_cast<double>(from.rows) / static_cast<double>(to.rows);
  return std::nullopt;
}

bool same_frames(const ScanOrder& a, const ScanOrder& b) {
  const auto extents = [](const ScanOrder& scan) {
    return scan.transpose ? std::pair(scan.cols, scan.rows) : std::pair(scan.rows, scan.cols);
  };
  return extents(a) == extents(b) && a.prescan == b.prescan;
}

}  // namespace

CalibrationFrame calibration_frame(const Acquisition& acquisition, const LoadOptions& options) {
  return {acquisition.rows, acquisition.cols, options.transpose_detector, acquisition.scan};
}

void describe(const CalibrationFrame& frame, Index det_bin, Contents& contents) {
  const ScanOrder& scan = frame.scan;
  for (const auto& [name, value] :
       {std::pair("detector_rows", frame.rows), std::pair("detector_cols", frame.cols),
        std::pair("detector_transposed", Index{frame.transposed}), std::pair("det_bin", det_bin),
        std::pair("scan_rows", scan.rows), std::pair("scan_cols", scan.cols), std::pair("scan_prescan", scan.prescan),
        std::pair("scan_flip_rows", Index{scan.flip_rows}), std::pair("scan_flip_cols", Index{scan.flip_cols}),
        std::pair("scan_transposed", Index{scan.transpose})})
    contents.add(std::string("frame/") + name, static_cast<std::int32_t>(value));
}

CalibrationFrame stored_frame(const StoredResult& stored) { return CalibrationNumbers(stored).frame(); }

GivenCalibration read_calibration(const std::string& path, const Budget& budget) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) return of_scan(path);  // Zarr
  const std::optional<StoredResult> stored = StoredResult::open(path, budget);
  if (!stored) return of_scan(path);
  const std::string& schema = stored->schema();
  const bool rings = schema.starts_with("sonde.stem.calibration/"),
             centres = schema.starts_with("sonde.stem.com/") || schema.starts_with("sonde.stem.phase/");
  if (!rings && !centres) throw not_a_calibration(path, fmt::format("a result \"{}\" holds no calibration", schema));
  const CalibrationNumbers numbers(*stored);
  GivenCalibration given{path, {}, numbers.frame()};
  if (rings)
    read_rings(numbers, given);
  else
    read_centres(*stored, numbers, given);
  return given;
}

Calibration calibration_for(const GivenCalibration& given, const std::string& path, const CalibrationFrame& frame,
                            std::vector<Choice<std::string>>& choices) {
  Calibration steps = given.steps;
  CalibrationFrame from = given.frame;
  if (from.transposed != frame.transposed) {
    steps = with_exchanged_axes(std::move(steps));
    std::swap(from.rows, from.cols);
  }
  const std::optional<double> bin = bin_between(from, frame);
  if (!bin)
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: a calibration of a detector of {} x {} pixels; that of {} has {} x {}", given.path,
                            from.rows, from.cols, path, frame.rows, frame.cols))
        .hint("measure the calibration with the same detector, or with whole bins of its pixels");
  if (*bin != 1)
    choices.push_back(
        {fmt::format("calibration detector: {} x {} pixels for {} x {}", from.rows, from.cols, frame.rows, frame.cols),
         *bin > 1 ? fmt::format("{:g} x {:g} of them are one pixel of the scan", *bin, *bin)
                  : fmt::format("each is {:g} x {:g} pixels of the scan", 1 / *bin, 1 / *bin)});
  steps = with_scan_order(with_binned_pixels(std::move(steps), *bin), from.scan, frame.scan);
  if (steps.origin && !same_frames(from.scan, frame.scan)) {
    choices.push_back({"calibration origin: not used",
                       fmt::format("{} has one for each of {} x {} positions, the scan has {} x {}", given.path,
                                   from.scan.rows, from.scan.cols, frame.scan.rows, frame.scan.cols)});
    steps.origin.reset();
  }
  return steps;
}

void take_steps(const GivenCalibration& given, const Calibration& steps, Calibration& calibration,
                std::vector<Choice<std::string>>& choices) {
  const auto took = [&](const std::string& what, const std::string& value, bool replaced) {
    choices.push_back(
        {what + ": " + value, "of " + given.path + (replaced ? ", in place of what the file of the scan states" : "")});
  };
  if (steps.detector_step_inv_a || steps.detector_step_mrad) {
    const bool replaced = calibration.detector_step_inv_a || calibration.detector_step_mrad;
    took("calibration pixel",
         steps.detector_step_inv_a ? fmt::format("{:.6g} 1/A", steps.detector_step_inv_a->value)
                                   : fmt::format("{:.6g} mrad", steps.detector_step_mrad->value),
         replaced);
    calibration.detector_step_inv_a = steps.detector_step_inv_a;
    calibration.detector_step_mrad = steps.detector_step_mrad;
    // A size that comes without an ellipse is that of the circle of equal area.
    if (calibration.ellipse) calibration.ellipse->radius = std::sqrt(calibration.ellipse->a * calibration.ellipse->b);
  }
  if (const auto& ellipse = steps.ellipse) {
    took("calibration ellipse",
         fmt::format("{:.4g} : {:.4g} at {:.1f} degrees", ellipse->a, ellipse->b, ellipse->theta / degree),
         calibration.ellipse.has_value());
    const auto of_circle = [](const Distortion& one) { return one.radius / std::sqrt(one.a * one.b); };
    // A size that stays is that of the circle of another ellipse.
    if (!steps.detector_step_inv_a && !steps.detector_step_mrad)
      for (auto* step : {&calibration.detector_step_inv_a, &calibration.detector_step_mrad})
        if (*step) (*step)->value *= (calibration.ellipse ? of_circle(*calibration.ellipse) : 1) / of_circle(*ellipse);
    calibration.ellipse = ellipse;
  }
  if (steps.rotation_rad) {
    took("calibration rotation",
         fmt::format("{:.2f} degrees{}", steps.rotation_rad->value / degree,
                     steps.transpose.value_or(false) ? ", transposed" : ""),
         calibration.rotation_rad.has_value());
    calibration.rotation_rad = steps.rotation_rad;
    calibration.transpose = steps.transpose;
  }
  if (steps.centre) {
    took("calibration centre",
         fmt::format("row {:.3f}, column {:.3f} of the stored detector", steps.centre->row, steps.centre->col), false);
    calibration.centre = steps.centre;
  }
  if (steps.origin) {
    took("calibration origin", "of every position", calibration.origin != nullptr);
    calibration.origin = steps.origin;
  }
}

}  // namespace sonde::stem
