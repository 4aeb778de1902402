// SPDX-License-Identifier: Apache-2.0
// What the coefficients must be whatever the grid: symmetries, limits, laws of scale.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/operators/test_surfaces.h"
#include "sonde/instruments/neoclassical/solve/plan.h"
#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

Coefficients solved(const Surface& surface, const GridSpec& grid, const Case& at) {
  return Plan::prepare(surface, grid).solve(at);
}

TEST(Physics, AUniformFieldHasNoDriftAndTheConductivityOfSpitzer) {
  for (const Discretisation discretisation : {Discretisation::skew, Discretisation::collocation})
    for (const double epsi_hat : {0.0, 1e-3}) {
      const Coefficients made = solved(testing::uniform(), {7, 5, 6, discretisation}, {1e-2, epsi_hat});
      EXPECT_NEAR(made.D33, made.D33_spitzer, 1e-12 * made.D33_spitzer);
      for (const double value : {made.D11, made.D31, made.D13}) EXPECT_NEAR(value, 0, 1e-12);
    }
}

struct Symmetry {
  double nu_hat, tolerance;
};

TEST(Physics, OnsagerSymmetryAndSignsHoldOnAnyGrid) {
  const Plan plan = Plan::prepare(testing::w7x(), {11, 13, 14});
  Plan::Workspace workspace = plan.workspace();
  for (const auto& [nu_hat, tolerance] : {Symmetry{1, 1e-9}, {1e-3, 1e-9}, {1e-4, 1e-9}, {1e-5, 1e-8}, {3e-7, 3e-5}})
    for (const double epsi_hat : {0.0, 1e-4, 1e-2}) {
      SCOPED_TRACE(::testing::PrintToString(nu_hat) + " " + ::testing::PrintToString(epsi_hat));
      const Coefficients made = plan.solve({nu_hat, epsi_hat}, workspace);
      EXPECT_LE(made.onsager_residual, tolerance);
      EXPECT_LE(made.residual, 1e-8);
      EXPECT_GT(made.D11, 0);
      EXPECT_GT(made.D33, 0);
      EXPECT_LE(made.D33, made.D33_spitzer);
      if (nu_hat < 1e-5) continue;
      const Coefficients mirrored = plan.solve({nu_hat, -epsi_hat}, workspace);
      EXPECT_NEAR(mirrored.D11, made.D11, 1e-9 * made.D11);
      EXPECT_NEAR(mirrored.D31, made.D31, 1e-8 * std::abs(made.D31));
      EXPECT_NEAR(mirrored.D33, made.D33, 1e-9 * made.D33);
    }
}

TEST(Physics, FieldStrengthAndRadialLabelScaleOut) {
  // B, G and I times c at the same psi: sqrt(g) -> 1 / c, so that b.grad, vm and E x B / <B^2> stay as they are.
  const double c = 3;
  Surface stronger = testing::analytic();
  for (double& harmonic : stronger.b.cosine) harmonic *= c;
  auto& field = std::get<BoozerField>(stronger.field);
  field.b_theta *= c, field.b_zeta *= c, field.jacobian_b2 *= c;
  const GridSpec grid{9, 9, 10};
  const Coefficients one = solved(testing::analytic(), grid, {1e-3, 1e-3});
  const Coefficients other = solved(stronger, grid, {1e-3, 1e-3});
  EXPECT_NEAR(other.D11, one.D11, 1e-9 * one.D11);
  EXPECT_NEAR(other.D31, one.D31, 1e-9 * std::abs(one.D31));
  EXPECT_NEAR(other.D33, one.D33, 1e-9 * one.D33);
  // r instead of psi: D11 by (dr/dpsi)^2, D31 by dr/dpsi.
  Surface labelled = testing::analytic();
  labelled.psi_scale = -0.5;
  const Coefficients per_r = solved(labelled, grid, {1e-3, 1e-3});
  EXPECT_NEAR(per_r.D11, 4 * one.D11, 1e-12 * per_r.D11);
  EXPECT_NEAR(per_r.D31, -2 * one.D31, 1e-12 * std::abs(per_r.D31));
  EXPECT_NEAR(per_r.D33, one.D33, 1e-12 * one.D33);
}

struct Quasisymmetry {
  int m, n;
  double iota, g, i;
  Index n_zeta;
};

