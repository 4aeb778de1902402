// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/emd_calibration.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>

#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/read/axes/axis_units.h"

namespace sonde::stem {
namespace {

/// One group of calibration and what is read of it.
class EmdCalibration {
 public:
  EmdCalibration(const Hdf5File& file, std::string group, Acquisition& acquisition)
      : file_(file), group_(std::move(group)), acquisition_(acquisition) {}

  void take_steps() {
    const auto scan = scale("R_pixel_size", "R_pixel_units"), detector = scale("Q_pixel_size", "Q_pixel_units");
    if (scan) {
      take_scan_axes(scan, scan, acquisition_);
      taken_.emplace_back("scan step");
    }
    if (detector) {
      take_detector_axes(detector, detector, acquisition_);
      taken_.emplace_back("pixel size");
    }
  }

  void take_rotation() {
    auto rotation = number("QR_rotation");
    if (!rotation)
      if (const auto degrees = number("QR_rotation_degrees")) rotation = *degrees * std::numbers::pi / 180;
    if (rotation) {
      acquisition_.calibration.rotation_rad = Quantity{-*rotation, StatedBy::file};
      taken_.emplace_back("rotation");
    }
    if (const auto flip = number("QR_flip")) acquisition_.calibration.transpose = *flip != 0;
  }

  void take_ellipse() {
    const auto a = number("a"), b = number("b"), theta = number("theta");
    if (!a || !b || !theta) return;
    if (!(*a > 0 && *b > 0)) return leave_out("ellipse", fmt::format("its semi-axes are {:g} and {:g}", *a, *b));
    acquisition_.calibration.ellipse =
        Distortion{.a = *a, .b = *b, .theta = std::numbers::pi / 2 - *theta, .radius = *b};
    taken_.emplace_back("ellipse");
  }

  void take_origin(Index frames) {
    OriginMap map{places("qy0", frames), places("qx0", frames)};
    if (map.x.empty() || map.y.empty()) return;
    acquisition_.calibration.origin = std::make_shared<const OriginMap>(std::move(map));
    taken_.emplace_back("origin");
  }

  void report() {
    if (!taken_.empty())
      acquisition_.notes.push_back({"calibration: " + join_words(taken_, ", "), "py4DSTEM's, " + group_});
  }

 private:
  [[nodiscard]] std::string path_of(const char* name) const { return group_ + "/" + name; }

  /// A finite number; nothing for what is absent, and for maps.
  [[nodiscard]] std::optional<double> number(const char* name) {
    const auto value = file_.value(path_of(name));
    const auto found = value ? value->number() : std::nullopt;
    if (found && std::isfinite(*found)) return found;
    if (file_.is_dataset(path_of(name))) leave_out(name, "it is not one finite number");
    return std::nullopt;
  }

  [[nodiscard]] std::optional<AxisScale> scale(const char* size, const char* unit) {
    const auto text = file_.value(path_of(unit));
    const std::string unit_text = text ? text->text().value_or("") : "";
    if (is_no_unit(unit_text)) return std::nullopt;
    const auto step = number(size);
    return step ? std::optional(AxisScale{*step, unit_text}) : std::nullopt;
  }

  /// One number for all frames, or one for each; empty where there is none.
  [[nodiscard]] std::vector<double> places(const char* name, Index frames) {
    if (!file_.is_dataset(path_of(name))) return {};
    const Hdf5Dataset dataset = file_.dataset(path_of(name));
    const Hdf5DatasetInfo& info = dataset.info();
    const bool one = info.shape.count() == 1;
    if (info.dtype != DType::f64 || (!one && info.shape.count() != frames)) {
      leave_out(name, fmt::format("it is {} {} for {} frames", info.type_text, info.shape.text(), frames));
      return {};
    }
    std::vector<double> values(static_cast<std::size_t>(info.shape.count()));
    const Array stored = dataset.read();
    std::memcpy(values.data(), stored.data(), values.size() * sizeof(double));
    if (one) values.assign(static_cast<std::size_t>(frames), values.front());
    return values;
  }

  void leave_out(const char* what, const std::string& because) {
    acquisition_.notes.push_back({fmt::format("calibration {} is not used", what), because});
  }

  const Hdf5File& file_;
  std::string group_;
  Acquisition& acquisition_;
  std::vector<std::string> taken_;
};

}  // namespace

std::string emd_calibration_group(const Hdf5File& file, const std::string& dataset) {
  for (std::size_t end = dataset.find_last_of('/'); end != std::string::npos;
       end = end == 0 ? std::string::npos : dataset.find_last_of('/', end - 1)) {
    const std::string group = dataset.substr(0, end) + "/metadatabundle/calibration";
    if (file.is_group(group)) return group;
  }
  return "";
}

void take_emd_calibration(const Hdf5File& file, const std::string& dataset, Index frames, Acquisition& acquisition) {
  const std::string group = emd_calibration_group(file, dataset);
  if (group.empty()) return;
  EmdCalibration calibration(file, group, acquisition);
  calibration.take_steps();
  calibration.take_rotation();
  calibration.take_ellipse();
  calibration.take_origin(frames);
  calibration.report();
}

}  // namespace sonde::stem
