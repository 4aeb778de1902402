// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bragg/emd_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>
#include <tuple>
#include <utility>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/instruments/stem/read/emd_calibration.h"
#include "sonde/instruments/stem/read/file_cursor.h"

namespace sonde::stem {
namespace {

constexpr const char* vectors_root = "/braggvectors_root";
constexpr const char* lists_end = "/_v_uncal/data";
constexpr double most_extent = 65536;

/// Values by name, each with the type that py4DSTEM gives it.
class Metadata {
 public:
  Metadata(Hdf5Writer& writer, std::string group, const char* python_class)
      : writer_(writer), group_(std::move(group)) {
    writer_.group(group_);
    writer_.text_attribute(group_, "emd_group_type", "metadata");
    writer_.text_attribute(group_, "python_class", python_class);
  }
  void number(const char* name, double value) {
    writer_.value(at(name), value);
    type(name, "number");
  }
  void flag(const char* name, bool value) {
    writer_.value(at(name), std::int64_t{value ? 1 : 0});
    type(name, "bool");
  }
  void text(const char* name, const std::string& value) {
    writer_.text(at(name), value);
    type(name, "string");
  }
  void array(const char* name, const std::vector<double>& values, const Shape& shape) {
    writer_.array(at(name), Array::from(values, shape));
    type(name, "array");
  }
  void pair(const char* name, Index a, Index b) {
    writer_.array(at(name), Array::from<std::int64_t>({a, b}, {2}));
    type(name, "tuple");
  }
  void texts(const char* name, const std::string& only) {
    writer_.group(at(name));
    type(name, "list_of_strings");
    writer_.attribute(at(name), "length", std::int64_t{1});
    writer_.text(at(name) + "/0", only);
  }

 private:
  [[nodiscard]] std::string at(const char* name) const { return group_ + "/" + name; }
  void type(const char* name, const char* of) { writer_.text_attribute(at(name), "type", of); }

  Hdf5Writer& writer_;
  std::string group_;
};

/// Origins and what py4DSTEM derives of them.
void write_origins(Metadata& to, const char* name, const std::vector<double>& values, const Shape& shape) {
  double mean = 0, known = 0;
  for (const double value : values)
    if (std::isfinite(value)) {
      mean += value;
      ++known;
    }
  mean = known > 0 ? mean / known : std::numeric_limits<double>::quiet_NaN();
  std::vector<double> shifts = values;
  for (double& shift : shifts) shift -= mean;
  const std::string of = name;
  to.array(name, values, shape);
  to.number((of + "_mean").c_str(), mean);
  to.array((of + "_shift").c_str(), shifts, shape);
}

void write_calibration(Hdf5Writer& writer, const BraggVectors& vectors) {
  const BraggCalibration& of = vectors.calibration;
  Metadata to(writer, std::string(vectors_root) + "/metadatabundle/calibration", "Calibration");
  to.text("_root_treepath", "");
  to.texts("_target_paths", "/braggvectors");
  const double circle = of.ellipse ? of.ellipse->radius / of.ellipse->b : 1;
  const auto pixel = of.pixel_inv_a ? of.pixel_inv_a : of.pixel_mrad;
  to.number("Q_pixel_size", pixel ? *pixel * circle : 1);
  to.text("Q_pixel_units", of.pixel_inv_a ? "A^-1" : pixel ? "mrad" : "pixels");
  to.number("R_pixel_size", of.scan_step_row_nm ? *of.scan_step_row_nm * 10 : 1);
  to.text("R_pixel_units", of.scan_step_row_nm ? "A" : "pixels");
  if (of.rotation_rad) {
    to.number("QR_rotation", -*of.rotation_rad);
    to.number("QR_rotation_degrees", -*of.rotation_rad * 180 / std::numbers::pi);
    to.flag("QR_flip", of.transpose.value_or(false));
  }
  if (const auto& ellipse = of.ellipse) {
    to.number("a", ellipse->a);
    to.number("b", ellipse->b);
    to.number("theta", std::numbers::pi / 2 - ellipse->theta);
  }
  if (of.has_origin()) {
    const Shape shape{vectors.scan_rows, vectors.scan_cols};
    write_origins(to, "qx0", of.origin_y, shape);
    write_origins(to, "qy0", of.origin_x, shape);
  }
  if (vectors.probe_radius > 0) to.number("probe_semiangle", vectors.probe_radius);
  if (of.high_tension_v) to.number("high_tension_v", *of.high_tension_v);
}

void tag(Hdf5Writer& writer, const std::string& group, const char* type, const char* python_class) {
  writer.group(group);
  writer.text_attribute(group, "emd_group_type", type);
  if (python_class != nullptr) writer.text_attribute(group, "python_class", python_class);
}

Hdf5RecordLists lists_of(const BraggVectors& vectors) {
  Hdf5RecordLists lists{.shape = {vectors.scan_rows, vectors.scan_cols},
                        .fields = {"qx", "qy", "intensity"},
                        .first = vectors.offsets,
                        .values = {}};
  lists.values.reserve(3 * vectors.qy.size());
  for (std::size_t i = 0; i < vectors.qy.size(); ++i)
    for (const float value : {vectors.qy[i], vectors.qx[i], vectors.intensity[i]})
      lists.values.push_back(static_cast<double>(value));
  return lists;
}

class EmdVectorsReader {
 public:
  explicit EmdVectorsReader(const Hdf5File& file)
      : file_(file),
        path_(emd_vectors_in(file)),
        group_(path_.substr(0, path_.size() - std::string(lists_end).size())) {}

