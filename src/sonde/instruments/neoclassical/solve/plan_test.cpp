// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/solve/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/instruments/neoclassical/operators/test_surfaces.h"
#include "tests/support/errors.h"

namespace {
std::atomic<long> allocations{0};

void* counted(std::size_t bytes) {
  ++allocations;
  if (void* const made = std::malloc(bytes)) return made;
  throw std::bad_alloc();
}
}  // namespace

// The whole program counts; by the standard the other forms end here.
void* operator new(std::size_t bytes) { return counted(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr GridSpec small{9, 7, 10};

TEST(Plan, AllocatesNothingFromTheSecondSolveOn) {
  for (const Precision precision : {Precision::f64, Precision::f32_refine}) {
    const Plan plan = Plan::prepare(testing::analytic(), small, {.precision = precision});
    Plan::Workspace workspace = plan.workspace();
    for (const double epsi_hat : {0.0, 1e-3}) plan.solve({1e-2, epsi_hat}, workspace);
    const long before = allocations;
    for (const double epsi_hat : {0.0, 1e-4}) EXPECT_EQ(plan.solve({0.1, epsi_hat}, workspace).precision, precision);
    EXPECT_EQ(allocations - before, 0) << name(precision);
  }
}

TEST(Plan, ChoosesThePathWithAReason) {
  const auto chosen = [](const Surface& surface, Discretisation discretisation, double epsi_hat) {
    GridSpec grid = small;
    grid.discretisation = discretisation;
    return Plan::prepare(surface, grid).path(epsi_hat);
  };
  Surface lopsided = testing::analytic();
  lopsided.b.sine = {0, 0.01, 0, 0};
  EXPECT_EQ(chosen(testing::analytic(), Discretisation::skew, 0).value, Path::spd);
  EXPECT_EQ(chosen(testing::analytic(), Discretisation::skew, 1e-3).value, Path::quasidefinite);
  EXPECT_EQ(chosen(testing::analytic(), Discretisation::collocation, 0).value, Path::dense);
  EXPECT_EQ(chosen(lopsided, Discretisation::skew, 0).value, Path::spd);
  EXPECT_EQ(chosen(lopsided, Discretisation::skew, 1e-3).value, Path::dense);
  EXPECT_THAT(chosen(testing::analytic(), Discretisation::skew, 0).because, HasSubstr("E_hat = 0"));
  EXPECT_EQ(path_named("quasidefinite"), Path::quasidefinite);
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { (void)path_named("lu"); }), HasSubstr("dense, spd"));
}

TEST(Plan, RefusesAPathThatCannot) {
  const Plan spd = Plan::prepare(testing::analytic(), small, {.path = Path::spd});
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)spd.solve({1e-2, 1e-3}); }), HasSubstr("E_hat = 0"));
  GridSpec grid = small;
  grid.discretisation = Discretisation::collocation;
  const Plan collocation = Plan::prepare(testing::analytic(), grid, {.path = Path::quasidefinite});
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)collocation.solve({1e-2, 1e-3}); }), HasSubstr("collocation"));
}

TEST(Plan, RefusesWhatMakesNoSense) {
  const Plan plan = Plan::prepare(testing::analytic(), small);
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  for (const double nu_hat : {0.0, -1.0, nan, infinity})
    EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)plan.solve({nu_hat, 0}); }), HasSubstr("nu_hat"));
  for (const double epsi_hat : {nan, infinity})
    EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)plan.solve({1e-2, epsi_hat}); }), HasSubstr("epsi_hat"));
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [] {
                         (void)Plan::prepare(testing::analytic(), {9, 7, 1});
                       }),
              HasSubstr("n_xi = 1"));
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [] {
                         (void)Plan::prepare(testing::analytic(), {8, 7, 9});
                       }),
              HasSubstr("the next one is 9"));
  error_of(ErrorKind::bad_input, [] { (void)Plan::prepare(testing::analytic(), small, {.tolerance = -1}); });
  const Plan other = Plan::prepare(testing::analytic(), small);
  Plan::Workspace workspace = other.workspace();
  error_of(ErrorKind::internal, [&] { plan.solve({1e-2, 0}, workspace); });
  error_of(ErrorKind::internal, [&] { (void)other.modes(workspace); });
}

TEST(Plan, AResidualAboveTheToleranceIsAnErrorAndNoNumber) {
  // E_hat / nu_hat too large for the factors to refine by, and more digits than there are.
  const GridSpec coarse{7, 7, 8};
  const Case rare{1e-10, 0.1};
  EXPECT_THAT(error_of(ErrorKind::not_converged, [&] { (void)Plan::prepare(testing::analytic(), coarse).solve(rare); }),
              HasSubstr("residual"));
  const auto with = [&](double tolerance) {
    return Plan::prepare(testing::analytic(), coarse, {.tolerance = tolerance});
  };
  EXPECT_THAT(error_of(ErrorKind::not_converged, [&] { (void)with(1e-30).solve({1e-6, 0}); }), HasSubstr("residual"));
  EXPECT_LE(with(1e-12).solve({1e-6, 0}).residual, 1e-12);
  // Beyond what float64 can hold.
  const Plan usual = Plan::prepare(testing::analytic(), small);
  error_of(ErrorKind::not_converged, [&] { (void)usual.solve({1e308, 1e300}); });
}

