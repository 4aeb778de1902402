// SPDX-License-Identifier: Apache-2.0
// Strain from reciprocal lattices. The lattices are those of real-space lattices whose points were moved by F; nothing
// of the code under test is used to make them.
#include "sonde/instruments/stem/lattice/strain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace sonde::stem {
namespace {

/// Displacement gradients of real space, acting on (x, y).
struct Gradient {
  double xx, xy, yx, yy;
};

struct Vector {
  double x, y;
};

Vector moved(const Gradient& f, const Vector& a) { return {f.xx * a.x + f.xy * a.y, f.yx * a.x + f.yy * a.y}; }

/// The reciprocal lattice of a1, a2: g1 is normal to a2 and has g1 . a1 = 1.
Basis reciprocal(const Vector& a1, const Vector& a2) {
  const double along = a1.x * a2.y - a1.y * a2.x;
  return {a2.y / along, -a2.x / along, -a1.y / along, a1.x / along};
}

constexpr Vector a1{0.043, 0.004}, a2{-0.006, 0.051};  // 1/px
Basis undeformed() { return reciprocal(a1, a2); }
Basis deformed(const Gradient& f) { return reciprocal(moved(f, a1), moved(f, a2)); }

Gradient turn_after(double angle, double xx, double yy, double xy) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {c * (1 + xx) - s * xy, c * xy - s * (1 + yy), s * (1 + xx) + c * xy, s * xy + c * (1 + yy)};
}

constexpr double ten_degrees = 10 * std::numbers::pi / 180;

TEST(Strain, IsTensionAlongTheAxisThatGrew) {
  const Strain along_x = strain_of(deformed({1.05, 0, 0, 1}), undeformed(), StrainMeasure::biot);
  EXPECT_NEAR(along_x.xx, 0.05, 1e-13);
  EXPECT_NEAR(along_x.yy, 0, 1e-13);
  EXPECT_NEAR(along_x.theta, 0, 1e-13);
  EXPECT_NEAR(strain_of(deformed({1, 0, 0, 0.93}), undeformed(), StrainMeasure::biot).yy, -0.07, 1e-13);
}

TEST(Strain, ThetaTurnsXTowardsY) {
  // The point (1, 0) comes to (cos, sin).
  const Gradient turned_by{std::cos(0.1), -std::sin(0.1), std::sin(0.1), std::cos(0.1)};
  const Strain strain = strain_of(deformed(turned_by), undeformed(), StrainMeasure::biot);
  EXPECT_NEAR(strain.theta, 0.1, 1e-13);
  EXPECT_NEAR(strain.xx, 0, 1e-13);
  EXPECT_NEAR(strain.xy, 0, 1e-13);
}

TEST(Strain, IsExactForTenPercentAndTenDegrees) {
  const Strain strain =
      strain_of(deformed(turn_after(ten_degrees, 0.1, -0.08, 0.05)), undeformed(), StrainMeasure::biot);
  EXPECT_NEAR(strain.xx, 0.1, 1e-9);
  EXPECT_NEAR(strain.yy, -0.08, 1e-9);
  EXPECT_NEAR(strain.xy, 0.05, 1e-9);
  EXPECT_NEAR(strain.theta, ten_degrees, 1e-9);
}

TEST(Strain, MeasuresAreTheirDefinitions) {
  const Gradient f{1.04, 0.06, -0.02, 0.97};
  const Strain small = strain_of(deformed(f), undeformed(), StrainMeasure::infinitesimal);
  EXPECT_NEAR(small.xx, 0.04, 1e-13);
  EXPECT_NEAR(small.yy, -0.03, 1e-13);
  EXPECT_NEAR(small.xy, 0.02, 1e-13);
  EXPECT_NEAR(small.theta, -0.04, 1e-13);
  // Of a stretch the square of lengths: (1.05^2 - 1) / 2.
  EXPECT_NEAR(strain_of(deformed({1.05, 0, 0, 1}), undeformed(), StrainMeasure::green_lagrange).xx, 0.05125, 1e-13);
  EXPECT_NEAR(strain_of(deformed(turn_after(0.2, 0, 0, 0)), undeformed(), StrainMeasure::green_lagrange).xx, 0, 1e-13);
}

TEST(Strain, OfFirstOrderReadsFivePercentAs4762) {
  const Strain strain = strain_of(deformed({1.05, 0, 0, 1}), undeformed(), StrainMeasure::reciprocal_first_order);
  EXPECT_NEAR(strain.xx, 1 - 1 / 1.05, 1e-13);
}

// What py4DSTEM computes, in its own axes: x along rows, vectors as (row, column), beta from the rows of vectors.
TEST(Strain, HasTheSignsOfPy4dstem) {
  const Basis reference = undeformed(), now = deformed(turn_after(0.03, 0.02, -0.01, 0.015));
  // Rows of (row, column); M beta^T = A, so beta^T = M^-1 A.
  const double m[2][2] = {{reference.g1_y, reference.g1_x}, {reference.g2_y, reference.g2_x}};
  const double a[2][2] = {{now.g1_y, now.g1_x}, {now.g2_y, now.g2_x}};
  const double det = m[0][0] * m[1][1] - m[0][1] * m[1][0];
  const double inverse[2][2] = {{m[1][1] / det, -m[0][1] / det}, {-m[1][0] / det, m[0][0] / det}};
  double beta[2][2];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) beta[j][i] = inverse[i][0] * a[0][j] + inverse[i][1] * a[1][j];
  const Strain own = as_py4dstem(strain_of(now, reference, StrainMeasure::reciprocal_first_order));
  EXPECT_NEAR(own.xx, 1 - beta[0][0], 1e-13);
  EXPECT_NEAR(own.yy, 1 - beta[1][1], 1e-13);
  EXPECT_NEAR(own.xy, -(beta[0][1] + beta[1][0]) / 2, 1e-13);
  EXPECT_NEAR(own.theta, (beta[0][1] - beta[1][0]) / 2, 1e-13);
  EXPECT_NEAR(own.yy, 0.02, 2e-3);  // along columns: its y
}

