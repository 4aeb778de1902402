// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bragg/bragg_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/stem/bragg/emd_vectors.h"
#include "sonde/instruments/stem/read/file_cursor.h"
#include "sonde/instruments/stem/read/stored_group.h"

namespace sonde::stem {
namespace {

constexpr const char* bragg_schema = "sonde.stem.bragg/1";
constexpr Index most_detector = 65536;
constexpr Index most_scan = Index{1} << 24;

/// The values of a calibration by the names that files have.
template <class OfCalibration>
auto named_values(OfCalibration& calibration) {
  return std::array{std::pair("pixel_inv_a", &calibration.pixel_inv_a),
                    std::pair("pixel_mrad", &calibration.pixel_mrad),
                    std::pair("high_tension_v", &calibration.high_tension_v),
                    std::pair("scan_step_row_nm", &calibration.scan_step_row_nm),
                    std::pair("scan_step_col_nm", &calibration.scan_step_col_nm),
                    std::pair("rotation_rad", &calibration.rotation_rad)};
}

class VectorsReader {
 public:
  explicit VectorsReader(Hdf5File file) : file_(std::move(file)), group_(file_, "/bragg") {
    const auto schema = file_.attribute("/", "schema");
    if (!schema || schema->text() != bragg_schema)
      throw Error(ErrorKind::bad_file, file_.path() + ": not a file of Bragg disks")
          .hint("expected the output of sonde stem bragg");
  }

  BraggVectors read() {
    BraggVectors vectors;
    std::tie(vectors.scan_rows, vectors.scan_cols) = group_.extents("scan_shape", most_scan);
    std::tie(vectors.rows, vectors.cols) = group_.extents("detector_shape", most_detector);
    const Index positions = vectors.positions();
    vectors.offsets = group_.offsets(positions);
    vectors.valid = group_.elements<std::uint8_t>("valid", positions);
    const auto disks = static_cast<Index>(vectors.offsets.back());
    vectors.qy = group_.elements<float>("qy", disks);
    vectors.qx = group_.elements<float>("qx", disks);
    vectors.intensity = group_.elements<float>("intensity", disks);
    if (group_.has("var_y") || group_.has("var_x")) {
      vectors.var_y = group_.elements<float>("var_y", disks);
      vectors.var_x = group_.elements<float>("var_x", disks);
    }
    require_sound(file_.path(), vectors);
    read_attributes(vectors);
    read_steps(vectors);
    return vectors;
  }

 private:
  [[nodiscard]] Error wrong(const std::string& fact) const { return group_.wrong(fact); }

  void read_attributes(BraggVectors& vectors) const {
    const auto coordinates = group_.attribute("coordinates");
    if (!coordinates || coordinates->text() != "raw")
      throw Error(ErrorKind::bad_file, file_.path() + ": coordinates of disks are not \"raw\" pixels of the detector");
    vectors.probe_radius = group_.number("probe_radius").value_or(0);
    if (vectors.probe_radius < 0) throw wrong(fmt::format("a probe of radius {:g}", vectors.probe_radius));
    for (const auto& [name, value] : named_values(vectors.calibration)) *value = group_.number(name);
    for (const auto& [name, value] : named_values(vectors.calibration))
      if (*value && **value <= 0 && std::string_view(name) != "rotation_rad")
        throw wrong(fmt::format("/bragg: {} is {:g}", name, **value));
    if (const auto transpose = group_.number("transpose")) vectors.calibration.transpose = *transpose != 0;
    if (const auto text = group_.attribute("parameters")) vectors.parameters = text->text().value_or("{}");
  }

  void read_steps(BraggVectors& vectors) const {
    BraggCalibration& calibration = vectors.calibration;
    if (group_.attribute("ellipse")) {
      const auto parts = group_.numbers("ellipse", 4);
      if (!parts || !((*parts)[0] > 0 && (*parts)[1] > 0 && (*parts)[3] > 0))
        throw wrong("/bragg: ellipse is not a, b, theta and a radius");
      calibration.ellipse = Distortion{(*parts)[0], (*parts)[1], (*parts)[2], (*parts)[3]};
    }
    if (!group_.has("origin_y") && !group_.has("origin_x")) return;
    calibration.origin_y = group_.elements<double>("origin_y", vectors.positions());
    calibration.origin_x = group_.elements<double>("origin_x", vectors.positions());
    for (const std::vector<double>* places : {&calibration.origin_y, &calibration.origin_x})
      for (std::size_t i = 0; i < places->size(); ++i)
        if (std::isinf((*places)[i])) throw wrong(fmt::format("the origin of position {} is infinite", i));
  }

