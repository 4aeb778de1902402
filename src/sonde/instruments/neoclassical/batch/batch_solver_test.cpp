// SPDX-License-Identifier: Apache-2.0
// Batches of cases against the same solved one by one, on every device.
#include "sonde/instruments/neoclassical/batch/batch_solver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sonde/engine/device/pool.h"
#include "sonde/instruments/neoclassical/operators/test_surfaces.h"
#include "tests/support/devices.h"
#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

using ::testing::HasSubstr;

class BatchSolverOnEachDevice : public sonde::testing::EachDevice {
 protected:
  static std::vector<BatchSolver::Answer> solved(const Plan& plan, Path path, const std::vector<Case>& cases) {
    BatchSolver solver(plan, path, static_cast<Index>(cases.size()), device());
    return solver.solve(cases);
  }
};

/// The plan that takes no other path than the one that solves fields of this kind in batches.
Plan prepared(const Surface& surface, const GridSpec& grid, double epsi_hat) {
  return Plan::prepare(surface, grid, {.path = Plan::prepare(surface, grid).path(epsi_hat).value});
}

void expect_equal(const Coefficients& a, const Coefficients& b, double tolerance) {
  const double mixed = std::sqrt(b.D11 * b.D33);  // what D31 can be at most
  EXPECT_NEAR(a.D11, b.D11, tolerance * b.D11 + 1e-300);
  EXPECT_NEAR(a.D33, b.D33, tolerance * b.D33);
  EXPECT_NEAR(a.D31, b.D31, tolerance * mixed + 1e-300);
  EXPECT_NEAR(a.D13, b.D13, tolerance * mixed + 1e-300);
  EXPECT_EQ(a.D33_spitzer, b.D33_spitzer);
  EXPECT_EQ(a.path, b.path);
  EXPECT_EQ(a.n_xi, b.n_xi);
  EXPECT_LE(a.residual, 1e-8);
  EXPECT_LE(a.onsager_residual, 1e-8);
}

TEST_P(BatchSolverOnEachDevice, AnswersAreThoseOfSingleSolves) {
  for (const Surface& surface : {testing::analytic(), testing::w7x(), testing::vmec_like(), testing::uniform()})
    for (const double epsi_hat : {0.0, 1e-3}) {
      const Plan plan = prepared(surface, {9, 7, 12}, epsi_hat);
      const Path path = plan.path(epsi_hat).value;
      // Rare collisions are ill-conditioned: at 1e-5 on grids like this two paths of the CPU differ by as much.
      const std::vector<Case> cases{{1e-5, epsi_hat}, {1e-3, -epsi_hat}, {1e-2, 300 * epsi_hat}, {1, 0.01 * epsi_hat}};
      const std::vector<BatchSolver::Answer> answers = solved(plan, path, cases);
      ASSERT_EQ(answers.size(), cases.size());
      for (std::size_t i = 0; i < cases.size(); ++i) {
        SCOPED_TRACE(surface.source + " " + std::to_string(cases[i].nu_hat) + " " + std::to_string(cases[i].epsi_hat));
        ASSERT_TRUE(std::holds_alternative<Coefficients>(answers[i])) << std::get<Error>(answers[i]).what();
        expect_equal(std::get<Coefficients>(answers[i]), plan.solve(cases[i]), cases[i].nu_hat < 1e-4 ? 2e-8 : 1e-10);
      }
    }
}

TEST_P(BatchSolverOnEachDevice, WithoutStellaratorSymmetryTheWholeGridIsUsed) {
  Surface surface = testing::analytic();
  surface.b.sine = {0, 0.02, -0.01, 0};
  const Plan plan = Plan::prepare(surface, {7, 7, 10});
  const std::vector<Case> cases{{1e-3, 0}, {1e-2, 0}, {1, 0}};
  const std::vector<BatchSolver::Answer> answers = solved(plan, Path::spd, cases);
  for (std::size_t i = 0; i < cases.size(); ++i)
    expect_equal(std::get<Coefficients>(answers[i]), plan.solve(cases[i]), 1e-10);
}

TEST_P(BatchSolverOnEachDevice, ShapesAtTheEdge) {
  // One point, one line of points either way, the fewest Legendre modes; blocks on both sides of those that Cholesky
  // factorises at once.
  const Surface axisymmetric = testing::boozer({{{0, 0}, {1, 0}}, {1, 0.2}}, 1, 0.5, 0.1, 1);
  const Surface toroidal = testing::boozer({{{0, 0}, {0, 1}}, {1, 0.2}}, 4, 0.5, 0.1, 1);
  for (const auto& [surface, n_theta, n_zeta, n_xi] : {std::tuple{testing::uniform(), 1, 1, 2},
                                                       {axisymmetric, 9, 1, 3},
                                                       {toroidal, 1, 9, 2},
                                                       {testing::analytic(), 3, 3, 4},
                                                       {testing::analytic(), 9, 9, 5}})
    for (const double epsi_hat : {0.0, 1e-3}) {
      SCOPED_TRACE(std::to_string(n_theta) + " x " + std::to_string(n_zeta) + " x " + std::to_string(n_xi));
      const Plan plan = prepared(surface, {n_theta, n_zeta, n_xi}, epsi_hat);
      const Case at{0.01, epsi_hat};
      const BatchSolver::Answer answer = solved(plan, plan.path(epsi_hat).value, {at}).front();
      ASSERT_TRUE(std::holds_alternative<Coefficients>(answer)) << std::get<Error>(answer).what();
      expect_equal(std::get<Coefficients>(answer), plan.solve(at), 1e-10);
    }
}

