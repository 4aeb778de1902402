// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/quality/image.h"

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "sonde/engine/base/error.h"

namespace sonde::ptycho {
namespace {

void require_inside(const Shape& shape, const Box& box) {
  if (box.rows > 0 && box.cols > 0 && box.row >= 0 && box.col >= 0 && box.row + box.rows <= shape[1] &&
      box.col + box.cols <= shape[2])
    return;
  throw Error(ErrorKind::bad_input, fmt::format("{} x {} pixels from [{}, {}] of an object of {}", box.rows, box.cols,
                                                box.row, box.col, shape.text()));
}

}  // namespace

Array in_double_precision(const Array& complex) {
  if (complex.dtype() == DType::c128) return complex.clone();
  const auto from = complex.view<complex64, 3>();
  Array result(Device::cpu(), complex.shape(), DType::c128);
  std::copy(from.data, from.data + from.count(), result.view<complex128, 3>().data);
  return result;
}

View<const complex128, 2> part(const Array& slices, Index slice, const Box& box) {
  require_inside(slices.shape(), box);
  View<const complex128, 2> view = slices.view<complex128, 3>()[slice];
  view.data += box.row * view.stride[0] + box.col * view.stride[1];
  view.extent[0] = box.rows;
  view.extent[1] = box.cols;
  return view;
}

Image phase_image(const State& state, const Box& box) {
  require_inside(state.object.shape(), box);
  Image image{box.rows, box.cols, std::vector<double>(static_cast<std::size_t>(box.rows * box.cols))};
  const auto add = [&](const auto& phase_of) {
    for (Index s = 0; s < state.slices(); ++s)
      for (Index row = 0; row < box.rows; ++row)
        for (Index col = 0; col < box.cols; ++col) image(row, col) += phase_of(s, box.row + row, box.col + col);
  };
  const auto add_values = [&](const auto& values) {
    add([&](Index s, Index row, Index col) { return static_cast<double>(values(s, row, col)); });
  };
  const auto add_angles = [&](const auto& values) {
    add([&](Index s, Index row, Index col) { return std::arg(complex128(values(s, row, col))); });
  };
  if (state.type == ObjectType::potential)
    state.phase.dtype() == DType::f32 ? add_values(state.phase.view<float, 3>())
                                      : add_values(state.phase.view<double, 3>());
  else
    state.object.dtype() == DType::c64 ? add_angles(state.object.view<complex64, 3>())
                                       : add_angles(state.object.view<complex128, 3>());
  return image;
}

double wrapped(double phase) { return phase - 2 * std::numbers::pi * std::round(phase / (2 * std::numbers::pi)); }

double phase_roughness(const Image& phase) {
  double sum = 0;
  for (Index row = 0; row + 1 < phase.rows; ++row)
    for (Index col = 0; col + 1 < phase.cols; ++col)
      sum += std::hypot(wrapped(phase(row + 1, col) - phase(row, col)), wrapped(phase(row, col + 1) - phase(row, col)));
  return phase.rows < 2 || phase.cols < 2 ? 0 : sum / static_cast<double>((phase.rows - 1) * (phase.cols - 1));
}

}  // namespace sonde::ptycho
