// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/geometry/sampled_surface.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sonde/engine/base/error.h"
#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

/// B = 1 + e cos theta in a field with G = g, I = 0: a tokamak of large aspect ratio.
Surface tokamak(double e, double g = 1) {
  Surface surface;
  surface.source = "tokamak";
  surface.angles = "boozer";
  surface.iota = 0.5;
  surface.b = {{{0, 0}, {1, 0}}, {1, e}};
  surface.field = BoozerField{0, g, g, 1};
  return surface;
}

TEST(SampledSurface, AveragesAreTheAnalyticOnes) {
  // <B^2> = 1 / mean(1 / B^2), and the mean of (1 + e cos)^-2 is (1 - e^2)^(-3/2). The trapezoid sum over 25 angles
  // differs from the integral by less than e^25.
  const double e = 0.2, mean = std::pow(1 - e * e, -1.5);
  const SampledSurface sampled = sample(tokamak(e), 25, 1);
  EXPECT_NEAR(sampled.b2_mean, 1 / mean, 1e-13);
  EXPECT_NEAR(sampled.volume_prime, 4 * std::numbers::pi * std::numbers::pi * mean, 1e-11);
  EXPECT_TRUE(sampled.symmetric);
  EXPECT_EQ(sampled.reference_field, 1);
}

TEST(SampledSurface, DriftAndContravariantFieldAreThoseOfBoozerAngles) {
  const double e = 0.2;
  const SampledSurface sampled = sample(tokamak(e, -2), 9, 3);  // sqrt(g) = -2 / B^2
  const std::vector<double> drift = sampled.radial_drift();
  for (Index i = 0; i < 9; ++i) {
    const auto at = static_cast<std::size_t>(sampled.grid.index(i, 2));
    const double b = 1 + e * std::cos(sampled.grid.theta(i)), slope = -e * std::sin(sampled.grid.theta(i));
    EXPECT_NEAR(drift[at], -slope / b, 1e-14);  // -G dB/dtheta / (sqrt(g) B^3), sqrt(g) = G / B^2
    EXPECT_NEAR(sampled.b_sup_zeta[at], b * b / 2, 1e-14);
    EXPECT_NEAR(sampled.b_sup_theta[at], b * b / 4, 1e-14);
  }
}

TEST(SampledSurface, WhatIsNoFieldIsRefused) {
  const auto refused = [](const Surface& surface) {
    return error_of(ErrorKind::bad_input, [&] { (void)sample(surface, 9, 9); });
  };
  EXPECT_THAT(refused(tokamak(1.5)), HasSubstr("|B| is"));
  Surface surface = tokamak(0.1);
  surface.b.cosine[0] = -1;
  EXPECT_THAT(refused(surface), HasSubstr("(0,0) harmonic"));
  surface = tokamak(0.1);
  surface.b.cosine[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refused(surface), HasSubstr("not a finite number"));
  surface = tokamak(0.1);
  surface.psi_scale = 0;
  EXPECT_THAT(refused(surface), HasSubstr("dpsi/dr"));
  surface = tokamak(0.1, 0);
  EXPECT_THAT(refused(surface), HasSubstr("sqrt(g) is zero"));
  GeneralField general;
  for (Series* series :
       {&general.jacobian, &general.b_sub_theta, &general.b_sub_zeta, &general.b_sup_theta, &general.b_sup_zeta})
    *series = {{{0, 0}, {1, 0}}, {1, 2}};
  surface = tokamak(0.1);
  surface.field = general;
  EXPECT_THAT(refused(surface), HasSubstr("changes its sign"));
}

}  // namespace
}  // namespace sonde::neoclassical
