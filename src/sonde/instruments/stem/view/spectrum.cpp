// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/view/spectrum.h"

#include <cmath>
#include <complex>
#include <numbers>

#include "sonde/engine/math/fft.h"

namespace sonde::stem {
namespace {

double mean_of(View<const double, 2> image) {
  double sum = 0;
  Index count = 0;
  for (Index r = 0; r < image.extent[0]; ++r)
    for (Index c = 0; c < image.extent[1]; ++c)
      if (std::isfinite(image(r, c))) {
        sum += image(r, c);
        ++count;
      }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

std::vector<double> weights(Index count, Window window) {
  std::vector<double> all(static_cast<std::size_t>(count), 1);
  if (window == Window::hann)
    for (Index i = 0; i < count; ++i) {
      const double s = std::sin(std::numbers::pi * static_cast<double>(i) / static_cast<double>(count));
      all[static_cast<std::size_t>(i)] = s * s;
    }
  return all;
}

}  // namespace

std::vector<float> fourier_magnitude(View<const double, 2> image, Window window) {
  const Index rows = image.extent[0], cols = image.extent[1];
  const double mean = mean_of(image);
  const std::vector<double> row_weight = weights(rows, window), col_weight = weights(cols, window);
  std::vector<std::complex<double>> values(static_cast<std::size_t>(rows * cols));
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c)
      if (std::isfinite(image(r, c)))
        values[static_cast<std::size_t>(r * cols + c)] =
            (image(r, c) - mean) * row_weight[static_cast<std::size_t>(r)] * col_weight[static_cast<std::size_t>(c)];
  Fft2d<double>::prepare({.rows = rows, .cols = cols}).transform(values.data(), FftDirection::forward);

  std::vector<float> magnitude(values.size());
  for (Index k = 0; k < rows; ++k)
    for (Index l = 0; l < cols; ++l)
      magnitude[static_cast<std::size_t>((k + rows / 2) % rows * cols + (l + cols / 2) % cols)] =
          static_cast<float>(std::abs(values[static_cast<std::size_t>(k * cols + l)]));
  return magnitude;
}

std::optional<SpectrumPeak> spectrum_peak(View<const float, 2> magnitude) {
  const Index rows = magnitude.extent[0], cols = magnitude.extent[1];
  std::optional<SpectrumPeak> peak;
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) {
      // Frequencies at the edge of an even extent are their own opposites.
      const Index k = r - rows / 2, l = c - cols / 2;
      const bool counts = k > 0 || 2 * k == -rows || (k == 0 && (l > 0 || 2 * l == -cols));
      if (!counts || (peak && !(magnitude(r, c) > magnitude(peak->row, peak->col)))) continue;
      peak = SpectrumPeak{r, c, static_cast<double>(k) / static_cast<double>(rows),
                          static_cast<double>(l) / static_cast<double>(cols)};
    }
  return peak;
}

}  // namespace sonde::stem
