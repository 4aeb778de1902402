// SPDX-License-Identifier: Apache-2.0
// For tests: small problems in which everything that can be different is.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <utility>

#include "sonde/instruments/maxwell/grid/stability.h"
#include "sonde/instruments/maxwell/propagate/reference.h"

namespace sonde::maxwell::testing {

/// Numbers of one seed, each on its own: uniform(-1, 1) unless asked.
class Numbers {
 public:
  explicit Numbers(unsigned seed) : engine_(seed) {}
  double operator()(double low = -1, double high = 1) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  std::vector<double> list(std::size_t count, double low = -1, double high = 1) {
    std::vector<double> made(count);
    for (double& value : made) value = (*this)(low, high);
    return made;
  }

 private:
  std::mt19937_64 engine_;
};

struct MixedCase {
  Mode mode = Mode::tm2d;
  int order = 2;
  LossForm loss = LossForm::semi_implicit;
  int poles = 0;
  Triple cells{0, 0, 0};  ///< 0: the usual ones
};

inline std::string text_of(const MixedCase& each) {
  return std::string(each.mode == Mode::tm2d ? "two" : "three") + "Dimensions" + std::to_string(each.order) +
         (each.loss == LossForm::exponential ? "Exponential" : "") + (each.poles > 0 ? "Poles" : "");
}

/// Heterogeneous and lossy, unequal spacings, unequal layers and one side without; 0.9 of the largest step.
inline Problem mixed_problem(const MixedCase& which, unsigned seed = 1) {
  GridSpec spec;
  spec.mode = which.mode;
  spec.order = which.order;
  const bool flat = which.mode == Mode::tm2d;
  spec.cells = which.cells[0] > 0 ? which.cells : flat ? Triple{13, 1, 11} : Triple{8, 7, 9};
  spec.spacing = {0.02, 0.025, 0.03};
  spec.pml = {{{3, 0}, {flat ? 0 : 2, flat ? 0 : 3}, {4, 2}}};
  Problem problem{Grid(spec), {}, {}, 0, which.loss};
  const Grid& grid = problem.grid;
  Numbers numbers(seed);
  const auto count = static_cast<std::size_t>(grid.count());
  for (const Component c : grid.components()) {
    if (!is_electric(c)) {
      problem.medium.mu_r[place(c)] = numbers.list(count, 1, 2);
      continue;
    }
    problem.medium.eps_r[place(c)] = numbers.list(count, 3, 8);
    problem.medium.sigma[place(c)] = numbers.list(count, 0, 0.05);
  }
  problem.dt = 0.9 * largest_time_step(grid, problem.medium);
  problem.medium.poles.resize(static_cast<std::size_t>(which.poles));
  for (DebyePole& pole : problem.medium.poles)
    for (const Component c : grid.components()) {
      if (!is_electric(c)) continue;
      pole.deps[place(c)] = numbers.list(count, 1, 5);
      pole.tau[place(c)] = numbers.list(count, 0.3 * problem.dt, 20 * problem.dt);
    }
  problem.pml = pml_profiles(grid, problem.medium, {}, problem.dt, 1 / (20 * problem.dt));
  return problem;
}

/// A source and a receiver of every component, each of two nodes with different weights.
inline Acquisition mixed_shot(const Problem& problem, unsigned seed = 2) {
  Numbers numbers(seed);
  const Grid& grid = problem.grid;
  const auto node = [&] {
    const auto at = [&](Axis axis) {
      return static_cast<Index>(numbers(1, static_cast<double>(grid.extent(axis)) - 0.01));
    };
    return grid.index(at(Axis::z), grid.has(Axis::y) ? at(Axis::y) : 0, at(Axis::x));
  };
  Acquisition shot;
  for (const Component c : grid.components())
    for (auto* points : {&shot.sources, &shot.receivers}) points->push_back({c, {{node(), 0.7}, {node(), -0.4}}});
  return shot;
}

/// A current of unit size moves E by cb / volume: amplitudes that make both kinds of fields of the order of 1.
inline reference::Samples mixed_samples(const Problem& problem, const std::vector<Point>& points, Index steps,
                                        unsigned seed) {
  Numbers numbers(seed);
  reference::Samples made;
  for (Index n = 0; n < steps; ++n) {
    std::vector<double>& now = made.emplace_back();
    for (const Point& point : points)
      now.push_back(numbers() * problem.grid.cell_volume() * (is_electric(point.component) ? 1 : 300));
  }
  return made;
}

inline State mixed_state(const Problem& problem, unsigned seed) {
  Numbers numbers(seed);
  State state = make_state(problem);
  for (const Component c : problem.grid.components())
    for (double& value : state.fields[static_cast<std::size_t>(c)])
      value = numbers() * (is_electric(c) ? 1 : 1.0 / 300);
  return state;
}

/// Of deps by up to 1, of tau by up to dt.
inline std::vector<DebyePole> mixed_pole_change(const Problem& problem, unsigned seed) {
  Numbers numbers(seed);
  const auto count = static_cast<std::size_t>(problem.grid.count());
  std::vector<DebyePole> made(problem.medium.poles.size());
  for (DebyePole& pole : made)
    for (const Component c : problem.grid.components()) {
      if (!is_electric(c)) continue;
      pole.deps[place(c)] = numbers.list(count);
      pole.tau[place(c)] = numbers.list(count, -problem.dt, problem.dt);
    }
  return made;
}

/// Of every node: eps_r and mu_r by up to 1, sigma by up to 0.05 S/m.
inline ComponentChange mixed_change(const Problem& problem, unsigned seed) {
  Numbers numbers(seed);
  const auto count = static_cast<std::size_t>(problem.grid.count());
  ComponentChange made;
  for (const Component c : problem.grid.components()) {
    if (!is_electric(c)) {
      made.mu_r[place(c)] = numbers.list(count);
      continue;
    }
    made.eps_r[place(c)] = numbers.list(count);
    made.sigma[place(c)] = numbers.list(count, -0.05, 0.05);
  }
  return made;
}

}  // namespace sonde::maxwell::testing
