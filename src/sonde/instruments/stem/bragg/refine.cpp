// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bragg/refine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <numbers>

#include "sonde/instruments/stem/bragg/climb.h"
#include "sonde/instruments/stem/bragg/disk_kernels.h"
#include "sonde/instruments/stem/bragg/normal_equations.h"

namespace sonde::stem {
namespace {

double parabola(double before, double here, double after) {
  const double bend = 4 * here - 2 * before - 2 * after;
  return bend > 0 ? (after - before) / bend : 0;
}

/// exp(2 pi i f at) for the frequencies f = k / extent of Fft2d, k of `count`.
std::vector<std::complex<double>> waves(double at, Index extent, Index count) {
  std::vector<std::complex<double>> made(static_cast<std::size_t>(count));
  for (Index k = 0; k < count; ++k) {
    const auto f = static_cast<double>(2 * k < extent ? k : k - extent) / static_cast<double>(extent);
    made[static_cast<std::size_t>(k)] = std::polar(1.0, 2 * std::numbers::pi * f * at);
  }
  return made;
}

/// 2 pi times those frequencies.
std::vector<double> angular(Index extent, Index count) {
  std::vector<double> made(static_cast<std::size_t>(count));
  for (Index k = 0; k < count; ++k)
    made[static_cast<std::size_t>(k)] =
        2 * std::numbers::pi * static_cast<double>(2 * k < extent ? k : k - extent) / static_cast<double>(extent);
  return made;
}

/// How often a column of half a spectrum is in the whole one.
double columns_weight(Index l, Index cols) { return l == 0 || 2 * l == cols ? 1 : 2; }

Derivatives exact_derivatives(const HalfSpectrum& of, double y, double x) {
  const Index half = of.cols / 2 + 1;
  const auto wave_y = waves(y, of.rows, of.rows), wave_x = waves(x, of.cols, half);
  const auto omega_y = angular(of.rows, of.rows), omega_x = angular(of.cols, half);
  const std::complex<double> i(0, 1);
  Derivatives sums{};
  for (Index k = 0; k < of.rows; ++k) {
    std::complex<double> row[3] = {};
    for (Index l = 0; l < half; ++l) {
      const auto c = static_cast<std::size_t>(l);
      const std::complex<double> term =
          columns_weight(l, of.cols) * std::complex<double>(of.values[k * half + l]) * wave_x[c];
      row[0] += term;
      row[1] += i * omega_x[c] * term;
      row[2] -= omega_x[c] * omega_x[c] * term;
    }
    const auto r = static_cast<std::size_t>(k);
    const std::complex<double> turns[3] = {wave_y[r], i * omega_y[r] * wave_y[r], -omega_y[r] * omega_y[r] * wave_y[r]};
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b) sums[3 * a + b] += (turns[a] * row[b]).real();
  }
  for (double& sum : sums) sum /= static_cast<double>(of.rows * of.cols);
  return sums;
}

}  // namespace

PlacedMaximum refine_poly(const float* correlation, Index cols, const Peak& peak) {
  const auto value = [&](Index y, Index x) {
    return std::max(0.0, static_cast<double>(correlation[(peak.row + y) * cols + peak.col + x]));
  };
  const double y = parabola(value(-1, 0), value(0, 0), value(1, 0));
  const double x = parabola(value(0, -1), value(0, 0), value(0, 1));
  const Index to_row = y < 0 ? -1 : 1, to_col = x < 0 ? -1 : 1;
  const double fy = std::abs(y), fx = std::abs(x);
  PlacedMaximum place;
  place.y = static_cast<double>(peak.row) + y;
  place.x = static_cast<double>(peak.col) + x;
  place.value = (1 - fy) * ((1 - fx) * value(0, 0) + fx * value(0, to_col)) +
                fy * ((1 - fx) * value(to_row, 0) + fx * value(to_row, to_col));
  return place;
}

namespace {

/// Values about a peak, and the Gaussian through them: (height, y, x, sigma, background), from the peak's pixel.
struct Hill {
  static constexpr Index half = 3, size = 2 * half + 1;
  static constexpr std::size_t unknowns = 5;
  double values[size * size];

