// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/energy_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

/// sum of weights times K^p over Gamma(p + 1): 1 for an exact rule.
double power_over_gamma(const EnergyRule& rule, double p) {
  double sum = 0;
  for (std::size_t i = 0; i < rule.size(); ++i) sum += rule.weight[i] * std::pow(rule.K[i], p);
  return sum / std::tgamma(p + 1);
}

TEST(EnergyRule, LaguerreIsExactForPolynomials) {
  for (const Index count : {1, 2, 5, 64})
    for (Index p = 0; p < std::min<Index>(2 * count, 120); p += 1 + p / 4) {
      SCOPED_TRACE(count);
      // A node has a relative error of some epsilon, the power multiplies it.
      EXPECT_NEAR(power_over_gamma(gauss_laguerre(count), static_cast<double>(p)), 1,
                  1e-14 * static_cast<double>(10 + 10 * p));
    }
}

TEST(EnergyRule, LaguerreOfTwoHasTheTextbookNodes) {
  const EnergyRule rule = gauss_laguerre(2);
  EXPECT_NEAR(rule.K[0], 2 - std::numbers::sqrt2, 1e-15);
  EXPECT_NEAR(rule.K[1], 2 + std::numbers::sqrt2, 1e-15);
  EXPECT_NEAR(rule.weight[0], (2 + std::numbers::sqrt2) / 4, 1e-15);
}

TEST(EnergyRule, LaguerreOfManyNeitherOverflowsNorLosesItsSum) {
  const EnergyRule rule = gauss_laguerre(256);
  for (const double weight : rule.weight) EXPECT_TRUE(weight >= 0 && std::isfinite(weight));
  EXPECT_NEAR(power_over_gamma(rule, 0), 1, 1e-12);  // nodes up to 1000, each to some epsilon
  EXPECT_NEAR(power_over_gamma(rule, 4), 1, 1e-12);
}

TEST(EnergyRule, MaxwellIsExactForPowersOfTheSpeed) {
  for (const Index count : {1, 2, 8, 24, 64}) {
    const EnergyRule rule = maxwell_polynomials(count);
    for (Index power = 0; power < std::min<Index>(2 * count, 60); ++power) {
      SCOPED_TRACE(count);
      // Half-integer powers of K included: what the mixed coefficients need. Nodes are squared, powers multiply.
      EXPECT_NEAR(power_over_gamma(rule, 0.5 * static_cast<double>(power)), 1,
                  1e-14 * static_cast<double>(20 + 10 * power));
    }
  }
}

TEST(EnergyRule, MaxwellOfOneIsTheMeanSpeed) {
  // One node at the mean of x under x exp(-x^2): sqrt(pi)/2.
  const EnergyRule rule = maxwell_polynomials(1);
  EXPECT_NEAR(rule.K[0], std::numbers::pi / 4, 1e-14);
  EXPECT_NEAR(rule.weight[0], 1, 1e-14);
}

TEST(EnergyRule, CountsOutOfRangeAreRefused) {
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { (void)gauss_laguerre(0); }), HasSubstr("0 energies"));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { (void)gauss_laguerre(257); }), HasSubstr("1 to 256"));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { (void)maxwell_polynomials(65); }), HasSubstr("1 to 64"));
}

TEST(EnergyRule, WithoutItsTailIntegratesAllTheSame) {
  const EnergyRule whole = gauss_laguerre(64), made = without_tail(whole, 7);
  EXPECT_LT(made.size(), whole.size());
  EXPECT_LT(made.K.back(), 80);
  for (const double power : {0.0, 1.5, 4.0, 7.0}) {
    double a = 0, b = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) a += whole.weight[i] * std::pow(whole.K[i], power);
    for (std::size_t i = 0; i < made.size(); ++i) b += made.weight[i] * std::pow(made.K[i], power);
    EXPECT_NEAR(a / b, 1, 1e-15) << power;
  }
}

}  // namespace
}  // namespace sonde::neoclassical
