// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <complex>
#include <numbers>

#include "sonde/engine/math/fft.h"
#include "sonde/instruments/stem/phase/integrate.h"

namespace sonde::stem {
namespace {

using Complex = std::complex<double>;

/// The frequency of an element of a transform, in cycles over the whole length.
Index cycles(Index at, Index length) { return 2 * at < length ? at : at - length; }

double butterworth(double squared, double cutoff, Index order) {
  return 1 / (1 + std::pow(squared / (cutoff * cutoff), static_cast<double>(order)));
}

double filter_at(double squared, const FourierSettings& settings) {
  double passed = 1;
  if (settings.highpass) passed *= 1 - butterworth(squared, *settings.highpass, settings.order);
  if (settings.lowpass) passed *= butterworth(squared, *settings.lowpass, settings.order);
  return passed;
}

}  // namespace

std::vector<double> integrate_fourier(const VectorField& gradient, const FourierSettings& settings) {
  const VectorField g = filled(gradient);
  const auto padded = [&](Index extent) {
    return static_cast<Index>(std::ceil(settings.padding * static_cast<double>(extent)));
  };
  const Index rows = padded(g.rows), cols = padded(g.cols);
  // x + i y in one transform: that of x is the even part of it, that of y the odd one.
  std::vector<Complex> field(static_cast<std::size_t>(rows * cols)), image(field.size());
  for (Index row = 0; row < g.rows; ++row)
    for (Index col = 0; col < g.cols; ++col) {
      const auto here = static_cast<std::size_t>(row * g.cols + col);
      field[static_cast<std::size_t>(row * cols + col)] = {g.x[here], g.y[here]};
    }
  const auto fft = Fft2d<double>::prepare({.rows = rows, .cols = cols});
  fft.transform(field.data(), FftDirection::forward);
  const double scale = 1 / static_cast<double>(rows * cols);
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col) {
      const auto here = static_cast<std::size_t>(row * cols + col),
                 mirrored = static_cast<std::size_t>((rows - row) % rows * cols + (cols - col) % cols);
      if ((row == 0 && col == 0) || 2 * row == rows || 2 * col == cols) continue;
      const double qx = static_cast<double>(cycles(col, cols)) / (static_cast<double>(cols) * g.step_col),
                   qy = static_cast<double>(cycles(row, rows)) / (static_cast<double>(rows) * g.step_row);
      const double squared = qx * qx + qy * qy;
      const Complex other = std::conj(field[mirrored]);
      const Complex x = 0.5 * (field[here] + other), y = Complex(0, -0.5) * (field[here] - other);
      image[here] = scale * filter_at(squared, settings) * (qx * x + qy * y) /
                    Complex(0, 2 * std::numbers::pi * (squared + settings.regularise));
    }
  fft.transform(image.data(), FftDirection::inverse);
  std::vector<double> phase(static_cast<std::size_t>(g.positions()));
  for (Index row = 0; row < g.rows; ++row)
    for (Index col = 0; col < g.cols; ++col)
      phase[static_cast<std::size_t>(row * g.cols + col)] = image[static_cast<std::size_t>(row * cols + col)].real();
  return phase;
}

}  // namespace sonde::stem
