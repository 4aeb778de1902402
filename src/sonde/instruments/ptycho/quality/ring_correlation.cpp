// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/quality/ring_correlation.h"

#include <fmt/format.h>

#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/optics/fourier.h"
#include "sonde/instruments/ptycho/quality/spectrum.h"

namespace sonde::ptycho {
namespace {

Array windowed_spectrum(View<const complex128, 2> image) {
  Array wave(Device::cpu(), {image.extent[0], image.extent[1]}, DType::c128);
  const auto values = wave.view<complex128, 2>();
  for (Index row = 0; row < image.extent[0]; ++row)
    for (Index col = 0; col < image.extent[1]; ++col)
      values(row, col) = hann(row, image.extent[0]) * hann(col, image.extent[1]) * image(row, col);
  fourier(wave);
  return wave;
}

double half_bit_of(Index n) {
  const double root = std::sqrt(static_cast<double>(n));
  return (0.2071 + 1.9102 / root) / (1.2071 + 0.9102 / root);
}

}  // namespace

RingCorrelation ring_correlation(View<const complex128, 2> a, View<const complex128, 2> b, double pixel_row,
                                 double pixel_col) {
  const Index rows = a.extent[0], cols = a.extent[1];
  if (rows != b.extent[0] || cols != b.extent[1] || rows < 4 || cols < 4)
    throw Error(ErrorKind::bad_input,
                fmt::format("a ring correlation of {} x {} with {} x {} pixels", rows, cols, b.extent[0], b.extent[1]));
  const Rings rings(rows, cols, pixel_row, pixel_col);
  const auto count = static_cast<std::size_t>(rings.count());
  std::vector<complex128> products(count);
  std::vector<double> power_a(count), power_b(count);
  RingCorrelation result;
  result.pixels.resize(count);
  const Array first = windowed_spectrum(a), second = windowed_spectrum(b);
  const auto fa = first.view<complex128, 2>(), fb = second.view<complex128, 2>();
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col) {
      if (rings.ring_at(row, col) >= rings.count()) continue;
      const auto ring = static_cast<std::size_t>(rings.ring_at(row, col));
      products[ring] += fa(row, col) * std::conj(fb(row, col));
      power_a[ring] += std::norm(fa(row, col));
      power_b[ring] += std::norm(fb(row, col));
      ++result.pixels[ring];
    }
  for (std::size_t ring = 0; ring < count; ++ring) {
    const double powers = std::sqrt(power_a[ring] * power_b[ring]);
    result.frequency.push_back(static_cast<double>(ring) * rings.width());
    result.correlation.push_back(powers > 0 ? std::abs(products[ring]) / powers : 0);
    result.half_bit.push_back(half_bit_of(result.pixels[ring]));
  }
  return result;
}

std::optional<double> RingCorrelation::crossing() const {
  // Ring 0 is one pixel, whose correlation is one whatever it holds.
  for (std::size_t ring = 1; ring < frequency.size(); ++ring) {
    const double above = correlation[ring - 1] - half_bit[ring - 1], below = correlation[ring] - half_bit[ring];
    if (below >= 0) continue;
    if (ring == 1) return frequency[1];
    return frequency[ring - 1] + (frequency[ring] - frequency[ring - 1]) * above / (above - below);
  }
  return std::nullopt;
}

std::optional<double> RingCorrelation::resolution() const {
  const std::optional<double> at = crossing();
  return at ? std::optional(1 / *at) : std::nullopt;
}

Value RingCorrelation::to_value() const {
  Value value;
  value["frequency"] = Value(frequency);
  value["correlation"] = Value(correlation);
  value["half_bit"] = Value(half_bit);
  value["pixels"] = Value(pixels);
  value["resolution"] = resolution() ? Value(*resolution()) : Value();
  return value;
}

}  // namespace sonde::ptycho
