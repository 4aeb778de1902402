// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/quality/spectrum.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "sonde/instruments/ptycho/optics/fourier.h"

namespace sonde::ptycho {

double hann(Index i, Index n) {
  const double s = std::sin(std::numbers::pi * (static_cast<double>(i) + 0.5) / static_cast<double>(n));
  return s * s;
}

Rings::Rings(Index rows, Index cols, double pixel_row, double pixel_col)
    : rows_(rows),
      cols_(cols),
      pixel_row_(pixel_row),
      pixel_col_(pixel_col),
      width_(std::max(1 / (static_cast<double>(rows) * pixel_row), 1 / (static_cast<double>(cols) * pixel_col))) {
  const double nyquist = 0.5 / std::max(pixel_row, pixel_col);
  constexpr double rounding = 1e-9;
  count_ = static_cast<Index>(std::floor(nyquist / width_ - 0.5 + rounding)) + 1;
}

double Rings::frequency_at(Index row, Index col) const {
  return std::hypot(frequency(row, rows_) / pixel_row_, frequency(col, cols_) / pixel_col_);
}

Index Rings::ring_at(Index row, Index col) const {
  return static_cast<Index>(std::lround(frequency_at(row, col) / width_));
}

Image power_spectrum(const Image& image) {
  double sum = 0, weights = 0;
  for (Index row = 0; row < image.rows; ++row)
    for (Index col = 0; col < image.cols; ++col) {
      const double weight = hann(row, image.rows) * hann(col, image.cols);
      sum += weight * image(row, col);
      weights += weight;
    }
  Array wave(Device::cpu(), {image.rows, image.cols}, DType::c128);
  const auto values = wave.view<complex128, 2>();
  for (Index row = 0; row < image.rows; ++row)
    for (Index col = 0; col < image.cols; ++col)
      values(row, col) = hann(row, image.rows) * hann(col, image.cols) * (image(row, col) - sum / weights);
  fourier(wave);
  Image power{image.rows, image.cols, std::vector<double>(image.values.size())};
  for (Index i = 0; i < values.count(); ++i) power.values[static_cast<std::size_t>(i)] = std::norm(values.data[i]);
  return power;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<double> ring_medians(const Image& power, const Rings& rings) {
  std::vector<std::vector<double>> members(static_cast<std::size_t>(rings.count()));
  for (Index row = 0; row < power.rows; ++row)
    for (Index col = 0; col < power.cols; ++col) {
      const Index ring = rings.ring_at(row, col);
      if (ring < rings.count()) members[static_cast<std::size_t>(ring)].push_back(power(row, col));
    }
  std::vector<double> medians;
  medians.reserve(members.size());
  for (auto& values : members) medians.push_back(median(std::move(values)));
  return medians;
}

}  // namespace sonde::ptycho
