// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/verify/hankel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace sonde::maxwell {
namespace {

class HankelOnAxis : public ::testing::TestWithParam<double> {};

TEST_P(HankelOnAxis, IsMadeOfBesselAndNeumannFunctions) {
  const double x = GetParam();
  const Hankel made = hankel_second_kind(x);
  // Worst at |z| = 12, where the largest terms of the series are 1e4 times its sum, and the last one of the other
  // 1e-11.
  const double tolerance = 1e-10;
  EXPECT_NEAR(made.h0.real(), std::cyl_bessel_j(0, x), tolerance);
  EXPECT_NEAR(made.h0.imag(), -std::cyl_neumann(0, x), tolerance);
  EXPECT_NEAR(made.h1.real(), std::cyl_bessel_j(1, x), tolerance);
  EXPECT_NEAR(made.h1.imag(), -std::cyl_neumann(1, x), tolerance);
}

INSTANTIATE_TEST_SUITE_P(Arguments, HankelOnAxis,
                         ::testing::Values(0.01, 0.5, 1.0, 3.7, 8.0, 11.9, 12.1, 20.0, 63.0, 300.0));

class HankelOffAxis : public ::testing::TestWithParam<std::complex<double>> {};

TEST_P(HankelOffAxis, HasTheWronskianOfBothKinds) {
  const std::complex<double> z = GetParam();
  const Hankel second = hankel_second_kind(z), mirrored = hankel_second_kind(std::conj(z));
  // H^(1)(z) = conj(H^(2)(conj z)); H0^(1) dH0^(2)/dz - H0^(2) dH0^(1)/dz = -4 j / (pi z) (DLMF 10.5.5).
  const std::complex<double> wronskian = second.h0 * std::conj(mirrored.h1) - std::conj(mirrored.h0) * second.h1;
  const std::complex<double> wanted = std::complex<double>(0, -4) / (std::numbers::pi * z);
  EXPECT_LT(std::abs(wronskian - wanted), 1e-9 * std::abs(wanted));  // both kinds to 1e-10, as on the axis
}

INSTANTIATE_TEST_SUITE_P(Arguments, HankelOffAxis,
                         ::testing::Values(std::complex<double>(0.1, -0.1), std::complex<double>(1, -1),
                                           std::complex<double>(6, -1.5), std::complex<double>(11.5, -2),
                                           std::complex<double>(12, -3), std::complex<double>(44, -3.6),
                                           std::complex<double>(15, -15)));

TEST(HankelFunction, DecaysAwayFromALossySource) {
  // K0(1) = 0.42102443824070834 (DLMF 10.27.8: H0^(2)(-j x) = (2 j / pi) K0(x)).
  const Hankel made = hankel_second_kind({0, -1});
  EXPECT_NEAR(made.h0.imag(), 2 / std::numbers::pi * 0.42102443824070834, 1e-14);
  EXPECT_NEAR(made.h0.real(), 0, 1e-14);
}

}  // namespace
}  // namespace sonde::maxwell
