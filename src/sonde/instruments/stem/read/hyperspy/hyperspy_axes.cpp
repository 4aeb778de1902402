// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/hyperspy/hyperspy_axes.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <map>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/zarr.h"

namespace sonde::stem {
namespace {

namespace fs = std::filesystem;

std::string group_above(const std::string& path) {
  const std::size_t at = path.find_last_of('/');
  return at == std::string::npos ? "" : path.substr(0, at);
}

std::optional<double> number(const std::string& text) {
  double value = 0;
  const auto [rest, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Quantity> positive(std::optional<double> value, double factor) {
  return value && *value > 0 ? std::optional(Quantity{*value * factor, StatedBy::file}) : std::nullopt;
}

}  // namespace

std::optional<HyperspySignal> read_hyperspy(const Hdf5File& file, const std::string& dataset, int rank) {
  const std::string group = group_above(dataset);
  HyperspySignal signal;
  for (int i = 0; i < rank; ++i) {
    const std::string axis = fmt::format("{}/axis-{}", group, i);
    if (!file.is_group(axis)) return std::nullopt;
    const auto scale = file.attribute(axis, "scale"), units = file.attribute(axis, "units"),
               navigate = file.attribute(axis, "navigate");
    HyperspySignal::Axis one;
    one.scale.step = scale ? scale->number().value_or(0) : 0;
    one.scale.unit = units ? units->text().value_or("") : "";
    // h5py stores truth values as an enumeration, HyperSpy's older versions as numbers.
    one.navigates = navigate && navigate->integer().value_or(0) != 0;
    signal.axes.push_back(std::move(one));
  }
  const std::string microscope = group + "/metadata/Acquisition_instrument/TEM";
  if (file.is_group(microscope)) {
    const auto energy = file.attribute(microscope, "beam_energy"), length = file.attribute(microscope, "camera_length");
    signal.high_tension_v = positive(energy ? energy->number() : std::nullopt, 1e3);    // keV
    signal.camera_length_m = positive(length ? length->number() : std::nullopt, 1e-3);  // mm
  }
  return signal;
}

std::optional<HyperspySignal> read_hyperspy_zarr(const std::string& array, int rank) {
  // "scan.zspy/Experiments/title/data" may be named with a slash at its end.
  fs::path path(array);
  if (!path.has_filename()) path = path.parent_path();
  const fs::path group = path.parent_path();
  HyperspySignal signal;
  for (int i = 0; i < rank; ++i) {
    const fs::path axis = group / fmt::format("axis-{}", i);
    std::error_code ignored;
    if (!fs::is_directory(axis, ignored)) return std::nullopt;
    auto values = read_zarr_attributes(axis.string());
    HyperspySignal::Axis one;
    one.scale.step = number(values["scale"]).value_or(0);
    one.scale.unit = values["units"] == "null" ? "" : values["units"];
    one.navigates = values["navigate"] == "true" || values["navigate"] == "1";
    signal.axes.push_back(std::move(one));
  }
  auto microscope = read_zarr_attributes((group / "metadata" / "Acquisition_instrument" / "TEM").string());
  signal.high_tension_v = positive(number(microscope["beam_energy"]), 1e3);
  signal.camera_length_m = positive(number(microscope["camera_length"]), 1e-3);
  return signal;
}

std::optional<StatedGrid> take_hyperspy(const HyperspySignal& signal, const Shape& shape, Acquisition& acquisition) {
  const std::size_t rank = signal.axes.size();
  std::size_t navigating = 0;
  for (const auto& axis : signal.axes) navigating += axis.navigates ? 1 : 0;
  const bool patterns =
      rank >= 2 && navigating == rank - 2 && !signal.axes[rank - 1].navigates && !signal.axes[rank - 2].navigates;
  if (!patterns)
    throw Error(
        ErrorKind::not_supported,
        fmt::format("{}: a HyperSpy signal of {} dimensions behind {} navigation axes; expected patterns of two",
                    acquisition.path, rank - navigating, navigating))
        .hint("s.transpose(signal_axes=2) makes patterns of the last two navigation axes; save it again");
  acquisition.calibration.high_tension_v = signal.high_tension_v;
  acquisition.calibration.camera_length_m = signal.camera_length_m;
  take_detector_axes(signal.axes[rank - 2].scale, signal.axes[rank - 1].scale, acquisition);
  if (rank == 4) take_scan_axes(signal.axes[0].scale, signal.axes[1].scale, acquisition);
  if (rank != 3) return std::nullopt;
  // One navigation axis with a unit of length is a line; without one the frames may be those of any scan.
  const auto step = known_step(signal.axes[0].scale);
  if (!step || step->kind != AxisKind::length) return std::nullopt;
  take_scan_axes(std::nullopt, signal.axes[0].scale, acquisition);
  return StatedGrid{1, shape[0], 0, "one navigation axis with a unit of length"};
}

}  // namespace sonde::stem
