// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sonde/engine/report/json.h"
#include "sonde/instruments/neoclassical/read/analytic.h"
#include "sonde/instruments/neoclassical/read/equilibrium.h"
#include "sonde/instruments/neoclassical/results/coefficient_chart.h"
#include "sonde/instruments/neoclassical/results/field_chart.h"
#include "sonde/instruments/neoclassical/results/study_result.h"
#include "sonde/instruments/neoclassical/results/test_numbers.h"
#include "sonde/instruments/neoclassical/results/transport_result.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const double nan_value = std::nan("");

/// Three collisionalities with two fields, all of them sound.
CoefficientTables tables() {
  return {.field_name = "er_hat",
          .rho = {0.5},
          .nu_v = {1e-3, 1e-2, 1e-1},
          .fields = {0, 1e-3},
          .D11 = {1, 2, 3, 4, 5, 6},
          .D31 = {1, 2, 3, 4, 5, 6},
          .D13 = {-1, -2, -3, -4, -5, -6},
          .D33 = {1, 2, 3, 4, 5, 6},
          .onsager_residual = {0, 0, 0, 0, 0, 0},
          .D11_unit = "m^-3 T^-2",
          .D31_unit = "m^-1 T^-1"};
}

const sonde::Series* named(const Facet& facet, const std::string& text) {
  for (const sonde::Series& series : facet.series)
    if (series.name.find(text) != std::string::npos) return &series;
  return nullptr;
}

TEST(CoefficientChart, HasACurvePerFieldInItsUnits) {
  const Chart chart = coefficient_chart(curves_at(tables(), 0));
  ASSERT_THAT(chart.facets, SizeIs(4));
  EXPECT_TRUE(chart.one_legend);
  ASSERT_THAT(chart.facets[0].series, SizeIs(2)) << "nothing but the curves where all is well";
  EXPECT_THAT(chart.facets[0].series[0].y, ElementsAre(1, 3, 5));
  EXPECT_EQ(chart.facets[0].series[1].name, "er_hat = 0.001");
  EXPECT_EQ(chart.facets[0].x.unit, "1/m");
  EXPECT_EQ(chart.facets[0].y.unit, "m^-3 T^-2");
  EXPECT_EQ(chart.facets[2].series[0].y[1], 1.5 * 1e-2 * 3);
  EXPECT_NE(chart.facets[0].series[0].colour, chart.facets[0].series[1].colour);
}

TEST(CoefficientChart, IsDimensionlessWhereTheLengthsAreKnown) {
  CoefficientTables of = tables();
  of.a_b = 0.4;
  of.iota = {-0.5};
  of.B0 = {2};
  of.R0 = {1.6};
  const Chart chart = coefficient_chart(curves_at(of, 0));
  // Per metre of r = a_b rho: dr/ds = a_b / (2 rho) = 0.4; then the formulas of the benchmark.
  EXPECT_NEAR(chart.facets[0].series[0].y[1], 3 * 0.16 * 8 / std::numbers::pi * 1.6 * 4 * 0.5, 1e-12);
  EXPECT_NEAR(chart.facets[1].series[0].y[1], 3 * 0.4 * 1.5 * 0.125 * 0.5 * 2 / (1.46 * std::sqrt(0.125)), 1e-12);
  EXPECT_NEAR(chart.facets[0].series[0].x[1], 1.6 * 1e-2 / 0.5, 1e-15);
  EXPECT_EQ(chart.facets[0].y.title, "D11*");
  EXPECT_THAT(chart.title, HasSubstr("R0 = 1.6 m"));
}

TEST(CoefficientChart, LeavesNoPointOut) {
  CoefficientTables of = tables();
  of.D11[3] = -4;                                             // unresolved
  of.D31[1] = -2;                                             // the other sign, nothing wrong with it
  of.onsager_residual[5] = 0.02;                              // not resolved
  of.D11[4] = of.D31[4] = of.D13[4] = of.D33[4] = nan_value;  // no answer
  of.onsager_residual[4] = nan_value;
  const Chart chart = coefficient_chart(curves_at(of, 0));
  const Facet &d11 = chart.facets[0], &d31 = chart.facets[1];
  EXPECT_EQ(d11.series[1].y[1], 4) << "the magnitude, on the curve";
  const auto open = std::find_if(d31.series.begin(), d31.series.end(), [](const sonde::Series& series) {
    return series.symbol == Symbol::ring && series.name.empty();
  });
  ASSERT_NE(open, d31.series.end());
  EXPECT_THAT(open->x, ElementsAre(1e-3));
  EXPECT_THAT(open->y, ElementsAre(2));
  EXPECT_EQ(open->colour, d31.series[1].colour);
  ASSERT_NE(named(d31, "below 0"), nullptr);
  for (const Facet* facet : {&d11, &d31, &chart.facets[2]}) {
    ASSERT_NE(named(*facet, "doubtful"), nullptr);
    if (facet == &d31)
      EXPECT_THAT(named(*facet, "doubtful")->x, ElementsAre(1e-2, 1e-1));
    else
      EXPECT_THAT(named(*facet, "doubtful")->x, ElementsAre(1e-2)) << "Onsager says nothing of D11 and D33";
    ASSERT_NE(named(*facet, "no answer"), nullptr);
    EXPECT_THAT(named(*facet, "no answer")->x, ElementsAre(1e-1));
    EXPECT_THAT(named(*facet, "no answer")->y, ElementsAre(*facet->y.low));
  }
}

