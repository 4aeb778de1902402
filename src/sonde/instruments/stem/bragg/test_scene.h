// SPDX-License-Identifier: Apache-2.0
// For tests: the scene of the Cramer-Rao bound, and how disks scatter there.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "sonde/engine/math/poisson.h"
#include "sonde/instruments/stem/bragg/bragg_plan.h"
#include "sonde/instruments/stem/bragg/test_disks.h"

namespace sonde::stem::testing {

inline DiskSettings settings_for(double radius) {
  DiskSettings settings;
  settings.min_peak_spacing = 1.5 * radius;
  settings.edge_boundary = static_cast<Index>(std::ceil(radius)) + 1;
  return settings;
}

template <class T>
DiskList disks_of(const BraggPlan& plan, const std::vector<T>& frames) {
  BraggPlan::Scratch scratch(plan);
  DiskList list;
  plan.run(frames.data(), static_cast<Index>(frames.size()) / (plan.rows() * plan.cols()), scratch, list);
  return list;
}

/// The scene of the Cramer-Rao bound: one disk on a background of 1/600 of its plateau, 32 x 32.
struct Scene {
  static constexpr Index side = 32;
  static constexpr double radius = 5, edge = 0.7;
  double counts;

  [[nodiscard]] std::vector<double> rates(double y, double x) const {
    const std::vector<DrawnDisk> disk = {{y, x, 1}};
    std::vector<double> pattern = draw_disks(side, side, disk, radius, edge, 1.0 / 600);
    // Counts of the disk, not of the background.
    const double scale = counts / (M_PI * radius * radius);
    for (double& rate : pattern) rate *= scale;
    return pattern;
  }

  /// CRB^-2 = sum (d mu / d x)^2 / mu.
  [[nodiscard]] double bound(double y, double x) const {
    constexpr double step = 1e-3;
    const auto before = rates(y, x - step), after = rates(y, x + step), here = rates(y, x);
    double sum = 0;
    for (std::size_t i = 0; i < here.size(); ++i) sum += std::pow((after[i] - before[i]) / (2 * step), 2) / here[i];
    return 1 / std::sqrt(sum);
  }
};

struct Scatter {
  double over_bound;  ///< rms of an axis over the bound
  double pull;        ///< rms of deviations over their stated sigma
};

/// How places of the scene are found.
struct Method {
  KernelShape shape = KernelShape::ring;
  Refinement subpixel = Refinement::newton;
  std::uint64_t seed = 11;
};

/// Of two numbers for each trial.
inline Scatter scatter_of(const Method& method, double counts, int trials) {
  DiskSettings settings = settings_for(Scene::radius);
  settings.max_num_peaks = 1;
  settings.subpixel = method.subpixel;
  const BraggPlan plan = BraggPlan::prepare(Scene::side, Scene::side, soft_probe(Scene::radius, Scene::edge),
                                            {.shape = method.shape}, settings);
  const Scene scene{counts};
  double squares = 0, pulls = 0;
  constexpr int places = 6;
  for (int place = 0; place < places; ++place) {
    const double y = 15.5 + 0.37 * (place % 3), x = 15.25 + 0.29 * place;
    const auto rates = scene.rates(y, x);
    const double bound = scene.bound(y, x);
    std::vector<std::uint32_t> drawn(rates.size());
    for (int trial = place; trial < trials; trial += places) {
      draw_poisson({.seed = method.seed, .stream = static_cast<std::uint64_t>(trial)}, rates, drawn);
      const BraggDisk disk = disks_of(plan, drawn).disks.at(0);
      const double dy = static_cast<double>(disk.qy) - y, dx = static_cast<double>(disk.qx) - x;
      squares += (dy * dy + dx * dx) / (bound * bound);
      pulls += dy * dy / static_cast<double>(disk.var_y) + dx * dx / static_cast<double>(disk.var_x);
    }
  }
  return {std::sqrt(squares / (2 * trials)), std::sqrt(pulls / (2 * trials))};
}

}  // namespace sonde::stem::testing
