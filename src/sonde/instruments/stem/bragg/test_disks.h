// SPDX-License-Identifier: Apache-2.0
// For tests: patterns of soft disks, and the published search for them, written out in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/bragg/bragg_plan.h"

namespace sonde::stem::testing {

/// A disk of height 1 at its middle times `height`.
struct DrawnDisk {
  double y = 0, x = 0, height = 1;
};

/// (rows, cols): background + sum of heights / (1 + exp((r - radius) / edge)) as far as 10 edges beyond the radius,
/// each pixel the mean of 8 x 8 points.
inline std::vector<double> draw_disks(Index rows, Index cols, std::span<const DrawnDisk> disks, double radius,
                                      double edge, double background = 0) {
  std::vector<double> pattern(static_cast<std::size_t>(rows * cols), background);
  for (const DrawnDisk& disk : disks)
    for (Index row = 0; row < rows; ++row)
      for (Index col = 0; col < cols; ++col) {
        const double distance = std::hypot(static_cast<double>(row) - disk.y, static_cast<double>(col) - disk.x);
        if (distance > radius + 10 * edge + 1) continue;
        // Where nothing bends, one point is the mean.
        const int fine = std::abs(distance - radius) < 6 * edge + 1 ? 8 : 1;
        double sum = 0;
        for (int i = 0; i < fine; ++i)
          for (int j = 0; j < fine; ++j) {
            const double y = static_cast<double>(row) + (i + 0.5) / fine - 0.5 - disk.y;
            const double x = static_cast<double>(col) + (j + 0.5) / fine - 0.5 - disk.x;
            sum += 1 / (1 + std::exp((std::hypot(y, x) - radius) / edge));
          }
        pattern[static_cast<std::size_t>(row * cols + col)] += disk.height * sum / (fine * fine);
      }
  return pattern;
}

/// A lattice of disks about (y, x), those that lie a radius and two pixels inside; the central one is the brightest.
inline std::vector<DrawnDisk> draw_lattice(Index rows, Index cols, double y, double x, double spacing, double radius) {
  std::vector<DrawnDisk> disks;
  for (int h = -8; h <= 8; ++h)
    for (int k = -8; k <= 8; ++k) {
      const DrawnDisk disk{y + 0.97 * spacing * h + 0.1 * spacing * k, x - 0.08 * spacing * h + 1.02 * spacing * k,
                           std::exp(-0.15 * (h * h + k * k)) * (1 + 0.1 * std::sin(3.0 * h + 5 * k))};
      const double edge = radius + 2;
      if (disk.y > edge && disk.y < static_cast<double>(rows) - 1 - edge && disk.x > edge &&
          disk.x < static_cast<double>(cols) - 1 - edge)
        disks.push_back(disk);
    }
  return disks;
}

/// What find_Bragg_disks of py4DSTEM does with a pattern, step by step (the Fourier transform by its sums).
class ReferenceSearch {
 public:
  using Spectrum = std::vector<std::complex<double>>;

  /// Backgrounds nearer to the origin than `hold` are that of this distance.
  ReferenceSearch(Index rows, Index cols, const std::vector<double>& kernel, const DiskSettings& settings,
                  double hold = 0)
      : rows_(rows), cols_(cols), settings_(settings), hold_(hold), kernel_(transformed(kernel)) {}

  struct Found {
    double y = 0, x = 0, value = 0;
  };