  /// The square of the residuals; adds the normal equations where they are asked for.
  double residuals(const Few<unknowns>& p, Square<unknowns>* normal, Few<unknowns>* gradient) const {
    double squares = 0;
    for (Index i = 0; i < size; ++i)
      for (Index j = 0; j < size; ++j) {
        const double y = static_cast<double>(i - half) - p[1], x = static_cast<double>(j - half) - p[2];
        const double away = (y * y + x * x) / (p[3] * p[3]), g = std::exp(-away / 2);
        const double left = values[i * size + j] - p[0] * g - p[4];
        squares += left * left;
        if (normal == nullptr) continue;
        const double slope = p[0] * g / (p[3] * p[3]);
        const Few<unknowns> slopes = {g, slope * y, slope * x, slope * away * p[3], 1};
        for (std::size_t a = 0; a < unknowns; ++a) {
          (*gradient)[a] += slopes[a] * left;
          for (std::size_t b = 0; b <= a; ++b) (*normal)[a][b] += slopes[a] * slopes[b];
        }
      }
    return squares;
  }
};

}  // namespace

std::optional<PlacedMaximum> refine_gaussian(const float* correlation, Index rows, Index cols, const Peak& peak) {
  constexpr int most_iterations = 50;
  constexpr double least_damping = 1e-12, most_damping = 1e12, small_change = 1e-7;
  Hill hill{};
  for (Index i = 0; i < Hill::size; ++i)
    for (Index j = 0; j < Hill::size; ++j)
      hill.values[i * Hill::size + j] = std::max(
          0.0, static_cast<double>(
                   correlation[wrap(peak.row - Hill::half + i, rows) * cols + wrap(peak.col - Hill::half + j, cols)]));
  const double lowest = *std::min_element(std::begin(hill.values), std::end(hill.values));
  Few<Hill::unknowns> p = {static_cast<double>(peak.value) - lowest, 0, 0, 2, lowest};
  double damping = 1e-3, squares = hill.residuals(p, nullptr, nullptr);
  for (int iteration = 0; iteration < most_iterations && damping < most_damping; ++iteration) {
    Square<Hill::unknowns> normal{};
    Few<Hill::unknowns> gradient{};
    (void)hill.residuals(p, &normal, &gradient);
    for (std::size_t a = 0; a < Hill::unknowns; ++a) normal[a][a] *= 1 + damping;
    const auto inverse = inverse_of(normal);
    if (!inverse) return std::nullopt;
    const Few<Hill::unknowns> step = product(*inverse, gradient);
    Few<Hill::unknowns> tried = p;
    for (std::size_t a = 0; a < Hill::unknowns; ++a) tried[a] += step[a];
    const double after = hill.residuals(tried, nullptr, nullptr);
    if (!(after <= squares)) {
      damping *= 10;
      continue;
    }
    p = tried;
    squares = after;
    damping = std::max(least_damping, damping / 10);
    if (std::hypot(step[1], step[2]) < small_change && std::abs(step[3]) < small_change) break;
  }
  if (!(p[0] > 0) || !(std::hypot(p[1], p[2]) <= farthest_move)) return std::nullopt;
  PlacedMaximum place;
  place.y = static_cast<double>(peak.row) + p[1];
  place.x = static_cast<double>(peak.col) + p[2];
  place.value = p[0] + p[4];
  return place;
}

GaussianWindow::GaussianWindow(double sigma) : square_(sigma * sigma) {
  for (Index i = 0; i < cpu::window_size; ++i) {
    const auto away = static_cast<double>(i - cpu::window_half);
    falloff_[static_cast<std::size_t>(i)] =
        std::exp(-away * away / (2 * square_)) / (std::sqrt(2 * std::numbers::pi) * sigma);
  }
}

void GaussianWindow::weights(double offset, float* to) const {
  std::fill_n(to, 3 * cpu::window_lanes, 0.0F);
  // exp(-(t - i)^2 / 2 s^2) = exp(-t^2 / 2 s^2) exp(-i^2 / 2 s^2) exp(t / s^2)^i: two exponentials for all pixels.
  const double ratio = std::exp(offset / square_);
  double power = std::exp(-offset * offset / (2 * square_) - static_cast<double>(cpu::window_half) * offset / square_);
  for (Index i = 0; i < cpu::window_size; ++i) {
    const double t = offset - static_cast<double>(i - cpu::window_half);
    const double g = falloff_[static_cast<std::size_t>(i)] * power;
    to[i] = static_cast<float>(g);
    to[cpu::window_lanes + i] = static_cast<float>(-t / square_ * g);
    to[2 * cpu::window_lanes + i] = static_cast<float>((t * t / square_ - 1) / square_ * g);
    power *= ratio;
  }
}

