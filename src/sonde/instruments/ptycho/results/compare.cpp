// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/results/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <optional>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/ptycho/quality/image.h"

namespace sonde::ptycho {
namespace {

constexpr Index least_pixels = 8;     // along each side, below which rings of frequencies mean nothing
constexpr double same_pixels = 0.01;  // relative
constexpr const char* truth_phase = "/truth/object_phase";

Array dataset_of(const Hdf5File& file, const std::string& path, DType dtype, Index rank) {
  if (!file.is_dataset(path)) throw Error(ErrorKind::bad_file, fmt::format("{}: no {}", file.path(), path));
  Array array = file.dataset(path).read();
  if (array.dtype() != dtype || array.shape().rank() != rank)
    throw Error(ErrorKind::bad_file, fmt::format("{}:{}: {} of shape {}, expected {} of {} dimensions", file.path(),
                                                 path, name(array.dtype()), array.shape().text(), name(dtype), rank));
  return array;
}

/// Mean of (J, 2).
Point mean_of(const Array& points) {
  const auto values = points.view<double, 2>();
  Point mean;
  for (Index j = 0; j < points.shape()[0]; ++j) {
    mean.row += values(j, 0) / static_cast<double>(points.shape()[0]);
    mean.col += values(j, 1) / static_cast<double>(points.shape()[0]);
  }
  return mean;
}

Box common(const Box& a, const Box& b) {
  const Index row = std::max(a.row, b.row), col = std::max(a.col, b.col);
  return {row, col, std::min(a.row + a.rows, b.row + b.rows) - row, std::min(a.col + a.cols, b.col + b.cols) - col};
}

Box moved_by(Box box, Index rows, Index cols) {
  box.row += rows;
  box.col += cols;
  return box;
}

std::string pixels_of(const PlacedObject& object) {
  return object.calibrated ? fmt::format("of {:.4g} x {:.4g} A", object.pixel_row, object.pixel_col) : "without a unit";
}

Box all_of(const Array& object) { return {0, 0, object.shape()[1], object.shape()[2]}; }

/// A box of one slice, or of the product of all of them (slice < 0).
Array cut_out(const Array& object, Index slice, const Box& box) {
  Array made(Device::cpu(), {box.rows, box.cols}, DType::c128);
  const auto to = made.view<complex128, 2>();
  const auto from = object.view<complex128, 3>();
  for (Index row = 0; row < box.rows; ++row)
    for (Index col = 0; col < box.cols; ++col) {
      complex128 value = 1;
      for (Index s = std::max<Index>(slice, 0); s < (slice < 0 ? object.shape()[0] : slice + 1); ++s)
        value *= from(s, box.row + row, box.col + col);
      to(row, col) = value;
    }
  return made;
}

/// angle(value conj(from)) of every pixel, from: another image, or the mean direction of the image.
template <class From>
Array angles(View<const complex128, 2> image, From&& from) {
  Array made(Device::cpu(), {image.extent[0], image.extent[1]}, DType::f32);
  const auto to = made.view<float, 2>();
  for (Index row = 0; row < image.extent[0]; ++row)
    for (Index col = 0; col < image.extent[1]; ++col)
      to(row, col) = static_cast<float>(std::arg(image(row, col) * std::conj(from(row, col))));
  return made;
}

complex128 mean_direction(View<const complex128, 2> image) {
  complex128 mean = 0;
  for (Index row = 0; row < image.extent[0]; ++row)
    for (Index col = 0; col < image.extent[1]; ++col) mean += image(row, col);
  return std::abs(mean) > 0 ? mean / std::abs(mean) : complex128(1);
}

Value value_of(const SliceComparison& slice, bool calibrated) {
  Value value;
  value["phase_rmse"] = slice.phase.rmse;
  value["scale"] = slice.phase.scale;
  value["shift_px"] = std::vector<double>{slice.phase.shift_row, slice.phase.shift_col};
  value["ramp_per_px"] = std::vector<double>{slice.phase.ramp.per_row, slice.phase.ramp.per_col};
  const std::optional<double> resolution = slice.rings.resolution();
  value[calibrated ? "resolution_A" : "resolution_px"] = resolution ? Value(*resolution) : Value();
  value["rings"] = slice.rings.to_value();
  return value;
}

}  // namespace

PlacedObject placed(const Result& result, const std::string& name) {
  return {name,
          result.transmission(),
          result.sampling.calibrated(),
          result.sampling.pixel_row(),
          result.sampling.pixel_col(),
          result.origin,
          result.field_of_view()};
}

bool has_truth(const std::string& path) {
  try {
    return Hdf5File::open(path).is_dataset(truth_phase);
  } catch (const Error&) {
    return false;
  }
}

PlacedObject read_truth(const std::string& path) {
  const Hdf5File file = Hdf5File::open(path);
  if (!file.is_dataset(truth_phase))
    throw Error(ErrorKind::bad_file, fmt::format("{}: no truth in it, {} is missing", path, truth_phase))
        .hint("`sonde ptycho simulate` writes scans with their truth");
  const Array phase = dataset_of(file, truth_phase, DType::f64, 3);
  const Array actual = dataset_of(file, "/truth/positions_px", DType::f64, 2);
  const Array nominal = dataset_of(file, "/positions_A", DType::f64, 2);
  const std::optional<Hdf5Value> pixel = file.attribute(truth_phase, "pixel_size_A");
  const auto side = [&](std::size_t i) {
    return pixel && pixel->elements.size() == 2 ? Hdf5Value{{}, {pixel->elements[i]}}.number().value_or(0) : 0;
  };
  if (!(side(0) > 0) || !(side(1) > 0))
    throw Error(ErrorKind::bad_file, fmt::format("{}:{}: no attribute pixel_size_A above zero", path, truth_phase));
  if (actual.shape()[1] != 2 || !(actual.shape() == nominal.shape()) || actual.shape()[0] == 0)
    throw Error(ErrorKind::bad_file, fmt::format("{}: /truth/positions_px has shape {}, /positions_A {}", path,
                                                 actual.shape().text(), nominal.shape().text()));

  PlacedObject truth;
  truth.name = path;
  truth.calibrated = true;
  truth.pixel_row = side(0);
  truth.pixel_col = side(1);
  const Point there = mean_of(actual), stated = mean_of(nominal);
  truth.origin = {stated.row / side(0) - there.row, stated.col / side(1) - there.col};
  std::vector<Point> places;
  const auto rows = actual.view<double, 2>();
  for (Index j = 0; j < actual.shape()[0]; ++j) places.push_back({rows(j, 0), rows(j, 1)});
  truth.object = Array(Device::cpu(), phase.shape(), DType::c128);
  const auto* from = static_cast<const double*>(phase.data());
  std::transform(from, from + phase.count(), static_cast<complex128*>(truth.object.data()),
                 [](double value) { return std::polar(1.0, value); });
  truth.view = common(field_of_view(places), all_of(truth.object));
  return truth;
}

ObjectComparison compare_objects(const PlacedObject& first, const PlacedObject& second, Start start) {
  if (first.calibrated != second.calibrated || std::abs(first.pixel_row / second.pixel_row - 1) > same_pixels ||
      std::abs(first.pixel_col / second.pixel_col - 1) > same_pixels)
    throw Error(ErrorKind::bad_input, fmt::format("{} has object pixels {}, {} has them {}", first.name,
                                                  pixels_of(first), second.name, pixels_of(second)))
        .hint("reconstruct both from the same detector pixels (data.crop)");

  // Pixel [i, j] of the first object is pixel [i + down, j + right] of the second.
  const auto down = static_cast<Index>(std::lround(first.origin.row - second.origin.row));
  const auto right = static_cast<Index>(std::lround(first.origin.col - second.origin.col));
  // Both are cut to all they share, so that a shift in Fourier space wraps around far from the view.
  const Box shared = common(all_of(first.object), moved_by(all_of(second.object), -down, -right));
  Box view = common(common(first.view, moved_by(second.view, -down, -right)),
                    {shared.row + 1, shared.col + 1, shared.rows - 2, shared.cols - 2});
  if (view.rows < least_pixels || view.cols < least_pixels)
    throw Error(ErrorKind::bad_input,
                fmt::format("the scanned areas of {} and {} have {} x {} pixels in common, {} x {} are the least",
                            first.name, second.name, std::max<Index>(view.rows, 0), std::max<Index>(view.cols, 0),
                            least_pixels, least_pixels));

  ObjectComparison made;
  made.view = view;
  made.calibrated = first.calibrated;
  made.pixel_row = first.pixel_row;
  made.pixel_col = first.pixel_col;
  view = moved_by(view, -shared.row, -shared.col);
  const auto compare_slice = [&](Index slice) {
    const Array a = cut_out(first.object, slice, shared);
    Array b = cut_out(second.object, slice, moved_by(shared, down, right));
    SliceComparison found;
    found.phase = phase_rmse(a, b, view, start);
    const Shape stack{1, shared.rows, shared.cols};
    const Array same_place = aligned(a, b, view, start).reshaped(stack), measure = std::move(b).reshaped(stack);
    const auto x = part(same_place, 0, view), y = part(measure, 0, view);
    found.rings = ring_correlation(x, y, made.pixel_row, made.pixel_col);
    if (slice < 0) {
      const complex128 middle = mean_direction(y);
      made.first = angles(x, [&](Index, Index) { return middle; });
      made.second = angles(y, [&](Index, Index) { return middle; });
      made.difference = angles(x, y);
    }
    return found;
  };
  made.whole = compare_slice(-1);
  if (const Index slices = first.object.shape()[0]; slices > 1 && slices == second.object.shape()[0])
    for (Index slice = 0; slice < slices; ++slice) made.slices.push_back(compare_slice(slice));
  return made;
}

Value ObjectComparison::to_value() const {
  Value value;
  value["view"]["rows"] = view.rows;
  value["view"]["cols"] = view.cols;
  if (calibrated) value["pixel_size_A"] = std::vector<double>{pixel_row, pixel_col};
  const Value whole_value = value_of(whole, calibrated);
  for (const Value::Member& member : whole_value.members()) value[member.key] = member.value;
  for (const SliceComparison& slice : slices) value["slices"].push_back(value_of(slice, calibrated));
  return value;
}

}  // namespace sonde::ptycho
