// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/momentum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "sonde/instruments/neoclassical/transport/radial_transport.h"
#include "sonde/instruments/neoclassical/transport/test_source.h"
#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using testing::Formula;
using testing::FormulaEverywhere;
using ::testing::HasSubstr;
using testing::kilo_electron_volt;
using testing::mixed_plasma;

TEST(SonineMoments, PolynomialsAndNormsAreTheTextbookOnes) {
  const double energy = 1.7;
  const std::vector<double> s = sonine_polynomials(energy, 3);
  EXPECT_DOUBLE_EQ(s[1], 2.5 - energy);
  EXPECT_NEAR(s[2], 35.0 / 8 - 3.5 * energy + energy * energy / 2, 1e-15);
  EXPECT_NEAR(s[3], 105.0 / 16 - 63.0 / 8 * energy + 9.0 / 4 * energy * energy - energy * energy * energy / 6, 1e-14);
  EXPECT_THAT(sonine_norms(3), ::testing::ElementsAre(1, ::testing::DoubleEq(0.4), ::testing::DoubleEq(8.0 / 35),
                                                      ::testing::DoubleEq(16.0 / 105)));
  EXPECT_EQ(sonine_polynomials(energy, 0).size(), 1);
  EXPECT_TRUE(sonine_polynomials(energy, -1).empty());
}

TEST(EnergyMoments, OfConstantCoefficientsAreGammaFunctions) {
  const EnergyNodes nodes(mixed_plasma(), maxwell_polynomials(24), CoulombLogarithm::electrons, -1);
  const Formula constant([](double, double) { return Dij{2, 3, -5, 7}; });
  const std::vector<SpeciesMoments> moments = energy_moments(nodes, constant, 1e3);
  for (std::size_t a = 0; a < 3; ++a) {
    const Species& species = nodes.plasma()[a].species;
    const double v = nodes.plasma()[a].thermal_speed(), g = species.mass / species.charge,
                 pi_root = std::sqrt(std::numbers::pi), near = 1e-12;  // of the rule
    const ThermalMatrix matrix = thermal_matrix(moments[a]);
    EXPECT_NEAR(matrix.L11 / (g * g * v * v * v / pi_root * 2 * std::tgamma(3)), 1, near);
    EXPECT_NEAR(matrix.L12 / (g * g * v * v * v / pi_root * 2 * std::tgamma(4)), 1, near);
    EXPECT_EQ(matrix.L21, matrix.L12);
    EXPECT_NEAR(matrix.L22 / (g * g * v * v * v / pi_root * 2 * std::tgamma(5)), 1, near);
    EXPECT_NEAR(matrix.L31 / (-g * v * v / pi_root * 3 * std::tgamma(2.5)), 1, near);
    EXPECT_NEAR(matrix.L32 / (-g * v * v / pi_root * 3 * std::tgamma(3.5)), 1, near);
    EXPECT_NEAR(matrix.L13 / (-g * v * v / pi_root * -5 * std::tgamma(2.5)), 1, near);
    EXPECT_NEAR(matrix.L23 / (-g * v * v / pi_root * -5 * std::tgamma(3.5)), 1, near);
    EXPECT_NEAR(matrix.L33 / (v / pi_root * 7 * std::tgamma(2)), 1, near);
  }
}

TEST(EnergyMoments, TellWhatStandsOnContinuedCoefficients) {
  const EnergyNodes nodes(mixed_plasma(), maxwell_polynomials(24), CoulombLogarithm::electrons, -1);
  Formula some([](double, double) { return Dij{1, 0, 0, 1}; });
  EXPECT_EQ(energy_moments(nodes, some, 0)[0].beyond, 0);
  some.highest_nu_hat = nodes.nu_hat(0)[10];
  const double beyond = energy_moments(nodes, some, 0)[0].beyond;
  EXPECT_GT(beyond, 1e-6);
  EXPECT_LT(beyond, 1);
  some.highest_nu_hat = 0;
  EXPECT_NEAR(energy_moments(nodes, some, 0)[0].beyond, 1, 1e-15);
}

