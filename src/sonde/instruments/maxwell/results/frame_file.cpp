// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/frame_file.h"

#include <fmt/format.h>

#include <cassert>
#include <limits>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/io/declared_size.h"
#include "sonde/engine/report/provenance.h"
#include "sonde/instruments/maxwell/results/gprmax_result.h"

namespace sonde::maxwell {
namespace {

constexpr const char* frames_schema = "sonde.maxwell.snapshots/1";

DType dtype_of_fields(Precision precision) { return precision == Precision::f32 ? DType::f32 : DType::f64; }
std::string path_of(Component c) { return "/" + std::string(name(c)); }

std::vector<double> offsets_of(Component c, bool centred) {
  std::vector<double> made;
  for (const Axis axis : all_axes) made.push_back(!centred && is_half(c, axis) ? 0.5 : 0);
  return made;
}

}  // namespace

std::vector<Component> FrameSpec::components() const {
  std::vector<Component> made;
  for (const Component c : all_components)
    if (has_component(grid.mode, sampling.axes, c)) made.push_back(c);
  return made;
}

std::uint64_t FrameSpec::bytes() const {
  const auto samples = static_cast<std::uint64_t>(frames * sampling.count[0] * sampling.count[1] * sampling.count[2]);
  return samples * components().size() * size_bytes(dtype_of_fields(precision));
}

std::vector<double> FrameSpec::positions(std::size_t users) const {
  std::vector<double> made(static_cast<std::size_t>(sampling.count[users]));
  for (std::size_t i = 0; i < made.size(); ++i) {
    const double cells =
        static_cast<double>(sampling.first[users]) +
        static_cast<double>(sampling.step[users]) * (static_cast<double>(i) + (sampling.centred ? 0.5 : 0.0));
    made[i] = origin[users] + cells * spacing[users];
  }
  return made;
}

void for_each_plane(const FrameSpec& spec, const LiveFields& fields,
                    const std::function<void(Component c, Index z, const Array& plane)>& body) {
  for (const Component c : spec.components())
    for (Index z = 0; z < spec.sampling.count[2]; ++z) body(c, z, sampled_plane(fields, spec.sampling, c, z));
}

FrameFile::FrameFile(const std::string& path, FrameSpec spec, const OutputRole& role)
    : spec_(std::move(spec)),
      file_(path, role),
      times_(static_cast<std::size_t>(spec_.frames), std::numeric_limits<double>::quiet_NaN()),
      electric_(times_),
      magnetic_(times_) {
  file_.text_attribute("/", "schema", frames_schema);
  file_.text_attribute("/", "title", spec_.title);
  file_.text_attribute("/", "made_by", made_by_text());
  file_.text_attribute("/", "z_axis", spec_.depth ? "down" : "up");
  const XyzIndex& n = spec_.sampling.count;
  for (const Component c : spec_.components()) {
    file_.declare(path_of(c), {.shape = {spec_.frames, n[2], n[1], n[0]},
                               .dtype = dtype_of_fields(spec_.precision),
                               .chunk = {},
                               .filters = {},
                               .fill = {}});
    file_.describe(path_of(c), {"time", "z", "y", "x"}, unit_of(c));
    file_.attribute(path_of(c), "offset_cells", offsets_of(c, spec_.sampling.centred));
  }
  for (std::size_t u = 0; u < 3; ++u) {
    const std::string axis(1, xyz_letters[u]);
    file_.array("/" + axis, Array::from(spec_.positions(u), {n[u]}));
    file_.describe("/" + axis, {axis}, "m");
  }
}

void FrameFile::add(Index frame, double time, const LiveFields& fields) {
  assert(frame < spec_.frames && fields.precision() == spec_.precision);
  times_[static_cast<std::size_t>(frame)] = time;
  for_each_plane(spec_, fields, [&](Component c, Index z, const Array& plane) {
    file_.write_box(path_of(c), {frame, z, 0, 0}, {1, 1, plane.shape()[0], plane.shape()[1]}, plane.dtype(),
                    plane.data());
  });
}

void FrameFile::add_energy(Index frame, const FieldEnergy& energy) {
  electric_[static_cast<std::size_t>(frame)] = energy.electric;
  magnetic_[static_cast<std::size_t>(frame)] = energy.magnetic;
}

void FrameFile::close() {
  if (std::exchange(closed_, true)) return;
  const auto add_series = [&](const std::string& path, const std::vector<double>& values, const char* unit) {
    file_.array(path, Array::from(values, {spec_.frames}));
    file_.describe(path, {"time"}, unit);
  };
  add_series("/time", times_, "s");
  std::vector<double> earlier = times_;
  for (double& time : earlier) time -= spec_.magnetic_delay;
  add_series("/time_of_h", earlier, "s");
  if (spec_.energy) {
    const char* unit = spec_.grid.mode == Mode::tm2d ? "J/m" : "J";
    add_series("/energy_electric", electric_, unit);
    add_series("/energy_magnetic", magnetic_, unit);
  }
  file_.close();
}

void FrameFile::finish() {
  close();
  file_.finish();
}

bool FrameReader::recognises(const std::string& path) {
  try {
    const auto schema = Hdf5File::open(path).attribute("/", "schema");
    return schema && schema->text() == frames_schema;
  } catch (const Error&) {
    return false;
  }
}

FrameReader::FrameReader(const std::string& path) : file_(Hdf5File::open(path)) {
  const auto text = [&](const char* attribute) {
    const auto value = file_.attribute("/", attribute);
    return value ? value->text().value_or("") : std::string();
  };
  if (text("schema") != frames_schema)
    throw Error(ErrorKind::bad_file, fmt::format("{}: not a file of snapshots", path));
  title = text("title");
  depth = text("z_axis") == "down";
  for (const Component c : all_components) {
    if (!file_.is_dataset(path_of(c))) continue;
    const Hdf5DatasetInfo info = file_.dataset(path_of(c)).info();
    const Shape& shape = info.shape;
    const bool fits = shape.rank() == 4 && (info.dtype == DType::f32 || info.dtype == DType::f64) &&
                      shape.count() > 0 &&
                      (components.empty() ||
                       (shape[0] == frames && shape[1] == count[2] && shape[2] == count[1] && shape[3] == count[0]));
    if (!fits)
      throw Error(ErrorKind::bad_file,
                  fmt::format("{}: {} is {} {}; expected numbers [frame][z][y][x], all of one shape", path, path_of(c),
                              info.type_text, shape.text()));
    require_believable(fmt::format("{}, {}", path, path_of(c)), {.items = shape.count(),
                                                                 .item_bytes = info.element_bytes,
                                                                 .chunks = 0,
                                                                 .file_bytes = file_bytes(path).value_or(0),
                                                                 .packed = !info.filters.empty()});
    components.push_back(c);
    frames = shape[0];
    count = {shape[3], shape[2], shape[1]};
  }
  if (components.empty()) throw Error(ErrorKind::bad_file, fmt::format("{}: no component of a field", path));
  times = line("/time", frames);
  for (std::size_t u = 0; u < 3; ++u) positions[u] = line(std::string("/") + xyz_letters[u], count[u]);
}

std::vector<double> FrameReader::line(const std::string& name, Index length) const {
  const Hdf5Dataset dataset = file_.dataset(name);
  if (dataset.info().dtype != DType::f64 || dataset.info().shape != Shape{length})
    throw Error(ErrorKind::bad_file, fmt::format("{}: {} is {} {}; expected f64 ({})", file_.path(), name,
                                                 dataset.info().type_text, dataset.info().shape.text(), length));
  const Array read = dataset.read();
  const auto* first = static_cast<const double*>(read.data());
  return {first, first + length};
}

std::vector<double> FrameReader::plane(Component c, Index frame, std::size_t cut, Index at) const {
  const Hdf5Dataset dataset = file_.dataset(path_of(c));
  std::array<Index, 3> first{}, counts{count[2], count[1], count[0]};
  first[2 - cut] = at;
  counts[2 - cut] = 1;
  const Array read = dataset.read({frame, first[0], first[1], first[2]}, {1, counts[0], counts[1], counts[2]});
  const auto of = [&]<class T>(const T* values) { return std::vector<double>(values, values + read.count()); };
  return read.dtype() == DType::f32 ? of(static_cast<const float*>(read.data()))
                                    : of(static_cast<const double*>(read.data()));
}

}  // namespace sonde::maxwell
