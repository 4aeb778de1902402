// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/plasma.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "sonde/instruments/neoclassical/transport/test_source.h"
#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;
using testing::kilo_electron_volt;
using testing::mixed_plasma;

TEST(Plasma, KnowsItsSpecies) {
  EXPECT_EQ(species("e").charge, -elementary_charge);
  EXPECT_NEAR(species("D").mass / electron_mass, 3670.48296788, 1e-6);  // CODATA 2018
  EXPECT_NEAR(species("He4").mass / electron_mass, 7294.29954142, 1e-6);
  EXPECT_EQ(species("C").charge, 6 * elementary_charge);
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { (void)species("W"); }), HasSubstr("known are e, H, D, T"));
}

TEST(Plasma, ValuesThatMakeNoSenseAreNamed) {
  const auto refused = [](auto change) {
    std::vector<Population> plasma = mixed_plasma();
    change(plasma);
    return error_of(ErrorKind::bad_input, [&] { require_valid(plasma); });
  };
  EXPECT_THAT(refused([](auto& p) { p[0].temperature = 0; }), HasSubstr("species e: its temperature is 0"));
  EXPECT_THAT(refused([](auto& p) { p[2].density = 0; }), HasSubstr("species C: its density is 0"));
  EXPECT_THAT(refused([](auto& p) { p[1].density_slope = std::nan(""); }), HasSubstr("the slope of its density"));
  EXPECT_THAT(refused([](auto& p) { p[1].species.charge = 0; }), HasSubstr("its charge is 0"));
  EXPECT_THAT(refused([](auto& p) { p[1] = p[0]; }), HasSubstr("two species are named e"));
  EXPECT_THAT(refused([](auto& p) { p.clear(); }), HasSubstr("without species"));
}

TEST(Plasma, TheCoulombLogarithmsAgreeWhereTheyShould) {
  // 1 keV, 1e20 1/m^3: 16.1 by definition of the first; the others are within two of it.
  const std::vector<Population> plasma{{species("e"), 1e20, kilo_electron_volt, 0, 0},
                                       {species("D"), 1e20, kilo_electron_volt, 0, 0}};
  EXPECT_NEAR(coulomb_logarithms(plasma, CoulombLogarithm::electrons)[1], 16.1, 1e-9);
  // NRL by hand: ee 23.5 - ln(1e7 * 1000^-1.25) - sqrt(1e-5 + (ln 1000 - 2)^2/16); ei 24 - ln(1e7/1000).
  const std::vector<double> nrl = coulomb_logarithms(plasma, CoulombLogarithm::nrl);
  EXPECT_NEAR(nrl[0],
              23.5 - std::log(1e7 * std::pow(1e3, -1.25)) - std::sqrt(1e-5 + std::pow(std::log(1e3) - 2, 2) / 16),
              1e-9);
  EXPECT_NEAR(nrl[1], 24 - std::log(1e4), 1e-9);
  EXPECT_EQ(nrl[1], nrl[2]);
  // ii: 23 - ln(1/T sqrt(2 n/T)) for equal masses and temperatures.
  EXPECT_NEAR(nrl[3], 23 - std::log(std::sqrt(2e14 / 1e3) / 1e3), 1e-9);
  for (const double value : coulomb_logarithms(plasma, CoulombLogarithm::impact_parameter)) EXPECT_NEAR(value, 16.1, 2);
}

TEST(Plasma, AColdOrElectronlessPlasmaHasNoLogarithm) {
  std::vector<Population> plasma = mixed_plasma();
  plasma[0].temperature = 1e-6 * elementary_charge;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)coulomb_logarithms(plasma, CoulombLogarithm::electrons); }),
              HasSubstr("not weakly coupled"));
  plasma = {mixed_plasma()[1]};
  for (const auto kind : {CoulombLogarithm::electrons, CoulombLogarithm::nrl})
    EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)coulomb_logarithms(plasma, kind); }),
                HasSubstr("negative charge"));
  EXPECT_GT(coulomb_logarithms(plasma, CoulombLogarithm::impact_parameter)[0], 10);
}

TEST(Plasma, TheChandrasekharFunctionIsSmoothToZero) {
  EXPECT_NEAR(chandrasekhar(1e-8) / 1e-8, 2 / (3 * std::sqrt(std::numbers::pi)), 1e-12);
  // Either side of the change of formula, against the difference in extended precision.
  for (const double x : {0.05, 0.2, 0.4999, 0.5, 0.5001, 1.0, 3.0, 30.0}) {
    const long double y = x, erf = std::erf(y),
                      slope = 2 / std::sqrt(std::numbers::pi_v<long double>) * std::exp(-y * y);
    EXPECT_NEAR(chandrasekhar(x), static_cast<double>((erf - y * slope) / (2 * y * y)), 1e-15) << x;
  }
}

TEST(Plasma, FastParticlesScatterOnAllByTheirCharges) {
  // v far above every thermal speed: erf - Ch = 1 - v_tb^2/(2 v^2), and nu = sum n_b q_a^2 q_b^2 lnL/(4 pi eps0^2 m_a^2
  // v^3).
  const std::vector<Population> plasma = mixed_plasma();
  const std::vector<double> logarithms(9, 15.0);
  const double v = 3e8 * 3, e = elementary_charge;
  double sum = 0;
  for (const auto& [n, z] : {std::pair{1e20, 1.0}, std::pair{0.88e20, 1.0}, std::pair{0.02e20, 6.0}}) sum += n * z * z;
  const double expected =
      sum * std::pow(e, 4) * 15 / (4 * std::numbers::pi * std::pow(vacuum_permittivity * electron_mass, 2) * v * v * v);
  EXPECT_NEAR(collision_frequency(plasma, logarithms, 0, v) / expected, 1, 2e-3);
}

TEST(Plasma, TheCollisionTimeIsThatOfBraginskii) {
  // tau_ei = 3 sqrt(m_e) T_e^1.5 / (4 sqrt(2 pi) n lnL e^4) in Gaussian units: 3.44e5 T_eV^1.5 / (n_cm lnL) s.
  const Population e{species("e"), 1e20, kilo_electron_volt, 0, 0}, d{species("D"), 1e20, kilo_electron_volt, 0, 0};
  EXPECT_NEAR(1 / inverse_collision_time(e, d, 10) / (3.44e5 * std::pow(1e3, 1.5) / (1e14 * 10)), 1, 2e-3);
}

}  // namespace
}  // namespace sonde::neoclassical
