// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/read/files.h"
#include "sonde/instruments/ptycho/read/foreign.h"

namespace sonde::ptycho {
namespace {

/// The first number of a small value: sizes may be stored as one number or as two equal ones.
std::optional<double> first_number(const Hdf5File& file, const std::string& path) {
  const std::optional<Hdf5Value> value = file.value(path, 2);
  if (!value || value->elements.empty()) return std::nullopt;
  return Hdf5Value{{}, {value->elements.front()}}.number();
}

}  // namespace

bool is_ptyd(const Hdf5File& file) { return file.is_group("/chunks") && file.is_group("/meta"); }

Source open_ptyd(const std::string& path) {
  const Hdf5File file = Hdf5File::open(path);
  Source source;
  source.file = path;
  source.format = "PtyD";
  auto chunks = std::make_shared<std::vector<Hdf5Dataset>>();
  std::vector<std::uint8_t> good;
  for (const Hdf5Link& link : file.list("/chunks")) {
    const std::string chunk = "/chunks/" + link.name + "/";
    Hdf5Dataset data = require_dataset(file, chunk + "data");
    const Shape& shape = data.info().shape;
    const std::string what = fmt::format("{}:{}data", path, chunk);
    if (shape.rank() != 3 || !data.info().dtype || *data.info().dtype >= DType::c64)
      throw Error(ErrorKind::bad_input, fmt::format("{}: {} of shape {}, expected counts (frames, rows, columns)", what,
                                                    data.info().type_text, shape.text()));
    if (chunks->empty()) {
      source.shape = Shape{0, shape[1], shape[2]};
      source.dtype = *data.info().dtype;
    } else if (!(shape.last(2) == source.shape.last(2)) || *data.info().dtype != source.dtype) {
      throw Error(ErrorKind::bad_input,
                  fmt::format("{}: patterns of {} {}, those before are {} {}", what, shape.last(2).text(),
                              name(*data.info().dtype), source.shape.last(2).text(), name(source.dtype)));
    }
    const std::vector<Point> points =
        as_points(require_dataset(file, chunk + "positions").read(), path + ":" + chunk + "positions");
    if (static_cast<Index>(points.size()) != shape[0])
      throw Error(ErrorKind::bad_input, fmt::format("{}: {} positions for {} frames", what, points.size(), shape[0]));
    for (const Point& point : points)
      source.positions.push_back({point.row * angstrom_per_m, point.col * angstrom_per_m});
    source.shape = Shape{source.shape[0] + shape[0], shape[1], shape[2]};
    chunks->push_back(std::move(data));
    if (good.empty() && file.is_dataset(chunk + "weights")) {
      // One mask for all: weights of single frames beyond the first are rare and would cost a second stack.
      const Hdf5Dataset weights = file.dataset(chunk + "weights");
      const Shape& extent = weights.info().shape;
      Array first = extent.rank() == 3
                        ? weights.read(Shape{0, 0, 0}, Shape{1, extent[1], extent[2]}).reshaped(extent.last(2))
                        : weights.read();
      good = as_mask(first, true, source.shape.last(2), path + ":" + chunk + "weights");
      if (extent.rank() == 3 && extent[0] > 1)
        source.warnings.push_back(fmt::format("{}: the weights of the first frame are used for all", path));
    }
  }
  if (chunks->empty()) throw Error(ErrorKind::bad_file, fmt::format("{}: /chunks is empty", path));
  if (good.empty() && file.is_dataset("/meta/weight2d"))
    good = as_mask(file.dataset("/meta/weight2d").read(), true, source.shape.last(2), path + ":/meta/weight2d");
  source.good = std::move(good);
  source.read_frames = [chunks, shape = source.shape, dtype = source.dtype](Index first, Index count) {
    Array frames(Device::cpu(), Shape{count, shape[1], shape[2]}, dtype);
    std::span<std::byte> rest(static_cast<std::byte*>(frames.data()), frames.allocated_bytes());
    const std::size_t frame_bytes = frames.allocated_bytes() / static_cast<std::size_t>(count);
    Index before = 0;  // frames of the chunks before this one
    for (const Hdf5Dataset& chunk : *chunks) {
      const Index own = chunk.info().shape[0];
      const Index from = std::max(first, before), to = std::min(first + count, before + own);
      if (from < to) {
        const std::size_t bytes = static_cast<std::size_t>(to - from) * frame_bytes;
        chunk.read_into(Shape{from - before, 0, 0}, Shape{to - from, shape[1], shape[2]}, rest.first(bytes));
        rest = rest.subspan(bytes);
      }
      before += own;
    }
    return frames;
  };
  source.read_patterns = [read = source.read_frames, count = source.shape[0]] { return read(0, count); };
  source.unit = LengthUnit::angstrom;
  source.probe_type = ProbeType::photon;
  source.probe_type_assumed = true;
  source.energy_kev = number_in(file, "/meta/energy");
  source.distance_m = number_in(file, "/meta/distance");
  source.detector_pixel_m = first_number(file, "/meta/psize");
  return source;
}

}  // namespace sonde::ptycho