std::optional<PlacedMaximum> refine_smoothed(const float* u, Index rows, Index cols, const GaussianWindow& gaussian,
                                             const PlacedMaximum& start) {
  alignas(64) float window[cpu::window_size * cpu::window_lanes] = {}, y_weights[3 * cpu::window_lanes],
                                              x_weights[3 * cpu::window_lanes];
  Index row = 0, col = 0;
  bool filled = false;
  const auto fill = [&](double y, double x) {
    row = std::lround(y);
    col = std::lround(x);
    for (Index i = 0; i < cpu::window_size; ++i) {
      const float* from = u + wrap(row - cpu::window_half + i, rows) * cols;
      float* to = window + i * cpu::window_lanes;
      const Index first = col - cpu::window_half;
      if (first >= 0 && first + cpu::window_size <= cols)
        std::copy_n(from + first, cpu::window_size, to);
      else
        for (Index j = 0; j < cpu::window_size; ++j) to[j] = from[wrap(first + j, cols)];
    }
    filled = true;
  };
  return climb(start, [&](double y, double x) {
    // Beyond this the window's border would be within five widths.
    constexpr double off_centre = 0.8;
    if (!filled || std::abs(y - static_cast<double>(row)) > off_centre ||
        std::abs(x - static_cast<double>(col)) > off_centre)
      fill(y, x);
    gaussian.weights(y - static_cast<double>(row), y_weights);
    gaussian.weights(x - static_cast<double>(col), x_weights);
    Derivatives sums{};
    cpu::weighted_sums(window, y_weights, x_weights, sums.data());
    return sums;
  });
}

std::optional<PlacedMaximum> refine_exact(const HalfSpectrum& spectrum, const PlacedMaximum& start) {
  return climb(start, [&](double y, double x) { return exact_derivatives(spectrum, y, x); });
}

PlacedMaximum refine_multicorr(const HalfSpectrum& spectrum, Index upsample, const PlacedMaximum& start) {
  const auto u = static_cast<double>(upsample);
  const auto points = static_cast<Index>(std::ceil(1.5 * u));
  const auto middle = static_cast<double>(points / 2);
  const auto rounded = [&](double at) { return std::round(std::round(2 * at) / 2 * u) / u; };
  const double first_y = rounded(start.y) - middle / u, first_x = rounded(start.x) - middle / u;
  const Index half = spectrum.cols / 2 + 1;
  // Columns first: (rows, points), then rows.
  std::vector<std::complex<double>> sums(static_cast<std::size_t>(spectrum.rows * points));
  for (Index j = 0; j < points; ++j) {
    const auto wave = waves(first_x + static_cast<double>(j) / u, spectrum.cols, half);
    for (Index k = 0; k < spectrum.rows; ++k) {
      std::complex<double> sum = 0;
      for (Index l = 0; l < half; ++l)
        sum += columns_weight(l, spectrum.cols) * std::complex<double>(spectrum.values[k * half + l]) *
               wave[static_cast<std::size_t>(l)];
      sums[static_cast<std::size_t>(k * points + j)] = sum;
    }
  }
  std::vector<double> grid(static_cast<std::size_t>(points * points));
  for (Index i = 0; i < points; ++i) {
    const auto wave = waves(first_y + static_cast<double>(i) / u, spectrum.rows, spectrum.rows);
    for (Index j = 0; j < points; ++j) {
      std::complex<double> sum = 0;
      for (Index k = 0; k < spectrum.rows; ++k)
        sum += wave[static_cast<std::size_t>(k)] * sums[static_cast<std::size_t>(k * points + j)];
      grid[static_cast<std::size_t>(i * points + j)] = sum.real() / static_cast<double>(spectrum.rows * spectrum.cols);
    }
  }
  const auto best = static_cast<Index>(std::max_element(grid.begin(), grid.end()) - grid.begin());
  const Index i = best / points, j = best % points;
  const auto value = [&](Index y, Index x) { return grid[static_cast<std::size_t>(y * points + x)]; };
  double y = static_cast<double>(i), x = static_cast<double>(j);
  if (i > 0 && i + 1 < points && j > 0 && j + 1 < points) {
    y += parabola(value(i - 1, j), value(i, j), value(i + 1, j));
    x += parabola(value(i, j - 1), value(i, j), value(i, j + 1));
  }
  PlacedMaximum place;
  place.y = first_y + y / u;
  place.x = first_x + x / u;
  place.value = value(i, j);
  return place;
}

}  // namespace sonde::stem
