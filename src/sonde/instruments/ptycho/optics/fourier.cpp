// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/optics/fourier.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <numbers>
#include <vector>

#include "sonde/engine/math/fft.h"

namespace sonde::ptycho {
namespace {

View<complex128, 3> planes_of(Array& waves) {
  const Shape& shape = waves.shape();
  const Shape plane = shape.last(2);
  return {static_cast<complex128*>(waves.data()), plane.count() == 0 ? 0 : shape.count() / plane.count(), plane[0],
          plane[1]};
}

void scale(View<complex128, 3> planes, double factor) {
  for (Index i = 0; i < planes.count(); ++i) planes.data[i] *= factor;
}

/// Element (i, j) of each plane goes to ((i + rows) mod n, (j + cols) mod m).
Array rolled(const Array& planes, bool to_corner) {
  const Shape plane = planes.shape().last(2);
  const Index rows = plane[0], cols = plane[1];
  const Index down = to_corner ? rows - rows / 2 : rows / 2, across = to_corner ? cols - cols / 2 : cols / 2;
  Array result(Device::cpu(), planes.shape(), planes.dtype());
  const std::size_t element = size_bytes(planes.dtype());
  const auto* from = static_cast<const std::byte*>(planes.data());
  auto* to = static_cast<std::byte*>(result.data());
  const Index lines = plane.count() == 0 ? 0 : planes.count() / cols;
  for (Index line = 0; line < lines; ++line) {
    const Index row = line % rows, target = line - row + (row + down) % rows;
    const auto bytes = [&](Index elements) { return static_cast<std::size_t>(elements) * element; };
    const Index head = across % cols;
    std::memcpy(to + bytes(target * cols + head), from + bytes(line * cols), bytes(cols - head));
    std::memcpy(to + bytes(target * cols), from + bytes(line * cols + cols - head), bytes(head));
  }
  return result;
}

std::vector<complex128> ramp(Index count, double shift) {
  std::vector<complex128> factors;
  for (Index i = 0; i < count; ++i)
    factors.push_back(std::polar(1.0, -2 * std::numbers::pi * frequency(i, count) * shift));
  return factors;
}

void unitary(View<complex128, 3> planes, FftDirection direction) {
  Stream stream;
  Fft2d<double>::prepare({.rows = planes.extent[1], .cols = planes.extent[2], .batch = planes.extent[0]})
      .transform(stream, planes, planes, direction);
  scale(planes, 1 / std::sqrt(static_cast<double>(planes.extent[1] * planes.extent[2])));
}

}  // namespace

double frequency(Index i, Index n) { return static_cast<double>(i < (n + 1) / 2 ? i : i - n) / static_cast<double>(n); }

void fourier(Array& waves) { unitary(planes_of(waves), FftDirection::forward); }

void inverse_fourier(Array& waves) { unitary(planes_of(waves), FftDirection::inverse); }

Array centre_to_corner(const Array& planes) { return rolled(planes, true); }
Array corner_to_centre(const Array& planes) { return rolled(planes, false); }

void shift_waves(Array& waves, double rows, double cols) {
  const View<complex128, 3> planes = planes_of(waves);
  const std::vector<complex128> down = ramp(planes.extent[1], rows), across = ramp(planes.extent[2], cols);
  fourier(waves);
  for (Index plane = 0; plane < planes.extent[0]; ++plane)
    for (Index row = 0; row < planes.extent[1]; ++row)
      for (Index col = 0; col < planes.extent[2]; ++col)
        planes(plane, row, col) *= down[static_cast<std::size_t>(row)] * across[static_cast<std::size_t>(col)];
  inverse_fourier(waves);
}

}  // namespace sonde::ptycho
