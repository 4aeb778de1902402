// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/grid/pml.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/grid/constants.h"

namespace sonde::maxwell {
namespace {

struct MeanMedium {
  double eps_r = 1, mu_r = 1;
};

double mean_of(const std::array<std::vector<double>, 3>& values, const Grid& grid, const Triple& first,
               const Triple& last) {
  double sum = 0, count = 0;
  for (const auto& component : values) {
    if (component.empty()) continue;
    for (Index k = first[0]; k < last[0]; ++k)
      for (Index j = first[1]; j < last[1]; ++j)
        for (Index i = first[2]; i < last[2]; ++i, ++count)
          sum += component[static_cast<std::size_t>(grid.index(k, j, i))];
  }
  return count > 0 ? sum / count : 1;
}

MeanMedium mean_medium(const Grid& grid, const ComponentMedium& medium, Axis axis, bool low, Index width) {
  Triple first{}, last = grid.extents();
  const std::size_t a = dimension(axis);
  (low ? last : first)[a] = low ? width : grid.extent(axis) - width;
  return {mean_of(medium.eps_r, grid, first, last), mean_of(medium.mu_r, grid, first, last)};
}

struct Slab {
  double sigma_max = 0, alpha_max = 0;
};

Slab slab_of(const Grid& grid, const ComponentMedium& medium, const PmlSettings& settings, Axis axis, bool low,
             double f0) {
  const Index width = low ? grid.low(axis) : grid.high(axis);
  if (width == 0) return {};
  using enum PmlSettings::Scale;
  const MeanMedium here = settings.scale == x_low ? mean_medium(grid, medium, Axis::x, true, 1)
                                                  : mean_medium(grid, medium, axis, low, width);
  const double slowness = settings.scale == vacuum ? 1 : std::sqrt(here.eps_r * here.mu_r);
  return {settings.sigma_factor * 0.8 * (settings.grading + 1) / (eta0 * grid.spacing(axis) * slowness),
          settings.alpha_max.value_or(0.05 * std::numbers::pi * f0 * eps0 * here.eps_r)};
}

PmlLine line_of(const Grid& grid, Axis axis, bool half, const std::array<Slab, 2>& slabs, const PmlSettings& settings,
                double dt) {
  const Index n = grid.extent(axis);
  PmlLine line{std::vector<double>(static_cast<std::size_t>(n)), std::vector<double>(static_cast<std::size_t>(n)),
               std::vector<double>(static_cast<std::size_t>(n), 1.0)};
  for (Index i = 0; i < n; ++i) {
    const double p = static_cast<double>(i) + (half ? 0.5 : 0.0);
    const auto low = static_cast<double>(grid.low(axis)), high = static_cast<double>(grid.high(axis));
    const bool in_low = p<low, in_high = p> static_cast<double>(n) - high;
    if (!in_low && !in_high) continue;
    const double depth = in_low ? (low - p) / low : (p - static_cast<double>(n) + high) / high;
    const Slab& slab = slabs[in_low ? 0 : 1];
    const double graded = std::pow(depth, settings.grading);
    const double sigma = slab.sigma_max * graded, kappa = 1 + (settings.kappa_max - 1) * graded;
    const double alpha = slab.alpha_max * (1 - depth) + settings.alpha_min;
    const double b = std::exp(-(sigma / kappa + alpha) * dt / eps0);
    const auto at = static_cast<std::size_t>(i);
    line.b[at] = b;
    line.a[at] = sigma > 0 ? sigma * (b - 1) / (kappa * (sigma + kappa * alpha)) : 0;
    line.k_inverse[at] = 1 / kappa;
  }
  return line;
}

}  // namespace

PmlSettings gprmax_pml() { return {.kappa_max = 1, .alpha_max = 0.0, .scale = PmlSettings::Scale::x_low}; }

PmlSettings tide_pml() {
  return {.kappa_max = 5, .alpha_max = 0.008, .alpha_min = 0.0008, .scale = PmlSettings::Scale::vacuum};
}

PmlProfiles pml_profiles(const Grid& grid, const ComponentMedium& medium, const PmlSettings& settings, double dt,
                         double f0) {
  if (!(settings.kappa_max >= 1) || !(settings.grading >= 0) || !(settings.sigma_factor >= 0) ||
      !(settings.alpha_min >= 0) || !(settings.alpha_max.value_or(0) >= 0))
    throw Error(ErrorKind::bad_input,
                fmt::format("absorbing layer: kappa_max = {}, grading = {}, sigma_factor = {}, alpha_max = {}, "
                            "alpha_min = {}; expected kappa_max of at least 1 and the others at least 0",
                            settings.kappa_max, settings.grading, settings.sigma_factor, settings.alpha_max.value_or(0),
                            settings.alpha_min));
  PmlProfiles made;
  for (const Axis axis : all_axes) {
    if (!grid.has(axis)) continue;
    const std::array<Slab, 2> slabs{slab_of(grid, medium, settings, axis, true, f0),
                                    slab_of(grid, medium, settings, axis, false, f0)};
    made[dimension(axis)] = {line_of(grid, axis, false, slabs, settings, dt),
                             line_of(grid, axis, true, slabs, settings, dt)};
  }
  return made;
}

}  // namespace sonde::maxwell
