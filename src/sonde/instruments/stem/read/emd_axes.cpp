// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/emd_axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace sonde::stem {
namespace {

std::string folder_of(const std::string& path) {
  const std::size_t at = path.find_last_of('/');
  return at == 0 || at == std::string::npos ? "/" : path.substr(0, at);
}

std::string join(const std::string& group, const std::string& name) {
  return group == "/" ? "/" + name : group + "/" + name;
}

/// "[n_m^-1]" as "nm^-1".
std::string plain_unit(std::string unit) {
  std::erase_if(unit, [](char c) { return c == '[' || c == ']' || c == '_' || c == ' '; });
  return unit;
}

/// How many nm, or nothing when the unit is no length.
std::optional<double> nanometres(const std::string& unit) {
  for (const auto& [name, factor] : {std::pair("nm", 1.0),
                                     {"A", 0.1},
                                     {"Å", 0.1},
                                     {"Angstrom", 0.1},
                                     {"angstrom", 0.1},
                                     {"pm", 1e-3},
                                     {"um", 1e3},
                                     {"µm", 1e3},
                                     {"m", 1e9}})
    if (unit == name) return factor;
  return std::nullopt;
}

/// The length whose inverse the unit is: "A^-1", "1/nm", "nm-1".
std::optional<double> inverse_angstroms(const std::string& unit) {
  std::string length;
  if (unit.starts_with("1/"))
    length = unit.substr(2);
  else if (unit.ends_with("^-1"))
    length = unit.substr(0, unit.size() - 3);
  else if (unit.ends_with("-1"))
    length = unit.substr(0, unit.size() - 2);
  const auto nm = nanometres(length);
  return nm ? std::optional(0.1 / *nm) : std::nullopt;
}

}  // namespace

std::optional<EmdAxis> emd_axis(const Hdf5File& file, const std::string& dataset, int dimension) {
  const std::string group = folder_of(dataset);
  const int first = file.is_dataset(join(group, "dim0")) ? 0 : 1;
  const std::string path = join(group, fmt::format("dim{}", first + dimension));
  if (!file.is_dataset(path)) return std::nullopt;
  const Hdf5Dataset positions = file.dataset(path);
  if (!positions.info().dtype || positions.info().shape.rank() != 1 || positions.info().shape[0] < 2)
    return std::nullopt;
  const Hdf5Value values = positions.value();
  const auto at = [&](std::size_t i) { return Hdf5Value{{}, {values.elements[i]}}.number(); };
  const auto a = at(0), b = at(1);
  if (!a || !b || !std::isfinite(*b - *a) || *b == *a) return std::nullopt;
  const auto unit = positions.attribute("units");
  return EmdAxis{std::abs(*b - *a), plain_unit(unit ? unit->text().value_or("") : "")};
}

std::string emd_format(const Hdf5File& file, const std::string& dataset) {
  for (std::string group = folder_of(dataset);; group = folder_of(group)) {
    const auto major = file.attribute(group, "version_major"), minor = file.attribute(group, "version_minor");
    if (major && minor && major->integer() && minor->integer())
      return fmt::format("EMD {}.{}", *major->integer(), *minor->integer());
    if (group == "/") return "HDF5";
  }
}

Calibration emd_calibration(const Hdf5File& file, const std::string& dataset) {
  Calibration calibration;
  const auto scan_step = [&](int dimension) -> std::optional<Quantity> {
    const auto axis = emd_axis(file, dataset, dimension);
    const auto nm = axis ? nanometres(axis->unit) : std::nullopt;
    return nm ? std::optional(Quantity{axis->step * *nm, StatedBy::file}) : std::nullopt;
  };
  calibration.scan_step_row_nm = scan_step(0);
  calibration.scan_step_col_nm = scan_step(1);
  if (const auto axis = emd_axis(file, dataset, 3)) {
    if (const auto inverse = inverse_angstroms(axis->unit))
      calibration.detector_step_inv_a = Quantity{axis->step * *inverse, StatedBy::file};
    if (axis->unit == "mrad") calibration.detector_step_mrad = Quantity{axis->step, StatedBy::file};
    if (axis->unit == "rad") calibration.detector_step_mrad = Quantity{1e3 * axis->step, StatedBy::file};
  }
  return calibration;
}

}  // namespace sonde::stem
