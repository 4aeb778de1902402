// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/results/picture.h"

#include <fmt/format.h>

#include <cmath>
#include <complex>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/figure/image.h"
#include "sonde/engine/io/tiff.h"

namespace sonde::ptycho {
namespace {

/// of(value, mean direction in the view of its slice) for all slices, joined by `join`.
template <class Of, class Join>
Array image_of(const Result& result, const Box& view, float start, Of&& of, Join&& join) {
  const Array object = result.transmission();
  const auto values = object.view<complex128, 3>();
  Array image(Device::cpu(), Shape{view.rows, view.cols}, DType::f32);
  auto to = image.view<float, 2>();
  for (Index r = 0; r < view.rows; ++r)
    for (Index c = 0; c < view.cols; ++c) to(r, c) = start;
  for (Index s = 0; s < object.shape()[0]; ++s) {
    complex128 mean = 0;
    for (Index r = 0; r < view.rows; ++r)
      for (Index c = 0; c < view.cols; ++c) mean += values(s, view.row + r, view.col + c);
    mean = std::abs(mean) > 0 ? mean / std::abs(mean) : complex128(1);
    for (Index r = 0; r < view.rows; ++r)
      for (Index c = 0; c < view.cols; ++c)
        to(r, c) = join(to(r, c), static_cast<float>(of(values(s, view.row + r, view.col + c), mean)));
  }
  return image;
}

}  // namespace

Array phase_image(const Result& result, const Box& view) {
  if (result.type == ObjectType::potential && result.phase.shape()[0] == 1) {
    // Not through the transmission: a phase may pass pi.
    const auto value = [&](Index i) {
      return result.phase.dtype() == DType::f32
                 ? static_cast<const float*>(result.phase.data())[i]
                 : static_cast<float>(static_cast<const double*>(result.phase.data())[i]);
    };
    Array image(Device::cpu(), Shape{view.rows, view.cols}, DType::f32);
    auto to = image.view<float, 2>();
    for (Index r = 0; r < view.rows; ++r)
      for (Index c = 0; c < view.cols; ++c) to(r, c) = value((view.row + r) * result.phase.shape()[2] + view.col + c);
    return image;
  }
  return image_of(
      result, view, 0, [](complex128 value, complex128 mean) { return std::arg(value * std::conj(mean)); },
      [](float sum, float next) { return sum + next; });
}

Array amplitude_image(const Result& result, const Box& view) {
  return image_of(
      result, view, 1, [](complex128 value, complex128) { return std::abs(value); },
      [](float product, float next) { return product * next; });
}

Array cut(const Array& image, const Box& view) {
  Array part(Device::cpu(), Shape{view.rows, view.cols}, DType::f32);
  const auto from = image.view<float, 2>();
  auto to = part.view<float, 2>();
  for (Index r = 0; r < view.rows; ++r)
    for (Index c = 0; c < view.cols; ++c) to(r, c) = from(view.row + r, view.col + c);
  return part;
}

void write_picture(const std::string& path, const Array& image, const Sampling& sampling,
                   const std::string& description) {
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
  ImageStyle style;
  if (sampling.calibrated()) {
    style.pixel_size = sampling.pixel_col() / 10;
    style.unit = "nm";
  }
  style.colour_bar = true;
  write_image(path, image, style, description);
}

}  // namespace sonde::ptycho