TEST(CoefficientChart, ZeroStandsAtTheLowerEdge) {
  CoefficientTables of = tables();
  of.D31[0] = 0;
  const Chart chart = coefficient_chart(curves_at(of, 0), {.D11 = false, .D33 = false, .onsager = false});
  ASSERT_THAT(chart.facets, SizeIs(1));
  ASSERT_NE(named(chart.facets[0], "0, at the lower edge"), nullptr);
  EXPECT_THAT(named(chart.facets[0], "0, at the lower edge")->x, ElementsAre(1e-3));
}

// Without stellarator symmetry D13 = -D31 holds only at E = 0.
TEST(CoefficientChart, AsksForNoSymmetryThatThereIsNot) {
  CoefficientTables of = tables();
  of.onsager_residual = {0, 0.5, 0, 0.5, 0, 0.5};
  of.symmetric = false;
  const Chart chart = coefficient_chart(curves_at(of, 0));
  EXPECT_EQ(named(chart.facets[1], "doubtful"), nullptr);
  EXPECT_THAT(chart.facets[3].series, SizeIs(1));
  of.symmetric = true;
  EXPECT_THAT(named(coefficient_chart(curves_at(of, 0)).facets[1], "doubtful")->x, SizeIs(3));
}

TEST(CoefficientChart, ColoursFollowTheStrengthOfTheField) {
  CoefficientTables of = tables();
  of.nu_v = {1};
  of.fields = {1e-1, 0, 1e-3, 1e-5, -1e-3, 1e-4};
  const Chart chart = coefficient_chart(curves_at(of, 0));
  const auto colour = [&](std::size_t f) { return chart.facets[0].series[f].colour; };
  EXPECT_EQ(colour(1), "#111111");
  EXPECT_EQ(colour(2), colour(4));
  // Green rises from one end of viridis to the other.
  const auto green = [&](std::size_t f) { return std::stoi(colour(f).substr(3, 2), nullptr, 16); };
  EXPECT_LT(green(3), green(5));
  EXPECT_LT(green(5), green(2));
  EXPECT_LT(green(2), green(0));
}

// The angles of VMEC are not straight: a line wobbles, but on the mean it winds as iota says.
TEST(FieldChart, LinesWindAsTheRotationalTransformSays) {
  SONDE_NEED_DATA(data);
  SurfaceOptions options;
  options.path = (data / "neoclassical/wout_li383_1.4m.nc").string();
  options.s = 0.25;
  const Surface surface = read_surface(options).surface;
  const SurfaceField field = surface_field(surface, sample(surface, 25, 25));
  constexpr Index turns = 60, steps = 60 * turns;
  const std::vector<double> theta = field_line(field, 0.3, 2 * std::numbers::pi * turns, steps);
  // What the wobble, below one radian, leaves of the mean.
  EXPECT_NEAR((theta.back() - 0.3) / (2 * std::numbers::pi * turns), surface.iota,
              1.0 / (2 * std::numbers::pi * turns));
  EXPECT_NE(theta[steps / turns] - theta[0], 2 * std::numbers::pi * surface.iota);
  EXPECT_THAT(field_chart(field).title, HasSubstr("at s = 0.25, VMEC angles"));
}

TEST(FieldChart, IsTheSameOfARunAndOfItsFile) {
  const TemporaryFolder folder;
  const Surface surface = make_surface(analytic_demo());
  const Plan plan = Plan::prepare(surface, {5, 7, 6});
  write_contents(folder.file("run.npz"), run_contents(surface, plan, {1e-2, 0}, 0, plan.solve({1e-2, 0}), std::nullopt,
                                                      {"", "analytic-demo", "{}"}));
  const Chart stored = field_chart(surface_field(ResultFile(folder.file("run.npz")))),
              made = field_chart(surface_field(surface, plan.surface()));
  EXPECT_EQ(to_json(chart_value(stored)), to_json(chart_value(made)));
  const Facet& facet = made.facets[0];
  ASSERT_TRUE(facet.map);
  EXPECT_EQ(facet.map->x.size() * facet.map->y.size(), facet.map->z.size());
  EXPECT_GE(facet.map->contours.size(), 5U);
  EXPECT_EQ(facet.map->z.front(), facet.map->z.back()) << "the period closes";
  // Boozer angles: the line is straight.
  EXPECT_NEAR(facet.series[0].y[48] - facet.series[0].y[0], std::numbers::pi * 2 * surface.iota / 5 * 48 / 240, 1e-12);
}

