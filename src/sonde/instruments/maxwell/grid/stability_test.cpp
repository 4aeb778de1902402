// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/grid/stability.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sonde/instruments/maxwell/grid/constants.h"

namespace sonde::maxwell {
namespace {

Grid square_grid(int order) { return Grid(GridSpec{.cells = {9, 1, 9}, .spacing = {0.01, 1, 0.01}, .order = order}); }

ComponentMedium filled_with(double eps_r, const Grid& grid) {
  const auto count = static_cast<std::size_t>(grid.count());
  return locate({std::vector<double>(count, eps_r), std::vector<double>(count)}, grid);
}

TEST(LargestStep, IsCourantsAndFallsWithTheSumOfTheWeights) {
  const Grid second = square_grid(2), eighth = square_grid(8);
  const double courant = 0.01 / std::sqrt(2.0) / (c0 / 2);
  EXPECT_NEAR(largest_time_step(second, filled_with(4, second)), courant, 1e-15 * courant);
  EXPECT_NEAR(largest_time_step(eighth, filled_with(4, eighth)), courant * 1680 / 2161, 1e-12 * courant);
}

TEST(LargestStep, TakesTheSmallestOfBothMediaWhereverTheyAre) {
  const Grid grid = square_grid(2);
  ComponentMedium medium = filled_with(4, grid);
  const double before = largest_time_step(grid, medium);
  for (auto& mu_r : medium.mu_r)
    for (double& value : mu_r) value = 9;
  medium.mu_r[0][5] = 1;  // one face
  EXPECT_DOUBLE_EQ(largest_time_step(grid, medium), before);
}

TEST(PhaseVelocity, IsExactOnTheDiagonalOfTheMagicStep) {
  // Second order on a square grid at the Courant limit: waves along the diagonal have no dispersion (Taflove and
  // Hagness 2005, section 4.4).
  const Grid grid = square_grid(2);
  const double dt = largest_time_step(grid, filled_with(4, grid)), half = std::sqrt(0.5);
  EXPECT_NEAR(phase_velocity_ratio(grid, dt, c0 / 2, 1e9, {half, 0, half}), 1, 1e-9);
}

TEST(PhaseVelocity, AlongAnAxisIsThatOfTheDispersionRelation) {
  const Grid grid = square_grid(2);
  const double dt = 0.5 * largest_time_step(grid, filled_with(4, grid)), v = c0 / 2, f = 1.5e9;
  const double k = 2 / 0.01 * std::asin(0.01 / (v * dt) * std::sin(std::acos(-1.0) * f * dt));
  EXPECT_NEAR(phase_velocity_ratio(grid, dt, v, f, {1, 0, 0}), 2 * std::acos(-1.0) * f / k / v, 1e-12);
}

TEST(PhaseVelocity, IsZeroForAWaveThatTheGridDoesNotCarry) {
  const Grid grid = square_grid(2);
  EXPECT_EQ(phase_velocity_ratio(grid, 1e-12, c0 / 2, 1e10, {1, 0, 0}), 0);
}

TEST(CellsPerWavelength, CountTheSlowestMedium) {
  const Grid grid = square_grid(2);
  const double v = slowest_velocity(grid, filled_with(9, grid), 1e9);
  EXPECT_DOUBLE_EQ(v, c0 / 3);
  EXPECT_DOUBLE_EQ(cells_per_wavelength(grid, v, 1e9), c0 / 3 / 1e9 / 0.01);
}

TEST(SlowestVelocity, HasTheShareOfPolesAndNoConductors) {
  const Grid grid = square_grid(2);
  ComponentMedium medium = filled_with(4, grid);
  const auto count = static_cast<std::size_t>(grid.count());
  medium.eps_r[1][7] = 100;
  medium.sigma[1][7] = std::numeric_limits<double>::infinity();
  EXPECT_DOUBLE_EQ(slowest_velocity(grid, medium, 1e9), c0 / 2);
  // At omega tau = 1 a pole has half of its strength.
  const double tau = 1 / (2 * std::acos(-1.0) * 1e9);
  medium.poles.push_back(
      {.deps = {{{}, std::vector<double>(count, 10.0), {}}}, .tau = {{{}, std::vector<double>(count, tau), {}}}});
  EXPECT_NEAR(slowest_velocity(grid, medium, 1e9), c0 / 3, 1e-6 * c0);
}

}  // namespace
}  // namespace sonde::maxwell
