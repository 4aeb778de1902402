// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/table_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sonde/instruments/neoclassical/database/database_file.h"
#include "sonde/instruments/neoclassical/database/derived_fields.h"
#include "sonde/instruments/neoclassical/read/analytic.h"
#include "sonde/instruments/neoclassical/solve/plan.h"
#include "sonde/instruments/neoclassical/transport/surface_table.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

/// Coefficients per r whose interpolant is exact: powers of nu_hat and E/r for D11, lines in their logarithms for D31.
Dij by_formula(double nu_hat, double er_hat, double r) {
  const double field = std::max(1e-8, er_hat / r), d31 = 0.3 - 0.2 * std::log(nu_hat) + 0.05 * std::log(field);
  return {std::pow(nu_hat, 0.4) * std::pow(field, -0.3), d31, -d31, 0.6 / nu_hat};
}

Database formula_database() {
  Database database;
  database.axes = default_axes();
  database.psia = 0.35;
  database.a_b = 0.5;
  for (std::size_t i = 0; i < database.axes.rho.size(); ++i)
    database.geometry.B00.push_back(2.5 + 0.01 * static_cast<double>(i));
  const DerivedFields derived = derived_fields(database);
  const Axes& axes = database.axes;
  for (Index r = 0; r < axes.radii(); ++r)
    for (Index n = 0; n < axes.collisionalities(); ++n)
      for (Index e = 0; e < axes.fields(); ++e) {
        const auto at = static_cast<std::size_t>(r);
        const double nu = axes.nu_v[static_cast<std::size_t>(n)],
                     er = derived.Er[static_cast<std::size_t>(r * axes.fields() + e)];
        const Dij d = relabelled(by_formula(nu, er, database.a_b * axes.rho[at]), 1 / derived.drds[at]);
        database.D11.push_back(d.D11);
        database.D31.push_back(d.D31);
        database.D13.push_back(d.D13);
        database.D33.push_back(d.D33);
        database.D33_spitzer.push_back(2.0 / 3 / nu);
      }
  return database;
}

SurfaceDij ask(const SurfaceSource& surface, double nu_hat, double er_hat) {
  SurfaceDij made;
  surface.coefficients({&nu_hat, 1}, {&er_hat, 1}, {&made, 1});
  return made;
}

/// A table of E >= 0 against solves at E < 0: at its own points nothing is interpolated.
TEST(SurfaceTable, WithoutStellaratorSymmetryTheOppositeFieldExchangesD31AndD13) {
  Surface lopsided = make_surface(analytic_demo());
  lopsided.b.sine = {0, 0.02, -0.01, 0};
  const Plan plan = Plan::prepare(lopsided, {.n_theta = 9, .n_zeta = 9, .n_xi = 16});
  const auto solved = [&](double nu_hat, double e_hat) {
    const Coefficients c = plan.solve({nu_hat, e_hat});
    return Dij{c.D11, c.D31, c.D13, c.D33};
  };
  const std::vector<double> collisions = {1e-2, 3e-2}, fields = {1e-3, 1e-2};
  TableSlice slice;
  for (const double field : fields) slice.log_field.push_back(log_of_field(field, 1));
  for (const double nu : collisions)
    for (const double field : fields) slice.values.push_back(table_quantities(solved(nu, field), nu));
  slice.add_slopes();
  const SurfaceTable table({std::log(collisions[0]), std::log(collisions[1])}, slice, {.symmetric = false});
  EXPECT_FALSE(table.even_in_field());
  for (const double nu : collisions)
    for (const double field : fields) {
      const Dij expected = solved(nu, -field), got = ask(table, nu, -field).d;
      ASSERT_GT(std::abs(expected.D31 + expected.D13), 1e-5 * std::abs(expected.D31)) << "the field is too symmetric";
      // The skew operator has this symmetry to rounding times its condition.
      EXPECT_NEAR(got.D11 / expected.D11, 1, 1e-9);
      EXPECT_NEAR(got.D31 / expected.D31, 1, 1e-9);
      EXPECT_NEAR(got.D13 / expected.D13, 1, 1e-9);
      EXPECT_NEAR(got.D33 / expected.D33, 1, 1e-9);
    }
}