  BraggVectors read() {
    const auto lists = file_.dataset(path_).record_lists();
    if (!lists || lists->shape.rank() != 2) throw wrong(path_ + " is not lists of records for the rows and columns");
    BraggVectors vectors;
    vectors.scan_rows = lists->shape[0];
    vectors.scan_cols = lists->shape[1];
    if (vectors.positions() < 1) throw wrong(path_ + " has no positions");
    std::tie(vectors.rows, vectors.cols) = detector();
    vectors.offsets = lists->first;
    vectors.valid.assign(static_cast<std::size_t>(vectors.positions()), 1);
    take_disks(*lists, vectors);
    require_sound(file_.path(), vectors);
    take_calibration(vectors);
    vectors.parameters = R"({"from":"py4DSTEM"})";
    return vectors;
  }

 private:
  [[nodiscard]] Error wrong(const std::string& fact) const { return damaged(file_.path(), fact); }

  [[nodiscard]] std::pair<Index, Index> detector() const {
    const std::string shape = group_ + "/metadatabundle/_braggvectors_shape/Qshape";
    const auto value = file_.value(shape);
    std::array<Index, 2> found{};
    bool whole = value && value->elements.size() == 2;
    for (std::size_t i = 0; whole && i < 2; ++i) {
      const auto extent = Hdf5Value{{}, {value->elements[i]}}.number();
      whole = extent && *extent >= 1 && *extent <= most_extent && *extent == std::floor(*extent);
      if (whole) found[i] = static_cast<Index>(*extent);
    }
    if (!whole) throw wrong(shape + " is not the rows and columns of a detector");
    return {found[0], found[1]};
  }

  [[nodiscard]] std::size_t field(const Hdf5RecordLists& lists, const char* name) const {
    const auto found = std::find(lists.fields.begin(), lists.fields.end(), name);
    if (found == lists.fields.end()) throw wrong(fmt::format("{} has no field {}", path_, name));
    return static_cast<std::size_t>(found - lists.fields.begin());
  }

  void take_disks(const Hdf5RecordLists& lists, BraggVectors& vectors) const {
    const std::size_t fields = lists.fields.size(), disks = lists.first.back();
    const std::size_t y = field(lists, "qx"), x = field(lists, "qy"), intensity = field(lists, "intensity");
    std::vector<std::size_t> order(disks);
    std::iota(order.begin(), order.end(), std::size_t{0});
    // NaN has no order: it is refused after this.
    const auto brightness = [&](std::size_t disk) {
      const double value = lists.values[disk * fields + intensity];
      return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
    };
    for (std::size_t p = 0; p + 1 < lists.first.size(); ++p)
      std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(lists.first[p]),
                       order.begin() + static_cast<std::ptrdiff_t>(lists.first[p + 1]),
                       [&](std::size_t a, std::size_t b) { return brightness(a) > brightness(b); });
    for (const std::size_t disk : order) {
      const double* record = lists.values.data() + disk * fields;
      vectors.qy.push_back(static_cast<float>(record[y]));
      vectors.qx.push_back(static_cast<float>(record[x]));
      vectors.intensity.push_back(static_cast<float>(record[intensity]));
    }
  }

  void take_calibration(BraggVectors& vectors) const {
    Acquisition acquisition;
    take_emd_calibration(file_, path_, vectors.positions(), acquisition);
    const Calibration& of = acquisition.calibration;
    vectors.calibration = steps_of(of, 1, 1);
    if (of.origin) {
      vectors.calibration.origin_y = of.origin->y;
      vectors.calibration.origin_x = of.origin->x;
    }
    const std::string group = emd_calibration_group(file_, path_);
    const auto positive = [&](const char* name) -> std::optional<double> {
      const auto value = file_.value(group + "/" + name);
      const auto number = value ? value->number() : std::nullopt;
      return number && std::isfinite(*number) && *number > 0 ? number : std::nullopt;
    };
    vectors.probe_radius = positive("probe_semiangle").value_or(0);
    vectors.calibration.high_tension_v = positive("high_tension_v");
  }

  const Hdf5File& file_;
  std::string path_, group_;
};

}  // namespace

void write_emd_vectors(const std::string& path, const BraggVectors& vectors, const std::string& command) {
  Hdf5Writer writer(path);
  writer.text_attribute("/", "emd_group_type", "file");
  writer.attribute("/", "version_major", std::int64_t{1});
  writer.attribute("/", "version_minor", std::int64_t{0});
  writer.text_attribute("/", "authoring_program", fmt::format("sonde {}", build_info().version));
  writer.text_attribute("/", "authoring_user", "");
  const std::string root = vectors_root, group = root + "/braggvectors";
  tag(writer, root, "root", "Root");
  tag(writer, root + "/metadatabundle", "metadatabundle", nullptr);
  write_calibration(writer, vectors);
  tag(writer, group, "custom", "BraggVectors");
  writer.text_attribute(group, "command", command);
  tag(writer, group + "/metadatabundle", "metadatabundle", nullptr);
  Metadata shapes(writer, group + "/metadatabundle/_braggvectors_shape", "Metadata");
  shapes.pair("Rshape", vectors.scan_rows, vectors.scan_cols);
  shapes.pair("Qshape", vectors.rows, vectors.cols);
  tag(writer, group + "/_v_uncal", "custom_pointlistarray", "PointListArray");
  writer.record_lists(group + lists_end, lists_of(vectors));
  writer.finish();
}

std::string emd_vectors_in(const Hdf5File& file) {
  for (const std::string& dataset : file.datasets())
    if (dataset.ends_with(lists_end)) return dataset;
  return "";
}

BraggVectors read_emd_vectors(const Hdf5File& file) { return EmdVectorsReader(file).read(); }

}  // namespace sonde::stem