TEST(Physics, QuasisymmetricFieldsAreOneTokamak) {
  // With kappa = |iota M - N| / |G + iota I| and a_q = (N I + M G) / (iota M - N): D11 / (a_q^2 kappa), D31 / a_q and
  // D33 kappa depend only on nu_hat / kappa (Boozer, Plasma Phys. Control. Fusion 37 (1995) A103).
  for (const Quasisymmetry& q :
       {Quasisymmetry{1, 0, 0.5, 1, 0, 1}, {1, 4, 1.2, 1.5, 0.1, 21}, {1, 0, 1.1, 2, 0.3, 1}}) {
    SCOPED_TRACE(q.iota);
    const double kappa = std::abs(q.iota * q.m - q.n) / std::abs(q.g + q.iota * q.i);
    const double a = (q.n * q.i + q.m * q.g) / (q.iota * q.m - q.n);
    const Surface surface = testing::quasisymmetric(q.m, q.n, q.iota, q.g, q.i);
    const Coefficients made = solved(surface, {21, q.n_zeta, 30}, {0.02 * kappa, 0});
    EXPECT_NEAR(made.D11 / (a * a * kappa), 2.80232188921e-3, 1e-12 * 2.8e-3 + 5e-15);  // the last digit given
    EXPECT_NEAR(made.D31 / a, -0.124610694529, 1e-12);
    EXPECT_NEAR(made.D33 * kappa, 26.6972746831, 1e-10);
  }
}

TEST(Physics, CollocationRefusesAResonantGridByItsMode) {
  const Plan plan =
      Plan::prepare(testing::quasisymmetric(1, 4, 1.2, 1.5, 0.1), {21, 21, 6, Discretisation::collocation});
  const std::string text = sonde::testing::error_of(ErrorKind::not_converged, [&] { (void)plan.solve({0.02, 0}); });
  EXPECT_THAT(text, ::testing::HasSubstr("resonant (10,-3)"));
  EXPECT_THAT(text, ::testing::HasSubstr("skew"));
}

/// iota = 4/5 in a field of four periods: (5,-1) and its multiples are constant along the field lines. 1.4e-8 of the
/// radial drive falls on them.
Surface rational(double iota = 0.8) {
  return testing::boozer({{{0, 0}, {1, 0}, {1, 1}}, {1, 0.05, 0.02}}, 4, iota, 0.05, 1);
}

TEST(Physics, SkewSolvesARationalSurfaceOnEveryGrid) {
  // From a prototype of full matrices that leaves the same functions out: 15, 17, 21 and 25 angles agree to all digits.
  const double d11 = 1.175507560e-3, d31 = -7.748333759e-2, d33 = 56.74525197;
  for (const Index n : {11, 17, 25}) {
    SCOPED_TRACE(n);
    const double tolerance = n == 11 ? 2e-8 : 1e-9;
    for (const Path path : {Path::spd, Path::quasidefinite, Path::dense}) {
      if (path == Path::dense && n == 25) continue;  // 16 times the time of 17
      const Coefficients made = Plan::prepare(rational(), {n, n, 16}, {.path = path}).solve({1e-2, 0});
      EXPECT_NEAR(made.D11 / d11, 1, tolerance);
      EXPECT_NEAR(made.D31 / d31, 1, tolerance);
      EXPECT_NEAR(made.D33 / d33, 1, tolerance);
      EXPECT_LE(made.onsager_residual, 1e-12);
    }
    const Plan single = Plan::prepare(rational(), {n, n, 16}, {.precision = Precision::f32_refine});
    EXPECT_NEAR(single.solve({1e-2, 0}).D11 / d11, 1, tolerance);
  }
}

TEST(Physics, ARationalSurfaceIsTheLimitOfWeakFieldsAndOfItsNeighbours) {
  const GridSpec grid{17, 17, 16};
  const Coefficients here = solved(rational(), grid, {1e-2, 0});
  for (const double epsi_hat : {1e-6, 1e-9})
    EXPECT_NEAR(solved(rational(), grid, {1e-2, epsi_hat}).D11 / here.D11, 1, 1e-8);
  // D11 falls by 1.6 times as much as iota rises. At 1e-6 the drive of the resonant modes adds 3e-7.
  for (const double step : {1e-3, -1e-3, 1e-4, -1e-4, 2e-6, -2e-6})
    EXPECT_NEAR(solved(rational(0.8 + step), grid, {1e-2, 0}).D11 / here.D11, 1, 2 * std::abs(step));
  // Without stellarator symmetry.
  Surface lopsided = rational();
  lopsided.b.sine = {0, 0, 1e-3};
  const Coefficients whole = solved(lopsided, {13, 13, 16}, {1e-2, 0});
  EXPECT_NEAR(solved(lopsided, {13, 13, 16}, {1e-2, 1e-6}).D11 / whole.D11, 1, 1e-7);
  EXPECT_LE(whole.onsager_residual, 1e-9);
  EXPECT_GT(whole.D11, 0);
}

