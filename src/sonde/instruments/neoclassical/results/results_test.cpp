// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/read/analytic.h"
#include "sonde/instruments/neoclassical/results/result_file.h"
#include "sonde/instruments/neoclassical/results/scan_result.h"
#include "sonde/instruments/neoclassical/results/test_numbers.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Budget plenty(std::size_t{1} << 28U, "for the test");

Contents demo_run(const Plan& plan, Coefficients* made) {
  Plan::Workspace workspace = plan.workspace();
  *made = plan.solve({1e-2, 1e-3}, workspace);
  return run_contents(make_surface(analytic_demo()), plan, {1e-2, 1e-3}, 1e-3, *made, plan.modes(workspace),
                      {"[grid]\n", "analytic-demo", "{}"});
}

TEST(RunResult, HasTheSameQuantitiesInEveryFormat) {
  const TemporaryFolder folder;
  const Plan plan = Plan::prepare(make_surface(analytic_demo()), {5, 7, 6});
  Coefficients made;
  const Contents contents = demo_run(plan, &made);
  for (const char* name : {"run.nc", "run.h5", "run.npz"}) {
    SCOPED_TRACE(name);
    write_contents(folder.file(name), contents);
    const ResultFile file(folder.file(name));
    EXPECT_EQ(file.number("D11"), made.D11);
    EXPECT_EQ(file.number("D31"), made.D31);
    EXPECT_EQ(file.number("epsi_hat"), 1e-3);
    EXPECT_EQ(file.number("n_xi"), 6);
    EXPECT_EQ(file.number("nfp"), 5);
    EXPECT_EQ(file.numbers("b"), plan.surface().b);
    EXPECT_THAT(file.numbers("modes_b_cos"), ElementsAre(1, 0.06, 0.025, 0.01));
    EXPECT_EQ(file.numbers("f1_modes").size(), 3U * 35);
    EXPECT_EQ(file.text("discretisation"), "skew");
    EXPECT_EQ(file.text("precision"), "f64");
    EXPECT_EQ(file.number("iterations"), 0);
    EXPECT_EQ(file.text("input_toml"), "[grid]\n");
    EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)file.number("D77"); }), HasSubstr("D77"));
  }
}

// The Legendre coefficients that are stored give D11 and D31 by their definition, whatever basis the solver works in.
TEST(RunResult, StoredModesGiveTheCoefficientsByDefinition) {
  const Plan plan = Plan::prepare(make_surface(analytic_demo()), {9, 11, 10});
  Plan::Workspace workspace = plan.workspace();
  const Coefficients made = plan.solve({1e-2, 0}, workspace);
  const Modes modes = plan.modes(workspace);
  const SampledSurface& surface = plan.surface();
  std::vector<double> flow;
  for (std::size_t i = 0; i < surface.b.size(); ++i) flow.push_back(2.0 / 3 * surface.b[i] * modes.f1[1][i]);
  // <.> of the same sum: rounding of 99 terms.
  EXPECT_NEAR(surface.average(flow) / surface.reference_field / surface.psi_scale / made.D31, 1, 1e-12);
}

TEST(ScanResult, IsStoredOnItsAxes) {
  const TemporaryFolder folder;
  const Surface surface = make_surface(analytic_demo());
  const Plan plan = Plan::prepare(surface, {5, 5, 4});
  ScanResult result;
  result.rho = {std::nan("")};
  result.nu_v = {1e-2, 1e-1, 1};
  result.field = {FieldKind::er_hat, {0, 1e-3}};
  result.epsi_hat = {{0, 1e-3}};
  result.iota = {surface.iota};
  result.B0 = result.G = result.signgs = {1};
  result.I = {0.05};
  result.psi_scale = {1};
  result.points = scan(plan, grid_of_cases(result.nu_v, result.epsi_hat[0]), plenty);
  EXPECT_NO_THROW(result.require_answers());
  write_contents(folder.file("scan.nc"), scan_contents(result, plan.grid(), {"", "analytic-demo", "{}"}));
  const ResultFile file(folder.file("scan.nc"));
  ASSERT_EQ(file.numbers("D11").size(), 6U);
  EXPECT_EQ(file.numbers("D11")[3], plan.solve({1e-1, 1e-3}).D11);
  EXPECT_EQ(file.text("field_name"), "er_hat");
  EXPECT_THAT(file.numbers("path_code"), ElementsAre(1, 2, 1, 2, 1, 2));
  EXPECT_THAT(file.numbers("status"), ::testing::Each(0));
  const auto shares = result.shares(plan.grid());
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_EQ(shares[0].path, Path::spd);
  EXPECT_EQ(shares[0].points, 3);
  EXPECT_NEAR(shares[0].flops, 3 * 2.33 * 12.5 * 12.5 * 12.5 * 4, 1e-6);
  EXPECT_EQ(shares[1].path, Path::quasidefinite);
  EXPECT_THAT(shares[1].because, HasSubstr("E_hat != 0"));

  result.points[4].status = PointStatus::not_converged;
  result.points[4].message = "for the test";
  EXPECT_THAT(error_of(ErrorKind::not_converged, [&] { result.require_answers(); }),
              HasSubstr("1 of 6 points have no answer, the first at nu_v = 1, er_hat = 0 of radius 0: for the test"));
}

TEST(ScanResult, TellsWhatEachPointWasSolvedIn) {
  const TemporaryFolder folder;
  const Surface surface = make_surface(analytic_demo());
  const Plan plan = Plan::prepare(surface, {7, 7, 16}, {.precision = Precision::f32_refine});
  ScanResult result;
  result.rho = {std::nan("")};
  result.nu_v = {1e-6, 1e-2};  // the first too rare for single precision
  result.field = {FieldKind::er_hat, {0}};
  result.epsi_hat = {{0}};
  result.iota = {surface.iota};
  result.B0 = result.psi_scale = result.G = result.I = result.signgs = {1};
  result.precision = Precision::f32_refine;
  result.points = scan(plan, grid_of_cases(result.nu_v, result.epsi_hat[0]), plenty);
  EXPECT_EQ(result.fell_back(), 1);
  write_contents(folder.file("scan.nc"), scan_contents(result, plan.grid(), {"", "analytic-demo", "{}"}));
  const ResultFile file(folder.file("scan.nc"));
  EXPECT_EQ(file.text("precision"), "f32-refine");
  EXPECT_THAT(file.numbers("precision_code"), ElementsAre(0, 1));
  EXPECT_GT(file.numbers("iterations")[1], 0);
}

TEST(ResultFile, NumbersByNameComeBackFromEveryFormat) {
  const TemporaryFolder folder;
  const std::map<std::string, std::vector<double>> numbers = {{"B0", {2.5}}, {"D11", {1, 2, 3}}, {"D31", {4, 5, 6}}};
  for (const char* name : {"points.nc", "points.h5", "points.npz"}) {
    SCOPED_TRACE(name);
    write_numbers(folder.file(name), numbers);
    const ResultFile file(folder.file(name));
    for (const auto& [key, values] : numbers) EXPECT_EQ(file.numbers().at(key), values) << key;
  }
}

TEST(ResultFile, OtherFilesAreNamed) {
  const TemporaryFolder folder;
  sonde::testing::write_bytes(folder.file("run.h5"), {1, 2, 3});
  error_of(ErrorKind::bad_file, [&] { (void)ResultFile(folder.file("run.h5")); });
}

}  // namespace
}  // namespace sonde::neoclassical