  [[nodiscard]] std::vector<Found> find(const std::vector<double>& pattern) const {
    const Spectrum raw = correlation_spectrum(without_background(pattern));
    std::vector<double> cc = inverse(smoothed(raw, settings_.sigma_cc));
    for (double& value : cc) value = std::max(value, 0.0);
    const auto at = [&](Index row, Index col) { return cc[static_cast<std::size_t>(row * cols_ + col)]; };
    struct Maximum {
      double value;
      Index row, col;
    };
    std::vector<Maximum> maxima, kept;
    const Index edge = settings_.edge_boundary;
    for (Index r = edge; r < rows_ - edge; ++r)
      for (Index c = edge; c < cols_ - edge; ++c) {
        const double v = at(r, c);
        if (v >= at(r + 1, c) && v >= at(r, c + 1) && v >= at(r + 1, c + 1) && v >= at(r - 1, c + 1) &&
            v > at(r - 1, c) && v > at(r, c - 1) && v > at(r + 1, c - 1) && v > at(r - 1, c - 1))
          maxima.push_back({v, r, c});
      }
    std::stable_sort(maxima.begin(), maxima.end(), [](const auto& a, const auto& b) { return a.value > b.value; });
    std::erase_if(maxima, [&](const Maximum& m) { return m.value < settings_.min_absolute_intensity; });
    if (maxima.empty()) return {};
    const double reference = maxima[static_cast<std::size_t>(settings_.relative_to_peak)].value;
    std::erase_if(maxima, [&](const Maximum& m) { return m.value / reference < settings_.min_relative_intensity; });
    for (const Maximum& m : maxima)
      if (std::none_of(kept.begin(), kept.end(), [&](const Maximum& other) {
            return std::hypot(static_cast<double>(m.row - other.row), static_cast<double>(m.col - other.col)) <
                   settings_.min_peak_spacing;
          }))
        kept.push_back(m);
    if (static_cast<Index>(kept.size()) > settings_.max_num_peaks)
      kept.resize(static_cast<std::size_t>(settings_.max_num_peaks));
    std::vector<Found> found;
    for (const Maximum& m : kept) found.push_back(refined(smoothed(raw, settings_.sigma_refine()), at, m.row, m.col));
    return found;
  }

  /// Without its median, or without its medians at whole distances from the origin and lines between these.
  [[nodiscard]] std::vector<double> without_background(std::vector<double> pattern) const {
    if (settings_.background == PatternBackground::constant) {
      const double level = middle(pattern);
      for (double& value : pattern) value -= level;
    }
    if (settings_.background != PatternBackground::radial_median) return pattern;
    const auto distance = [&](std::size_t i) {
      return std::hypot(static_cast<double>(static_cast<Index>(i) / cols_) - settings_.background_row,
                        static_cast<double>(static_cast<Index>(i) % cols_) - settings_.background_col);
    };
    double farthest = 0;
    for (std::size_t i = 0; i < pattern.size(); ++i) farthest = std::max(farthest, distance(i));
    std::vector<double> levels;
    for (int k = 0; k <= static_cast<int>(farthest) + 1; ++k) {
      std::vector<double> ring;
      for (std::size_t i = 0; i < pattern.size(); ++i)
        if (distance(i) >= k - 0.5 && distance(i) < k + 0.5) ring.push_back(pattern[i]);
      levels.push_back(ring.empty() ? levels.back() : middle(ring));
    }
    for (int k = 0; k < hold_; ++k)
      levels[static_cast<std::size_t>(k)] = levels[static_cast<std::size_t>(std::ceil(hold_))];
    std::vector<double> made = pattern;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      const auto k = static_cast<std::size_t>(distance(i));
      const double part = distance(i) - std::floor(distance(i));
      made[i] -= (1 - part) * levels[k] + part * levels[k + 1];
    }
    return made;
  }

  /// Re of the sum of a spectrum at a place.
  [[nodiscard]] double value_at(const Spectrum& spectrum, double y, double x) const {
    Spectrum waves;
    for (Index l = 0; l < cols_; ++l) waves.push_back(std::polar(1.0, turn(l, cols_) * x));
    std::complex<double> sum = 0;
    for (Index k = 0; k < rows_; ++k) {
      std::complex<double> row = 0;
      for (Index l = 0; l < cols_; ++l)
        row += spectrum[static_cast<std::size_t>(k * cols_ + l)] * waves[static_cast<std::size_t>(l)];
      sum += row * std::polar(1.0, turn(k, rows_) * y);
    }
    return sum.real() / static_cast<double>(rows_ * cols_);
  }