TEST(EnergyMoments, ACoefficientThatIsNoNumberIsNamed) {
  const EnergyNodes nodes(mixed_plasma(), gauss_laguerre(8), CoulombLogarithm::electrons, 2);
  const Formula broken([](double nu, double) { return Dij{nu, 0, std::nan(""), 1}; });
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)energy_moments(nodes, broken, 0); }),
              HasSubstr("a coefficient of species e at K = "));
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [] { EnergyNodes(mixed_plasma(), gauss_laguerre(8), CoulombLogarithm::electrons, 13); }),
              HasSubstr("expected 0 to 12"));
}

MomentumCorrection corrected_flows(const EnergyNodes& nodes, std::span<const SpeciesMoments> moments,
                                   std::span<const Forces> forces, int order) {
  return MomentumBalance(nodes, order).solve(moments, forces, 1, std::nullopt);
}

/// D33 of a field without trapped particles, times a share.
Formula spitzer(double share, double d31 = 0) {
  return Formula([=](double nu_hat, double) { return Dij{0, d31, -d31, share * 2 / (3 * nu_hat)}; });
}

TEST(MomentumCorrection, ElectronsOnHeavyIonsConductAsSpitzerAndHaermSay) {
  // Z = 1. Order 0 is the plain friction; the ratio tends to 1.9757 (Spitzer and Haerm 1953), order 2 is 1/0.5129
  // (Braginskii 1965).
  std::vector<Population> plasma{{species("e"), 1e20, kilo_electron_volt, 0, 0},
                                 {species("D"), 1e20, kilo_electron_volt, 0, 0}};
  plasma[1].species.mass = 1;  // kg: at rest
  const EnergyNodes nodes(plasma, maxwell_polynomials(40), CoulombLogarithm::electrons, highest_sonine_order);
  std::vector<SpeciesMoments> moments = energy_moments(nodes, spitzer(1), 0);
  for (auto* response : {&moments[1].nunuss_33, &moments[1].nus_33})
    std::fill(response->begin(), response->end(), 0);  // nor do they answer
  const std::vector<Forces> forces{{0, 0, 1}, {0, 0, 0}};
  const auto flow = [&](int order) { return corrected_flows(nodes, moments, forces, order).coefficient(0, 0); };
  EXPECT_NEAR(flow(1) / flow(0), 1.9320, 5e-5);
  EXPECT_NEAR(flow(2) / flow(0), 1.9499, 5e-5);
  EXPECT_NEAR(flow(12) / flow(0), 1.9757, 2e-4);
  EXPECT_NEAR(flow(12) / flow(11), 1, 1e-4);
  // The plain one by hand: q E = m c / tau with the collision time of electrons on ions.
  const double rate = inverse_collision_time(plasma[0], plasma[1], nodes.logarithms()[1]),
               v = plasma[0].thermal_speed();
  EXPECT_NEAR(flow(0) * rate / (-v * v / 2), 1, 1e-12);
}

TEST(MomentumCorrection, AFlowOfOneSpeciesAloneMeetsNoFriction) {
  // Likes cannot slow each other: with D33 at a share of Spitzer's, c = (c_0, 0, ...) and (1 - share) c_0 is the drive,
  // at every order.
  const std::vector<Population> plasma{{species("D"), 1e20, kilo_electron_volt, 0, 0}};
  const EnergyNodes nodes(plasma, maxwell_polynomials(40), CoulombLogarithm::impact_parameter, 6);
  const double share = 0.9;
  const std::vector<SpeciesMoments> moments = energy_moments(nodes, spitzer(share, 2), 0);
  const std::vector<Forces> forces{{3, 0, 0}};
  for (const int order : {0, 1, 2, 6}) {
    SCOPED_TRACE(order);
    const MomentumCorrection made = corrected_flows(nodes, moments, forces, order);
    const double expected = -moments[0].d31_1 * 3 / (1 - share);
    EXPECT_NEAR(made.coefficient(0, 0) / expected, 1, 1e-11);
    for (int j = 1; j <= order; ++j) EXPECT_NEAR(made.coefficient(0, j) / expected, 0, 1e-11);
    EXPECT_NEAR(made.fluxes[0].u_par / (1e20 * expected), 1, 1e-11);
  }
}

TEST(MomentumCorrection, AUniformFieldHasNoAnswer) {
  const std::vector<Population> plasma{{species("D"), 1e20, kilo_electron_volt, 0, 0}};
  const EnergyNodes nodes(plasma, maxwell_polynomials(40), CoulombLogarithm::impact_parameter, 2);
  const std::vector<SpeciesMoments> moments = energy_moments(nodes, spitzer(1), 0);
  EXPECT_THAT(error_of(ErrorKind::not_converged,
                       [&] {
                         (void)corrected_flows(nodes, moments, std::vector<Forces>{{1, 0, 0}}, 2);
                       }),
              HasSubstr("nothing holds the flows back"));
}