TEST(Physics, ARationalSurfaceThatItsOwnModesDriveIsRefused) {
  Surface surface = rational();
  surface.b.modes.push_back({5, -1});
  surface.b.cosine.push_back(1e-2);
  const Plan plan = Plan::prepare(surface, {13, 13, 8});
  const std::string text = sonde::testing::error_of(ErrorKind::not_converged, [&] { (void)plan.solve({1e-2, 0}); });
  EXPECT_THAT(text, ::testing::StartsWith("error: resonant (5,-1)"));
  EXPECT_THAT(text, ::testing::HasSubstr("of the radial drive"));
  EXPECT_THAT(text, ::testing::HasSubstr("hint: a neighbouring surface, or an electric field"));
  EXPECT_GT(plan.solve({1e-2, 1e-4}).D11, 0);
}

TEST(Physics, AFieldTooWeakForARationalSurfaceIsToldOfItsLimit) {
  const Plan plan = Plan::prepare(rational(), {17, 17, 8});
  const std::string text = sonde::testing::error_of(ErrorKind::not_converged, [&] { (void)plan.solve({1e-2, 1e-20}); });
  EXPECT_THAT(text, ::testing::HasSubstr("resonant (5,-1)"));
  EXPECT_THAT(text, ::testing::HasSubstr("hint: E_hat = 0"));
}

// Rounding decides at last: what helps is not what it is already.
TEST(Physics, WhereCollisionsAreTooRareTheHintIsNotThePathThatWasTaken) {
  const Plan plan = Plan::prepare(rational(), {11, 11, 16});
  const std::string text = sonde::testing::error_of(ErrorKind::not_converged, [&] { (void)plan.solve({1e-13, 0}); });
  EXPECT_THAT(text, ::testing::HasSubstr("hint: a larger nu_hat"));
}

TEST(Physics, TheLimitsOfCollisionality) {
  const GridSpec grid{9, 11, 12};
  const Plan plan = Plan::prepare(testing::w7x(), grid);
  Plan::Workspace workspace = plan.workspace();
  const Coefficients dense = plan.solve({1e3, 0}, workspace), denser = plan.solve({1e4, 0}, workspace);
  EXPECT_NEAR(denser.D33 / denser.D33_spitzer, 1, 1e-6);  // departs like 1 / nu^2
  EXPECT_NEAR(denser.D11 / dense.D11, 10, 1e-3);          // Pfirsch-Schlueter: in proportion to nu
  // 1/nu: at E = 0 ripple-trapped particles drift until a collision. D11 nu_hat = c + d nu_hat^0.8 or so, where d comes
  // from the other orbits: they hold 6 % of D11 at 1e-5 and 13 % at 3e-5, and the slope there is -0.935, not -1:
  //   n_theta x n_zeta x n_xi   15x19x140  21x31x140  21x31x200  25x37x300  31x49x240
  //   1e-6 to 3e-6                -0.991     -0.998     -0.991     -0.982     -0.993
  //   1e-5 to 3e-5                -0.922     -0.946     -0.933     -0.934     -0.936
  const Plan fine = Plan::prepare(testing::w7x(), {15, 19, 140});
  Plan::Workspace fine_workspace = fine.workspace();
  const auto slope = [&](double nu_hat) {
    return std::log(fine.solve({3 * nu_hat, 0}, fine_workspace).D11 / fine.solve({nu_hat, 0}, fine_workspace).D11) /
           std::log(3.0);
  };
  EXPECT_NEAR(slope(1e-6), -1, 0.05);
  EXPECT_NEAR(slope(1e-5), -0.935, 0.02);
}

TEST(Physics, TheErrorFallsFasterThanAnyPowerOfTheGrid) {
  // Logarithms of the error of D31 against the count of angles: each step down is a larger one, until 1e-9 is reached.
  const Case at{0.1, 1e-3};
  const auto d31 = [&](Index n) { return solved(testing::analytic(), {n, n, 12}, at).D31; };
  const double truth = d31(25);
  const double coarse = std::abs(d31(7) - truth), middle = std::abs(d31(11) - truth), fine = std::abs(d31(15) - truth);
  EXPECT_LT(middle, 1e-1 * coarse);
  EXPECT_LT(fine, 1e-1 * middle);
  EXPECT_GT(std::log(middle / fine) / std::log(15.0 / 11), std::log(coarse / middle) / std::log(11.0 / 7));
}

}  // namespace
}  // namespace sonde::neoclassical
