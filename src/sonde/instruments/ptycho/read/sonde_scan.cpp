// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/read/sonde_scan.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/read/files.h"
#include "sonde/instruments/ptycho/read/stack.h"
#include "sonde/instruments/ptycho/simulate/simulate.h"

namespace sonde::ptycho {
namespace {

constexpr const char* data_path = "/data";

std::optional<double> number_at(const Hdf5File& file, const char* name) {
  const std::optional<Hdf5Value> value = file.attribute(data_path, name);
  return value ? value->number() : std::nullopt;
}

double require_number(const Hdf5File& file, const char* name) {
  const std::optional<double> number = number_at(file, name);
  if (!number) throw Error(ErrorKind::bad_file, fmt::format("{}:{}: no attribute {}", file.path(), data_path, name));
  return *number;
}

}  // namespace

bool is_sonde_scan(const Hdf5File& file) {
  const std::optional<Hdf5Value> schema = file.attribute("/", "schema");
  return schema && schema->text() == std::string(scan_schema);
}

Source open_sonde_scan(const std::string& path) {
  const Hdf5File file = Hdf5File::open(path);
  const auto data = std::make_shared<Hdf5Dataset>(require_dataset(file, data_path));
  const Hdf5DatasetInfo& info = data->info();
  if (info.shape.rank() != 4 || !info.dtype || *info.dtype >= DType::c64)
    throw Error(ErrorKind::bad_file,
                fmt::format("{}:{}: {} of shape {}, expected counts (scan rows, scan columns, rows, columns)",
                            file.path(), data_path, info.type_text, info.shape.text()));
  Source source;
  source.file = path;
  source.format = "sonde scan";
  source.shape = Shape{info.shape[0] * info.shape[1], info.shape[2], info.shape[3]};
  source.scan_shape = Extent{info.shape[0], info.shape[1]};
  source.dtype = *info.dtype;
  source.read_patterns = [data, shape = source.shape] { return data->read().reshaped(shape); };
  source.read_frames = frames_of(data);
  source.together = frames_together(data->info());
  source.zero_frequency = ZeroFrequency::centre;
  source.probe_type = ProbeType::electron;
  source.energy_kev = require_number(file, "energy_keV");
  source.mrad_per_px = require_number(file, "detector_mrad_per_px");
  source.semiangle_mrad = number_at(file, "semiangle_mrad");
  source.step_a = number_at(file, "scan_step_A");

  if (file.is_dataset("/positions_A")) {
    source.positions = as_points(file.dataset("/positions_A").read(), path + ":/positions_A");
    source.unit = LengthUnit::angstrom;
    source.reference = Reference::window_centre;
  }
  if (file.is_dataset("/mask"))
    source.good = as_mask(file.dataset("/mask").read(), true, source.shape.last(2), path + ":/mask");
  if (file.is_dataset("/probe")) {
    Array probe = as_complex(file.dataset("/probe").read(), path + ":/probe");
    if (probe.shape().rank() != 3 || !(probe.shape().last(2) == source.shape.last(2)))
      throw Error(ErrorKind::bad_file, fmt::format("{}:/probe: shape {}, expected (modes, {}, {})", path,
                                                   probe.shape().text(), source.shape[1], source.shape[2]));
    source.probe = std::move(probe);
  }
  return source;
}

}  // namespace sonde::ptycho
