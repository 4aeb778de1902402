// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/convert/conversions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

/// A number in [low, high], of either sign when `both`.
double number(double low, double high, bool both) {
  const double value = low + (high - low) * (*rc::gen::inRange(0, 1 << 30)) / (1 << 30);
  return both && *rc::gen::arbitrary<bool>() ? -value : value;
}

ConversionGeometry any_geometry() {
  return {
      number(0.1, 10, false), number(1, 100, true),  number(0, 0.1, true), number(0.1, 2, true),
      number(0.1, 5, true),   number(0.1, 1, false), number(2, 20, false), *rc::gen::arbitrary<bool>() ? -1.0 : 1.0};
}

PsiPoint any_point() {
  return {{number(1e-5, 1, false), number(1e-3, 9, true), number(1e-3, 9, true), number(1, 1e4, false)},
          number(1e-6, 10, false),
          number(1e-6, 1, true)};
}

void expect_equal(const PsiPoint& a, const PsiPoint& b) {
  const auto near = [](double x, double y) { RC_ASSERT(std::abs(x - y) <= 1e-14 * std::abs(y)); };  // ten roundings
  near(a.d.D11, b.d.D11);
  near(a.d.D31, b.d.D31);
  near(a.d.D13, b.d.D13);
  near(a.d.D33, b.d.D33);
  near(a.nu_hat, b.nu_hat);
  near(a.e_hat, b.e_hat);
}

RC_GTEST_PROP(Conversions, ThereAndBackIsTheSamePoint, ()) {
  const ConversionGeometry geometry = any_geometry();
  const PsiPoint point = any_point();
  expect_equal(from_dkes(to_dkes(point, geometry), geometry), point);
  expect_equal(from_sfincs(to_sfincs(point, geometry), geometry), point);
  expect_equal(from_stars(to_stars(point, geometry), geometry), point);
}

RC_GTEST_PROP(Conversions, TheBenchmarkDoesNotKnowTheUnitOfTheField, ()) {
  // B -> c B with the same flux surfaces: psi_p, G, I by c, D11 by psi_p^-2 and so on. What has no unit stays.
  const ConversionGeometry geometry = any_geometry();
  const DkesPoint point = to_dkes(any_point(), geometry);
  const double c = number(0.5, 2, false);
  ConversionGeometry scaled = geometry;
  for (double* value : {&scaled.B0, &scaled.G, &scaled.I, &scaled.psi_p}) *value *= c;
  // D11 in r goes as the drift squared, B^-2, D31 as B^-1; E_r/v as B keeps the drift.
  const DkesPoint same{
      {point.d.D11 / (c * c), point.d.D31 / c, point.d.D13 / c, point.d.D33}, point.nu_hat, point.er_hat * c};
  const StarPoint one = to_stars(from_dkes(point, geometry), geometry), two = to_stars(from_dkes(same, scaled), scaled);
  const auto near = [](double x, double y) { RC_ASSERT(std::abs(x - y) <= 1e-13 * std::abs(y)); };
  near(two.D11_star, one.D11_star);
  near(two.D31_star, one.D31_star);
  near(two.D33_star, one.D33_star);
  near(two.v_e_star, one.v_e_star);
}

TEST(Conversions, SfincsEvaluatesItsCollisionsAtTheThermalSpeed) {
  EXPECT_NEAR(sfincs_deflection(), 0.836027680488, 1e-12);
}

TEST(Conversions, AUniformFieldGivesTheSpitzerValueInEveryNormalisation) {
  // D33 = 2 <B^2> / (3 nu_hat B0^2) with <B^2> = B0^2: D33* = 1, and M22 = 4 / (3 sqrt(pi) c nuPrime).
  const ConversionGeometry geometry{2.5, 14, 0.1, 0.9, 1.2, 0.4, 5.5};
  const PsiPoint point{{0, 0, 0, 2 / (3 * 1e-3)}, 1e-3, 0};
  EXPECT_NEAR(to_stars(point, geometry).D33_star, 1, 1e-15);
  const SfincsPoint sfincs = to_sfincs(point, geometry);
  EXPECT_NEAR(sfincs.M22 * 3 * std::sqrt(std::numbers::pi) * 0.836027680488 * sfincs.nu_prime / 4, 1, 1e-12);
}

