// SPDX-License-Identifier: Apache-2.0
// Elimination in float32 with refinement against float64, and what happens where it does not suffice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sonde/instruments/neoclassical/operators/test_surfaces.h"
#include "sonde/instruments/neoclassical/solve/plan.h"
#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

Plan prepared(const Surface& surface, const GridSpec& grid, Precision precision, std::optional<Path> path = {}) {
  return Plan::prepare(surface, grid, {.path = path, .precision = precision});
}

void expect_equal(const Coefficients& a, const Coefficients& b, double tolerance) {
  const double mixed = std::sqrt(std::abs(a.D11 * a.D33));  // what D31 can be at most
  EXPECT_NEAR(a.D11, b.D11, tolerance * std::abs(a.D11));
  EXPECT_NEAR(a.D33, b.D33, tolerance * std::abs(a.D33));
  EXPECT_NEAR(a.D31, b.D31, tolerance * mixed);
  EXPECT_NEAR(a.D13, b.D13, tolerance * mixed);
  EXPECT_EQ(a.D33_spitzer, b.D33_spitzer);
}

/// To 1e-8, what single precision promises for nu_hat >= 1e-5, against LU of full blocks in float64.
void expect_the_dense_answer(const Surface& surface, const GridSpec& grid, double nu_hat, double epsi_hat,
                             bool in_float32) {
  SCOPED_TRACE(surface.source + " nu " + std::to_string(nu_hat) + " E " + std::to_string(epsi_hat) + " " +
               name(grid.discretisation));
  const Coefficients made = prepared(surface, grid, Precision::f32_refine).solve({nu_hat, epsi_hat});
  if (in_float32) {
    EXPECT_EQ(made.precision, Precision::f32_refine);
    EXPECT_GT(made.iterations, 0);
    EXPECT_LE(made.iterations, 8);
  }
  EXPECT_LE(made.residual, 1e-8);
  expect_equal(prepared(surface, grid, Precision::f64, Path::dense).solve({nu_hat, epsi_hat}), made, 1e-8);
}

class Float32Of : public ::testing::TestWithParam<Discretisation> {};

TEST_P(Float32Of, AgreesWithTheDenseReference) {
  const GridSpec grid{9, 7, 16, GetParam()};
  for (const Surface& surface : {testing::analytic(), testing::w7x(), testing::vmec_like()})
    for (const double nu_hat : {1e-3, 1e-2, 1.0})
      for (const double epsi_hat : {0.0, 1e-5, -1e-3, 1e-2})
        expect_the_dense_answer(surface, grid, nu_hat, epsi_hat, true);
}

TEST_P(Float32Of, AgreesWithTheDenseReferenceWhereCollisionsAreRare) {
  // Where float32 gives up is its own affair here; which numbers come out is not.
  const GridSpec grid{11, 9, 40, GetParam()};
  for (const double nu_hat : {1e-5, 3e-5, 1e-4})
    for (const double epsi_hat : {0.0, 1e-3}) expect_the_dense_answer(testing::w7x(), grid, nu_hat, epsi_hat, false);
}

INSTANTIATE_TEST_SUITE_P(, Float32Of, ::testing::Values(Discretisation::skew, Discretisation::collocation),
                         [](const auto& each) { return name(each.param); });

TEST(Float32, GoesEveryPathThatThePlanChooses) {
  const GridSpec grid{9, 9, 12};
  Surface lopsided = testing::analytic();
  lopsided.b.sine = {0, 0.01, 0, 0};
  for (const auto& [surface, epsi_hat, path] :
       {std::tuple{testing::analytic(), 0.0, Path::spd}, std::tuple{testing::analytic(), 1e-3, Path::quasidefinite},
        std::tuple{lopsided, 0.0, Path::spd}, std::tuple{lopsided, 1e-3, Path::dense}}) {
    const Coefficients made = prepared(surface, grid, Precision::f32_refine).solve({1e-2, epsi_hat});
    EXPECT_EQ(made.path, path);
    EXPECT_EQ(made.precision, Precision::f32_refine);
    expect_equal(prepared(surface, grid, Precision::f64).solve({1e-2, epsi_hat}), made, 1e-9);
  }
}

