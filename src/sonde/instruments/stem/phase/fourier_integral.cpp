// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <complex>
#include <numbers>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/device/stream.h"
#include "sonde/engine/math/fft1d.h"
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
  // Rows below the scan are zero before, and not wanted after.
  const auto along_rows = Fft1d<double>::prepare({.length = cols, .batch = g.rows});
  const auto down_columns = Fft1d<double>::prepare({.length = rows, .batch = cols});
  Stream stream;
  const auto in_place = [&](const Fft1d<double>& fft, View<Complex, 2> lines, FftDirection direction) {
    fft.transform(stream, lines, lines, direction);
  };
  const auto top_rows = [&](std::vector<Complex>& all) { return View<Complex, 2>(all.data(), g.rows, cols); };
  const auto columns_of = [&](std::vector<Complex>& all) {
    View<Complex, 2> columns(all.data(), cols, rows);
    columns.stride[0] = 1;
    columns.stride[1] = cols;
    return columns;
  };
  in_place(along_rows, top_rows(field), FftDirection::forward);
  in_place(down_columns, columns_of(field), FftDirection::forward);
  const double scale = 1 / static_cast<double>(rows * cols);
  parallel_for(rows, 16, [&](Index first, Index last, Worker&) {
    for (Index row = first; row < last; ++row)
      for (Index col = 0; col < cols; ++col) {
        const auto here = static_cast<std::size_t>(row * cols + col),
                   mirrored = static_cast<std::size_t>((rows - row) % rows * cols + (cols - col) % cols);
        if ((row == 0 && col == 0) || 2 * row == rows || 2 * col == cols) continue;
        const double qx = static_cast<double>(cycles(col, cols)) / (static_cast<double>(cols) * g.step_col),
                     qy = static_cast<double>(cycles(row, rows)) / (static_cast<double>(rows) * g.step_row);
        const double squared = qx * qx + qy * qy;
        const Complex other = std::conj(field[mirrored]);
        const Complex x = 0.5 * (field[here] + other), difference = 0.5 * (field[here] - other);
        const Complex y(difference.imag(), -difference.real());
        // Divided by 2 pi i.
        const Complex along = qx * x + qy * y;
        image[here] = scale * filter_at(squared, settings) / (2 * std::numbers::pi * (squared + settings.regularise)) *
                      Complex(along.imag(), -along.real());
      }
  });
  in_place(down_columns, columns_of(image), FftDirection::inverse);
  in_place(along_rows, top_rows(image), FftDirection::inverse);
  std::vector<double> phase(static_cast<std::size_t>(g.positions()));
  for (Index row = 0; row < g.rows; ++row)
    for (Index col = 0; col < g.cols; ++col)
      phase[static_cast<std::size_t>(row * g.cols + col)] = image[static_cast<std::size_t>(row * cols + col)].real();
  return phase;
}

}  // namespace sonde::stem