  Hdf5File file_;
  StoredGroup group_;
};

}  // namespace

void require_sound(const std::string& path, const BraggVectors& vectors) {
  const auto wrong = [&](const std::string& fact) { return damaged(path, fact); };
  const auto inside = [](float at, Index extent) { return at >= -0.5F && at < static_cast<float>(extent) - 0.5F; };
  for (std::size_t i = 0; i < vectors.qy.size(); ++i) {
    if (!inside(vectors.qy[i], vectors.rows) || !inside(vectors.qx[i], vectors.cols))
      throw wrong(fmt::format("disk {} is at row {:g}, column {:g} of a detector of {} x {} pixels", i, vectors.qy[i],
                              vectors.qx[i], vectors.rows, vectors.cols));
    if (!std::isfinite(vectors.intensity[i])) throw wrong(fmt::format("the intensity of disk {} is not finite", i));
  }
  for (const std::vector<float>* variances : {&vectors.var_y, &vectors.var_x})
    for (std::size_t i = 0; i < variances->size(); ++i)
      if ((*variances)[i] < 0 || std::isinf((*variances)[i]))
        throw wrong(fmt::format("the variance of disk {} is {:g}", i, (*variances)[i]));
  for (std::size_t i = 0; i < vectors.valid.size(); ++i)
    if (vectors.valid[i] > 1) throw wrong(fmt::format("/bragg/valid is {} at position {}", vectors.valid[i], i));
}

std::size_t BraggVectors::bytes() const {
  return offsets.capacity() * sizeof(std::uint64_t) + valid.capacity() +
         sizeof(float) * (qy.capacity() + qx.capacity() + intensity.capacity() + var_y.capacity() + var_x.capacity());
}

Contents BraggVectors::contents(const std::string& command) const {
  Contents contents;
  contents.attribute("schema", std::string(bragg_schema));
  const auto two = [](Index a, Index b) { return std::vector<double>{static_cast<double>(a), static_cast<double>(b)}; };
  contents.attribute("bragg/scan_shape", two(scan_rows, scan_cols));
  contents.attribute("bragg/detector_shape", two(rows, cols));
  contents.attribute("bragg/coordinates", std::string("raw"));
  contents.attribute("bragg/probe_radius", probe_radius);
  contents.attribute("bragg/parameters", parameters);
  for (const auto& [name, value] : named_values(calibration))
    if (*value) contents.attribute(std::string("bragg/") + name, **value);
  if (calibration.transpose) contents.attribute("bragg/transpose", std::int64_t{*calibration.transpose ? 1 : 0});
  const auto add = [&](const std::string& name, const char* axis, Array values, const char* unit, const char* frame) {
    Contents::Variable& variable = contents.add("bragg/" + name, {axis}, std::move(values)).unit(unit);
    variable.attributes.emplace_back("frame", std::string(frame));
    variable.attributes.emplace_back("sonde_version", std::string(build_info().version));
    variable.attributes.emplace_back("command", command);
  };
  const auto of_disks = [&](const std::string& name, const std::vector<float>& values, const char* unit) {
    add(name, "disk", Array::from(values, {disks()}), unit, "detector");
  };
  add("offsets", "position or end", Array::from(offsets, {positions() + 1}), "", "scan");
  add("valid", "position", Array::from(valid, {positions()}), "", "scan");
  of_disks("qy", qy, "px");
  of_disks("qx", qx, "px");
  of_disks("intensity", intensity, "counts");
  if (const auto& ellipse = calibration.ellipse)
    contents.attribute("bragg/ellipse", std::vector<double>{ellipse->a, ellipse->b, ellipse->theta, ellipse->radius});
  if (calibration.has_origin()) {
    add("origin_y", "position", Array::from(calibration.origin_y, {positions()}), "px", "detector");
    add("origin_x", "position", Array::from(calibration.origin_x, {positions()}), "px", "detector");
  }
  if (!has_variance()) return contents;
  of_disks("var_y", var_y, "px^2");
  of_disks("var_x", var_x, "px^2");
  return contents;
}

bool is_bragg_file(const std::string& path) {
  try {
    const Hdf5File file = Hdf5File::open(path);
    const auto schema = file.attribute("/", "schema");
    return (schema && schema->text() == bragg_schema) || !emd_vectors_in(file).empty();
  } catch (const Error&) {
    return false;  // what it is instead, the reader of scans says
  }
}

BraggVectors read_bragg_vectors(const std::string& path) {
  Hdf5File file = Hdf5File::open(path);
  if (!file.attribute("/", "schema") && !emd_vectors_in(file).empty()) return read_emd_vectors(file);
  return VectorsReader(std::move(file)).read();
}

}  // namespace sonde::stem
