// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bragg/place_variance.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>

#include "sonde/engine/math/fft.h"
#include "sonde/instruments/stem/bragg/disk_kernels.h"

namespace sonde::stem {
namespace {

double turns_of(Index k, Index extent) {
  return 2 * std::numbers::pi * static_cast<double>(2 * k < extent ? k : k - extent) / static_cast<double>(extent);
}

/// What a window may have on either side of a place: no pixel twice.
Index half_window(double reach, Index extent) {
  return std::min(static_cast<Index>(std::ceil(reach)), (extent - 2) / 2);
}

}  // namespace

PlaceVariance::PlaceVariance(std::span<const std::complex<double>> spectrum, Index rows, Index cols, double sigma,
                             double reach)
    : rows_(rows),
      cols_(cols),
      half_rows_(half_window(reach + 3 * sigma, rows)),
      half_cols_(half_window(reach + 3 * sigma, cols)) {
  const Index high = 2 * half_rows_ + 2, wide = 2 * half_cols_ + 2;
  products_.resize(static_cast<std::size_t>(4 * high * wide * 3));
  const auto plan = Fft2d<double>::prepare({.rows = rows, .cols = cols});
  std::vector<std::complex<double>> gradient(spectrum.size());
  for (Index offset = 0; offset < 4; ++offset) {
    const double dy = 0.5 * static_cast<double>(offset / 2), dx = 0.5 * static_cast<double>(offset % 2);
    // Both derivatives are real: one is the real part, the other the imaginary one.
    for (Index k = 0; k < rows; ++k)
      for (Index l = 0; l < cols; ++l) {
        const double y = turns_of(k, rows), x = turns_of(l, cols);
        const std::complex<double> smoothed =
            std::conj(spectrum[static_cast<std::size_t>(k * cols + l)]) *
            std::polar(std::exp(-sigma * sigma * (y * y + x * x) / 2), -y * dy - x * dx) /
            static_cast<double>(rows * cols);
        const double y_or_none = 2 * k == rows ? 0 : y, x_or_none = 2 * l == cols ? 0 : x;
        gradient[static_cast<std::size_t>(k * cols + l)] = smoothed * std::complex<double>(-x_or_none, y_or_none);
      }
    plan.transform(gradient.data(), FftDirection::inverse);
    for (Index i = 0; i < high; ++i)
      for (Index j = 0; j < wide; ++j) {
        const Index row = (i - half_rows_ + rows) % rows, col = (j - half_cols_ + cols) % cols;
        const std::complex<double> both = gradient[static_cast<std::size_t>(row * cols + col)];
        float* to = products_.data() + (offset * high + i) * 3 * wide + j;
        to[0] = static_cast<float>(both.real() * both.real());
        to[wide] = static_cast<float>(both.real() * both.imag());
        to[2 * wide] = static_cast<float>(both.imag() * both.imag());
      }
  }
}

template <class T>
void PlaceVariance::add(const T* frame, const PlacedMaximum& place, Room& room, BraggDisk& disk) const {
  const auto twice_y = static_cast<Index>(std::lround(2 * place.y)),
             twice_x = static_cast<Index>(std::lround(2 * place.x));
  const Index row = twice_y >> 1, col = twice_x >> 1;
  const Index high = 2 * half_rows_ + 2, wide = 2 * half_cols_ + 2;
  const Index offset = 2 * (twice_y & 1) + (twice_x & 1);
  const Index first_i = std::max<Index>(0, half_rows_ - row), last_i = std::min(high, rows_ - row + half_rows_);
  const Index first_j = std::max<Index>(0, half_cols_ - col), last_j = std::min(wide, cols_ - col + half_cols_);
  const Index width = last_j - first_j;
  room.assign(static_cast<std::size_t>(4 * wide), 0.0F);
  float* const sums = room.data() + wide;
  for (Index i = first_i; i < last_i; ++i) {
    cpu::to_floats(frame + (row - half_rows_ + i) * cols_ + (col - half_cols_ + first_j), width, room.data());
    const float* product = products_.data() + (offset * high + i) * 3 * wide + first_j;
    for (Index part = 0; part < 3; ++part)
      cpu::add_products(room.data(), product + part * wide, width, sums + part * wide);
  }
  const auto total = [&](Index part) { return std::accumulate(sums + part * wide, sums + part * wide + width, 0.0); };
  const double yy = total(0), yx = total(1), xx = total(2);
  const double determinant = place.yy * place.xx - place.yx * place.yx;
  const auto of_row = [&](double y, double x) {
    return static_cast<float>((y * y * yy + 2 * y * x * yx + x * x * xx) / (determinant * determinant));
  };
  disk.var_y = of_row(place.xx, -place.yx);
  disk.var_x = of_row(-place.yx, place.yy);
}

#define SONDE_PLACE_VARIANCE(T) \
  template void PlaceVariance::add<T>(const T*, const PlacedMaximum&, Room&, BraggDisk&) const;
SONDE_PLACE_VARIANCE(std::uint8_t)
SONDE_PLACE_VARIANCE(std::uint16_t)
SONDE_PLACE_VARIANCE(std::uint32_t)
SONDE_PLACE_VARIANCE(std::uint64_t)
#undef SONDE_PLACE_VARIANCE

}  // namespace sonde::stem
