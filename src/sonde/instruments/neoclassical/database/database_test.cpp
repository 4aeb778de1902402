// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/database/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "sonde/instruments/neoclassical/database/test_database.h"
#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;
using testing::small_database;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Axes, TheDefaultOnesAreThoseOfPublishedDatabases) {
  const Axes axes = default_axes();
  EXPECT_NO_THROW(require_valid(axes));
  EXPECT_EQ(axes.radii(), 7);
  EXPECT_EQ(axes.collisionalities(), 16);
  EXPECT_EQ(axes.fields(), 12);
  EXPECT_EQ(axes.rho[0], 0.12247);
  EXPECT_EQ(axes.nu_v[15], 10);
  EXPECT_EQ(axes.Er_tilde[11], 0.1);
}

TEST(Axes, TablesHaveTheFieldFastest) {
  const Axes axes = default_axes();
  EXPECT_EQ(axes.index(0, 0, 1), 1);
  EXPECT_EQ(axes.index(0, 1, 0), 12);
  EXPECT_EQ(axes.index(6, 15, 11), 7 * 16 * 12 - 1);
}

TEST(Axes, WhatIsNoAxisIsRefusedByItsName) {
  const auto refused = [](auto change) {
    Axes axes = default_axes();
    change(axes);
    return error_of(ErrorKind::bad_input, [&] { require_valid(axes); });
  };
  EXPECT_THAT(refused([](Axes& axes) { axes.rho.clear(); }), HasSubstr("the axis rho has no value"));
  EXPECT_THAT(refused([](Axes& axes) { axes.rho[0] = 0; }), HasSubstr("rho = 0: expected 0 < rho <= 1"));
  EXPECT_THAT(refused([](Axes& axes) { axes.rho[6] = 1.5; }), HasSubstr("rho = 1.5"));
  EXPECT_THAT(refused([](Axes& axes) { axes.nu_v[0] = -1; }), HasSubstr("nu_v = -1"));
  EXPECT_THAT(refused([](Axes& axes) { axes.nu_v[3] = nan; }), HasSubstr("nu_v = nan"));
  EXPECT_THAT(refused([](Axes& axes) { axes.Er_tilde[1] = axes.Er_tilde[2]; }),
              HasSubstr("Er_tilde does not increase"));
}

TEST(Database, TellsTheMeanSquareOfItsField) {
  Database database = small_database();
  // (3/2) nu_v D33_spitzer with nu_v = 1 at indices (0, 2, 0) and (1, 2, 0): 20 + 8 and 20 + 20.
  EXPECT_DOUBLE_EQ(database.b2_ratio(0), 1.5 * 28);
  EXPECT_DOUBLE_EQ(database.b2_ratio(1), 1.5 * 40);
  database.D33_spitzer.clear();
  EXPECT_DOUBLE_EQ(database.b2_ratio(1), 1.5 * 30);
}

TEST(Database, FieldsOfWrongSizeOrWithoutAValueAreNamed) {
  const auto refused = [](auto change) {
    Database database = small_database();
    change(database);
    return error_of(ErrorKind::bad_input, [&] { require_valid(database); });
  };
  EXPECT_THAT(refused([](Database& d) { d.D31.pop_back(); }), HasSubstr("D31 has 23 values, expected 2 x 3 x 4"));
  EXPECT_THAT(refused([](Database& d) { d.D13[17] = nan; }),
              HasSubstr("D13 is nan at rho = 0.5, nu_v = 0.01, Er_tilde = 0.0001"));
  EXPECT_THAT(refused([](Database& d) { d.geometry.iota.pop_back(); }), HasSubstr("iota has 1 values"));
  EXPECT_THAT(refused([](Database& d) { d.geometry.G[1] = nan; }), HasSubstr("G is nan at rho = 0.5"));
  EXPECT_THAT(refused([](Database& d) { d.psia = 0; }), HasSubstr("psia = 0"));
  EXPECT_THAT(refused([](Database& d) { d.a_b = -1; }), HasSubstr("a_b = -1"));
  EXPECT_THAT(refused([](Database& d) { d.D33_spitzer[8] = -1; }), HasSubstr("not above zero at rho = 0.25"));
}

TEST(Database, CountsPointsWithoutALogarithm) {
  Database database = small_database();
  EXPECT_EQ(points_without_positive_d11(database), 0);
  database.D11[3] = 0;
  database.D11[5] = -1e-9;
  EXPECT_EQ(points_without_positive_d11(database), 2);
}

}  // namespace
}  // namespace sonde::neoclassical
