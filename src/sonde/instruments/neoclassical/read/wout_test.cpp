// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/read/wout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <numbers>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/read/test_equilibria.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using sonde::testing::write_small_wout;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Values = std::map<std::string, std::vector<double>>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Wout, SignsMeshAndTablesAreThoseOfVmec) {
  const TemporaryFolder folder;
  write_small_wout(folder.file("wout.nc"));
  const Wout wout = read_wout(folder.file("wout.nc"));
  EXPECT_EQ(wout.periods, 3);
  EXPECT_DOUBLE_EQ(wout.psi_a, 2 / (2 * std::numbers::pi));
  EXPECT_THAT(wout.s, ElementsAre(0.125, 0.375, 0.625, 0.875));
  EXPECT_THAT(wout.modes, ElementsAre(Mode{0, 0}, Mode{1, 0}, Mode{1, -1}));  // m theta - n zeta becomes + n nfp zeta
  EXPECT_THAT(wout.iota, ElementsAre(0.41, 0.43, 0.47, 0.53));
  Notes notes;
  const Surface surface = surface_at(wout, 0.375, 0, notes);  // a node: row 2 of the file
  EXPECT_EQ(surface.iota, 0.43);
  EXPECT_DOUBLE_EQ(surface.reference_field(), 2 * 1.04);
  EXPECT_DOUBLE_EQ(surface.b.cosine_of({1, -1}), 2 * 0.2);
  EXPECT_EQ(surface.psi_scale, 1);
  EXPECT_TRUE(surface.symmetric());
  EXPECT_DOUBLE_EQ(std::get<GeneralField>(surface.field).jacobian.cosine_of({0, 0}), -0.5 * 1.04);
  EXPECT_THAT(notes, IsEmpty());
  EXPECT_DOUBLE_EQ(profile_at(wout, 0.375).b_zeta, 4 * 1.04);
}

TEST(Wout, BetweenNodesEveryTableFollowsTheSameRule) {
  const TemporaryFolder folder;
  write_small_wout(folder.file("wout.nc"));
  const Wout wout = read_wout(folder.file("wout.nc"));
  Notes notes;
  const Surface surface = surface_at(wout, 0.4, 0, notes);
  // j^2 at the nodes j = 1..4: the slopes of the inner nodes are exact, so the cubic is the parabola.
  const double j = 0.4 * 4 + 0.5, expected = 1 + 0.01 * j * j;
  EXPECT_NEAR(surface.reference_field(), 2 * expected, 1e-14);
  EXPECT_NEAR(std::get<GeneralField>(surface.field).b_sup_zeta.cosine_of({0, 0}), 0.6 * expected, 1e-14);
  (void)surface_at(wout, 0.95, 0, notes);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("beyond the half mesh")));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)surface_at(wout, 0, 0, notes); }),
              HasSubstr("s = 0 is outside of 0 < s <= 1"));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)surface_at(wout, nan, 0, notes); }), HasSubstr("outside"));
}

TEST(Wout, SmallHarmonicsOfBAreLeftOutOfAllTables) {
  const TemporaryFolder folder;
  write_small_wout(folder.file("wout.nc"));
  const Wout wout = read_wout(folder.file("wout.nc"));
  Notes notes;
  const Surface surface = surface_at(wout, 0.375, 0.15, notes);  // |B_10| = 0.2 < 0.15 B_00 = 0.312 < |B_1-1| = 0.4
  EXPECT_THAT(surface.b.modes, ElementsAre(Mode{0, 0}, Mode{1, -1}));
  EXPECT_THAT(std::get<GeneralField>(surface.field).b_sub_theta.modes, ElementsAre(Mode{0, 0}, Mode{1, -1}));
  EXPECT_THAT(notes, ElementsAre("min_bmn = 0.15: 2 of 3 harmonics are kept"));
}

