// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/image/plane_sum.h"

#include <fmt/format.h>

#include <cstdint>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/dispatch.h"
#include "sonde/instruments/stem/image/plane_sum_kernels.h"

namespace sonde::stem {
namespace {

void check_planes(const Array& planes) {
  if (planes.shape().rank() != 2)
    throw Error(ErrorKind::bad_input,
                fmt::format("planes of shape {}, expected (pixels, positions)", planes.shape().text()));
  if (planes.shape()[1] > 1 && planes.stride(1) != 1)
    throw Error(ErrorKind::bad_input, "the positions of a plane must be dense");
}

void check_image_of_planes(const Array& planes, const Array& image, DType dtype) {
  if (image.dtype() != dtype || image.shape() != planes.shape().last(1) || !image.contiguous())
    throw Error(ErrorKind::bad_input,
                fmt::format("an image of {} with shape {}, expected dense {} with shape {}", name(image.dtype()),
                            image.shape().text(), name(dtype), planes.shape().last(1).text()));
}

void check_pixels(const Array& planes, std::span<const Index> pixels) {
  for (const Index pixel : pixels)
    if (pixel < 0 || pixel >= planes.shape()[0])
      throw Error(ErrorKind::bad_input,
                  fmt::format("pixel {} is outside a detector of {} pixels", pixel, planes.shape()[0]));
}

void update_from_planes(Stream& stream, const Array& planes, const Array* base, std::span<const Index> added,
                        std::span<const Index> removed, Array& image) {
  check_planes(planes);
  check_pixels(planes, added);
  check_pixels(planes, removed);
  check_image_of_planes(planes, image, DType::u64);
  require_on(stream, planes, image);
  View<const std::uint64_t, 1> start;
  if (base != nullptr) {
    check_image_of_planes(planes, *base, DType::u64);
    require_on(stream, *base);
    start = base->view<std::uint64_t, 1>();
  }
  visit_counts<2>(planes, [&](auto counts) {
    SONDE_DISPATCH(stream, plane_update, counts, added, removed, start, (image.view<std::uint64_t, 1>()));
  });
}

}  // namespace

void plane_sum(Stream& stream, const Array& planes, std::span<const Index> pixels, Array& image, Sign sign) {
  const std::span<const Index> none;
  if (sign == Sign::subtract)
    update_from_planes(stream, planes, &image, none, pixels, image);
  else
    update_from_planes(stream, planes, sign == Sign::add ? &image : nullptr, pixels, none, image);
}

void plane_update(Stream& stream, const Array& planes, const Array& base, std::span<const Index> added,
                  std::span<const Index> removed, Array& image) {
  update_from_planes(stream, planes, &base, added, removed, image);
}

void plane_sum(Stream& stream, const Array& planes, const Mask& mask, Array& image) {
  check_planes(planes);
  if (mask.rows * mask.cols != planes.shape()[0])
    throw Error(ErrorKind::bad_input, fmt::format("a mask of {} x {} pixels and planes of {} pixels", mask.rows,
                                                  mask.cols, planes.shape()[0]))
        .hint("bin the mask like the data");
  if (mask.boolean() && planes.dtype() != DType::f32) return plane_sum(stream, planes, mask.pixels, image);
  check_image_of_planes(planes, image, DType::f64);
  require_on(stream, planes, image);
  const std::span<const Index> pixels = mask.pixels;
  const std::span<const float> weights = mask.weights;
  const auto sum = [&](auto elements) {
    SONDE_DISPATCH(stream, weighted_plane_sum, elements, pixels, weights, (image.view<double, 1>()));
  };
  if (planes.dtype() == DType::f32)
    sum(planes.view<float, 2>());
  else
    visit_counts<2>(planes, sum);
}

}  // namespace sonde::stem