/// An axisymmetric surface without currents along itself, where every coefficient follows from D33 = share(nu) times
/// Spitzer's: f_1 = kappa (nu_hat f_3 - xi B)/<B^2> + xi U makes D31 = -D13 = -(2 kappa/(3 B0)) (1 - share) and
/// D11 = (2 kappa^2 nu_hat/(3 <B^2>)) (1 - share) + (2/3) nu_hat <U^2>.
Formula axisymmetric(double b0, double ratio, double u2 = 0.4) {
  Formula source([=](double nu_hat, double) {
    const double kappa = 7, share = 0.3 + 0.6 * nu_hat / (nu_hat + 0.01), b2 = ratio * b0 * b0;
    const double d31 = -2 * kappa / (3 * b0) * (1 - share);
    return Dij{2 * kappa * kappa * nu_hat / (3 * b2) * (1 - share) + 2 * nu_hat * u2 / 3, d31, -d31,
               share * 2 * ratio / (3 * nu_hat)};
  });
  source.b0 = b0;
  source.ratio = ratio;
  source.varying = u2;
  return source;
}

MomentumCorrection corrected(const EnergyNodes& nodes, const Formula& source, double er, int order) {
  std::vector<Forces> forces;
  for (const Population& population : nodes.plasma()) forces.push_back(thermodynamic_forces(population, er));
  return MomentumBalance(nodes, order).solve(energy_moments(nodes, source, er), forces, source.ratio, source.u2());
}

TEST(MomentumCorrection, MakesAxisymmetryAmbipolarInAnyField) {
  // Friction only hands momentum on, so that no charge crosses an axisymmetric surface; and the field turns the plasma
  // as a whole, so that no flux depends on it: at every order, by every rule of the energies, to rounding.
  for (const EnergyRule& rule : {maxwell_polynomials(48), gauss_laguerre(20)}) {
    const EnergyNodes nodes(mixed_plasma(), rule, CoulombLogarithm::electrons, highest_sonine_order);
    const Formula source = axisymmetric(2.5, 1.03);
    for (const int order : {0, 1, 2, 5, 12}) {
      SCOPED_TRACE(order);
      const std::vector<Fluxes> at_rest = corrected(nodes, source, 0, order).fluxes;
      for (const double er : {-4e4, 0.0, 2e4}) {
        double sum = 0, sizes = 0;
        for (std::size_t a = 0; a < 3; ++a) {
          const Population& population = nodes.plasma()[a];
          const double part = population.species.charge * corrected(nodes, source, er, order).fluxes[a].gamma;
          sum += part;
          sizes += std::abs(part);
          // The field's share cancels to the digits of the plain flux, some hundred times larger; by 20 nodes of
          // Laguerre to what they make of polynomials' orthogonality.
          if (rule.size() == 48) {
            const std::vector<Fluxes> fluxes = corrected(nodes, source, er, order).fluxes;
            EXPECT_NEAR(fluxes[a].gamma / at_rest[a].gamma, 1, 1e-8) << a;
            EXPECT_NEAR(fluxes[a].q / at_rest[a].q, 1, 1e-8) << a;
          }
        }
        EXPECT_LT(std::abs(sum) / sizes, 1e-10) << er;
      }
    }
  }
}

