// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/operators/drift_kinetic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/operators/test_surfaces.h"

namespace sonde::neoclassical {
namespace {

using Field = std::vector<double>;

Field some_function(std::size_t count) {
  Field made;
  for (std::size_t i = 0; i < count; ++i) made.push_back(std::sin(0.4 + 1.7 * static_cast<double>(i * i)));
  return made;
}

double dot(const Field& a, const Field& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double largest(const Field& x) {
  double found = 0;
  for (const double value : x) found = std::max(found, std::abs(value));
  return found;
}

TEST(FourierDerivative, IsExactForWhatThePointsResolve) {
  for (const Index n : {1, 3, 9}) {
    const Field derivative = fourier_derivative(n, 5);
    for (int mode = 0; mode <= (n - 1) / 2; ++mode)
      for (Index i = 0; i < n; ++i) {
        double sum = 0;
        const auto angle = [&](Index at) {
          return 2 * std::numbers::pi * mode * static_cast<double>(at) / static_cast<double>(n);
        };
        for (Index j = 0; j < n; ++j) sum += derivative[static_cast<std::size_t>(i * n + j)] * std::cos(angle(j) + 0.3);
        EXPECT_NEAR(sum, -5 * mode * std::sin(angle(i) + 0.3), 1e-13);  // nine products of order ten
      }
  }
}

TEST(FourierDerivative, IsAntisymmetricToTheLastBit) {
  const Field derivative = fourier_derivative(7, 3);
  for (std::size_t i = 0; i < 7; ++i)
    for (std::size_t j = 0; j < 7; ++j) EXPECT_EQ(derivative[7 * i + j], -derivative[7 * j + i]);
}

TEST(LineMatrix, ProductsAreThoseOfTheRows) {
  for (const AngleGrid& grid : {AngleGrid{5, 1, 1}, AngleGrid{1, 5, 2}, AngleGrid{5, 3, 1}, AngleGrid{3, 9, 5},
                                AngleGrid{9, 11, 5}, AngleGrid{5, 17, 5}}) {
    SCOPED_TRACE(grid.n_zeta);
    const auto n = static_cast<std::size_t>(grid.count());
    const Field x = some_function(n);
    const SparseRows rows = directional_derivative(grid, some_function(n + 1), some_function(n + 2));
    Field expected(n, 0.5), made(n, 0.5);
    rows.add_product(-0.7, x, expected);
    LineMatrix(rows, grid).add_product(-0.7, x, made);
    // Some twenty products of order ten.
    for (std::size_t p = 0; p < n; ++p) EXPECT_NEAR(made[p], expected[p], 1e-12) << p;
  }
  SparseRows beside{.first = {0, 1, 1, 1, 1, 1, 1, 1, 1, 1}, .column = {4}, .value = {1}};
  EXPECT_THROW(LineMatrix(beside, {3, 3, 1}), Error);
}

TEST(DriftKinetic, CollocationIsTheEquationPointByPoint) {
  // One harmonic, of which all derivatives are known: L_k, D_k and U_k written out.
  const SampledSurface s = sample(testing::vmec_like(), 9, 7);
  const DriftKinetic equation = drift_kinetic(s, Discretisation::collocation);
  const std::size_t n = s.b.size();
  Field f(n), lower(n), upper(n), diagonal(n);
  const Case at{0.3, 0.2};
  const Index k = 4;
  const auto angle = [&](std::size_t p) {
    return 2 * s.grid.theta(static_cast<Index>(p) / 7) + 3 * s.grid.zeta(static_cast<Index>(p) % 7);  // N_fp = 3
  };
  for (std::size_t p = 0; p < n; ++p) f[p] = std::cos(angle(p));
  equation.add_lower(k, 1, f, lower);
  equation.add_upper(k, 1, f, upper);
  equation.add_diagonal(k, at, 1, f, diagonal);
  for (std::size_t p = 0; p < n; ++p) {
    const double by_theta = -2 * std::sin(angle(p)), by_zeta = -3 * std::sin(angle(p));
    const double along = (s.b_sup_theta[p] * by_theta + s.b_sup_zeta[p] * by_zeta) / s.b[p];
    const double g = (s.b_sup_theta[p] * s.db_dtheta[p] + s.b_sup_zeta[p] * s.db_dzeta[p]) / (s.b[p] * s.b[p]);
    EXPECT_NEAR(lower[p], 4.0 / 7 * (along + 1.5 * g * f[p]), 1e-12);
    EXPECT_NEAR(upper[p], 5.0 / 11 * (along - 3 * g * f[p]), 1e-12);
    EXPECT_NEAR(diagonal[p],
                0.15 * 20 * f[p] +
                    0.2 / (s.jacobian[p] * s.b2_mean) * (-s.b_sub_zeta[p] * by_theta + s.b_sub_theta[p] * by_zeta),
                1e-12);
  }
  Field pinned(n), row(n);
  equation.add_diagonal(0, at, 1, f, pinned);
  equation.add_upper(0, 1, f, row);
  EXPECT_EQ(pinned[0], f[0]);
  EXPECT_EQ(row[0], 0);
  EXPECT_EQ(equation.radial[0][0], 0);
}

TEST(DriftKinetic, SkewIsADiagonalPlusASkewOperatorWithTheConstantAsNullVector) {
  const DriftKinetic equation = drift_kinetic(sample(testing::vmec_like(), 9, 7), Discretisation::skew);
  const std::size_t n = equation.mirror.size();
  Field x = some_function(n), y(n);
  for (std::size_t i = 0; i < n; ++i) y[i] = std::cos(x[i] * 5);
  for (const Index k : {1, 2, 7}) {  // U_{k-1} = -L_k^T
    Field lower(n), upper(n);
    equation.add_lower(k, 1, x, lower);
    equation.add_upper(k - 1, 1, y, upper);
    EXPECT_NEAR(dot(y, lower), -dot(x, upper), 1e-11);  // sums of 63 of order ten
  }
  Field drifted(n);
  equation.add_diagonal(0, {1, 0.7}, 1, x, drifted);  // no collisions at k = 0
  EXPECT_NEAR(dot(x, drifted), 0, 1e-12);
  const Field& v = equation.null_vector;
  EXPECT_NEAR(dot(v, v), 1, 1e-14);
  Field left(n);
  equation.add_lower(1, 1, v, left);
  EXPECT_LE(largest(left), 1e-14);
  Field drift_of_null(n);
  EXPECT_GT(largest(equation.drift_of_null), 1e-3);  // the surface is one of those that need the projection
  equation.add_diagonal(0, {1, 0.7}, 1, v, drift_of_null);
  EXPECT_LE(largest(drift_of_null), 1e-14);
  EXPECT_NEAR(dot(v, equation.radial[0]), 0, 1e-15);
}

TEST(DriftKinetic, BothDiscretisationsAreOneEquationInTheLimit) {
  // u_k = W^(1/2) f_k / sqrt(2 k + 1): rows of `skew` are those of `collocation` times W^(1/2) / sqrt(2 k + 1) but for
  // the error of the grid, which for these few harmonics is below 1e-8 at 25 x 25.
  const SampledSurface s = sample(testing::analytic(), 25, 25);
  const DriftKinetic skew = drift_kinetic(s, Discretisation::skew);
  const DriftKinetic points = drift_kinetic(s, Discretisation::collocation);
  const std::size_t n = s.b.size();
  const Index k = 3;
  const Case at{0.3, 0.2};
  Field f(n), u(n);
  const auto row_scale = [&](std::size_t p, Index index) {
    return std::sqrt(std::abs(s.jacobian[p]) / static_cast<double>(2 * index + 1));
  };
  for (std::size_t p = 0; p < n; ++p)
    f[p] = std::sin(s.grid.theta(static_cast<Index>(p) / 25) - 5 * s.grid.zeta(static_cast<Index>(p) % 25)) + 0.3;
  const auto compare = [&](Index from, auto&& add) {
    Field expected(n), made(n);
    for (std::size_t p = 0; p < n; ++p) u[p] = row_scale(p, from) * f[p];
    add(points, f, expected);
    add(skew, u, made);
    for (std::size_t p = 0; p < n; ++p) EXPECT_NEAR(made[p], row_scale(p, k) * expected[p], 1e-8);
  };
  compare(k - 1, [&](const DriftKinetic& e, const Field& x, Field& y) { e.add_lower(k, 1, x, y); });
  compare(k + 1, [&](const DriftKinetic& e, const Field& x, Field& y) { e.add_upper(k, 1, x, y); });
  compare(k, [&](const DriftKinetic& e, const Field& x, Field& y) { e.add_diagonal(k, at, 1, x, y); });
  for (std::size_t p = 1; p < n; ++p)  // not the row of the condition
    for (const Index j : {0, 1, 2}) {
      EXPECT_NEAR(skew.radial[static_cast<std::size_t>(j)][p],
                  row_scale(p, j) * points.radial[static_cast<std::size_t>(j)][p], 1e-8);
      EXPECT_NEAR(skew.parallel[static_cast<std::size_t>(j)][p],
                  row_scale(p, j) * points.parallel[static_cast<std::size_t>(j)][p], 1e-8);
    }
}

TEST(Resonance, IsFoundAmongTheModesOfTheGrid) {
  EXPECT_EQ(resonance(1.2, {21, 21, 4}), (Mode{10, -3}));
  EXPECT_EQ(resonance(1.2, {19, 21, 4}), std::nullopt);  // m up to 9
  EXPECT_EQ(resonance(0.85, {25, 25, 5}), std::nullopt);
  EXPECT_EQ(resonance(0, {5, 5, 1}), (Mode{1, 0}));
  EXPECT_EQ(resonances(0.8, {21, 7, 4}), (std::vector<Mode>{{5, -1}, {10, -2}}));
}

}  // namespace
}  // namespace sonde::neoclassical
