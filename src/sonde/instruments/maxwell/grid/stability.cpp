// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/grid/stability.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "sonde/instruments/maxwell/grid/constants.h"
#include "sonde/instruments/maxwell/grid/stencil.h"

namespace sonde::maxwell {
namespace {

double smallest(const std::array<std::vector<double>, 3>& values) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& component : values)
    if (!component.empty()) least = std::min(least, *std::min_element(component.begin(), component.end()));
  return least;
}

/// (1/d) sum c_m sin((2m-1) k d / 2): the derivative's wave number over 2.
double half_wave_number(int order, double k, double d) {
  const auto weights = stencil_weights(order);
  double sum = 0;
  for (std::size_t m = 0; m < weights.size(); ++m)
    sum += weights[m] * std::sin(static_cast<double>(2 * m + 1) * k * d / 2);
  return sum / d;
}

/// Unit vectors along the axes and along the diagonals of two and of three of them.
std::vector<std::array<double, 3>> directions_of(const Grid& grid) {
  std::vector<std::array<double, 3>> made;
  for (unsigned chosen = 1; chosen < 8; ++chosen) {
    std::array<double, 3> direction{};
    double length = 0;
    for (const Axis axis : all_axes)
      if ((chosen >> dimension(axis) & 1U) != 0) direction[dimension(axis)] = 1, length += 1;
    if (!grid.has(Axis::y) && direction[dimension(Axis::y)] != 0) continue;
    for (double& part : direction) part /= std::sqrt(length);
    made.push_back(direction);
  }
  return made;
}

}  // namespace

double largest_time_step(const Grid& grid, const ComponentMedium& medium) {
  double sum = 0;
  for (const Axis axis : all_axes)
    if (grid.has(axis)) sum += 1 / (grid.spacing(axis) * grid.spacing(axis));
  return 1 / (stencil_sum(grid.order()) * fastest_velocity(medium) * std::sqrt(sum));
}

double fastest_velocity(const ComponentMedium& medium) {
  return c0 / std::sqrt(smallest(medium.eps_r) * smallest(medium.mu_r));
}

double phase_velocity_ratio(const Grid& grid, double dt, double v, double frequency,
                            const std::array<double, 3>& direction) {
  const double omega = 2 * std::numbers::pi * frequency;
  const double wanted = dt > 0 ? std::sin(omega * dt / 2) / (v * dt) : omega / (2 * v);
  double shortest = std::numeric_limits<double>::infinity();
  for (const Axis axis : all_axes)
    if (grid.has(axis) && direction[dimension(axis)] != 0)
      shortest = std::min(shortest, grid.spacing(axis) / std::abs(direction[dimension(axis)]));
  const auto made = [&](double k) {
    double sum = 0;
    for (const Axis axis : all_axes) {
      if (!grid.has(axis)) continue;
      const double s = half_wave_number(grid.order(), k * direction[dimension(axis)], grid.spacing(axis));
      sum += s * s;
    }
    return std::sqrt(sum);
  };
  // The left side grows with k up to the Nyquist wave number of the finest axis.
  double low = 0, high = std::numbers::pi / shortest;
  if (omega * dt >= std::numbers::pi || made(high) < wanted) return 0;
  for (int i = 0; i < 200 && high - low > 1e-15 * high; ++i) {
    const double middle = (low + high) / 2;
    (made(middle) < wanted ? low : high) = middle;
  }
  return omega / ((low + high) / 2) / v;
}

double largest_velocity_error(const Grid& grid, double dt, const WaveBand& band) {
  // The step makes waves fast, the more so the higher their frequency, and the stencils make them slow, the more so the
  // shorter they are: at a frequency the slowest and the fastest medium have the extremes, but where the two partly
  // cancel the highest frequency need not.
  constexpr int frequencies = 16;
  double largest = 0;
  for (const std::array<double, 3>& direction : directions_of(grid))
    for (const double v : {band.slowest, band.fastest})
      for (int i = 1; i <= frequencies; ++i) {
        const double ratio = phase_velocity_ratio(grid, dt, v, band.highest_frequency * i / frequencies, direction);
        if (ratio == 0) return std::numeric_limits<double>::infinity();
        largest = std::max(largest, std::abs(ratio - 1));
      }
  return largest;
}

double slowest_velocity(const Grid& grid, const ComponentMedium& medium, double frequency) {
  const double omega = 2 * std::numbers::pi * frequency;
  double eps_r = 1, mu_r = 1;
  for (const Component c : grid.components()) {
    const std::size_t p = place(c);
    if (!is_electric(c)) {
      mu_r = std::max(mu_r, *std::max_element(medium.mu_r[p].begin(), medium.mu_r[p].end()));
      continue;
    }
    for (std::size_t i = 0; i < medium.eps_r[p].size(); ++i) {
      if (std::isinf(medium.sigma[p][i])) continue;
      double here = medium.eps_r[p][i];
      for (const DebyePole& pole : medium.poles)
        here += pole.deps[p][i] / (1 + omega * omega * pole.tau[p][i] * pole.tau[p][i]);
      eps_r = std::max(eps_r, here);
    }
  }
  return c0 / std::sqrt(eps_r * mu_r);
}

double least_cells_per_wavelength(int order) { return order == 2 ? 5 : 3; }

double cells_per_wavelength(const Grid& grid, double v, double frequency) {
  double coarsest = 0;
  for (const Axis axis : all_axes)
    if (grid.has(axis)) coarsest = std::max(coarsest, grid.spacing(axis));
  return v / frequency / coarsest;
}

}  // namespace sonde::maxwell
