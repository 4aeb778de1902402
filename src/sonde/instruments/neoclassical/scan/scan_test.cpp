// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/scan/scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/neoclassical/batch/batch_solver.h"
#include "sonde/instruments/neoclassical/operators/test_surfaces.h"
#include "tests/support/budget.h"
#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using sonde::testing::plenty;
using ::testing::HasSubstr;

const std::vector<double> nu_hat{1e-3, 1e-2, 1}, epsi_hat{0, 1e-4, 1e-3};

Plan small_plan() { return Plan::prepare(testing::analytic(), {7, 7, 8}); }

bool same_bits(const Coefficients& a, const Coefficients& b) {
  return std::memcmp(&a.D11, &b.D11, 7 * sizeof(double)) == 0 && a.path == b.path && a.n_xi == b.n_xi;
}

class Threads {
 public:
  explicit Threads(int count) : before_(thread_count()) { set_thread_count(count); }
  ~Threads() { set_thread_count(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

TEST(Scan, PointsAreThoseOfSingleSolvesWhateverTheThreadsAndBatches) {
  const Plan plan = small_plan();
  const std::vector<Case> cases = grid_of_cases(nu_hat, epsi_hat);
  ASSERT_EQ(cases.size(), 9U);
  EXPECT_EQ(cases[5], (Case{1e-2, 1e-3}));
  for (const int threads : {1, 3}) {
    const Threads set(threads);
    for (const std::optional<Index> batch :
         {std::optional<Index>(), std::optional<Index>(1), std::optional<Index>(2)}) {
      const std::vector<Point> points = scan(plan, cases, plenty(), {.batch_size = batch});
      ASSERT_EQ(points.size(), cases.size());
      for (std::size_t i = 0; i < points.size(); ++i) {
        EXPECT_EQ(points[i].status, PointStatus::ok) << points[i].message;
        EXPECT_TRUE(same_bits(points[i].coefficients, plan.solve(cases[i])));
        EXPECT_GE(points[i].seconds, 0);
      }
    }
  }
}

TEST(Scan, TellsEveryPointAndHandsItsMemoryBack) {
  const Plan plan = small_plan();
  const Budget budget(std::size_t{1} << 28U, "for the test");
  std::vector<Point> told(9);
  const std::vector<Point> points =
      scan(plan, grid_of_cases(nu_hat, epsi_hat), budget,
           {.finished = [&](Index which, const Point& point) { told[static_cast<std::size_t>(which)] = point; }});
  for (std::size_t i = 0; i < told.size(); ++i) EXPECT_TRUE(same_bits(told[i].coefficients, points[i].coefficients));
  EXPECT_EQ(budget.reserved_bytes(), 0U);
  EXPECT_GT(budget.peak_bytes(), 0U);
  EXPECT_TRUE(scan(plan, {}, budget).empty());
}

TEST(Scan, ThePointsAtATimeFollowTheBudget) {
  const Threads set(4);
  const Plan plan = small_plan();
  const std::vector<Case> cases = grid_of_cases(nu_hat, epsi_hat);
  const auto bytes_of = [](const Plan& of) {
    return of.workspace_bytes(Path::spd) + of.workspace_bytes(Path::quasidefinite) +
           of.fallback_bytes(Path::quasidefinite);
  };
  const std::size_t each = bytes_of(plan);
  const auto chosen = [&](std::size_t bytes, const ScanOptions& options = {}) {
    return choose_scan_batch(plan, cases, Budget(bytes, "for the test"), options).value;
  };
  EXPECT_EQ(chosen(100 * each), 4);
  EXPECT_EQ(chosen(3 * each), 3);
  EXPECT_EQ(chosen(each), 1);
  EXPECT_EQ(chosen(100 * each, {.batch_size = 2}), 2);
  EXPECT_EQ(choose_scan_batch(plan, std::span(cases).first(2), plenty()).value, 2);
  const Budget little(each - 1, "for the test");
  // Single precision keeps factors of every Legendre index: of the plan, or as many as a search may take.
  const Plan single = Plan::prepare(testing::analytic(), plan.grid(), {.precision = Precision::f32_refine});
  const std::size_t kept = bytes_of(single);
  EXPECT_EQ(choose_scan_batch(single, cases, Budget(2 * kept, "for the test")).value, 2);
  EXPECT_GT(kept, each);
  error_of(ErrorKind::budget,
           [&] { (void)choose_scan_batch(single, cases, Budget(kept, "for the test"), {.adapt = LegendreSearch{}}); });
  error_of(ErrorKind::budget, [&] { (void)scan(plan, cases, little); });
}

TEST(Scan, PointsThatFailAreToldAndTheOthersAreDone) {
  Surface surface = testing::quasisymmetric(1, 4, 1.2, 1.5, 0.1);
  const Plan resonant = Plan::prepare(surface, {21, 7, 3, Discretisation::collocation});
  const std::vector<Point> points = scan(resonant, grid_of_cases(std::vector{0.02}, std::vector{0.0}), plenty());
  EXPECT_EQ(points[0].status, PointStatus::resonant);
  EXPECT_THAT(points[0].message, HasSubstr("(10,-3)"));
  EXPECT_TRUE(std::isnan(points[0].coefficients.D11) && std::isnan(points[0].coefficients.D33));

  const Plan plan = small_plan();
  const std::vector<Case> cases = grid_of_cases(std::vector{1e-10, 1.0}, std::vector{0.1});  // the first is too rare
  const std::vector<Point> mixed = scan(plan, cases, plenty());
  EXPECT_EQ(mixed[0].status, PointStatus::not_converged);
  EXPECT_THAT(mixed[0].message, HasSubstr("residual"));
  EXPECT_TRUE(std::isnan(mixed[0].coefficients.D31));
  EXPECT_EQ(mixed[1].status, PointStatus::ok);
}

ScanOptions in_batches(std::size_t bytes = std::size_t{1} << 28U) {
  return {.batches = BatchDevice{Device::cpu(), Budget(bytes, "for the test")}};
}

TEST(Scan, InBatchesPointsAreThoseOfSingleSolves) {
  const Plan plan = small_plan();
  const std::vector<Case> cases = grid_of_cases(nu_hat, epsi_hat);  // along two paths
  const std::size_t for_four = BatchSolver::fixed_bytes(plan, Path::quasidefinite, Device::cpu()) +
                               4 * BatchSolver::bytes_per_case(plan, Path::quasidefinite);
  for (ScanOptions options : {in_batches(), in_batches(for_four)}) {
    std::vector<int> told(cases.size());
    options.finished = [&](Index which, const Point&) { ++told[static_cast<std::size_t>(which)]; };
    const std::vector<Point> points = scan(plan, cases, plenty(), options);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const Coefficients expected = plan.solve(cases[i]), &found = points[i].coefficients;
      EXPECT_TRUE(points[i].in_batch);
      EXPECT_EQ(found.path, plan.path(cases[i].epsi_hat).value);
      EXPECT_NEAR(found.D11, expected.D11, 1e-10 * expected.D11);
      EXPECT_NEAR(found.D31, expected.D31, 1e-10 * std::abs(expected.D31));
      EXPECT_EQ(told[i], 1);
    }
    EXPECT_EQ(options.batches->budget.reserved_bytes(), 0U);
    EXPECT_LE(options.batches->budget.peak_bytes(), options.batches->budget.limit_bytes());
  }
  EXPECT_EQ(choose_scan_batch(plan, cases, plenty(), in_batches()).value, 6);  // those with a field
  EXPECT_EQ(choose_scan_batch(plan, cases, plenty(), in_batches(for_four)).value, 4);
  error_of(ErrorKind::budget, [&] { (void)scan(plan, cases, plenty(), in_batches(for_four / 4)); });
}

TEST(Scan, WhatABatchLeavesTheThreadsSolve) {
  // E_hat / nu_hat of 33000: only refinement with more digits than those of double has an answer.
  const std::vector<Case> cases{{3e-7, 1e-2}, {1e-3, 1e-2}};
  const Plan plan = Plan::prepare(testing::analytic(), {15, 15, 20});
  const std::vector<Point> points = scan(plan, cases, plenty(), in_batches());
  EXPECT_FALSE(points[0].in_batch);
  EXPECT_TRUE(same_bits(points[0].coefficients, plan.solve(cases[0])));
  EXPECT_TRUE(points[1].in_batch);
  EXPECT_EQ(points[1].status, PointStatus::ok);
  // Without a field a rational surface needs functions left out, which no kernel does; with one it needs none.
  const Surface rational = testing::boozer({{{0, 0}, {1, 0}, {1, 1}}, {1, 0.05, 0.02}}, 4, 0.8, 0.05, 1);  // (5,-1)
  const Plan closed = Plan::prepare(rational, {11, 11, 8});
  const std::vector<Case> both{{1e-2, 0}, {1e-2, 1e-3}};
  const std::vector<Point> of_closed = scan(closed, both, plenty(), in_batches());
  EXPECT_FALSE(of_closed[0].in_batch);
  EXPECT_TRUE(same_bits(of_closed[0].coefficients, closed.solve(both[0])));
  EXPECT_TRUE(of_closed[1].in_batch);
  // And what they cannot solve is reported as without batches.
  const std::vector<Point> none = scan(small_plan(), std::vector<Case>{{1e-10, 0.1}}, plenty(), in_batches());
  EXPECT_EQ(none[0].status, PointStatus::not_converged);
  EXPECT_TRUE(std::isnan(none[0].coefficients.D11));
}

TEST(Scan, CasesOfTheCpuAloneAreNoBatches) {
  const std::vector<Case> fine{{1e-2, 0}};
  ScanOptions adapted = in_batches();
  adapted.adapt = LegendreSearch{};
  EXPECT_THAT(error_of(ErrorKind::not_supported, [&] { (void)scan(small_plan(), fine, plenty(), adapted); }),
              HasSubstr("adapt_n_xi"));
  const Plan collocation = Plan::prepare(testing::analytic(), {7, 7, 8, Discretisation::collocation});
  EXPECT_THAT(error_of(ErrorKind::not_supported, [&] { (void)scan(collocation, fine, plenty(), in_batches()); }),
              HasSubstr("collocation"));
  EXPECT_EQ(why_not_in_batches(small_plan(), fine), "");
}

TEST(Scan, RefusesBeforeAnyWork) {
  const Plan plan = small_plan();
  int calls = 0;
  const ScanOptions options{.finished = [&](Index, const Point&) { ++calls; }};
  const std::vector<Case> cases{{1e-2, 0}, {-1, 0}};
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)scan(plan, cases, plenty(), options); }),
              HasSubstr("nu_hat = -1"));
  const std::vector<Case> nan{{1e-2, std::numeric_limits<double>::quiet_NaN()}};
  error_of(ErrorKind::bad_input, [&] { (void)scan(plan, nan, plenty(), options); });
  const std::vector<Case> fine{{1e-2, 0}};
  error_of(ErrorKind::bad_input, [&] { (void)scan(plan, fine, plenty(), {.batch_size = 0}); });
  EXPECT_EQ(calls, 0);
}

TEST(Scan, EndsWhenAskedTo) {
  const Plan plan = small_plan();
  request_interrupt(2);
  error_of(ErrorKind::interrupted, [&] { (void)scan(plan, grid_of_cases(nu_hat, epsi_hat), plenty()); });
  clear_interrupt();
}

}  // namespace
}  // namespace sonde::neoclassical
