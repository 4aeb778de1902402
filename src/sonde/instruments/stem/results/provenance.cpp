// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/results/provenance.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <numeric>
#include <optional>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/report/provenance.h"

namespace sonde::stem {
namespace {

struct NamedQuantity {
  const char* name;
  std::optional<Quantity> Calibration::*value;
};
constexpr NamedQuantity quantities[] = {{"high_tension_v", &Calibration::high_tension_v},
                                        {"camera_length_m", &Calibration::camera_length_m},
                                        {"scan_step_row_nm", &Calibration::scan_step_row_nm},
                                        {"scan_step_col_nm", &Calibration::scan_step_col_nm},
                                        {"scan_rotation", &Calibration::scan_rotation},
                                        {"detector_pixel_m", &Calibration::detector_pixel_m},
                                        {"detector_step_mrad", &Calibration::detector_step_mrad},
                                        {"detector_step_inv_a", &Calibration::detector_step_inv_a},
                                        {"rotation_rad", &Calibration::rotation_rad}};

constexpr std::pair<StatedBy, const char*> sayers[] = {
    {StatedBy::file, "file"}, {StatedBy::user, "user"}, {StatedBy::calibration, "calibration"}};

StatedBy said_in(const Value* from) {
  if (from != nullptr && from->is_text())
    for (const auto& [who, word] : sayers)
      if (from->as_text() == word) return who;
  return StatedBy::file;
}

std::optional<double> finite_in(const Value* value) {
  if (value == nullptr || !value->is_number() || !std::isfinite(value->as_real())) return std::nullopt;
  return value->as_real();
}

const Value& member(const Value& record, std::string_view key, const std::string& where) {
  const Value* found = record.find(key);
  if (found == nullptr)
    throw Error(ErrorKind::bad_file, fmt::format("{}: no \"{}\", so it is not a record of a result", where, key))
        .hint("give the .json that was written beside an image");
  return *found;
}

}  // namespace

std::string who_says(StatedBy who) {
  for (const auto& [one, word] : sayers)
    if (one == who) return word;
  return "file";
}

Value calibration_value(const Calibration& calibration) {
  Value all = Value::object();
  for (const auto& [name, quantity] : quantities) {
    if (!(calibration.*quantity)) continue;
    all[name]["value"] = (calibration.*quantity)->value;
    all[name]["from"] = who_says((calibration.*quantity)->stated_by);
  }
  if (calibration.transpose) all["transpose"] = *calibration.transpose;
  if (const auto& ellipse = calibration.ellipse) {
    all["ellipse"]["a"] = ellipse->a;
    all["ellipse"]["b"] = ellipse->b;
    all["ellipse"]["theta_rad"] = ellipse->theta;
    all["ellipse"]["radius"] = ellipse->radius;
    all["ellipse"]["from"] = who_says(ellipse->stated_by);
  }
  if (const auto& centre = calibration.centre) {
    all["centre"]["row_px"] = centre->row;
    all["centre"]["col_px"] = centre->col;
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

Calibration calibration_from(const Value& record) {
  Calibration calibration;
  if (!record.is_object()) return calibration;
  for (const auto& [name, quantity] : quantities) {
    const Value* entry = record.find(name);
    if (entry == nullptr || !entry->is_object()) continue;
    if (const std::optional<double> value = finite_in(entry->find("value")))
      calibration.*quantity = Quantity{*value, said_in(entry->find("from"))};
  }
  if (const Value* transpose = record.find("transpose"); transpose != nullptr && transpose->is_bool())
    calibration.transpose = transpose->as_bool();
  if (const Value* ellipse = record.find("ellipse"); ellipse != nullptr && ellipse->is_object()) {
    const auto a = finite_in(ellipse->find("a")), b = finite_in(ellipse->find("b")),
               theta = finite_in(ellipse->find("theta_rad")), radius = finite_in(ellipse->find("radius"));
    if (a && b && theta && radius && *a > 0 && *b > 0 && *radius > 0)
      calibration.ellipse = Distortion{*a, *b, *theta, *radius, said_in(ellipse->find("from"))};
  }
  return calibration;
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
