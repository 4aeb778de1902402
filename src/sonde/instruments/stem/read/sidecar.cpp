// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/sidecar.h"

#include <filesystem>

namespace sonde::stem {
namespace {

constexpr const char* group = "/STEM Metadata";

std::optional<Quantity> positive(const Hdf5File& file, const char* name) {
  const auto value = file.attribute(group, name);
  const auto number = value ? value->number() : std::nullopt;
  return number && *number > 0 ? std::optional(Quantity{*number, StatedBy::file}) : std::nullopt;
}

Index count(const Hdf5File& file, const char* name) {
  const auto value = file.attribute(group, name);
  return value ? value->integer().value_or(0) : 0;
}

}  // namespace

bool is_sidecar(const Hdf5File& file) { return file.is_group(group) && !file.exists("/entry"); }

Sidecar read_sidecar(const Hdf5File& file) {
  Sidecar sidecar;
  const Index rows = count(file, "NumPixelsY"), cols = count(file, "NumPixelsX");
  if (rows > 0 && cols > 0)
    sidecar.grid = StatedGrid{rows, cols, std::max<Index>(count(file, "NumPixelsPrescan"), 0),
                              "the sidecar " + std::filesystem::path(file.path()).filename().string()};
  Calibration& calibration = sidecar.calibration;
  calibration.high_tension_v = positive(file, "High Tension");
  calibration.camera_length_m = positive(file, "Camera Length");
  calibration.scan_step_col_nm = positive(file, "Pixel Size");
  const auto row_step = positive(file, "sonde_row_step_nm");  // our writer adds it when the steps differ
  calibration.scan_step_row_nm = row_step ? row_step : calibration.scan_step_col_nm;
  if (const auto rotation = file.attribute(group, "Rotation"))
    if (const auto number = rotation->number()) calibration.scan_rotation = Quantity{*number, StatedBy::file};
  for (const auto& [name, value] : file.attributes(group)) sidecar.metadata.emplace(name, value.printed());
  return sidecar;
}

}  // namespace sonde::stem
