// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/quality/phase_rmse.h"

#include <fmt/format.h>

#include <Eigen/QR>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/optics/fourier.h"
#include "sonde/instruments/ptycho/quality/spectrum.h"

namespace sonde::ptycho {
namespace {

using Wave = View<complex128, 2>;
using ConstWave = View<const complex128, 2>;

ConstWave inside(const Array& image, const Box& view) {
  ConstWave wave = image.view<complex128, 2>();
  wave.data += view.row * wave.stride[0] + view.col;
  wave.extent[0] = view.rows;
  wave.extent[1] = view.cols;
  return wave;
}

void require_comparable(const Array& object, const Array& truth, const Box& view, Index border) {
  const Shape &a = object.shape(), &b = truth.shape();
  if (a.rank() != 2 || !(a == b))
    throw Error(ErrorKind::bad_input, fmt::format("an object of {} beside a truth of {}", a.text(), b.text()));
  if (view.rows < 3 || view.cols < 3 || view.row < border || view.col < border ||
      view.row + view.rows + border > a[0] || view.col + view.cols + border > a[1])
    throw Error(ErrorKind::bad_input, fmt::format("{} x {} pixels from [{}, {}] cannot be compared in an object of {}",
                                                  view.rows, view.cols, view.row, view.col, a.text()));
}

/// Multiplies everything by exp(-i ramp) about the middle of the view.
void take_out(const Wave& object, const Box& view, const PhaseRamp& ramp, double constant = 0) {
  const double middle_row = static_cast<double>(view.row) + static_cast<double>(view.rows - 1) / 2;
  const double middle_col = static_cast<double>(view.col) + static_cast<double>(view.cols - 1) / 2;
  for (Index row = 0; row < object.extent[0]; ++row)
    for (Index col = 0; col < object.extent[1]; ++col)
      object(row, col) *= std::polar(1.0, -constant - ramp.per_row * (static_cast<double>(row) - middle_row) -
                                              ramp.per_col * (static_cast<double>(col) - middle_col));
}

/// One round of the reference: factor, then plane.
void round(Array& object, const ConstWave& truth, const Box& view, PhaseComparison& found) {
  const ConstWave o = inside(object, view);
  complex128 product = 0;
  double power = 0;
  for (Index row = 0; row < view.rows; ++row)
    for (Index col = 0; col < view.cols; ++col) {
      product += std::conj(o(row, col)) * truth(row, col);
      power += std::norm(o(row, col));
    }
  if (!(power > 0)) throw Error(ErrorKind::bad_input, "the object is zero in all of the view");
  const Wave all = object.view<complex128, 2>();
  for (Index i = 0; i < all.count(); ++i) all.data[i] *= product / power;
  found.scale *= std::abs(product) / power;
  // About the middle of the view rows, columns and the constant are orthogonal.
  double mean = 0, row_sum = 0, col_sum = 0, row_norm = 0, col_norm = 0;
  for (Index row = 0; row < view.rows; ++row)
    for (Index col = 0; col < view.cols; ++col) {
      const double y = static_cast<double>(row) - static_cast<double>(view.rows - 1) / 2;
      const double x = static_cast<double>(col) - static_cast<double>(view.cols - 1) / 2;
      const double e = std::arg(o(row, col) * std::conj(truth(row, col)));
      mean += e;
      row_sum += y * e;
      col_sum += x * e;
      row_norm += y * y;
      col_norm += x * x;
    }
  const PhaseRamp ramp{row_sum / row_norm, col_sum / col_norm};
  take_out(all, view, ramp, mean / static_cast<double>(view.rows * view.cols));
  found.ramp.per_row += ramp.per_row;
  found.ramp.per_col += ramp.per_col;
}

/// The ramp of O conj T, of any number of turns.
void take_out_large_ramp(Array& object, const ConstWave& truth, const Box& view, PhaseComparison& found) {
  const ConstWave o = inside(object, view);
  Array difference(Device::cpu(), {1, view.rows, view.cols}, DType::c128);
  const Wave d = difference.view<complex128, 3>()[0];
  for (Index row = 0; row < view.rows; ++row)
    for (Index col = 0; col < view.cols; ++col) d(row, col) = o(row, col) * std::conj(truth(row, col));
  const PhaseRamp ramp = phase_ramps(difference, {0, 0, view.rows, view.cols})[0];
  take_out(object.view<complex128, 2>(), view, ramp);
  found.ramp.per_row += ramp.per_row;
  found.ramp.per_col += ramp.per_col;
}

/// F[hann (image - mean)].
Array contrast_spectrum(const ConstWave& image) {
  const Index rows = image.extent[0], cols = image.extent[1];
  complex128 sum = 0;
  double weights = 0;
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col) {
      sum += hann(row, rows) * hann(col, cols) * image(row, col);
      weights += hann(row, rows) * hann(col, cols);
    }
  Array wave(Device::cpu(), {rows, cols}, DType::c128);
  const Wave values = wave.view<complex128, 2>();
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col)
      values(row, col) = hann(row, rows) * hann(col, cols) * (image(row, col) - sum / weights);
  fourier(wave);
  return wave;
}