TEST(TableSource, PowersAreExactBetweenThePointsAndTheRadii) {
  const TableSource source(formula_database());
  for (const double rho : {0.12247, 0.2, 0.3333, 0.5, 0.8, 0.875}) {
    const std::unique_ptr<SurfaceSource> surface = source.at(rho);
    for (const double nu_hat : {3e-7, 2.2e-6, 1e-3, 0.07, 10.0})
      for (const double er_hat : {0.0, 2e-6, 1e-4, -1e-4, 0.03}) {
        SCOPED_TRACE(rho);
        const SurfaceDij got = ask(*surface, nu_hat, er_hat);
        const Dij expected = by_formula(nu_hat, std::abs(er_hat), 0.5 * rho);
        EXPECT_FALSE(got.beyond);
        // Lines on logarithmic axes: rounding of some logarithms.
        EXPECT_NEAR(got.d.D11 / expected.D11, 1, 1e-12);
        EXPECT_NEAR(got.d.D31, expected.D31, 1e-12);
        EXPECT_NEAR(got.d.D13, expected.D13, 1e-12);
        EXPECT_NEAR(got.d.D33 / expected.D33, 1, 1e-12);
      }
  }
}

TEST(TableSource, FlowsThatVaryAlongBAreKnownWhereCollisionsAreFrequent) {
  Database database = formula_database();
  EXPECT_FALSE(TableSource(database).at(0.5)->u2()) << "D11 rises as nu^0.4 to the end of the table";
  const DerivedFields derived = derived_fields(database);
  const Axes& axes = database.axes;
  for (Index r = 0; r < axes.radii(); ++r)
    for (Index n = 0; n < axes.collisionalities(); ++n)
      for (Index e = 0; e < axes.fields(); ++e) {
        const double nu = axes.nu_v[static_cast<std::size_t>(n)], slope = derived.drds[static_cast<std::size_t>(r)];
        database.D11[axes.index(r, n, e)] = (2.0 / 3 * nu * 0.3 + 0.02 / nu) / (slope * slope);
      }
  EXPECT_NEAR(TableSource(database).at(0.5)->u2().value(), 0.3, 1e-12);
  EXPECT_NEAR(TableSource(database).at(0.4)->u2().value(), 0.3, 1e-12) << "between radii";
}

TEST(TableSource, BeyondTheTableTheRulesHoldAndAreFlagged) {
  const TableSource source(formula_database());
  const std::unique_ptr<SurfaceSource> surface = source.at(0.5);
  const double er = 1e-4;
  const SurfaceDij low = ask(*surface, 3e-8, er), first = ask(*surface, 3e-7, er);
  EXPECT_TRUE(low.beyond);
  EXPECT_NEAR(low.d.D11 / first.d.D11, std::pow(0.1, 0.4), 1e-12);
  EXPECT_EQ(low.d.D31, first.d.D31);
  EXPECT_NEAR(low.d.D33 / first.d.D33, 10, 1e-12);
  const SurfaceDij high = ask(*surface, 100, er), last = ask(*surface, 10, er);
  EXPECT_TRUE(high.beyond);
  EXPECT_NEAR(high.d.D11 / last.d.D11, 10, 1e-12);
  EXPECT_NEAR(high.d.D31 / last.d.D31, 0.01, 1e-12);
  EXPECT_NEAR(high.d.D33 / last.d.D33, 0.1, 1e-12);
  const double largest = 0.1 * 2 * 0.35 / 0.25;  // Er_tilde 2 psia / a_b^2
  const SurfaceDij strong = ask(*surface, 1e-3, 7 * largest);
  EXPECT_TRUE(strong.beyond);
  EXPECT_NEAR(strong.d.D11 / ask(*surface, 1e-3, largest).d.D11, 1, 1e-12);
}

TEST(TableSource, BeyondTheRadiiTheNearestValuesHold) {
  const TableSource source(formula_database());
  const SurfaceDij inside = ask(*source.at(0.05), 1e-3, 1e-4 * 0.05 / 0.12247),
                   first = ask(*source.at(0.12247), 1e-3, 1e-4);
  EXPECT_TRUE(inside.beyond);
  EXPECT_NEAR(inside.d.D11 / first.d.D11, 1, 1e-12);  // at equal E/r
  EXPECT_TRUE(ask(*source.at(1), 1e-3, 0).beyond);
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)source.at(0); }), HasSubstr("rho = 0"));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)source.at(std::nan("")); }), HasSubstr("rho = nan"));
}

