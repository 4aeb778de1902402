// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/read/files.h"
#include "sonde/instruments/ptycho/read/foreign.h"
#include "sonde/instruments/ptycho/read/stack.h"

namespace sonde::ptycho {
namespace {

constexpr const char* patterns_path = "/entry_1/data_1/data";
constexpr double joule_per_kev = 1.602176634e-16;

std::vector<Point> translations(const Hdf5File& file) {
  for (const char* path : {"/entry_1/data_1/translation", "/entry_1/sample_1/geometry_1/translation"}) {
    if (!file.is_dataset(path)) continue;
    const std::string what = fmt::format("{}:{}", file.path(), path);
    const Array stored = file.dataset(path).read();
    if (stored.shape().rank() != 2 || stored.shape()[1] != 3)
      throw Error(ErrorKind::bad_input, fmt::format("{}: shape {}, expected (frames, 3)", what, stored.shape().text()));
    const std::vector<double> xyz = as_doubles(stored, what);
    std::vector<Point> points;
    for (std::size_t i = 0; i < xyz.size(); i += 3)
      points.push_back({xyz[i + 1] * angstrom_per_m, xyz[i] * angstrom_per_m});
    return points;
  }
  throw Error(ErrorKind::bad_file, fmt::format("{}: no translation of the frames", file.path()))
      .hint("expected /entry_1/data_1/translation or /entry_1/sample_1/geometry_1/translation");
}

}  // namespace

bool is_cxi(const Hdf5File& file) { return file.is_dataset(patterns_path); }

Source open_cxi(const std::string& path) {
  const Hdf5File file = Hdf5File::open(path);
  const auto data = std::make_shared<Hdf5Dataset>(require_dataset(file, patterns_path));
  Source source;
  source.file = path;
  source.format = "CXI";
  source.shape = data->info().shape;
  if (source.shape.rank() != 3 || !data->info().dtype || *data->info().dtype >= DType::c64)
    throw Error(ErrorKind::bad_input, fmt::format("{}:{}: {} of shape {}, expected counts (frames, rows, columns)",
                                                  path, patterns_path, data->info().type_text, source.shape.text()));
  source.dtype = *data->info().dtype;
  source.read_patterns = [data] { return data->read(); };
  source.read_frames = frames_of(data);
  source.together = frames_together(data->info());
  source.positions = translations(file);
  source.unit = LengthUnit::angstrom;
  source.probe_type = ProbeType::photon;
  source.probe_type_assumed = true;

  const std::string detector = "/entry_1/instrument_1/detector_1/";
  source.distance_m = number_in(file, detector + "distance");
  const std::optional<double> x = number_in(file, detector + "x_pixel_size"),
                              y = number_in(file, detector + "y_pixel_size");
  source.detector_pixel_m = x ? x : y;
  if (x && y && *x != *y)
    throw Error(ErrorKind::not_supported, fmt::format("{}: detector pixels of {} x {} m are not square", path, *y, *x));
  if (file.is_dataset(detector + "mask"))
    source.good =
        as_mask(file.dataset(detector + "mask").read(), false, source.shape.last(2), path + ":" + detector + "mask");
  if (std::optional<double> energy = number_in(file, "/entry_1/instrument_1/source_1/energy")) {
    if (*energy > 1e-10) {
      source.warnings.push_back(fmt::format("{}: an energy of {} J is taken as eV", path, *energy));
      source.energy_kev = *energy / 1000;
    } else {
      source.energy_kev = *energy / joule_per_kev;
    }
  }
  const std::string illumination = "/entry_1/instrument_1/source_1/illumination";
  if (file.is_dataset(illumination)) {
    Array probe = as_complex(file.dataset(illumination).read(), path + ":" + illumination);
    const Shape shape = probe.shape();
    if (shape.rank() == 2) probe = std::move(probe).reshaped(Shape{1, shape[0], shape[1]});
    if (probe.shape().rank() == 3 && probe.shape().last(2) == source.shape.last(2))
      source.probe = std::move(probe);
    else
      source.warnings.push_back(fmt::format("{}: an illumination of {} is not used", path, shape.text()));
  }
  return source;
}

}  // namespace sonde::ptycho
