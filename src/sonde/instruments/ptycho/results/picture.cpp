// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/results/picture.h"

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <functional>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/tiff.h"

namespace sonde::ptycho {
namespace {

/// of(value, mean direction in the view of its slice), (S, rows, cols).
template <class Of>
Array slices_of(const Result& result, const Box& view, Of&& of) {
  const Array object = result.transmission();
  const auto values = object.view<complex128, 3>();
  const Index slices = object.shape()[0];
  Array images(Device::cpu(), Shape{slices, view.rows, view.cols}, DType::f32);
  auto to = images.view<float, 3>();
  for (Index s = 0; s < slices; ++s) {
    complex128 mean = 0;
    for (Index r = 0; r < view.rows; ++r)
      for (Index c = 0; c < view.cols; ++c) mean += values(s, view.row + r, view.col + c);
    mean = std::abs(mean) > 0 ? mean / std::abs(mean) : complex128(1);
    for (Index r = 0; r < view.rows; ++r)
      for (Index c = 0; c < view.cols; ++c)
        to(s, r, c) = static_cast<float>(of(values(s, view.row + r, view.col + c), mean));
  }
  return images;
}

/// All slices joined by `join`, (rows, cols).
template <class Join>
Array joined(const Array& slices, Join&& join) {
  const auto from = slices.view<float, 3>();
  Array image(Device::cpu(), Shape{from.extent[1], from.extent[2]}, DType::f32);
  auto to = image.view<float, 2>();
  for (Index r = 0; r < to.extent[0]; ++r)
    for (Index c = 0; c < to.extent[1]; ++c) {
      to(r, c) = from(0, r, c);
      for (Index s = 1; s < from.extent[0]; ++s) to(r, c) = join(to(r, c), from(s, r, c));
    }
  return image;
}

/// Of a potential, not through the transmission: a phase may pass pi.
template <class Real>
Array cut_phases(const Array& phases, const Box& view) {
  const auto from = phases.view<Real, 3>();
  Array images(Device::cpu(), Shape{from.extent[0], view.rows, view.cols}, DType::f32);
  auto to = images.view<float, 3>();
  for (Index s = 0; s < from.extent[0]; ++s)
    for (Index r = 0; r < view.rows; ++r)
      for (Index c = 0; c < view.cols; ++c) to(s, r, c) = static_cast<float>(from(s, view.row + r, view.col + c));
  return images;
}

}  // namespace

Array phase_slices(const Result& result, const Box& view) {
  if (result.type == ObjectType::potential)
    return result.phase.dtype() == DType::f32 ? cut_phases<float>(result.phase, view)
                                              : cut_phases<double>(result.phase, view);
  return slices_of(result, view, [](complex128 value, complex128 mean) { return std::arg(value * std::conj(mean)); });
}

Array amplitude_slices(const Result& result, const Box& view) {
  return slices_of(result, view, [](complex128 value, complex128) { return std::abs(value); });
}

Array phase_image(const Result& result, const Box& view) {
  return joined(phase_slices(result, view), std::plus<float>());
}

Array amplitude_image(const Result& result, const Box& view) {
  return joined(amplitude_slices(result, view), std::multiplies<float>());
}

Array cut(const Array& image, const Box& view) {
  Array part(Device::cpu(), Shape{view.rows, view.cols}, DType::f32);
  const auto from = image.view<float, 2>();
  auto to = part.view<float, 2>();
  for (Index r = 0; r < view.rows; ++r)
    for (Index c = 0; c < view.cols; ++c) to(r, c) = from(view.row + r, view.col + c);
  return part;
}

ImageStyle measured_style(const Sampling& sampling, const std::string& value_unit) {
  ImageStyle style;
  style.pixel_size = sampling.calibrated() ? sampling.pixel_col() / 10 : 1;
  style.unit = sampling.calibrated() ? "nm" : "px";
  style.colour_bar = true;
  style.value_unit = value_unit;
  return style;
}

OutputRole picture_role() { return side_output("the picture", FileMark::picture); }
OutputRole page_role() { return side_output("the page of the result", FileMark::page); }

void write_picture(const std::string& path, const Array& image, const Sampling& sampling, const std::string& value_unit,
                   const std::string& description, const OutputRole& role) {
  const std::string name = to_lower(path);
  if (name.ends_with(".tif") || name.ends_with(".tiff")) {
    TiffTags tags;
    tags.description = description;
    if (sampling.calibrated()) {
      tags.row_step = sampling.pixel_row() / 10;
      tags.col_step = sampling.pixel_col() / 10;
      tags.unit = "nm";
    }
    return write_tiff(path, image, tags);
  }
  if (!name.ends_with(".png")) throw Error(ErrorKind::usage, fmt::format("{}: pictures are .png or .tif", path));
  write_image(path, image, measured_style(sampling, value_unit), description, role);
}

}  // namespace sonde::ptycho
