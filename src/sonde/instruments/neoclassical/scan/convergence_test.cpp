// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/scan/convergence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/operators/test_surfaces.h"
#include "sonde/instruments/neoclassical/scan/scan.h"
#include "tests/support/errors.h"
#include "tests/support/interrupts.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;

TEST(Convergence, DifferencesAreRelativeToWhatACoefficientCanBe) {
  Coefficients a{.D11 = 4, .D31 = 1, .D13 = -1, .D33 = 25}, b = a;
  EXPECT_EQ(relative_difference(a, b), 0);
  b.D11 = 4.4;
  EXPECT_NEAR(relative_difference(a, b), 0.1, 1e-15);
  b = a, b.D31 = 1.2;
  EXPECT_NEAR(relative_difference(a, b), 0.2, 1e-15);
  a.D31 = a.D13 = 0, b = a, b.D13 = 1e-3;  // against a hundredth of sqrt(4 x 25)
  EXPECT_NEAR(relative_difference(a, b), 1e-2, 1e-15);
  const Coefficients nothing{};
  EXPECT_EQ(relative_difference(nothing, nothing), 0);
}

TEST(Convergence, TheEstimateBoundsTheErrorOfTheModesFound) {
  const Plan plan = Plan::prepare(testing::w7x(), {9, 11, 8});
  Plan::Workspace workspace = plan.workspace();
  for (const double nu_hat : {1e-1, 1e-3, 1e-4})
    for (const double tolerance : {1e-2, 1e-5}) {
      SCOPED_TRACE(nu_hat);
      const Adapted made = solve_adapted(plan, {nu_hat, 0}, {.tolerance = tolerance}, workspace);
      ASSERT_TRUE(made.converged);
      EXPECT_LE(made.error, tolerance);
      const Coefficients truth = plan.solve({nu_hat, 0}, 2 * made.coefficients.n_xi, workspace);
      EXPECT_LE(relative_difference(truth, made.coefficients), made.error + 1e-9);
    }
}

TEST(Convergence, RareCollisionsNeedMoreModes) {
  EXPECT_LT(first_legendre(1), first_legendre(1e-3));
  EXPECT_LT(first_legendre(1e-3), first_legendre(1e-5));
  EXPECT_EQ(first_legendre(1e-30), 120);
  EXPECT_GE(first_legendre(1e30), 2);
}

TEST(Convergence, WhatDoesNotConvergeSaysSo) {
  const Plan plan = Plan::prepare(testing::w7x(), {9, 11, 8});
  Plan::Workspace workspace = plan.workspace();
  const LegendreSearch search{.tolerance = 1e-8, .first = 4, .most = 10};
  const Adapted made = solve_adapted(plan, {1e-4, 0}, search, workspace);
  EXPECT_FALSE(made.converged);
  EXPECT_EQ(made.coefficients.n_xi, 10);
  EXPECT_GT(made.error, 1e-8);
  const Budget budget(std::size_t{1} << 28U, "for the test");
  const std::vector<Case> cases{{1e-4, 0}};
  const std::vector<Point> points = scan(plan, cases, budget, {.adapt = search});
  EXPECT_EQ(points[0].status, PointStatus::not_converged);
  EXPECT_TRUE(std::isnan(points[0].coefficients.D11));
  EXPECT_EQ(points[0].coefficients.n_xi, 10);
  for (const LegendreSearch& wrong : {LegendreSearch{.tolerance = 0}, {.first = 1}, {.first = 30, .most = 30}})
    error_of(ErrorKind::bad_input, [&] { (void)solve_adapted(plan, {1e-4, 0}, wrong, workspace); });
}

TEST(Convergence, AStudyEndsWithinASolveWhenAskedToStop) {
  const sonde::testing::InterruptAt third(3);  // a grid of 6 Legendre indices looks more often than that
  error_of(ErrorKind::interrupted, [] { (void)convergence_study(testing::analytic(), {5, 5, 6}, {1e-1, 0}); });
  EXPECT_EQ(third.looks(), 3);
}

TEST(Convergence, AStudyFindsAGridThatItsRefinementsConfirm) {
  const Case at{1e-1, 1e-3};
  const Study study = convergence_study(testing::analytic(), {5, 5, 6}, at, {.tolerance = 1e-2});
  ASSERT_TRUE(study.converged);
  EXPECT_LE(study.error, 1e-2);
  for (const StudyRow& row : study.rows) {
    EXPECT_EQ(row.grid.n_theta % 2, 1);
    EXPECT_EQ(row.grid.n_zeta % 2, 1);
  }
  const Coefficients truth = Plan::prepare(testing::analytic(), {21, 21, 24}).solve(at);
  EXPECT_LE(relative_difference(truth, Plan::prepare(testing::analytic(), study.grid).solve(at)), 1e-2);
  const Study cut = convergence_study(testing::analytic(), {5, 5, 3}, {1e-3, 0}, {.tolerance = 1e-6, .most_steps = 1});
  EXPECT_FALSE(cut.converged);
  EXPECT_EQ(cut.rows.size(), 3U);
  error_of(ErrorKind::bad_input, [&] { (void)convergence_study(testing::analytic(), {5, 5, 6}, at, {.refine = {}}); });
}

}  // namespace
}  // namespace sonde::neoclassical
