// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/results/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/report/json.h"
#include "sonde/engine/run/write_contents.h"
#include "sonde/instruments/ptycho/constrain/modes.h"
#include "sonde/instruments/ptycho/quality/image.h"

namespace sonde::ptycho {
namespace {

/// (J, 2) of points times a scale.
Array array_of(const std::vector<Point>& points, double row, double col) {
  std::vector<double> values;
  for (const Point& point : points) {
    values.push_back(point.row * row);
    values.push_back(point.col * col);
  }
  return Array::from(values, Shape{static_cast<Index>(points.size()), 2});
}

std::vector<Point> points_of(const Array& array, double row, double col) {
  const auto values = array.view<double, 2>();
  std::vector<Point> points;
  for (Index j = 0; j < array.shape()[0]; ++j) points.push_back({values(j, 0) / row, values(j, 1) / col});
  return points;
}

std::vector<double> doubles_of(const std::optional<Hdf5Value>& value) {
  std::vector<double> numbers;
  if (value)
    for (const Hdf5Value::Scalar& element : value->elements)
      numbers.push_back(Hdf5Value{{}, {element}}.number().value_or(std::numeric_limits<double>::quiet_NaN()));
  return numbers;
}

Value json_at(const Hdf5File& file, const std::string& path) {
  const std::optional<Hdf5Value> value =
      file.is_dataset(path) ? std::optional(file.dataset(path).value()) : std::nullopt;
  const std::optional<std::string> text = value ? value->text() : std::nullopt;
  return text ? parse_json(*text, file.path() + ":" + path) : Value::object();
}

}  // namespace

const std::vector<std::string>& metric_names() {
  static const std::vector<std::string> names = {
      "R_I",       "R_A",    "NMSE",          "LL",          "loss",
      "dO",        "dP",     "power_ratio",   "power_total", "phase_roughness",
      "opr_share", "R_free", "position_move", "seconds",     "engine"};
  return names;
}

Value metrics_value(const IterationRecord& record) {
  Value value;
  value["iteration"] = record.number;
  value["engine"] = record.engine;
  value["R_I"] = record.fit.r_intensity;
  value["R_A"] = record.fit.r_amplitude;
  value["NMSE"] = record.fit.nmse;
  value["LL"] = record.fit.deviance;
  value["loss"] = record.fit.loss;
  value["dO"] = record.object_change;
  value["dP"] = record.probe_change;
  value["power_ratio"] = record.power_ratio;
  value["power_total"] = record.power_total;
  value["phase_roughness"] = record.phase_roughness;
  value["opr_share"] = record.opr_share;
  value["R_free"] = record.r_free ? Value(*record.r_free) : Value();
  value["position_move"] = record.positions ? Value(record.positions->largest_move) : Value();
  value["seconds"] = record.seconds;
  return value;
}

Array Result::transmission() const { return in_double_precision(object); }

Box Result::field_of_view() const {
  std::vector<Point> inside;
  for (const Point& point : positions) inside.push_back({point.row - origin.row, point.col - origin.col});
  Box box = sonde::ptycho::field_of_view(inside);
  // Positions may have moved to the very edge.
  box.row = std::clamp<Index>(box.row, 0, object.shape()[1] - 1);
  box.col = std::clamp<Index>(box.col, 0, object.shape()[2] - 1);
  box.rows = std::min(box.rows, object.shape()[1] - box.row);
  box.cols = std::min(box.cols, object.shape()[2] - box.col);
  return box;
}

Result result_of(const State& state, const Sampling& sampling, Point offset, const std::vector<Point>& initial,
                 const std::vector<IterationRecord>& history) {
  Result result;
  result.type = state.type;
  result.object = state.object.clone();
  if (!state.phase.empty()) result.phase = state.phase.clone();
  result.probe = state.probe.clone();
  if (state.components() > 0) {
    result.opr_modes = state.opr_modes.clone();
    result.opr_weights = state.opr_weights.clone();
  }
  result.sampling = sampling;
  result.origin = {-offset.row, -offset.col};
  result.positions = moved(state.positions, result.origin);
  result.initial_positions = initial;
  for (const IterationRecord& record : history) {
    const Value metrics = metrics_value(record);
    for (const std::string& name : metric_names()) {
      const Value& value = *metrics.find(name);
      result.metrics[name].push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.as_real());
    }
  }
  return result;
}

