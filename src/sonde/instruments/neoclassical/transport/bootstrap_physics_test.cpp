// SPDX-License-Identifier: Apache-2.0
// The flows of axisymmetric plasmas from solved coefficients: exact relations, the limit of rare collisions, and signs.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sonde/instruments/neoclassical/read/equilibrium.h"
#include "sonde/instruments/neoclassical/transport/momentum.h"
#include "sonde/instruments/neoclassical/transport/solved_surface.h"
#include "sonde/instruments/neoclassical/transport/test_source.h"
#include "tests/support/data.h"

namespace sonde::neoclassical {
namespace {

using testing::kilo_electron_volt;

constexpr double iota = 0.5, b_zeta = 1.5;

/// B = 1 + e cos theta, I = 0.
Surface tokamak(double e) {
  Surface surface;
  surface.source = "tokamak";
  surface.angles = "boozer";
  surface.iota = iota;
  surface.b = {{{0, 0}, {1, 0}}, {1, e}};
  surface.field = BoozerField{0, b_zeta, b_zeta, 1};
  return surface;
}

/// 1 - f_c, f_c = (3/4) <B^2> int_0^{1/B_max} lambda d lambda / <sqrt(1 - lambda B)>; averages over sqrt(g) ~ B^-2.
double trapped_fraction(double e) {
  const int angles = 400, steps = 400;
  const auto average = [&](auto&& f) {
    double sum = 0, weights = 0;
    for (int i = 0; i < angles; ++i) {
      const double b = 1 + e * std::cos(2 * std::numbers::pi * (i + 0.5) / angles);
      sum += f(b) / (b * b);
      weights += 1 / (b * b);
    }
    return sum / weights;
  };
  double integral = 0;
  for (int i = 0; i < steps; ++i) {
    // lambda = (1 - t^2)/B_max removes the root at the end.
    const double t = (i + 0.5) / steps, lambda = (1 - t * t) / (1 + e);
    integral += lambda / average([&](double b) { return std::sqrt(1 - lambda * b); }) * 2 * t / (1 + e) / steps;
  }
  return 1 - 0.75 * average([](double b) { return b * b; }) * integral;
}

TEST(SolvedSurface, AsksThePlanInItsOwnLabel) {
  const double slope = 3;
  const Plan plan = Plan::prepare(tokamak(0.1), {9, 1, 10});
  const SolvedSurface source(Plan::prepare(tokamak(0.1), {9, 1, 10}), slope);
  const std::vector<double> nu_hat{1e-2, 0.1}, er_hat{2e-3, 0};
  std::vector<SurfaceDij> made(2);
  source.coefficients(nu_hat, er_hat, made);
  for (std::size_t i = 0; i < 2; ++i) {
    const Coefficients expected = plan.solve({nu_hat[i], er_hat[i] * slope});
    EXPECT_EQ(made[i].d.D11, expected.D11 * slope * slope);
    EXPECT_EQ(made[i].d.D31, expected.D31 * slope);
    EXPECT_EQ(made[i].d.D13, expected.D13 * slope);
    EXPECT_EQ(made[i].d.D33, expected.D33);
    EXPECT_FALSE(made[i].beyond);
    EXPECT_NEAR(1.5 * nu_hat[i] * expected.D33_spitzer, source.b2_ratio(), 1e-14);
  }
}

TEST(Bootstrap, InAxisymmetryFlowAndConductionAreOne) {
  // f_1 = kappa (nu_hat f_3 - xi B)/<B^2> + what carries no flow, kappa = G/iota: D31 = -(2 kappa/(3 B0)) (1 -
  // D33/D33_spitzer) at every collisionality.
  const Plan plan = Plan::prepare(tokamak(0.1), {25, 1, 60});
  for (const double nu_hat : {1e-3, 1e-2, 0.1, 1.0}) {
    const Coefficients solved = plan.solve({nu_hat, 0});
    const double expected = -2 * b_zeta / iota / 3 * (1 - solved.D33 / solved.D33_spitzer);
    EXPECT_NEAR(solved.D31 / expected, 1, 1e-7) << nu_hat;  // of the resolution
  }
}

TEST(Bootstrap, RareCollisionsLeaveTheTrappedFraction) {
  // 1 - D33/D33_spitzer = (3/2) |D31| iota B0/G tends to f_t, with a boundary layer of width sqrt(nu_hat): two points
  // of it extrapolated. For large aspect ratio f_t = 1.46 sqrt(e).
  const auto limit = [](double e) {
    const Plan plan = Plan::prepare(tokamak(e), {61, 1, 200});
    const auto at = [&](double nu_hat) { return 1.5 * iota / b_zeta * -plan.solve({nu_hat, 0}).D31; };
    const double near = at(1.6e-5), far = at(6.4e-5);
    return near + (near - far);  // sqrt doubles
  };
  EXPECT_NEAR(limit(0.1) / trapped_fraction(0.1), 1, 0.01);
  EXPECT_NEAR(limit(0.03) / trapped_fraction(0.03), 1, 0.02);
  EXPECT_NEAR(trapped_fraction(1e-4) / (1.46 * std::sqrt(1e-4)), 1, 0.01);
}

/// The coefficients of another source without electric field, whatever field is asked for.
struct AtRest : SurfaceSource {
  const SurfaceSource& of;
  explicit AtRest(const SurfaceSource& source) : of(source) {}
  [[nodiscard]] double reference_field() const override { return of.reference_field(); }
  [[nodiscard]] double b2_ratio() const override { return of.b2_ratio(); }
  [[nodiscard]] std::optional<double> u2() const override { return of.u2(); }
  void coefficients(std::span<const double> nu_hat, std::span<const double>,
                    std::span<SurfaceDij> made) const override {
    of.coefficients(nu_hat, std::vector<double>(nu_hat.size()), made);
  }
};

TEST(Bootstrap, ASymmetricSurfaceLetsNoCurrentThroughInAnyField) {
  // U = kappa (1/B - B/<B^2>). With it and the solved coefficients at rest, corrected fluxes are ambipolar whatever E_r
  // drives; the electric drift of the equation itself, which conserves energy only, is left out of this.
  const double e = 0.2, kappa = b_zeta / iota;
  const SolvedSurface solved(Plan::prepare(tokamak(e), {25, 1, 60}), 1);
  double weights = 0, b4 = 0;
  for (int i = 0; i < 64; ++i) {
    const double b = 1 + e * std::cos(2 * std::numbers::pi * i / 64);
    weights += 1 / (b * b);
    b4 += 1 / (b * b * b * b);
  }
  ASSERT_TRUE(solved.u2());
  EXPECT_NEAR(*solved.u2() / (kappa * kappa * (b4 / weights - weights / 64)), 1, 1e-6);  // of two frequent collisions
  const AtRest source(solved);
  const EnergyNodes nodes(testing::mixed_plasma(), maxwell_polynomials(8), CoulombLogarithm::electrons, 2);
  const std::vector<SpeciesMoments> moments = energy_moments(nodes, source, 0);
  for (const double er : {-2e4, 0.0, 5e3}) {
    std::vector<Forces> forces;
    for (const Population& population : nodes.plasma()) forces.push_back(thermodynamic_forces(population, er));
    const MomentumCorrection made = MomentumBalance(nodes, 2).solve(moments, forces, source.b2_ratio(), source.u2());
    double sum = 0, plain = 0, sizes = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const double charge = nodes.plasma()[a].species.charge;
      sum += charge * made.fluxes[a].gamma;
      plain += charge * fluxes(nodes.plasma()[a], thermal_matrix(moments[a]), forces[a]).gamma;
      sizes += std::abs(charge * made.fluxes[a].gamma);
    }
    EXPECT_LT(std::abs(sum), 1e-4 * sizes) << er;  // 1e-7 of the plain ones, some hundred times larger
    EXPECT_GT(std::abs(plain), sizes) << er;
  }
}

TEST(Bootstrap, OfTheCircularTokamakItHasTheDirectionOfThePlasmaCurrent) {
  // In this file's angles the enclosed current runs along -zeta, B along +zeta. Density falls outwards, temperatures
  // are flat, E_r = 0: every species' current is against B without momentum correction, and so is the sum with it.
  SONDE_NEED_DATA(data);
  SurfaceOptions options;
  options.path = (data / "neoclassical/wout_circular_tokamak.nc").string();
  const Equilibrium equilibrium = Equilibrium::open(options);
  const double s = 0.25, a_b = equilibrium.wout()->minor_radius, n = 1e20;
  const SolvedSurface source(Plan::prepare(equilibrium.surface(s).surface, {21, 1, 60}), a_b / (2 * std::sqrt(s)));
  const std::vector<Population> plasma{{species("e"), n, kilo_electron_volt, -n / a_b, 0},
                                       {species("D"), n, kilo_electron_volt, -n / a_b, 0}};
  const EnergyNodes nodes(plasma, maxwell_polynomials(10), CoulombLogarithm::electrons, 2);
  const std::vector<SpeciesMoments> moments = energy_moments(nodes, source, 0);
  std::vector<Forces> forces;
  double plain = 0, corrected = 0;
  for (std::size_t a = 0; a < 2; ++a) {
    forces.push_back(thermodynamic_forces(plasma[a], 0));
    const double current = plasma[a].species.charge * fluxes(plasma[a], thermal_matrix(moments[a]), forces[a]).u_par;
    EXPECT_LT(current, 0) << a;
    plain += current;
  }
  const MomentumCorrection made = MomentumBalance(nodes, 2).solve(moments, forces, source.b2_ratio(), source.u2());
  for (std::size_t a = 0; a < 2; ++a) corrected += plasma[a].species.charge * made.fluxes[a].u_par;
  EXPECT_LT(plain, 0);
  EXPECT_LT(corrected, 0);
  EXPECT_GT(equilibrium.profile(s).b_theta, 0);  // left-handed angles: along -zeta
}

}  // namespace
}  // namespace sonde::neoclassical