TEST(Plan, ModesAreTheSolutionThatTheCoefficientsAreMadeOf) {
  // D31 = < (2/3) B f1_1 > / (B0 a), D33 = < (2/3) B f3_1 > / B0^2, D11 = < -2 vm0 f1_0 - (2/5) vm2 f1_2 > / a^2. The
  // drift of `skew` is by the matrices; B is resolved by the grid, so that both are equal but for rounding.
  for (const Discretisation discretisation : {Discretisation::skew, Discretisation::collocation}) {
    const Plan plan = Plan::prepare(testing::w7x(), {9, 9, 10, discretisation});
    Plan::Workspace workspace = plan.workspace();
    const Coefficients made = plan.solve({1e-2, 1e-4}, workspace);
    const Modes modes = plan.modes(workspace);
    const SampledSurface& surface = plan.surface();
    const std::vector<double> vm = surface.radial_drift();
    std::vector<double> d11(vm.size()), d31(vm.size()), d33(vm.size());
    for (std::size_t p = 0; p < vm.size(); ++p) {
      d11[p] = -4.0 / 3 * vm[p] * modes.f1[0][p] - 2.0 / 15 * vm[p] * modes.f1[2][p];
      d31[p] = 2.0 / 3 * surface.b[p] * modes.f1[1][p];
      d33[p] = 2.0 / 3 * surface.b[p] * modes.f3[1][p];
    }
    const double a = surface.psi_scale, field = surface.reference_field;
    EXPECT_NEAR(surface.average(d11) / (a * a), made.D11, 1e-10 * made.D11);
    EXPECT_NEAR(surface.average(d31) / (field * a), made.D31, 1e-10 * std::abs(made.D31));
    EXPECT_NEAR(surface.average(d33) / (field * field), made.D33, 1e-10 * made.D33);
  }
}

TEST(Plan, WarnsOfARationalSurface) {
  std::vector<std::string> warnings;
  const LogSink before = set_log_sink([&](LogLevel, const std::string& message) { warnings.push_back(message); });
  Surface surface = testing::quasisymmetric(1, 4, 1.2, 1.5, 0.1);
  (void)Plan::prepare(surface, {21, 21, 4});
  (void)Plan::prepare(testing::analytic(), {7, 7, 4});
  set_log_sink(before);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0], HasSubstr("(10,-3)"));
}

TEST(Plan, RowsHoldWhereRoundingTheSolutionWouldBreakThem) {
  // E_hat / nu_hat of 33000: in plain double 0.9 of the source is left of a row.
  const Case at{.nu_hat = 3e-7, .epsi_hat = 1e-2};
  const GridSpec grid{15, 15, 20};
  const auto solve = [&](Path path) { return Plan::prepare(testing::analytic(), grid, {.path = path}).solve(at); };
  const Coefficients found = solve(Path::quasidefinite), expected = solve(Path::dense);
  for (const Coefficients& each : {found, expected}) EXPECT_LE(each.residual, 1e-8);
  EXPECT_LE(found.onsager_residual, 1e-7);
  EXPECT_NEAR(found.D11, expected.D11, 1e-6 * expected.D11);  // what this collisionality leaves of digits
  EXPECT_NEAR(found.D31, expected.D31, 1e-5 * std::abs(expected.D31));
  EXPECT_NEAR(found.D33, expected.D33, 1e-5 * expected.D33);
  // Asked for more digits than there are, there is no number.
  const Plan strict = Plan::prepare(testing::analytic(), grid, {.tolerance = 1e-25});
  EXPECT_THAT(error_of(ErrorKind::not_converged, [&] { (void)strict.solve(at); }), HasSubstr("residual"));
}

TEST(Plan, WhereEvenAndOddPartsDoNotSufficeWholeBlocksDo) {
  // E_hat / nu_hat of 1e7: the quasi-definite factors are too poor to refine by.
  const Case at{.nu_hat = 1e-7, .epsi_hat = 1};
  const GridSpec grid{15, 15, 20};
  const auto solve = [&](std::optional<Path> path) {
    return Plan::prepare(testing::analytic(), grid, {.path = path}).solve(at);
  };
  // Which of the two it finds first depends on the order in which the processor's BLAS sums.
  EXPECT_THAT(error_of(ErrorKind::not_converged, [&] { (void)solve(Path::quasidefinite); }),
              AnyOf(HasSubstr("residual"), HasSubstr("not positive definite")));
  const Coefficients found = solve(std::nullopt), expected = solve(Path::dense);
  EXPECT_EQ(found.path, Path::dense);
  EXPECT_EQ(found.D11, expected.D11);
  EXPECT_EQ(found.D31, expected.D31);
  // In the same workspace the next case goes its own way again.
  const Plan plan = Plan::prepare(testing::analytic(), grid);
  Plan::Workspace workspace = plan.workspace();
  (void)plan.solve(at, workspace);
  EXPECT_EQ(plan.solve({.nu_hat = 1e-3, .epsi_hat = 1e-3}, workspace).path, Path::quasidefinite);
}

TEST(Plan, HoldsNoMoreThanWasTold) {
  for (const GridSpec& grid : {GridSpec{5, 7, 6}, GridSpec{9, 11, 6}, GridSpec{5, 7, 6, Discretisation::collocation}}) {
    SCOPED_TRACE(grid.n_theta);
    const Plan plan = Plan::prepare(testing::w7x(), grid);
    EXPECT_LE(plan.bytes(), Plan::bytes_for(grid, true));
    EXPECT_GE(4 * plan.bytes(), Plan::bytes_for(grid, true)) << "nor much less";
  }
  EXPECT_GT(Plan::bytes_for({9999, 9999, 60}, true), std::size_t{1} << 50U);
}

}  // namespace
}  // namespace sonde::neoclassical