namespace {

/// What belongs to the moment of one run: equal runs are equal outside of it.
const std::string run_group = "run/";
const std::string seconds = "seconds";

}  // namespace

Contents contents_of(const Result& result) {
  const bool calibrated = result.sampling.calibrated();
  const double row = calibrated ? result.sampling.pixel_row() : 1, col = calibrated ? result.sampling.pixel_col() : 1;
  Contents contents;
  contents.attribute("schema", std::string("sonde.ptycho.result/1"));

  const bool potential = result.type == ObjectType::potential;
  Contents::Attributes& of_object = contents
                                        .add(potential ? "object_phase" : "object", {"slice", "row", "column"},
                                             alias(potential ? result.phase : result.object))
                                        .unit(potential ? "rad" : "")
                                        .attributes;
  of_object.emplace_back("type", std::string(potential ? "potential" : "complex"));
  of_object.emplace_back("origin_px", std::vector{result.origin.row, result.origin.col});
  if (calibrated) {
    of_object.emplace_back("pixel_size_A", std::vector{row, col});
    of_object.emplace_back("origin_A", std::vector{result.origin.row * row, result.origin.col * col});
    const std::vector<double>& thickness = result.slice_thickness_a;
    if (thickness.size() > 1)
      of_object.emplace_back("slice_thickness_A", thickness);
    else if (!thickness.empty())
      of_object.emplace_back("slice_thickness_A", thickness.front());
    of_object.emplace_back("wavelength_A", result.sampling.wavelength);
  }

  const Shape& probe = result.probe.shape();
  Contents::Attributes& of_probe = contents
                                       .add("probe", {"probe", "mode", "row", "column"},
                                            alias(result.probe).reshaped(Shape{1, probe[0], probe[1], probe[2]}))
                                       .attributes;
  if (calibrated) of_probe.emplace_back("pixel_size_A", std::vector{row, col});
  of_probe.emplace_back("occupancy", occupancies(result.probe));

  if (!result.opr_modes.empty()) {
    contents.add("opr_modes", {"component", "row", "column"}, alias(result.opr_modes));
    contents.add("opr_weights", {"frame", "component"}, alias(result.opr_weights));
  }

  const std::string unit = calibrated ? "A" : "px";
  for (const auto& [name, points] :
       {std::pair("positions_", &result.positions), std::pair("positions_initial_", &result.initial_positions)})
    contents.add(name + unit, {"frame", "row, column"}, array_of(*points, row, col)).unit(calibrated ? "\u00c5" : "px");

  for (const auto& [name, values] : result.metrics)
    contents
        .add((name == seconds ? run_group : "metrics/") + name, {"iteration, from 0"},
             Array::from(values, Shape{static_cast<Index>(values.size())}))
        .unit(name == seconds ? "s" : "");

  const Box view = result.field_of_view();
  Array mask = Array::zeros(Device::cpu(), result.object.shape().last(2), DType::u8);
  for (Index r = view.row; r < view.row + view.rows; ++r)
    std::fill_n(static_cast<std::uint8_t*>(mask.data()) + r * mask.shape()[1] + view.col, view.cols, std::uint8_t{1});
  contents.add("fov_mask", {"row", "column"}, std::move(mask));

  contents.add_text("settings", result.settings);
  Value provenance = Value::object(), moment = Value::object();
  for (const auto& [key, member] : result.provenance.members()) (key == "run" ? moment : provenance[key]) = member;
  contents.add_text("provenance", to_json(provenance, -1));
  contents.add_text(run_group + "moment", to_json(moment, -1));
  contents.add_text(run_group + "timing", to_json(result.timing, -1));
  contents.add_text("diagnostics", to_json(result.diagnostics, -1));
  return contents;
}

void write_result(const std::string& path, const Result& result, const OutputRole& role) {
  write_contents(path, contents_of(result), role);
}

