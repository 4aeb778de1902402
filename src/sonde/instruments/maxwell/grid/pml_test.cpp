// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/grid/pml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sonde/instruments/maxwell/grid/constants.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

constexpr double dt = 1e-11;

struct Layered {
  Grid grid{GridSpec{.cells = {20, 1, 20}, .spacing = {0.01, 1, 0.02}, .pml = {{{10, 0}, {0, 0}, {4, 6}}}}};
  ComponentMedium medium = locate({std::vector<double>(400, 4.0), std::vector<double>(400)}, grid);
};

TEST(AbsorbingLayer, HasTheGradedConductivityOfRodenAndGedney) {
  const Layered at;
  const PmlSettings settings{.kappa_max = 3, .alpha_max = 0.002};
  const PmlLine line = pml_profiles(at.grid, at.medium, settings, dt, 0)[dimension(Axis::z)].planes;
  // Plane 3 of a layer of ten: depth 0.7. 0.8 / eta0 = 1 / (150 pi) to the digits that the books give.
  const double depth = std::pow(0.7, 4), sigma = 5 / (150 * std::numbers::pi * 0.01 * 2) * depth, kappa = 1 + 2 * depth;
  const double alpha = 0.002 * 0.3, b = std::exp(-(sigma / kappa + alpha) * dt / eps0);
  EXPECT_NEAR(line.b[3], b, 2e-3 * (1 - b));
  EXPECT_NEAR(line.a[3], sigma * (b - 1) / (kappa * (sigma + kappa * alpha)), 2e-3 * (1 - b));
  EXPECT_DOUBLE_EQ(line.k_inverse[3], 1 / kappa);
}

TEST(AbsorbingLayer, BeginsWhereTheModelEnds) {
  const Layered at;
  const PmlProfiles made = pml_profiles(at.grid, at.medium, {}, dt, 1e9);
  const PmlProfile& x = made[dimension(Axis::x)];
  // 4 cells, 20 of the model, 6 cells: planes 4 to 24 and half planes 4.5 to 23.5 are outside of the layers.
  EXPECT_NE(x.planes.a[3], 0);
  EXPECT_EQ(x.planes.a[4], 0);
  EXPECT_NE(x.halves.a[3], 0);
  EXPECT_EQ(x.halves.a[4], 0);
  EXPECT_EQ(x.planes.a[24], 0);
  EXPECT_NE(x.planes.a[25], 0);
  EXPECT_EQ(x.halves.a[23], 0);
  EXPECT_NE(x.halves.a[24], 0);
  for (const double a : {made[0].planes.a[29], made[0].halves.a[29]})
    EXPECT_EQ(a, 0) << "no layer at the high end of z";
}

TEST(AbsorbingLayer, OfGprMaxIsScaledByTheLowSideOfX) {
  Layered at;
  for (Index k = 0; k < at.grid.extent(Axis::z); ++k)
    at.medium.eps_r[1][static_cast<std::size_t>(at.grid.index(k, 0, 0))] = 16;
  const double wide = pml_profiles(at.grid, at.medium, gprmax_pml(), dt, 0)[0].planes.b[5];
  for (double& eps_r : at.medium.eps_r[1]) eps_r = 16;
  EXPECT_EQ(wide, pml_profiles(at.grid, at.medium, gprmax_pml(), dt, 0)[0].planes.b[5]);
}

TEST(AbsorbingLayer, WithoutMeaningIsRefused) {
  const Layered at;
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [&] { (void)pml_profiles(at.grid, at.medium, {.kappa_max = 0.5}, dt, 0); }),
              ::testing::HasSubstr("kappa_max = 0.5"));
}

}  // namespace
}  // namespace sonde::maxwell