TEST(TableSource, AStoredPointComesBack) {
  SONDE_NEED_DATA(data);
  const Database database = read_database((data / "neoclassical/Dij_NTX_QI_Er_Optimized.h5").string()).database;
  const DerivedFields derived = derived_fields(database);
  const TableSource source(database);
  EXPECT_EQ(source.minor_radius(), database.a_b);
  for (const Index r : {0, 3, 6}) {
    const auto surface = source.at(database.axes.rho[static_cast<std::size_t>(r)]);
    EXPECT_EQ(surface->reference_field(), database.geometry.B00[static_cast<std::size_t>(r)]);
    EXPECT_EQ(surface->b2_ratio(), database.b2_ratio(r));
    for (const Index n : {0, 7, 15})
      for (const Index e : {0, 5, 11}) {
        const std::size_t at = database.axes.index(r, n, e);
        const double slope = derived.drds[static_cast<std::size_t>(r)];
        const SurfaceDij got = ask(*surface, database.axes.nu_v[static_cast<std::size_t>(n)],
                                   derived.Er[static_cast<std::size_t>(r * 12 + e)]);
        EXPECT_NEAR(got.d.D11 / (database.D11[at] * slope * slope), 1, 1e-10);
        EXPECT_NEAR(got.d.D31 / (database.D31[at] * slope), 1, 1e-10);
        EXPECT_NEAR(got.d.D13 / (database.D13[at] * slope), 1, 1e-10);
        EXPECT_NEAR(got.d.D33 / database.D33[at], 1, 1e-10);
      }
  }
}

TEST(TableSource, BetweenPointsItStaysWithinItsNeighbours) {
  SONDE_NEED_DATA(data);
  const Database database = read_database((data / "neoclassical/Dij_NTX_QI_Er_Optimized.h5").string()).database;
  const TableSource source(database);
  const auto surface = source.at(0.5);
  const double er = derived_fields(database).Er[3 * 12 + 4];
  for (std::size_t n = 0; n + 1 < database.axes.nu_v.size(); ++n) {
    const double left = database.axes.nu_v[n], right = database.axes.nu_v[n + 1];
    const double a = ask(*surface, left, er).d.D11, b = ask(*surface, right, er).d.D11;
    for (int k = 1; k < 8; ++k) {
      const double between = ask(*surface, left * std::pow(right / left, k / 8.0), er).d.D11;
      EXPECT_GE(between, std::min(a, b) * (1 - 1e-12));
      EXPECT_LE(between, std::max(a, b) * (1 + 1e-12));
    }
  }
}

TEST(TableSource, TablesWithoutAnAnswerAreRefused) {
  const auto refused = [](auto change) {
    Database database = formula_database();
    change(database);
    return error_of(ErrorKind::bad_input, [&] { (void)TableSource(database); });
  };
  EXPECT_THAT(refused([](Database& d) { d.D11[5] = -1; }), HasSubstr("D11 of 1 points"));
  EXPECT_THAT(refused([](Database& d) { d.D31[5] = std::nan(""); }), HasSubstr("D31 is nan"));
  EXPECT_THAT(refused([](Database& d) { std::swap(d.axes.nu_v[2], d.axes.nu_v[3]); }),
              HasSubstr("nu_v does not increase"));
  EXPECT_THAT(refused([](Database& d) { d.axes.Er_tilde[1] = 1e-12; }), HasSubstr("fall together"));
  Database one = formula_database();
  one.axes.nu_v.resize(1);
  for (auto* table : {&one.D11, &one.D31, &one.D13, &one.D33, &one.D33_spitzer})
    table->resize(static_cast<std::size_t>(one.axes.count()));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)TableSource(one); }), HasSubstr("one nu_v only"));
}

TEST(TableSource, OneRadiusAndOneFieldAreConstantInThem) {
  Database database;
  database.axes = {{0.5}, {1e-3, 1e-1}, {0}};
  database.psia = 0.35;
  database.a_b = 0.5;
  database.geometry.B00 = {2.5};
  database.D11 = {1, 4};
  database.D31 = database.D13 = {2, 2};
  database.D33 = database.D33_spitzer = {600, 6};
  const TableSource source(database);
  const SurfaceDij middle = ask(*source.at(0.5), 1e-2, 0);
  EXPECT_NEAR(middle.d.D11, 2 * 0.25, 1e-12);  // drds = 0.5
  EXPECT_NEAR(middle.d.D33, 60, 1e-12);
  EXPECT_FALSE(middle.beyond);
  EXPECT_TRUE(ask(*source.at(0.5), 1e-2, 1e-3).beyond);
}

}  // namespace
}  // namespace sonde::neoclassical