Result read_result(const std::string& path) {
  const Hdf5File file = Hdf5File::open(path);
  const bool potential = file.is_dataset("/object_phase");
  const std::string object = potential ? "/object_phase" : "/object";
  if (!file.is_dataset(object) || !file.is_dataset("/probe"))
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: no object and probe, so it is not a result of ptychography", path));
  Result result;
  result.type = potential ? ObjectType::potential : ObjectType::complex;
  Array stored = file.dataset(object).read();
  if (stored.shape().rank() != 3)
    throw Error(ErrorKind::bad_file,
                fmt::format("{}:{}: shape {}, expected (slices, rows, columns)", path, object, stored.shape().text()));
  if (potential) {
    result.phase = std::move(stored);
    result.object = Array(Device::cpu(), result.phase.shape(), DType::c128);
    auto* to = static_cast<complex128*>(result.object.data());
    for (Index i = 0; i < result.phase.count(); ++i)
      to[i] = std::polar(1.0, result.phase.dtype() == DType::f32
                                  ? static_cast<double>(static_cast<const float*>(result.phase.data())[i])
                                  : static_cast<const double*>(result.phase.data())[i]);
  } else {
    result.object = in_double_precision(stored);
  }
  Array probe = file.dataset("/probe").read();
  if (probe.shape().rank() != 4 || (probe.dtype() != DType::c64 && probe.dtype() != DType::c128))
    throw Error(ErrorKind::bad_file,
                fmt::format("{}:/probe: {} of shape {}, expected complex (1, modes, rows, columns)", path,
                            name(probe.dtype()), probe.shape().text()));
  const Shape shape = probe.shape();
  result.probe = std::move(probe).reshaped(Shape{shape[0] * shape[1], shape[2], shape[3]});

  if (file.is_dataset("/opr_modes") && file.is_dataset("/opr_weights")) {
    result.opr_modes = file.dataset("/opr_modes").read();
    result.opr_weights = file.dataset("/opr_weights").read();
  }

  const std::vector<double> pixel = doubles_of(file.attribute(object, "pixel_size_A"));
  const std::vector<double> wavelength = doubles_of(file.attribute(object, "wavelength_A"));
  result.sampling = pixel_sampling(shape[2], shape[3]);
  double row = 1, col = 1;
  if (pixel.size() == 2 && wavelength.size() == 1) {
    row = pixel[0];
    col = pixel[1];
    result.sampling.wavelength = wavelength[0];
    result.sampling.dk_row = 1 / (static_cast<double>(shape[2]) * row);
    result.sampling.dk_col = 1 / (static_cast<double>(shape[3]) * col);
  }
  result.slice_thickness_a = doubles_of(file.attribute(object, "slice_thickness_A"));
  const std::vector<double> origin = doubles_of(file.attribute(object, "origin_px"));
  if (origin.size() == 2) result.origin = {origin[0], origin[1]};

  const std::string unit = pixel.size() == 2 ? "A" : "px";
  for (const auto& [name, points] : {std::pair("/positions_" + unit, &result.positions),
                                     std::pair("/positions_initial_" + unit, &result.initial_positions)}) {
    if (!file.is_dataset(name)) throw Error(ErrorKind::bad_file, fmt::format("{}: no {}", path, name));
    const Array list = file.dataset(name).read();
    if (list.shape().rank() != 2 || list.shape()[1] != 2 || list.dtype() != DType::f64)
      throw Error(ErrorKind::bad_file, fmt::format("{}:{}: expected f64 (frames, 2)", path, name));
    *points = points_of(list, row, col);
  }
  for (const Hdf5Link& link : file.list("/metrics")) {
    const Array values = file.dataset("/metrics/" + link.name).read();
    if (values.dtype() != DType::f64 || values.shape().rank() != 1) continue;
    const auto* from = static_cast<const double*>(values.data());
    result.metrics[link.name].assign(from, from + values.count());
  }
  if (file.is_dataset("/settings")) result.settings = file.dataset("/settings").value().text().value_or("");
  result.provenance = json_at(file, "/provenance");
  // Results of before have all of it in /provenance, /timing and /metrics.
  const bool grouped = file.is_group("/run");
  if (Value moment = grouped ? json_at(file, "/" + run_group + "moment") : Value();
      moment.is_object() && moment.size() > 0)
    result.provenance["run"] = std::move(moment);
  result.timing = json_at(file, grouped ? "/" + run_group + "timing" : "/timing");
  if (grouped && file.is_dataset("/" + run_group + seconds)) {
    const Array values = file.dataset("/" + run_group + seconds).read();
    if (values.dtype() == DType::f64 && values.shape().rank() == 1) {
      const auto* from = static_cast<const double*>(values.data());
      result.metrics[seconds].assign(from, from + values.count());
    }
  }
  result.diagnostics = json_at(file, "/diagnostics");
  return result;
}

}  // namespace sonde::ptycho
