// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/emd_axes.h"

#include <fmt/format.h>

#include <cmath>

namespace sonde::stem {
namespace {

std::string folder_of(const std::string& path) {
  const std::size_t at = path.find_last_of('/');
  return at == 0 || at == std::string::npos ? "/" : path.substr(0, at);
}

std::string join(const std::string& group, const std::string& name) {
  return group == "/" ? "/" + name : group + "/" + name;
}

}  // namespace

std::optional<AxisScale> emd_axis(const Hdf5File& file, const std::string& dataset, int dimension) {
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
  return AxisScale{std::abs(*b - *a), unit ? unit->text().value_or("") : ""};
}

std::string emd_format(const Hdf5File& file, const std::string& dataset) {
  for (std::string group = folder_of(dataset);; group = folder_of(group)) {
    const auto major = file.attribute(group, "version_major"), minor = file.attribute(group, "version_minor");
    if (major && minor && major->integer() && minor->integer())
      return fmt::format("EMD {}.{}", *major->integer(), *minor->integer());
    if (group == "/") return "HDF5";
  }
}

void take_emd_axes(const Hdf5File& file, const std::string& dataset, Acquisition& acquisition) {
  take_scan_axes(emd_axis(file, dataset, 0), emd_axis(file, dataset, 1), acquisition);
  take_detector_axes(emd_axis(file, dataset, 2), emd_axis(file, dataset, 3), acquisition);
}

}  // namespace sonde::stem