// The detector sees the reciprocal lattice turned: a vector v of it is R(-rotation) of that of the scan, with x and y
// exchanged where the detector is transposed.
TEST(Strain, IsAlongTheAxesOfTheScan) {
  const double rotation = 0.6;
  for (const bool transpose : {false, true}) {
    SCOPED_TRACE(transpose);
    const auto on_detector = [&](const Basis& scan) {
      const auto back = [&](double x, double y) {
        const double angle = std::atan2(y, x) - rotation, length = std::hypot(x, y);
        const double u = length * std::cos(angle), v = length * std::sin(angle);
        return transpose ? Vector{v, u} : Vector{u, v};
      };
      const Vector g1 = back(scan.g1_x, scan.g1_y), g2 = back(scan.g2_x, scan.g2_y);
      return Basis{g1.x, g1.y, g2.x, g2.y};
    };
    const Basis now = on_detector(deformed(turn_after(0.05, 0.03, -0.02, 0.01))), before = on_detector(undeformed());
    const Strain strain =
        strain_of(turned(now, rotation, transpose), turned(before, rotation, transpose), StrainMeasure::biot);
    EXPECT_NEAR(strain.xx, 0.03, 1e-12);
    EXPECT_NEAR(strain.yy, -0.02, 1e-12);
    EXPECT_NEAR(strain.xy, 0.01, 1e-12);
    EXPECT_NEAR(strain.theta, 0.05, 1e-12);
  }
}

TEST(Strain, AQuarterTurnOfTheAxesExchangesTheComponents) {
  const Strain strain = along_axes({0.03, -0.02, 0.01, 0.05}, std::numbers::pi / 2);
  EXPECT_NEAR(strain.xx, -0.02, 1e-15);
  EXPECT_NEAR(strain.yy, 0.03, 1e-15);
  EXPECT_NEAR(strain.xy, -0.01, 1e-15);
  EXPECT_EQ(strain.theta, 0.05);
}

TEST(Strain, TensionAlongADiagonalIsAlongTheTurnedAxis) {
  // 4 % along (1, 1): along axes turned by 45 degrees it is along x only.
  const Strain strain = along_axes({0.02, 0.02, 0.02, 0}, std::numbers::pi / 4);
  EXPECT_NEAR(strain.xx, 0.04, 1e-15);
  EXPECT_NEAR(strain.yy, 0, 1e-15);
  EXPECT_NEAR(strain.xy, 0, 1e-15);
}

class SigmaOfMeasure : public ::testing::TestWithParam<StrainMeasure> {};

// Against differences of strain_of between bases that are a little apart.
TEST_P(SigmaOfMeasure, IsTheChangeOfTheStrainWithTheBasis) {
  const Basis reference = undeformed(), now = deformed(turn_after(0.15, 0.08, -0.05, 0.03));
  double Basis::*const parts[] = {&Basis::g1_x, &Basis::g1_y, &Basis::g2_x, &Basis::g2_y};
  double Strain::*const components[] = {&Strain::xx, &Strain::yy, &Strain::xy, &Strain::theta};
  // A covariance of full rank: c c^T with c of four columns.
  const double c[4][4] = {{0.02, 0, 0, 0}, {0.01, 0.03, 0, 0}, {-0.01, 0.005, 0.02, 0}, {0.002, -0.01, 0.01, 0.015}};
  BasisCovariance covariance{};
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      for (std::size_t k = 0; k < 4; ++k) covariance[i][j] += c[i][k] * c[j][k];
  const Strain sigma = strain_sigma(now, covariance, reference, GetParam());
  for (const auto component : components) {
    double square = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const double step = 1e-4;
      Basis more = now, less = now;
      for (std::size_t i = 0; i < 4; ++i) {
        more.*parts[i] += step * c[i][k];
        less.*parts[i] -= step * c[i][k];
      }
      const double slope =
          (strain_of(more, reference, GetParam()).*component - strain_of(less, reference, GetParam()).*component) /
          (2 * step);
      square += slope * slope;
    }
    EXPECT_NEAR(sigma.*component / std::sqrt(square), 1, 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Measures, SigmaOfMeasure,
                         ::testing::Values(StrainMeasure::biot, StrainMeasure::infinitesimal,
                                           StrainMeasure::green_lagrange, StrainMeasure::reciprocal_first_order));

TEST(Strain, TheErrorTurnsWithTheAxes) {
  // Errors along y of the detector only; seen from a scan that is a quarter turn on, they are along x.
  BasisCovariance covariance{};
  covariance[1][1] = covariance[3][3] = 1e-4;
  const BasisCovariance seen = turned(covariance, std::numbers::pi / 2, false);
  EXPECT_NEAR(seen[0][0], 1e-4, 1e-18);
  EXPECT_NEAR(seen[1][1], 0, 1e-18);
  EXPECT_NEAR(turned(covariance, 0, true)[2][2], 1e-4, 1e-18);
}

}  // namespace
}  // namespace sonde::stem