struct Shift {
  double row = 0, col = 0;
};

/// The largest |sum cross(k) exp(2 pi i k d)| on a square of places about `about`, by products of matrices
/// (Guizar-Sicairos, Thurman and Fienup 2008).
Shift best_on_square(const ConstWave& cross, Shift about, double step, int reach) {
  const Index rows = cross.extent[0], cols = cross.extent[1];
  const auto wave = [](Index k, Index n, double d) {
    return std::polar(1.0, 2 * std::numbers::pi * frequency(k, n) * d);
  };
  Shift best = about;
  double largest = -1;
  for (int i = -reach; i <= reach; ++i) {
    const double down = about.row + i * step;
    std::vector<complex128> line(static_cast<std::size_t>(cols));
    for (Index row = 0; row < rows; ++row) {
      const complex128 factor = wave(row, rows, down);
      for (Index col = 0; col < cols; ++col) line[static_cast<std::size_t>(col)] += factor * cross(row, col);
    }
    for (int j = -reach; j <= reach; ++j) {
      const double across = about.col + j * step;
      complex128 sum = 0;
      for (Index col = 0; col < cols; ++col) sum += line[static_cast<std::size_t>(col)] * wave(col, cols, across);
      if (std::abs(sum) <= largest) continue;
      largest = std::abs(sum);
      best = {down, across};
    }
  }
  return best;
}

/// By how much the object is displaced against the truth.
Shift displacement(const ConstWave& object, const ConstWave& truth) {
  Array cross = contrast_spectrum(object);
  const Array other = contrast_spectrum(truth);
  const Wave c = cross.view<complex128, 2>();
  const ConstWave t = other.view<complex128, 2>();
  for (Index i = 0; i < c.count(); ++i) c.data[i] *= std::conj(t.data[i]);
  Array correlation = cross.clone();
  inverse_fourier(correlation);
  const ConstWave places = correlation.view<complex128, 2>();
  Index at = 0;
  for (Index i = 1; i < places.count(); ++i)
    if (std::abs(places.data[i]) > std::abs(places.data[at])) at = i;
  const auto signed_place = [](Index i, Index n) { return frequency(i, n) * static_cast<double>(n); };
  Shift shift{signed_place(at / c.extent[1], c.extent[0]), signed_place(at % c.extent[1], c.extent[1])};
  shift = best_on_square(c, shift, 0.1, 10);
  return best_on_square(c, shift, 0.01, 10);
}

/// The Hann window stays where it is while its content moves, so what is found is a little short at first.
void take_out_shift(Array& object, const ConstWave& truth, const Box& view, PhaseComparison& found) {
  constexpr int rounds = 6;
  constexpr double near_enough = 0.005;
  for (int i = 0; i < rounds; ++i) {
    const Shift shift = displacement(inside(object, view), truth);
    if (std::hypot(shift.row, shift.col) < near_enough) return;
    shift_waves(object, -shift.row, -shift.col);
    found.shift_row += shift.row;
    found.shift_col += shift.col;
  }
}

}  // namespace

Array aligned(const Array& object, const Array& truth, const Box& view, Start start, PhaseComparison* comparison) {
  require_comparable(object, truth, view, 0);
  PhaseComparison found;
  Array result = object.clone();
  const ConstWave t = inside(truth, view);
  if (start == Start::blind) {
    take_out_large_ramp(result, t, view, found);
    take_out_shift(result, t, view, found);
  }
  constexpr int rounds = 3;
  for (int i = 0; i < rounds; ++i) round(result, t, view, found);
  if (comparison != nullptr) *comparison = found;
  return result;
}

PhaseComparison phase_rmse(const Array& object, const Array& truth, const Box& view, Start start) {
  require_comparable(object, truth, view, 1);
  PhaseComparison comparison;
  const Array moved = aligned(object, truth, view, start, &comparison);
  const ConstWave o = moved.view<complex128, 2>(), t = truth.view<complex128, 2>();
  const Index pixels = view.rows * view.cols;
  Eigen::MatrixXd basis(pixels, 5);
  Eigen::VectorXd e(pixels);
  for (Index i = 0; i < pixels; ++i) {
    const Index row = view.row + i / view.cols, col = view.col + i % view.cols;
    const auto slope = [](complex128 next, complex128 before) { return std::arg(next * std::conj(before)) / 2; };
    basis.row(i) << 1, static_cast<double>(i / view.cols), static_cast<double>(i % view.cols),
        slope(t(row + 1, col), t(row - 1, col)), slope(t(row, col + 1), t(row, col - 1));
    e(i) = std::arg(o(row, col) * std::conj(t(row, col)));
  }
  const Eigen::VectorXd fit = basis.colPivHouseholderQr().solve(e);
  comparison.rmse = (e - basis * fit).norm() / std::sqrt(static_cast<double>(pixels));
  comparison.ramp.per_row += fit(1);
  comparison.ramp.per_col += fit(2);
  // A displacement d changes the phase by -d times its derivative.
  comparison.shift_row -= fit(3);
  comparison.shift_col -= fit(4);
  return comparison;
}

}  // namespace sonde::ptycho
