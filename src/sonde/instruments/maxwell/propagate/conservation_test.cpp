// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

#include "sonde/instruments/maxwell/grid/constants.h"
#include "sonde/instruments/maxwell/grid/stencil.h"
#include "sonde/instruments/maxwell/propagate/test_problem.h"

namespace sonde::maxwell {
namespace {

using testing::MixedCase;

/// Without loss and without layers.
Problem closed_box(Mode mode, int order) {
  Problem problem = testing::mixed_problem({.mode = mode, .order = order});
  GridSpec spec = problem.grid.spec();
  for (std::size_t a = 0; a < 3; ++a) spec.cells[a] += spec.pml[a][0] + spec.pml[a][1];
  spec.pml = {};
  problem.grid = Grid(spec);
  for (auto& sigma : problem.medium.sigma) std::fill(sigma.begin(), sigma.end(), 0.0);
  problem.pml = pml_profiles(problem.grid, problem.medium, {}, problem.dt, 0);
  return problem;
}

/// 1/2 sum (eps E^n E^n + mu H^{n-1/2} H^{n+1/2}), what leapfrog conserves.
double energy(const Problem& problem, const State& before, const State& after) {
  double sum = 0;
  for (const Component c : problem.grid.components()) {
    const auto which = static_cast<std::size_t>(c);
    for (std::size_t i = 0; i < before.fields[which].size(); ++i)
      sum += is_electric(c)
                 ? eps0 * problem.medium.eps_r[place(c)][i] * before.fields[which][i] * before.fields[which][i]
                 : mu0 * problem.medium.mu_r[place(c)][i] * before.fields[which][i] * after.fields[which][i];
  }
  return sum / 2;
}

class ReferenceOfOrder : public ::testing::TestWithParam<int> {};

TEST_P(ReferenceOfOrder, KeepsTheEnergyOfAClosedBox) {
  for (const Mode mode : {Mode::tm2d, Mode::em3d}) {
    const Problem problem = closed_box(mode, GetParam());
    State state = testing::mixed_state(problem, 1);
    const reference::Samples none(mode == Mode::tm2d ? 1000 : 200);
    double first = 0, largest = 0;
    (void)reference::forward(problem, {}, none, state, [&](Index n, const State& before, const State& after) {
      const double now = energy(problem, before, after);
      if (n == 0) first = now;
      largest = std::max(largest, std::abs(now / first - 1));
    });
    // Rounding of 1000 steps.
    EXPECT_LT(largest, 1e-12);
  }
}

TEST_P(ReferenceOfOrder, SwappingSourceAndReceiverChangesNothing) {
  Problem problem = testing::mixed_problem({.mode = Mode::em3d, .order = GetParam()});
  const Grid& grid = problem.grid;
  const Point a{Component::Ex, {{grid.index(5, 4, 6)}}}, b{Component::Ez, {{grid.index(8, 6, 9)}}};
  reference::Samples pulse(60, std::vector<double>(1));
  for (std::size_t n = 0; n < pulse.size(); ++n)
    pulse[n][0] = std::exp(-std::pow((static_cast<double>(n) - 12) / 4, 2));
  const auto recorded = [&](const Point& source, const Point& receiver) {
    State state = make_state(problem);
    return reference::forward(problem, {{source}, {receiver}}, pulse, state);
  };
  const reference::Samples there = recorded(a, b), back = recorded(b, a);
  double largest = 0, difference = 0;
  for (std::size_t n = 0; n < pulse.size(); ++n) {
    largest = std::max(largest, std::abs(there[n][0]));
    difference = std::max(difference, std::abs(there[n][0] - back[n][0]));
  }
  EXPECT_GT(largest, 0);
  EXPECT_LT(difference, 1e-12 * largest);
}

/// Lowest mode of a square cavity, sin(pi z / L) sin(pi x / L), by projecting a run onto it: leapfrog turns a frequency
/// w into (2/dt) sin(w dt / 2) = c k', and what is left of k' / k - 1 is the stencil's.
double cavity_error(int order, Index cells) {
  GridSpec spec;
  spec.cells = {cells, 1, cells};
  spec.order = order;
  const double length = 1;
  spec.spacing = {length / static_cast<double>(cells), 1, length / static_cast<double>(cells)};
  const Grid grid(spec);
  const Model vacuum{std::vector<double>(static_cast<std::size_t>(grid.count()), 1.0),
                     std::vector<double>(static_cast<std::size_t>(grid.count()), 0.0)};
  Problem problem{grid, locate(vacuum, grid), {}, 0};
  problem.dt = 0.5 * largest_time_step(grid, problem.medium);
  problem.pml = pml_profiles(grid, problem.medium, {}, problem.dt, 0);
  State state = make_state(problem);
  auto& e = state.fields[static_cast<std::size_t>(Component::Ey)];
  std::vector<double> mode(e.size());
  const double k = std::numbers::pi / length;
  for (Index z = 0; z < cells; ++z)
    for (Index x = 0; x < cells; ++x)
      mode[static_cast<std::size_t>(grid.index(z, 0, x))] = std::sin(k * static_cast<double>(z) * spec.spacing[0]) *
                                                            std::sin(k * static_cast<double>(x) * spec.spacing[2]);
  e = mode;
  // E^1 = E^0 - dt^2 c^2 D^T D E^0 (H starts at zero half a step early, which halves nothing: H^{-1/2} = 0), and the
  // mode is an eigenvector: E^1 = (1 - w'^2 dt^2) E^0 with w' = c k'.
  reference::Samples one(1);
  (void)reference::forward(problem, {}, one, state);
  double top = 0, bottom = 0;
  for (std::size_t i = 0; i < e.size(); ++i) {
    top += mode[i] * e[i];
    bottom += mode[i] * mode[i];
  }
  const double made = std::sqrt(1 - top / bottom) / problem.dt;
  return std::abs(made / (c0 * k * std::numbers::sqrt2) - 1);
}

TEST_P(ReferenceOfOrder, FindsTheModeOfACavityToTheOrderOfItsStencil) {
  // Up to the walls: zeros behind a wall in place of images would leave an error of first order.
  const Index coarse = 8;
  const double slope = std::log2(cavity_error(GetParam(), coarse) / cavity_error(GetParam(), 2 * coarse));
  EXPECT_NEAR(slope, GetParam(), 0.1);
}

INSTANTIATE_TEST_SUITE_P(Orders, ReferenceOfOrder, ::testing::Values(2, 4, 6, 8),
                         [](const auto& each) { return "Order" + std::to_string(each.param); });

}  // namespace
}  // namespace sonde::maxwell