TEST(Wout, WhatMakesNoSenseIsNamed) {
  const TemporaryFolder folder;
  const std::string path = folder.file("wout.nc");
  const auto refused = [&](const std::function<void(Values&)>& change, ErrorKind kind = ErrorKind::bad_file) {
    write_small_wout(path, change);
    return error_of(kind, [&] { (void)read_wout(path); });
  };
  EXPECT_THAT(refused([](Values& v) { v.erase("bsupvmnc"); }), HasSubstr("wout.nc: there is no variable bsupvmnc"));
  EXPECT_THAT(refused([](Values& v) { v["gmnc"].resize(12); }), HasSubstr("variable gmnc has the shape"));
  EXPECT_THAT(refused([](Values& v) { v["bmnc"][7] = nan; }), HasSubstr("bmnc is nan at element 7"));
  EXPECT_THAT(refused([](Values& v) { v["phi"] = {0, 0, 0, 0, 0}; }), HasSubstr("phi is 0 at the edge"));
  EXPECT_THAT(refused([](Values& v) {
                v["phi"] = {0, -0.5, -1, -1.5, -2};
              }),
              AllOf(HasSubstr("psi_a = -0.31831"), HasSubstr("G + iota I = 4.")));
  EXPECT_THAT(refused(
                  [](Values& v) {
                    v["phi"] = {0, 0.1, 0.5, 1.1, 2};
                  },
                  ErrorKind::not_supported),
              HasSubstr("s is not the toroidal flux"));
  EXPECT_THAT(refused([](Values& v) { v["signgs"] = {1}; }), HasSubstr("but signgs is 1"));
  EXPECT_THAT(refused([](Values& v) {
                v["xn_nyq"] = {0, 0, 4};
              }),
              HasSubstr("xn_nyq holds 4, which is not a multiple of the 3 field periods"));
  EXPECT_THAT(refused([](Values& v) { v["xm_nyq"] = {2, 1, 1}; }), HasSubstr("no mode (0,0)"));
  EXPECT_THAT(refused([](Values& v) { v["lasym__logical__"] = {1}; }), HasSubstr("there is no variable bmns"));
  EXPECT_THAT(refused([](Values& v) { v["ns"] = {6}; }), HasSubstr("phi has the shape (5,), expected (6,)"));
  EXPECT_THAT(refused([](Values& v) { v["bmnc"][3] = -1; }), HasSubstr("bmnc(0,0) is -1"));
}

TEST(Wout, AFileThatWasCutOffIsNamed) {
  const TemporaryFolder folder;
  const std::string path = folder.file("wout.nc");
  write_small_wout(path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 100);
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)read_wout(path); }), HasSubstr("the file is cut off"));
}

/// On every surface of a real equilibrium B^2 = B^theta B_theta + B^zeta B_zeta holds to the equilibrium's accuracy,
/// whatever the signs.
TEST(Wout, FieldsOfRealEquilibriaBelongTogether) {
  SONDE_NEED_DATA(data);
  for (const char* name : {"w7x_standardConfig", "li383_1.4m", "QI_nfp2_newNT_opt_hires", "circular_tokamak",
                           "up_down_asymmetric_tokamak", "LandremanSenguptaPlunk_section5p3"}) {
    SCOPED_TRACE(name);
    const Wout wout = read_wout((data / "neoclassical" / ("wout_" + std::string(name) + ".nc")).string());
    Notes notes;
    const Surface surface = surface_at(wout, 0.3, 0, notes);
    const AngleGrid grid{9, wout.ntor == 0 ? 1 : 9, wout.periods};
    const auto& field = std::get<GeneralField>(surface.field);
    const auto on = [&](const Series& series) { return on_grid(series, grid).value; };
    const auto b = on(surface.b), sub_t = on(field.b_sub_theta), sub_z = on(field.b_sub_zeta);
    const auto sup_t = on(field.b_sup_theta), sup_z = on(field.b_sup_zeta), g = on(field.jacobian);
    for (std::size_t i = 0; i < b.size(); ++i) {
      EXPECT_NEAR((sup_t[i] * sub_t[i] + sup_z[i] * sub_z[i]) / (b[i] * b[i]), 1, 2e-3);
      // |sqrt g| B^zeta is psi_a (1 + dlambda/dtheta), of psi_a's sign.
      EXPECT_GT(std::abs(g[i]) * sup_z[i] * wout.psi_a, 0);
    }
  }
}

}  // namespace
}  // namespace sonde::neoclassical
