// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/results/provenance.h"

#include <fmt/format.h>

#include <filesystem>
#include <numeric>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/report/provenance.h"

namespace sonde::stem {
namespace {

void add(Value& all, const char* key, const std::optional<Quantity>& quantity) {
  if (!quantity) return;
  all[key]["value"] = quantity->value;
  all[key]["from"] = quantity->stated_by == StatedBy::user ? "user" : "file";
}

const Value& member(const Value& record, std::string_view key, const std::string& where) {
  const Value* found = record.find(key);
  if (found == nullptr)
    throw Error(ErrorKind::bad_file, fmt::format("{}: no \"{}\", so it is not a record of a result", where, key))
        .hint("give the .json that was written beside an image");
  return *found;
}

}  // namespace

Value calibration_value(const Calibration& calibration) {
  Value all = Value::object();
  add(all, "high_tension_v", calibration.high_tension_v);
  add(all, "camera_length_m", calibration.camera_length_m);
  add(all, "scan_step_row_nm", calibration.scan_step_row_nm);
  add(all, "scan_step_col_nm", calibration.scan_step_col_nm);
  add(all, "scan_rotation", calibration.scan_rotation);
  add(all, "detector_pixel_m", calibration.detector_pixel_m);
  add(all, "detector_step_mrad", calibration.detector_step_mrad);
  add(all, "detector_step_inv_a", calibration.detector_step_inv_a);
  add(all, "rotation_rad", calibration.rotation_rad);
  if (calibration.transpose) all["transpose"] = *calibration.transpose;
  if (const auto& ellipse = calibration.ellipse) {
    all["ellipse"]["a"] = ellipse->a;
    all["ellipse"]["b"] = ellipse->b;
    all["ellipse"]["theta_rad"] = ellipse->theta;
  }
  if (const auto& origin = calibration.origin) {
    // Means over all frames: the map itself goes into files of Bragg disks.
    const auto mean = [](const std::vector<double>& values) {
      return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    };
    all["origin"]["mean_row_px"] = mean(origin->y);
    all["origin"]["mean_col_px"] = mean(origin->x);
    all["origin"]["frames"] = static_cast<Index>(origin->x.size());
  }
  return all;
}

Value input_identity(const Dataset& dataset) {
  Value input;
  input["format"] = dataset.acquisition().format;
  input["files"] = Value::list();
  for (const std::string& file : dataset.acquisition().files) {
    std::error_code failed;
    const auto size = std::filesystem::file_size(file, failed);
    Value entry;
    entry["name"] = std::filesystem::path(file).filename().string();
    entry["bytes"] = failed ? Value() : Value(size);
    input["files"].push_back(std::move(entry));
  }
  input["stored_bytes"] = dataset.stored_bytes();
  input["hash"] = hash_text(dataset.content_hash());
  return input;
}

namespace {

/// What belongs to the moment and to this machine: equal runs may differ here and nowhere else.
Value run_of(const Dataset& dataset) {
  Value run = moment_of_run(dataset.acquisition().path);
  run["files"] = Value::list();
  for (const std::string& file : dataset.acquisition().files) run["files"].push_back(absolute_path(file).string());
  // Reasons name the memory that was free.
  run["choices"] = Value::list();
  for (const auto& choice : dataset.choices()) {
    Value entry;
    entry["value"] = choice.value;
    entry["because"] = choice.because;
    run["choices"].push_back(std::move(entry));
  }
  return run;
}

}  // namespace

Value provenance(const Dataset& dataset) {
  Value record = made_by();
  record["schema"] = "sonde.result/1";
  record["input"] = input_identity(dataset);
  LoadOptions resolved = dataset.options();
  resolved.det_bin = std::to_string(dataset.det_bin());
  resolved.layout = dataset.layout();  // sums of floats are rounded in the order of the layout
  record["load"] = Fields(resolved).echo();
  record["shape"] = Value::list();
  for (int i = 0; i < 4; ++i) record["shape"].push_back(dataset.shape()[i]);
  record["dtype"] = name(dataset.dtype());
  record["layout"] = layout_name(dataset.layout());
  record["calibration"] = calibration_value(dataset.calibration());
  record["exactness"] = dataset.exactness().to_value();
  record["ledger"] = dataset.ledger().to_value();
  record["bad_pixels"] = Value::list();
  for (const BadPixel& pixel : dataset.bad_pixels()) {
    Value entry;
    entry["row"] = pixel.row;
    entry["col"] = pixel.col;
    entry["sum"] = pixel.sum;
    entry["neighbour_max"] = pixel.neighbour_max;
    entry["reason"] = name(pixel.reason);
    record["bad_pixels"].push_back(std::move(entry));
  }
  record["choices"] = Value::list();
  for (const auto& choice : dataset.choices()) {
    Value entry;
    entry["value"] = choice.value;
    record["choices"].push_back(std::move(entry));
  }
  record["run"] = run_of(dataset);
  return record;
}

LoadOptions load_options_from(const Value& record, const std::string& where) {
  const Value& schema = member(record, "schema", where);
  if (!schema.is_text() || schema.as_text() != "sonde.result/1")
    throw Error(ErrorKind::bad_file, fmt::format("{}: schema is not sonde.result/1", where))
        .hint("give the .json that was written beside an image");
  return options_from<LoadOptions>(member(record, "load", where), where);
}

void require_same_input(const Dataset& dataset, const Value& record, const std::string& where) {
  const Value& input = member(record, "input", where);
  const std::string expected = member(input, "hash", where).as_text(), found = hash_text(dataset.content_hash());
  if (expected != found)
    throw Error(ErrorKind::bad_input, fmt::format("{}: the frames differ from those of {} ({} instead of {})",
                                                  dataset.acquisition().path, where, found, expected))
        .hint("the record belongs to other data; leave " + setting("from") + " out to make a new image");
}

}  // namespace sonde::stem