 private:
  static double middle(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
  }
  static double turn(Index k, Index extent) {
    return 2 * std::numbers::pi * static_cast<double>(2 * k < extent ? k : k - extent) / static_cast<double>(extent);
  }

  /// By rows, then by columns.
  [[nodiscard]] Spectrum dft(const Spectrum& in, double sign) const {
    Spectrum half(in.size()), out(in.size());
    for (Index l = 0; l < cols_; ++l)
      for (Index r = 0; r < rows_; ++r)
        for (Index c = 0; c < cols_; ++c)
          half[static_cast<std::size_t>(r * cols_ + l)] +=
              in[static_cast<std::size_t>(r * cols_ + c)] *
              std::polar(1.0, sign * turn(l, cols_) * static_cast<double>(c));
    for (Index k = 0; k < rows_; ++k)
      for (Index r = 0; r < rows_; ++r) {
        const auto wave = std::polar(1.0, sign * turn(k, rows_) * static_cast<double>(r));
        for (Index l = 0; l < cols_; ++l)
          out[static_cast<std::size_t>(k * cols_ + l)] += wave * half[static_cast<std::size_t>(r * cols_ + l)];
      }
    return out;
  }
  [[nodiscard]] Spectrum transformed(const std::vector<double>& real) const {
    return dft(Spectrum(real.begin(), real.end()), -1);
  }
  [[nodiscard]] std::vector<double> inverse(const Spectrum& spectrum) const {
    const Spectrum made = dft(spectrum, 1);
    std::vector<double> real;
    for (const auto& value : made) real.push_back(value.real() / static_cast<double>(rows_ * cols_));
    return real;
  }
  [[nodiscard]] Spectrum smoothed(Spectrum spectrum, double sigma) const {
    for (Index k = 0; k < rows_; ++k)
      for (Index l = 0; l < cols_; ++l)
        spectrum[static_cast<std::size_t>(k * cols_ + l)] *=
            std::exp(-sigma * sigma * (std::pow(turn(k, rows_), 2) + std::pow(turn(l, cols_), 2)) / 2);
    return spectrum;
  }
  [[nodiscard]] Spectrum correlation_spectrum(const std::vector<double>& pattern) const {
    Spectrum m = smoothed(transformed(pattern), settings_.sigma_dp);
    if (settings_.background == PatternBackground::dog) {
      const Spectrum wide = smoothed(m, settings_.background_sigma);
      for (std::size_t i = 0; i < m.size(); ++i) m[i] -= wide[i];
    }
    for (std::size_t i = 0; i < m.size(); ++i) {
      m[i] *= std::conj(kernel_[i]);
      if (std::abs(m[i]) > 0) m[i] = std::polar(std::pow(std::abs(m[i]), settings_.corr_power), std::arg(m[i]));
    }
    return m;
  }

  template <class At>
  [[nodiscard]] Found refined(const Spectrum& spectrum, At&& cc, Index row, Index col) const {
    Found place{static_cast<double>(row), static_cast<double>(col), cc(row, col)};
    if (settings_.subpixel == Refinement::none) return place;
    const auto step = [](double before, double here, double after) {
      return (after - before) / (4 * here - 2 * before - 2 * after);
    };
    place.y += step(cc(row - 1, col), cc(row, col), cc(row + 1, col));
    place.x += step(cc(row, col - 1), cc(row, col), cc(row, col + 1));
    if (settings_.subpixel == Refinement::poly) {
      const auto y0 = static_cast<Index>(std::floor(place.y)), x0 = static_cast<Index>(std::floor(place.x));
      const double fy = place.y - std::floor(place.y), fx = place.x - std::floor(place.x);
      place.value = (1 - fy) * ((1 - fx) * cc(y0, x0) + fx * cc(y0, x0 + 1)) +
                    fy * ((1 - fx) * cc(y0 + 1, x0) + fx * cc(y0 + 1, x0 + 1));
      return place;
    }
    if (settings_.subpixel == Refinement::multicorr) return on_grid(spectrum, place);
    if (settings_.subpixel == Refinement::gaussian2d) return on_gaussian(cc, row, col);
    // The maximum by halving steps along each axis: slow, and sure of a smooth hill.
    for (double width = 0.25; width > 1e-6; width /= 2)
      for (int again = 0; again < 4; ++again)
        for (const auto& [dy, dx] : {std::pair(width, 0.0), {-width, 0.0}, {0.0, width}, {0.0, -width}})
          if (value_at(spectrum, place.y + dy, place.x + dx) > value_at(spectrum, place.y, place.x)) {
            place.y += dy;
            place.x += dx;
          }
    place.value = value_at(spectrum, place.y, place.x);
    return place;
  }