TEST(StudyResult, IsDrawnAgainFromItsFile) {
  const TemporaryFolder folder;
  const Surface surface = make_surface(analytic_demo());
  const GridSpec grid{5, 5, 4};
  const Case at{1, 1e-3};
  const StudyResult made{convergence_study(surface, grid, at, {.tolerance = 0.1, .most_steps = 2}), grid, at, 0.1,
                         "analytic-demo"};
  for (const char* name : {"study.nc", "study.h5", "study.npz"}) {
    SCOPED_TRACE(name);
    write_contents(folder.file(name), study_contents(made, surface, {"", "analytic-demo", "{}"}));
    const StudyResult back = read_study(ResultFile(folder.file(name)));
    EXPECT_EQ(chart_value(study_chart(back)), chart_value(study_chart(made)));
    EXPECT_EQ(back.study.error, made.study.error);
  }
  const Facet facet = study_chart(made).facets.front();
  EXPECT_EQ(facet.x.ticks.front().label, std::to_string(made.study.rows.front().grid.n_xi));
  EXPECT_EQ(facet.references.front().value, 0.1 / 3) << "where refinement ends";
  error_of(ErrorKind::bad_file, [&] {
    write_numbers(folder.file("other.nc"), {{"refined", {-1, 0}}, {"n_theta", {5}}});
    (void)read_study(ResultFile(folder.file("other.nc")));
  });
}

TEST(TransportChart, DrawsTheCorrectedFluxesAndSaysSo) {
  RadialResult result;
  result.rho = 0.5;
  result.fluxes = {{.gamma = 1e20, .q = 1e3}};
  const std::vector<Species> species = {{.name = "e"}};
  const TransportPanels fluxes{.ambipolar = false, .bootstrap = false};
  const Chart plain = transport_chart(std::span(&result, 1), species, fluxes);
  EXPECT_EQ(plain.facets[0].title, "Particles, without momentum correction");
  EXPECT_THAT(plain.facets[0].series[0].y, ElementsAre(1));
  result.corrected = {{.gamma = 2e20, .q = 3e3}};
  const Chart corrected = transport_chart(std::span(&result, 1), species, fluxes);
  EXPECT_EQ(corrected.facets[1].title, "Energy, with momentum correction");
  EXPECT_THAT(corrected.facets[1].series[0].y, ElementsAre(3));
}

// A radius with roots of every class, one with only a doubtful root and hence without a field.
TEST(TransportChart, IsTheSameFromTheFile) {
  using Class = AmbipolarRoot::Class;
  const std::vector<Species> species = {{.name = "e"}, {.name = "D"}};
  std::vector<RadialResult> results(2);
  for (RadialResult& result : results) {
    result.forces.resize(2);
    result.L.resize(2);
    result.current = result.corrected_current = result.beyond = result.left_out = {0, 0};
  }
  RadialResult &taken = results[0], &nowhere = results[1];
  taken.rho = 0.4;
  taken.E_r = -3e3;
  taken.roots.roots = {{.E_r = -3e3, .slope = 2, .kind = Class::ion},
                       {.E_r = 1e3, .slope = -1, .kind = Class::unstable},
                       {.E_r = 5e3, .slope = 3, .kind = Class::electron}};
  taken.fluxes = {{.gamma = 1e20, .q = 1e3}, {.gamma = 2e20, .q = 2e3}};
  taken.corrected = {{.gamma = 3e20, .q = 3e3}, {.gamma = 4e20, .q = 4e3}};
  taken.total_current = 5e3;
  taken.corrected_total_current = 6e3;
  nowhere.rho = 0.6;
  nowhere.without_root = true;
  nowhere.roots.roots = {{.E_r = 1e2, .slope = 1, .kind = Class::electron, .uncertainty = 90}};
  nowhere.E_r = nowhere.total_current = nowhere.corrected_total_current = nan_value;
  nowhere.fluxes = nowhere.corrected = {{.gamma = nan_value, .q = nan_value}, {.gamma = nan_value, .q = nan_value}};
  const std::string drawn = to_json(chart_value(transport_chart(results, species, {})));
  const TemporaryFolder folder;
  for (const char* name : {"profiles.nc", "profiles.h5", "profiles.npz"}) {
    write_contents(folder.file(name), transport_contents(results, species, "a test", ""));
    const StoredTransport stored = read_transport(ResultFile(folder.file(name)));
    EXPECT_EQ(to_json(chart_value(transport_chart(stored.results, stored.species, {}))), drawn) << name;
  }
  write_numbers(folder.file("cut.nc"), {{"rho", {0.4, 0.6}}, {"E_r", {1}}}, {{"species_names", "e,D"}});
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)read_transport(ResultFile(folder.file("cut.nc"))); }),
              HasSubstr("E_r holds 1 numbers, expected 2"));
}

}  // namespace
}  // namespace sonde::neoclassical