TEST(Conversions, TheRowsAndColumnsOfSfincsAreOurIndices) {
  const ConversionGeometry geometry{2, 10, 0.5, 0.8, 1, 0.4, 5};
  const SfincsPoint sfincs = to_sfincs({{1, 2, 3, 4}, 0.01, 0.02}, geometry);
  const double root_pi = std::sqrt(std::numbers::pi);
  EXPECT_DOUBLE_EQ(sfincs.M11, -8 * 10.4 * 2 / (root_pi * 100));
  EXPECT_DOUBLE_EQ(sfincs.M21, 2 * 4 * 2 / (root_pi * 10));
  EXPECT_DOUBLE_EQ(sfincs.M12, -3 * 4 * 2 / (root_pi * 10));
  EXPECT_DOUBLE_EQ(sfincs.M22, 4 * 2 * 2 / (root_pi * 10.4));
  EXPECT_DOUBLE_EQ(sfincs.e_star, 0.02 * 10 / (0.8 * 2));
}

TEST(Conversions, ADatabaseIsConvertedByTheSameNumbers) {
  // The factors of database files for rho 0.5, a_b 0.4, psia 0.3, B00 2: M_11 = 8 J B00 psia^2/(sqrt(pi) G^2) D11 in
  // the label s. relabelled() brings D to psi, to_sfincs() does the rest.
  const ConversionGeometry geometry{2, 10, 0.5, 0.8, 1, 0.2, 5};
  const Dij per_s{1, 1, 1, 1};
  const SfincsPoint sfincs = to_sfincs({relabelled(per_s, 0.3), 0.01, 0}, geometry);
  const double root_pi = std::sqrt(std::numbers::pi);
  EXPECT_NEAR(sfincs.M11, -8 * 10.4 * 2 * 0.09 / (root_pi * 100), 1e-15);
  EXPECT_NEAR(sfincs.M21, 4 * 2 * 0.3 / (root_pi * 10), 1e-15);
}

TEST(Conversions, LeftHandedAnglesAreTurnedForSfincs) {
  // The same surface described with zeta and with -zeta: psi, G, iota change sign, D11 and D33 do not, D31 and D13 are
  // per psi and do. SFINCS has one answer for both.
  const ConversionGeometry right{2, 10, 0.5, 0.8, 1, 0.4, 5, 1}, left{2, -10, 0.5, -0.8, -1, 0.4, 5, -1};
  const SfincsPoint a = to_sfincs({{1, 2, -2.5, 4}, 0.01, 0.02}, right),
                    b = to_sfincs({{1, -2, 2.5, 4}, 0.01, -0.02}, left);
  EXPECT_DOUBLE_EQ(a.M11, b.M11);
  EXPECT_DOUBLE_EQ(a.M12, b.M12);
  EXPECT_DOUBLE_EQ(a.M21, b.M21);
  EXPECT_DOUBLE_EQ(a.M22, b.M22);
  EXPECT_DOUBLE_EQ(a.nu_prime, b.nu_prime);
  EXPECT_DOUBLE_EQ(a.e_star, b.e_star);
}

TEST(Conversions, AMatrixThatSfincsNeverPrintsIsRefused) {
  const ConversionGeometry geometry{2, 10, 0.5, 0.8, 1, 0.2, 5};
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [&] {
                         (void)from_sfincs({0.09, 1, 1, 440, 1e-3, 0}, geometry);
                       }),
              HasSubstr("M11 = 0.09 and M22 = 440 have one sign"));
}

TEST(Conversions, WhatIsDividedByMustNotVanish) {
  const auto refused = [](auto change, auto convert) {
    ConversionGeometry geometry{2, 10, 0.5, 0.8, 1, 0.2, 5};
    change(geometry);
    return error_of(ErrorKind::bad_input, [&] { (void)convert(PsiPoint{}, geometry); });
  };
  EXPECT_THAT(refused([](auto& g) { g.psi_p = 0; }, to_dkes), HasSubstr("dpsi/dr is 0"));
  EXPECT_THAT(refused([](auto& g) { g.G = 0; }, to_sfincs), HasSubstr("G is 0"));
  EXPECT_THAT(refused([](auto& g) { g.iota = -20; }, to_sfincs), HasSubstr("G + iota I is 0"));
  EXPECT_THAT(refused([](auto& g) { g.iota = 0; }, to_stars), HasSubstr("iota is 0"));
  EXPECT_THAT(refused([](auto& g) { g.R0 = std::nan(""); }, to_stars), HasSubstr("R0 is nan"));
  EXPECT_THAT(refused([](auto& g) { g.r = -1; }, to_stars), HasSubstr("r / R0 is -0.2"));
}

}  // namespace
}  // namespace sonde::neoclassical