TEST(MomentumCorrection, OnsagersSymmetryHoldsAtOneTemperature) {
  // Gamma, Q/T against A1, A2 of every pair of species, and U_par against A3, with the sign that L13 = -L31 has.
  std::vector<Population> plasma = mixed_plasma();
  for (Population& population : plasma) population.temperature = kilo_electron_volt;
  const EnergyNodes nodes(plasma, maxwell_polynomials(24), CoulombLogarithm::electrons, 2);
  Formula source([](double nu_hat, double) {
    const double d31 = 0.1 / (1 + 10 * nu_hat);
    return Dij{1e-4 / nu_hat + nu_hat, d31, -d31, 2 / (3 * nu_hat) * (0.4 + 0.3 * nu_hat / (1 + nu_hat))};
  });
  const std::vector<SpeciesMoments> moments = energy_moments(nodes, source, 0);
  const MomentumBalance balance(nodes, 2);
  const auto fluxes_of = [&](std::size_t driven) {
    std::vector<Forces> forces(3);
    Forces& at = forces[driven / 3];
    (driven % 3 == 0 ? at.A1 : driven % 3 == 1 ? at.A2 : at.A3) = 1;
    std::vector<double> made;
    const MomentumCorrection corrected = balance.solve(moments, forces, 1, 0.3);
    for (const Fluxes& flux : corrected.fluxes)
      made.insert(made.end(), {flux.gamma, flux.q / kilo_electron_volt, flux.u_par});
    return made;
  };
  std::vector<std::vector<double>> response;
  for (std::size_t driven = 0; driven < 9; ++driven) response.push_back(fluxes_of(driven));
  for (std::size_t i = 0; i < 9; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const double sign = (i % 3 == 2) != (j % 3 == 2) ? -1 : 1;
      EXPECT_NEAR(response[i][j], sign * response[j][i], 1e-9 * std::sqrt(response[i][i] * response[j][j])) << i << j;
    }
}

TEST(MomentumCorrection, RootsOfANearlySymmetricFieldAreThoseOfItsAsymmetry) {
  // What breaks the symmetry adds only to D11 here: the current of corrected fluxes is in proportion to it, and its
  // root does not depend on how little it is. Without the correction the symmetric part decides, and the root runs off.
  const auto root = [](double asymmetry, std::optional<int> order) {
    Formula source = axisymmetric(2.5, 1.03);
    source.d = [symmetric = source.d, asymmetry](double nu_hat, double er_hat) {
      Dij made = symmetric(nu_hat, er_hat);
      made.D11 += asymmetry * nu_hat / (nu_hat * nu_hat + 30 * er_hat * er_hat + 1e-12);
      return made;
    };
    const FormulaEverywhere everywhere(source);
    TransportOptions options;
    options.sonine_order = order;
    options.energies = 32;
    const std::vector<RadialInput> input{{0.5, mixed_plasma(), std::nullopt, 0}};
    const RadialResult made = radial_transport(everywhere, input, options).at(0);
    return made.E_r;
  };
  const double expected = root(1e-3, 2);
  for (const double asymmetry : {1e-5, 1e-1}) EXPECT_NEAR(root(asymmetry, 2), expected, 0.1) << "V/m";
  EXPECT_GT(std::abs(root(1e-3, std::nullopt) - root(1e-5, std::nullopt)), 100);
}

TEST(MomentumCorrection, ARootThatHangsOnTheDriftOfASymmetricFieldIsDoubtful) {
  // The drift changes D31 and D33 of the symmetric field together, and the current that it thereby makes is no current.
  Formula source = axisymmetric(2.5, 1.03);
  source.d = [symmetric = source.d](double nu_hat, double er_hat) {
    Dij made = symmetric(nu_hat, er_hat);
    made.D31 *= 1 + 300 * er_hat * er_hat;
    made.D13 *= 1 + 300 * er_hat * er_hat;
    return made;
  };
  const FormulaEverywhere everywhere(source);
  TransportOptions options;
  options.sonine_order = 2;
  options.energies = 32;
  const std::vector<RadialInput> input{{0.5, mixed_plasma(), std::nullopt, 0}};
  const RadialResult made = radial_transport(everywhere, input, options).at(0);
  ASSERT_FALSE(made.roots.roots.empty());
  for (const AmbipolarRoot& root : made.roots.roots) EXPECT_TRUE(root.doubtful()) << root.E_r;
  EXPECT_TRUE(made.without_root);
}

TEST(MomentumCorrection, OrdersUpToTheMomentsGiveTheSameAsMomentsOfThatOrder) {
  const EnergyNodes high(mixed_plasma(), maxwell_polynomials(32), CoulombLogarithm::electrons, 6),
      low(mixed_plasma(), maxwell_polynomials(32), CoulombLogarithm::electrons, 2);
  const Formula source = axisymmetric(2.5, 1.03);
  const MomentumCorrection a = corrected(high, source, 1e3, 2), b = corrected(low, source, 1e3, 2);
  EXPECT_EQ(a.c, b.c);
  error_of(ErrorKind::internal, [&] { MomentumBalance(low, 3); });
}

}  // namespace
}  // namespace sonde::neoclassical
