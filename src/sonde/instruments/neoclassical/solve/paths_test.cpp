// SPDX-License-Identifier: Apache-2.0
// Every path of elimination against the others, and the dense one against the whole system.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sonde/instruments/neoclassical/operators/test_surfaces.h"
#include "sonde/instruments/neoclassical/solve/plan.h"

namespace sonde::neoclassical {
namespace {

Coefficients solved(const Surface& surface, const GridSpec& grid, const Case& at, std::optional<Path> path) {
  return Plan::prepare(surface, grid, {.path = path}).solve(at);
}

void expect_same_coefficients(const Coefficients& a, const Coefficients& b, double tolerance) {
  // What D31 can be at most. From nu_hat = 1 on it is far below that, and of D31 itself fewer digits agree: 3e-7 of it
  // on 9x7x12.
  const double mixed = std::sqrt(a.D11 * a.D33);
  EXPECT_NEAR(a.D11, b.D11, tolerance * a.D11 + 1e-300);
  EXPECT_NEAR(a.D33, b.D33, tolerance * a.D33);
  EXPECT_NEAR(a.D31, b.D31, tolerance * mixed + 1e-300);
  EXPECT_NEAR(a.D13, b.D13, tolerance * mixed + 1e-300);
  EXPECT_NEAR(a.D33_spitzer, b.D33_spitzer, 1e-13 * a.D33_spitzer);
}

/// Gaussian elimination with exchange of rows: a is [n][n], b is overwritten by the solution.
void solve_whole(std::vector<double> a, std::vector<double>& b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    for (std::size_t j = 0; j < n; ++j) std::swap(a[k * n + j], a[pivot * n + j]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (std::size_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k * n + j] * b[j];
    b[k] /= a[k * n + k];
  }
}

class WholeSystem : public ::testing::TestWithParam<Discretisation> {};

TEST_P(WholeSystem, HasTheSolutionOfTheElimination) {
  const GridSpec grid{5, 3, 4, GetParam()};
  const Case at{0.02, 0.003};
  const DriftKinetic equation = drift_kinetic(sample(testing::vmec_like(), 5, 3), GetParam());
  const std::size_t n = 15, levels = 5, whole = n * levels;
  std::vector<double> matrix(whole * whole), unit(n), column(n);
  const auto put = [&](std::size_t to, std::size_t from, std::size_t j) {
    for (std::size_t i = 0; i < n; ++i) matrix[(to * n + i) * whole + from * n + j] += column[i];
  };
  for (std::size_t k = 0; k < levels; ++k)
    for (std::size_t j = 0; j < n; ++j) {
      const auto index = static_cast<Index>(k);
      unit.assign(n, 0);
      unit[j] = 1;
      column.assign(n, 0);
      equation.add_diagonal(index, at, 1, unit, column);
      if (k == 0 && GetParam() == Discretisation::skew)  // the null vector, else the system is singular
        for (std::size_t i = 0; i < n; ++i) column[i] += equation.null_vector[i] * equation.null_vector[j];
      put(k, k, j);
      if (k > 0) column.assign(n, 0), equation.add_upper(index - 1, 1, unit, column), put(k - 1, k, j);
      if (k + 1 < levels) column.assign(n, 0), equation.add_lower(index + 1, 1, unit, column), put(k + 1, k, j);
    }
  const auto coefficient = [&](const DriftKinetic::Drive& drive, const DriftKinetic::Drive& weights) {
    std::vector<double> u(whole);
    for (std::size_t k = 0; k < 3; ++k)
      std::copy(drive[k].begin(), drive[k].end(), u.begin() + static_cast<long>(k * n));
    solve_whole(matrix, u);
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t p = 0; p < n; ++p) sum += weights[k][p] * u[k * n + p];
    return sum;
  };
  const double field = 1.5;
  for (const std::optional<Path> path : {std::optional<Path>(Path::dense), std::optional<Path>()}) {
    const Coefficients made = solved(testing::vmec_like(), grid, at, path);
    const double tolerance = 1e-11;  // 75 unknowns, condition about 1e3
    EXPECT_NEAR(made.D11, coefficient(equation.radial, equation.radial_weights), tolerance * std::abs(made.D11));
    EXPECT_NEAR(made.D31, coefficient(equation.radial, equation.parallel_weights) / field, tolerance * made.D33);
    EXPECT_NEAR(made.D13, coefficient(equation.parallel, equation.radial_weights) / field, tolerance * made.D33);
    EXPECT_NEAR(made.D33, coefficient(equation.parallel, equation.parallel_weights) / (field * field),
                tolerance * made.D33);
  }
}

INSTANTIATE_TEST_SUITE_P(, WholeSystem, ::testing::Values(Discretisation::skew, Discretisation::collocation),
                         [](const auto& each) { return name(each.param); });

TEST(Paths, AreEqual) {
  for (const double nu_hat : {1e-5, 1e-3, 1.0})
    for (const Surface& surface : {testing::analytic(), testing::w7x(), testing::vmec_like()}) {
      SCOPED_TRACE(surface.source + " " + std::to_string(nu_hat));
      const GridSpec grid{9, 7, 12};
      // LU does not know that the blocks are positive definite, and loses a digit at 1e-5 on a grid as coarse as this.
      const double of_dense = nu_hat < 1e-4 ? 2e-8 : 1e-9;
      const Coefficients spd = solved(surface, grid, {nu_hat, 0}, Path::spd);
      expect_same_coefficients(spd, solved(surface, grid, {nu_hat, 0}, Path::quasidefinite), 1e-9);
      expect_same_coefficients(spd, solved(surface, grid, {nu_hat, 0}, Path::dense), of_dense);
      for (const double epsi_hat : {1e-5, 1e-3, -1e-3, 0.3}) {
        const Coefficients field = solved(surface, grid, {nu_hat, epsi_hat}, Path::dense);
        expect_same_coefficients(field, solved(surface, grid, {nu_hat, epsi_hat}, Path::quasidefinite), of_dense);
      }
    }
}

TEST(Paths, WeakFieldsAreThoseOfTheirOwnElimination) {
  const GridSpec grid{17, 15, 8};
  for (const Surface& surface : {testing::analytic(), testing::w7x(), testing::vmec_like()}) {
    const Plan plan = Plan::prepare(surface, grid),
               direct = Plan::prepare(surface, grid, {.path = Path::quasidefinite}),
               dense = Plan::prepare(surface, grid, {.path = Path::dense});
    Plan::Workspace workspace = plan.workspace();
    // 1e-4 refines A^-1 on every surface here, 1e-2 does not. So few Legendre modes leave small eigenvalues there, for
    // which `spd` and `quasidefinite` differ by some 1e-9 at E_hat = 0 too.
    for (const auto& [at, tolerance] :
         {std::pair{Case{1e-4, 1e-6}, 1e-8}, {Case{1e-2, -1e-5}, 1e-9}, {Case{1e-2, 1e-3}, 1e-9}}) {
      SCOPED_TRACE(surface.source + " " + std::to_string(at.nu_hat) + " " + std::to_string(at.epsi_hat));
      const Coefficients made = plan.solve(at, workspace);
      EXPECT_EQ(made.path, Path::krylov);
      EXPECT_LE(made.residual, 1e-9);
      expect_same_coefficients(made, direct.solve(at), tolerance);
      expect_same_coefficients(made, dense.solve(at), tolerance);
    }
  }
}

TEST(Paths, WeakFieldsAreEliminatedAloneWhereNothingShallBeShared) {
  const GridSpec grid{17, 15, 8};
  const Plan plan = Plan::prepare(testing::w7x(), grid, {.krylov_reuse = false}),
             direct = Plan::prepare(testing::w7x(), grid, {.path = Path::quasidefinite});
  const Coefficients made = plan.solve({1e-2, 1e-5}), alone = direct.solve({1e-2, 1e-5});
  EXPECT_EQ(made.path, Path::quasidefinite);
  EXPECT_EQ(made.D11, alone.D11);
  EXPECT_EQ(made.D31, alone.D31);
}

TEST(Paths, WeakFieldsShareNoNumbers) {
  // Vectors that are there from another field, from a stronger one too, or of another collisionality change no bit.
  const Plan plan = Plan::prepare(testing::w7x(), {17, 15, 6});
  Plan::Workspace workspace = plan.workspace();
  Index most = 0, least = 100;
  for (const Case& at : {Case{1e-2, 1e-5}, Case{1e-2, 2e-3}, Case{1e-2, -1e-5}, Case{0.1, 1e-4}, Case{1e-2, 1e-5}})
    for (const Index n_xi : {6, 4}) {
      const Coefficients made = plan.solve(at, n_xi, workspace);
      Plan::Workspace fresh = plan.workspace();
      const Coefficients alone = plan.solve(at, n_xi, fresh);
      EXPECT_EQ(made.path, Path::krylov);
      EXPECT_EQ(made.vectors, alone.vectors);
      EXPECT_EQ(made.D11, alone.D11);
      EXPECT_EQ(made.D31, alone.D31);
      EXPECT_EQ(made.D33, alone.D33);
      most = std::max(most, made.vectors);
      least = std::min(least, made.vectors);
    }
  EXPECT_GT(most, 2 * least);  // else nothing was shared
}

TEST(Paths, WeakFieldsEndWhereTheFieldIsStrong) {
  const Plan plan = Plan::prepare(testing::w7x(), {17, 15, 6});
  EXPECT_EQ(plan.solve({1e-3, 1e-4}).path, Path::krylov);
  EXPECT_EQ(plan.solve({1e-3, 0.1}).path, Path::quasidefinite);
  EXPECT_EQ(plan.solve({1e-6, 1e-9}).path, Path::quasidefinite);
  // More Legendre modes than the plan counts memory for, and a grid so small that it is not worth it.
  Plan::Workspace workspace = plan.workspace();
  EXPECT_EQ(plan.solve({1e-3, 1e-4}, 7, workspace).path, Path::quasidefinite);
  EXPECT_EQ(Plan::prepare(testing::w7x(), {9, 11, 6}).solve({1e-3, 1e-4}).path, Path::quasidefinite);
}

TEST(Paths, WithoutStellaratorSymmetryTheWholeGridIsUsed) {
  Surface surface = testing::analytic();
  const GridSpec grid{7, 7, 10};
  surface.b.sine = {0, 0.02, -0.01, 0};
  const Plan plan = Plan::prepare(surface, grid);
  EXPECT_EQ(plan.path(0).value, Path::spd);
  EXPECT_EQ(plan.path(1e-3).value, Path::dense);
  expect_same_coefficients(plan.solve({1e-2, 0}), solved(surface, grid, {1e-2, 0}, Path::dense), 1e-9);
  // Shifted in the angles a symmetric surface is the same one; a whole step of the grid keeps the points.
  const Surface centred = testing::analytic();
  Surface shifted = centred;
  shifted.b.sine.assign(centred.b.modes.size(), 0);
  for (std::size_t i = 0; i < centred.b.modes.size(); ++i) {
    const double angle = 2 * std::numbers::pi * (centred.b.modes[i].m * 2.0 + centred.b.modes[i].n * 3.0) / 7;
    shifted.b.cosine[i] = centred.b.cosine[i] * std::cos(angle);
    shifted.b.sine[i] = centred.b.cosine[i] * std::sin(angle);
  }
  ASSERT_FALSE(shifted.symmetric());
  for (const double epsi_hat : {0.0, 1e-3})
    expect_same_coefficients(solved(centred, grid, {1e-2, epsi_hat}, {}), solved(shifted, grid, {1e-2, epsi_hat}, {}),
                             1e-9);
}

TEST(Paths, ShapesAtTheEdge) {
  // One point, one line of points either way, the fewest Legendre modes.
  Surface axisymmetric = testing::boozer({{{0, 0}, {1, 0}}, {1, 0.2}}, 1, 0.5, 0.1, 1);
  Surface toroidal = testing::boozer({{{0, 0}, {0, 1}}, {1, 0.2}}, 4, 0.5, 0.1, 1);
  for (const auto& [surface, n_theta, n_zeta] :
       {std::tuple{testing::uniform(), 1, 1}, {axisymmetric, 9, 1}, {toroidal, 1, 9}, {testing::analytic(), 3, 3}})
    for (const Index n_xi : {2, 3, 4, 9})
      for (const double epsi_hat : {0.0, 1e-3}) {
        SCOPED_TRACE(std::to_string(n_theta) + " x " + std::to_string(n_zeta) + " x " + std::to_string(n_xi));
        const GridSpec grid{n_theta, n_zeta, n_xi};
        const Coefficients made = solved(surface, grid, {0.01, epsi_hat}, {});
        expect_same_coefficients(made, solved(surface, grid, {0.01, epsi_hat}, Path::dense), 1e-9);
        EXPECT_GE(made.D11, 0);
        EXPECT_GT(made.D33, 0);
      }
}

}  // namespace
}  // namespace sonde::neoclassical