TEST(Float32, ModesAreThoseOfFloat64) {
  for (const double epsi_hat : {0.0, 1e-3}) {
    const Plan full = prepared(testing::w7x(), {9, 9, 12}, Precision::f64),
               single = prepared(testing::w7x(), {9, 9, 12}, Precision::f32_refine);
    Plan::Workspace of_full = full.workspace(), of_single = single.workspace();
    full.solve({1e-2, epsi_hat}, of_full);
    single.solve({1e-2, epsi_hat}, of_single);
    const Modes expected = full.modes(of_full), made = single.modes(of_single);
    for (const auto& [a, b] : {std::pair{&expected.f1, &made.f1}, std::pair{&expected.f3, &made.f3}}) {
      double largest = 0;
      for (const auto& k : *a)
        for (const double value : k) largest = std::max(largest, std::abs(value));
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t p = 0; p < (*a)[k].size(); ++p)
          ASSERT_NEAR((*a)[k][p], (*b)[k][p], 1e-9 * largest) << k << " " << p;
    }
  }
}

TEST(Float32, FallsBackToTheVeryNumbersOfFloat64AndSaysSo) {
  // Collisions too rare for float32, with and without a field.
  for (const double epsi_hat : {0.0, 1e-3}) {
    const GridSpec grid{9, 9, 24};
    const Coefficients made = prepared(testing::w7x(), grid, Precision::f32_refine).solve({1e-6, epsi_hat});
    const Coefficients full = prepared(testing::w7x(), grid, Precision::f64).solve({1e-6, epsi_hat});
    EXPECT_EQ(made.precision, Precision::f64);
    EXPECT_EQ(made.D11, full.D11);
    EXPECT_EQ(made.D31, full.D31);
    EXPECT_EQ(made.D33, full.D33);
    EXPECT_EQ(made.residual, full.residual);
    EXPECT_EQ(full.iterations, 0);
  }
}

TEST(Float32, GivesWayInAWorkspaceThatIsUsedAgain) {
  // Float32, float64, float32 with more Legendre modes: what one leaves must not disturb the next.
  const Plan plan = prepared(testing::w7x(), {9, 9, 16}, Precision::f32_refine);
  Plan::Workspace workspace = plan.workspace();
  for (const Case& at : {Case{1e-2, 1e-3}, Case{1e-6, 1e-3}, Case{1e-2, 1e-3}, Case{1e-2, 0}, Case{1e-6, 0}})
    for (const Index n_xi : {16, 20, 8}) {
      const Coefficients made = plan.solve(at, n_xi, workspace);
      Plan::Workspace fresh = plan.workspace();
      const Coefficients alone = plan.solve(at, n_xi, fresh);
      EXPECT_EQ(made.D11, alone.D11);
      EXPECT_EQ(made.D31, alone.D31);
      EXPECT_EQ(made.precision, at.nu_hat < 1e-5 ? Precision::f64 : Precision::f32_refine);
    }
}

TEST(Float32, ARationalSurfaceIsRefusedByCollocationAsInFloat64) {
  const Plan plan = prepared(testing::quasisymmetric(1, 4, 1.2, 1.5, 0.1), {21, 7, 3, Discretisation::collocation},
                             Precision::f32_refine);
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::not_converged,
                                       [&] {
                                         (void)plan.solve({0.02, 0});
                                       }),
              ::testing::HasSubstr("resonant (10,-3)"));
}

TEST(Float32, TheMemoryOfEveryLegendreIndexIsCounted) {
  const GridSpec grid{9, 9, 12};
  const Plan single = prepared(testing::w7x(), grid, Precision::f32_refine),
             full = prepared(testing::w7x(), grid, Precision::f64);
  for (const Path path : {Path::dense, Path::spd, Path::quasidefinite}) {
    EXPECT_EQ(full.workspace_bytes(path, 12), full.workspace_bytes(path, 400));
    // Two or more matrices of half the points, or one of all, in float32 for each index more.
    const std::size_t half = 41 * 40 * sizeof(float);
    const std::size_t each = path == Path::dense ? 81 * 81 * sizeof(float) : path == Path::spd ? half : 2 * half;
    EXPECT_GE(single.workspace_bytes(path, 22) - single.workspace_bytes(path, 12), 10 * each);
    EXPECT_GT(single.workspace_bytes(path), full.workspace_bytes(path));
  }
}

}  // namespace
}  // namespace sonde::neoclassical
