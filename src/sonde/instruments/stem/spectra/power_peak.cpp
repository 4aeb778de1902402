// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/spectra/power_peak.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sonde/engine/device/multiversion.h"

namespace sonde::stem {
namespace {

/// sums[k][col] += weights[k] pattern[col].
SONDE_MULTIVERSION void add_row(const float* pattern, Index cols, const double* weights, double* const* sums) {
  for (int k = 0; k < 6; ++k) {
    double* to = sums[k];
    const double weight = weights[k];
    for (Index col = 0; col < cols; ++col) to[col] += weight * static_cast<double>(pattern[col]);
  }
}

double parabola_top(double before, double here, double after) {
  const double bend = 2 * here - before - after;
  return bend > 0 ? (after - before) / (2 * bend) : 0;
}

}  // namespace

PowerAt::Axis::Axis(Index extent) : phase(static_cast<std::size_t>(extent)), cosine(phase.size()), sine(phase.size()) {
  for (std::size_t i = 0; i < phase.size(); ++i)
    phase[i] = 2 * std::numbers::pi * (static_cast<double>(i) - static_cast<double>(extent - 1) / 2) /
               static_cast<double>(extent);
}

void PowerAt::Axis::turn(double place) {
  for (std::size_t i = 0; i < phase.size(); ++i) {
    cosine[i] = std::cos(phase[i] * place);
    sine[i] = std::sin(phase[i] * place);
  }
}

PowerAt::PowerAt(Index rows, Index cols) : rows_(rows), cols_(cols) {
  for (std::vector<double>& sums : sums_) sums.resize(static_cast<std::size_t>(cols));
}

Derivatives PowerAt::derivatives(const float* pattern, double y, double x) {
  rows_.turn(y);
  cols_.turn(x);
  const auto cols = static_cast<Index>(cols_.phase.size());
  double* sums[6];
  for (std::size_t k = 0; k < 6; ++k) {
    std::fill(sums_[k].begin(), sums_[k].end(), 0.0);
    sums[k] = sums_[k].data();
  }
  for (std::size_t r = 0; r < rows_.phase.size(); ++r) {
    const double t = rows_.phase[r], c = rows_.cosine[r], s = rows_.sine[r];
    const double weights[6] = {c, t * c, t * t * c, s, t * s, t * t * s};
    add_row(pattern + static_cast<Index>(r) * cols, cols, weights, sums);
  }
  // Moments of the phases: sum of t_y^a t_x^b w L exp(-i phase).
  std::complex<double> m[3][3] = {};
  for (std::size_t l = 0; l < cols_.phase.size(); ++l) {
    const double t = cols_.phase[l];
    const std::complex<double> wave(cols_.cosine[l], -cols_.sine[l]);
    for (std::size_t a = 0; a < 3; ++a) {
      const std::complex<double> term = std::complex<double>(sums_[a][l], -sums_[a + 3][l]) * wave;
      m[a][0] += term;
      m[a][1] += t * term;
      m[a][2] += t * t * term;
    }
  }
  sum_ = m[0][0];
  sum_y_ = m[1][0];
  sum_x_ = m[0][1];
  const std::complex<double> turned = std::conj(sum_);
  Derivatives d{};
  d[0] = std::norm(sum_);
  d[3] = 2 * (turned * sum_y_).imag();
  d[1] = 2 * (turned * sum_x_).imag();
  d[6] = 2 * (std::norm(sum_y_) - (turned * m[2][0]).real());
  d[4] = 2 * ((std::conj(sum_y_) * sum_x_).real() - (turned * m[1][1]).real());
  d[2] = 2 * (std::norm(sum_x_) - (turned * m[0][2]).real());
  return d;
}

void PowerAt::movements(const PlacedMaximum& maximum, std::vector<float>& along_y, std::vector<float>& along_x) const {
  const std::size_t rows = rows_.phase.size(), cols = cols_.phase.size();
  along_y.resize(rows * cols);
  along_x.resize(rows * cols);
  const double determinant = maximum.yy * maximum.xx - maximum.yx * maximum.yx;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t l = 0; l < cols; ++l) {
      const double c = rows_.cosine[r] * cols_.cosine[l] - rows_.sine[r] * cols_.sine[l];
      const double s = rows_.sine[r] * cols_.cosine[l] + rows_.cosine[r] * cols_.sine[l];
      const auto slope = [&](const std::complex<double>& of, double phase) {
        return 2 * (c * (of.imag() - phase * sum_.imag()) + s * (of.real() - phase * sum_.real()));
      };
      const double y = slope(sum_y_, rows_.phase[r]), x = slope(sum_x_, cols_.phase[l]);
      along_y[r * cols + l] = static_cast<float>(-(maximum.xx * y - maximum.yx * x) / determinant);
      along_x[r * cols + l] = static_cast<float>(-(maximum.yy * x - maximum.yx * y) / determinant);
    }
}

std::optional<PowerPeak> place_peak(const PatternPower& plan, const PatternPower::Scratch& scratch,
                                    const Frequency& near, double radius, PowerAt& power) {
  const Index rows = plan.rows(), cols = plan.cols();
  const auto value = [&](Index y, Index x) {
    return static_cast<double>(at_point(scratch.power.data(), rows, cols, y, x));
  };
  const double middle_y = near.y * static_cast<double>(rows), middle_x = near.x * static_cast<double>(cols);
  Index best_y = 0, best_x = 0;
  double best = -1;
  for (auto y = static_cast<Index>(std::ceil(middle_y - radius));
       y <= static_cast<Index>(std::floor(middle_y + radius)); ++y)
    for (auto x = static_cast<Index>(std::ceil(middle_x - radius));
         x <= static_cast<Index>(std::floor(middle_x + radius)); ++x) {
      if (std::hypot(static_cast<double>(y) - middle_y, static_cast<double>(x) - middle_x) > radius) continue;
      if (value(y, x) <= best) continue;
      best = value(y, x);
      best_y = y;
      best_x = x;
    }
  if (!(best > 0)) return std::nullopt;
  for (Index i = -1; i <= 1; ++i)
    for (Index j = -1; j <= 1; ++j)
      if (value(best_y + i, best_x + j) > best) return std::nullopt;
  PlacedMaximum start;
  start.y = static_cast<double>(best_y) + parabola_top(value(best_y - 1, best_x), best, value(best_y + 1, best_x));
  start.x = static_cast<double>(best_x) + parabola_top(value(best_y, best_x - 1), best, value(best_y, best_x + 1));
  const auto found = climb(start, [&](double y, double x) { return power.derivatives(scratch.pattern.data(), y, x); });
  if (!found) return std::nullopt;
  return PowerPeak{{found->x / static_cast<double>(cols), found->y / static_cast<double>(rows)}, *found};
}

}  // namespace sonde::stem