TEST_P(BatchSolverOnEachDevice, ACaseWithoutAnAnswerLeavesTheOthersAlone) {
  // Collisions too rare for float64 on so coarse a grid.
  const Plan plan = Plan::prepare(testing::analytic(), {7, 7, 8});
  const std::vector<BatchSolver::Answer> answers = solved(plan, Path::spd, {{1e-2, 0}, {1e-8, 0}, {1, 0}});
  EXPECT_TRUE(std::holds_alternative<Coefficients>(answers[0]));
  ASSERT_TRUE(std::holds_alternative<Error>(answers[1]));
  EXPECT_EQ(std::get<Error>(answers[1]).kind(), ErrorKind::not_converged);
  EXPECT_TRUE(std::holds_alternative<Coefficients>(answers[2]));
  // Beyond what float64 can hold: no block is positive definite.
  const std::vector<BatchSolver::Answer> none = solved(plan, Path::quasidefinite, {{1e308, 1e300}, {1e-2, 1e-3}});
  EXPECT_THAT(std::get<Error>(none[0]).message(), HasSubstr("not positive definite"));
  EXPECT_TRUE(std::holds_alternative<Coefficients>(none[1]));
}

TEST_P(BatchSolverOnEachDevice, SolvesFewerThanItHasRoomForAndAgain) {
  const Plan plan = prepared(testing::analytic(), {7, 5, 6}, 1e-3);
  BatchSolver solver(plan, Path::quasidefinite, 3, device());
  const std::vector<Case> three{{1e-3, 1e-3}, {1e-2, 1e-3}, {1, 1e-3}}, one{{1e-2, 1e-3}};
  (void)solver.solve(three);
  EXPECT_TRUE(solver.solve({}).empty());
  expect_equal(std::get<Coefficients>(solver.solve(one).front()), plan.solve(one.front()), 1e-10);
}

INSTANTIATE_EACH_DEVICE(BatchSolverOnEachDevice);

TEST(BatchSolver, SaysWhyACaseIsOfTheCpuAlone) {
  const auto why = [](const Surface& surface, const GridSpec& grid, const SolverOptions& options, double epsi_hat) {
    return why_not_batched(Plan::prepare(surface, grid, options), epsi_hat);
  };
  const GridSpec grid{7, 5, 6}, collocation{7, 5, 6, Discretisation::collocation};
  Surface lopsided = testing::analytic();
  lopsided.b.sine = {0, 0.01, 0, 0};
  EXPECT_EQ(why(testing::analytic(), grid, {}, 0), "");
  EXPECT_EQ(why(testing::analytic(), grid, {}, 1e-3), "");
  EXPECT_EQ(why(lopsided, grid, {}, 0), "");
  EXPECT_THAT(why(lopsided, grid, {}, 1e-3), HasSubstr("without stellarator symmetry"));
  EXPECT_THAT(why(testing::analytic(), collocation, {}, 0), HasSubstr("collocation"));
  EXPECT_THAT(why(testing::analytic(), grid, {.path = Path::dense}, 0), HasSubstr("path = \"dense\""));
  EXPECT_THAT(why(testing::analytic(), grid, {.precision = Precision::f32_refine}, 0), HasSubstr("f32-refine"));
}

TEST(BatchSolver, BytesAreThoseTaken) {
  const Plan plan = Plan::prepare(testing::analytic(), {9, 7, 6});
  for (const Path path : {Path::spd, Path::quasidefinite}) {
    Pool& pool = Pool::of(Device::cpu());
    const std::size_t before = pool.in_use_bytes();
    const BatchSolver few(plan, path, 2, Device::cpu());
    const std::size_t of_few = pool.in_use_bytes() - before;
    const BatchSolver many(plan, path, 5, Device::cpu());
    const std::size_t of_many = pool.in_use_bytes() - before - of_few;
    EXPECT_EQ(of_many - of_few, 3 * BatchSolver::bytes_per_case(plan, path));
    EXPECT_LE(of_few,
              2 * BatchSolver::bytes_per_case(plan, path) + BatchSolver::fixed_bytes(plan, path, Device::cpu()));
  }
}

}  // namespace
}  // namespace sonde::neoclassical