  /// The Gaussian of least squares through 7 x 7 values: height and background are linear, place and width are tried in
  /// steps that halve.
  template <class At>
  [[nodiscard]] Found on_gaussian(At&& cc, Index row, Index col) const {
    const auto fit = [&](double y, double x, double sigma) {
      double g1 = 0, gg = 0, v1 = 0, gv = 0, vv = 0;
      for (Index i = -3; i <= 3; ++i)
        for (Index j = -3; j <= 3; ++j) {
          const double dy = static_cast<double>(i) - y, dx = static_cast<double>(j) - x;
          const double g = std::exp(-(dy * dy + dx * dx) / (2 * sigma * sigma));
          const double v = cc((row + i + rows_) % rows_, (col + j + cols_) % cols_);
          g1 += g;
          gg += g * g;
          v1 += v;
          gv += g * v;
          vv += v * v;
        }
      const double height = (49 * gv - g1 * v1) / (49 * gg - g1 * g1), background = (v1 - height * g1) / 49;
      // The residual of least squares, and the value at the middle.
      return std::pair(vv - height * gv - background * v1, height + background);
    };
    double p[3] = {0, 0, 2};
    for (double width = 0.5; width > 1e-6; width /= 2)
      for (int again = 0; again < 12; ++again)
        for (double& one : p)
          for (const double step : {width, -width}) {
            const double before = fit(p[0], p[1], p[2]).first;
            one += step;
            if (!(fit(p[0], p[1], p[2]).first < before)) one -= step;
          }
    return {static_cast<double>(row) + p[0], static_cast<double>(col) + p[1], fit(p[0], p[1], p[2]).second};
  }

  [[nodiscard]] Found on_grid(const Spectrum& spectrum, const Found& start) const {
    const auto u = static_cast<double>(settings_.upsample_factor);
    const auto points = static_cast<Index>(std::ceil(1.5 * u));
    const double middle = std::floor(std::ceil(1.5 * u) / 2);
    const auto rounded = [&](double at) { return std::round(std::round(at * 2) / 2 * u) / u; };
    const auto place_y = [&](double i) { return rounded(start.y) + (i - middle) / u; };
    const auto place_x = [&](double j) { return rounded(start.x) + (j - middle) / u; };
    std::vector<double> grid;
    for (Index i = 0; i < points; ++i)
      for (Index j = 0; j < points; ++j)
        grid.push_back(value_at(spectrum, place_y(static_cast<double>(i)), place_x(static_cast<double>(j))));
    const auto best = static_cast<Index>(std::max_element(grid.begin(), grid.end()) - grid.begin());
    const Index i = best / points, j = best % points;
    const auto value = [&](Index y, Index x) { return grid[static_cast<std::size_t>(y * points + x)]; };
    double y = static_cast<double>(i), x = static_cast<double>(j);
    if (i > 0 && j > 0 && i + 1 < points && j + 1 < points) {
      y += (value(i + 1, j) - value(i - 1, j)) / (4 * value(i, j) - 2 * value(i + 1, j) - 2 * value(i - 1, j));
      x += (value(i, j + 1) - value(i, j - 1)) / (4 * value(i, j) - 2 * value(i, j + 1) - 2 * value(i, j - 1));
    }
    return {place_y(y), place_x(x), value(i, j)};
  }

  Index rows_, cols_;
  DiskSettings settings_;
  double hold_;
  Spectrum kernel_;
};

}  // namespace sonde::stem::testing
