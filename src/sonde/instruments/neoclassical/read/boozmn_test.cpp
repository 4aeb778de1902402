// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/read/boozmn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <cmath>
#include <numbers>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/netcdf_writer.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Seven surfaces of nine, s = 0.5/8 ... 7.5/8 but with a gap between the third and the fourth.
BoozerFile small() {
  BoozerFile file;
  file.path = "small";
  file.periods = 4;
  file.ns = 41;
  file.psi_a = -0.4;
  for (int j = 1; j < 41; ++j) {
    const double s = (j - 0.5) / 40;
    file.profile_s.push_back(s);
    file.iota.push_back(0.9 + 0.1 * s);
    file.b_theta.push_back(0.02 * s);
    file.b_zeta.push_back(-3 + 0.1 * s);
  }
  for (const int j : {2, 3, 4, 20, 21}) file.s.push_back((j - 1.5) / 40);
  file.modes = {{0, 0}, {0, -1}, {1, 1}, {1, 0}, {1, -1}};
  file.mboz = 2;
  file.nboz = 1;
  file.b = {5, 5, {}, {}};
  for (int row = 0; row < 5; ++row)
    for (const double value : {2.0, 0.1, -0.2, 0.3, 0.02}) file.b.cosine.push_back(value * (1 + 0.01 * row));
  return file;
}

TEST(Boozmn, ReadsItsOwnFilesBack) {
  const TemporaryFolder folder;
  BoozerFile file = small();
  file.r = file.b;
  file.z = {5, 5, {}, file.b.cosine};
  file.zeta_shift = file.z;
  file.jacobian = file.b;
  for (const bool asymmetric : {false, true}) {
    file.asymmetric = asymmetric;
    if (asymmetric)
      for (HarmonicTable* table : {&file.b, &file.r, &file.z, &file.zeta_shift, &file.jacobian}) {
        std::vector<double>& absent = table->sine.empty() ? table->sine : table->cosine;
        absent.assign(25, 0.5);
      }
    write_boozmn(folder.file("b.nc"), file);
    const BoozerFile read = read_boozmn(folder.file("b.nc"));
    EXPECT_EQ(read.periods, 4);
    EXPECT_EQ(read.asymmetric, asymmetric);
    EXPECT_NEAR(*read.psi_a, -0.4, 1e-16);
    EXPECT_EQ(read.s, file.s);
    EXPECT_EQ(read.profile_s, file.profile_s);
    EXPECT_EQ(read.iota, file.iota);
    EXPECT_EQ(read.b_zeta, file.b_zeta);
    EXPECT_EQ(read.modes, file.modes);
    EXPECT_EQ(read.mboz, 2);
    EXPECT_EQ(read.nboz, 1);
    for (const auto part :
         {&BoozerFile::b, &BoozerFile::r, &BoozerFile::z, &BoozerFile::zeta_shift, &BoozerFile::jacobian}) {
      EXPECT_EQ((read.*part).cosine, (file.*part).cosine);
      EXPECT_EQ((read.*part).sine, (file.*part).sine);
    }
  }
}

TEST(Boozmn, ASurfaceHasTheSignsOfTheFile) {
  Notes notes;
  const BoozerFile file = small();
  const Surface surface = surface_at(file, file.s[3], {}, notes);
  const auto& field = std::get<BoozerField>(surface.field);
  const double s = file.s[3], g_iota_i = -3 + 0.1 * s + (0.9 + 0.1 * s) * 0.02 * s;
  EXPECT_NEAR(field.jacobian_b2, -1 * -0.4 * g_iota_i, 1e-14);  // signgs psi_a (G + iota I)
  EXPECT_EQ(field.flux, -0.4);
  EXPECT_EQ(surface.b.cosine_of({1, 1}), -0.2 * 1.03);
  EXPECT_EQ(surface.angles, "boozer");
  EXPECT_THAT(notes, IsEmpty());
  BoozerFile wrong = small();
  wrong.psi_a = 0.4;
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)surface_at(wrong, file.s[3], {}, notes); }),
              AllOf(HasSubstr("psi_a = 0.4"), HasSubstr("G + iota I = -2.9")));
  wrong.psi_a.reset();
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)surface_at(wrong, file.s[3], {}, notes); }),
              HasSubstr("--psi-a"));
}

TEST(Boozmn, BetweenSurfacesOnlyWhereTheyAreClose) {
  const BoozerFile file = small();
  Notes notes;
  // Rows grow linearly within the first three surfaces: so does what is between them.
  const double middle = (file.s[1] + file.s[2]) / 2;
  EXPECT_NEAR(surface_at(file, middle, {}, notes).reference_field(), 2 * 1.015, 1e-14);
  EXPECT_THAT(notes, IsEmpty());
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)surface_at(file, 0.3, {}, notes); }),
              AllOf(HasSubstr("gap"), HasSubstr("0.0125, 0.0375, 0.0625, 0.4625, 0.4875"), HasSubstr("--snap")));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)surface_at(file, 0.07, {}, notes); }), HasSubstr("gap"));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)surface_at(file, 0.6, {}, notes); }), HasSubstr("gap"));
  EXPECT_EQ(surface_at(file, 0.3, {.snap = true}, notes).s, file.s[3]);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("nearest surface has s = 0.4625")));
  EXPECT_EQ(surface_at(file, file.s[3] + 9e-8, {}, notes).s, file.s[3]);  // "0.48958333" means the surface
  EXPECT_NEAR(surface_at(file, 0.005, {}, notes).reference_field(), 2 * 0.997, 1e-14);
  EXPECT_THAT(notes.back(), HasSubstr("beyond the surfaces"));
  EXPECT_NEAR(profile_at(file, middle, {}, notes).iota, 0.9 + 0.1 * middle, 1e-14);
}

RC_GTEST_PROP(BoozmnProperty, ReadsWhatItWrites, (std::vector<double> values, unsigned nfp)) {
  const TemporaryFolder folder;
  BoozerFile file = small();
  file.periods = static_cast<int>(1 + nfp % 1000);
  for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), 25); ++i)
    if (std::isfinite(values[i])) file.b.cosine[i] = values[i];
  write_boozmn(folder.file("b.nc"), file);
  RC_ASSERT(read_boozmn(folder.file("b.nc")).b.cosine == file.b.cosine);
  RC_ASSERT(read_boozmn(folder.file("b.nc")).modes == file.modes);
}

TEST(Boozmn, WhatMakesNoSenseIsNamed) {
  const TemporaryFolder folder;
  BoozerFile file = small();
  file.s[1] = 0.02;
  EXPECT_THAT(error_of(ErrorKind::not_supported, [&] { write_boozmn(folder.file("b.nc"), file); }),
              HasSubstr("s = 0.02 is not on a half mesh of 41 surfaces"));

  const auto refused = [&](const std::string& name, Array values) {
    Contents contents;
    const auto add = [&](const char* variable, std::vector<double> list) {
      const auto size = static_cast<Index>(list.size());
      if (variable == name)
        contents.add(variable, {"changed"}, std::move(values));
      else
        contents.add(variable, {"dim_" + std::to_string(size)}, Array::from(list, {size}));
    };
    contents.add("nfp_b", 2.0);
    contents.add("ns_b", 3.0);
    add("iota_b", {0, 1, 1});
    add("buco_b", {0, 1, 1});
    add("bvco_b", {0, 1, 1});
    add("jlist", {2, 3});
    add("ixm_b", {0, 1});
    add("ixn_b", {0, 2});
    contents.add("bmnc_b", {"x", "y"}, Array::from<double>({1, 0.1, 1, 0.1}, {2, 2}));
    write_netcdf(folder.file("b.nc"), contents, NetcdfFormat::classic);
    return error_of(ErrorKind::bad_file, [&] { (void)read_boozmn(folder.file("b.nc")); });
  };
  EXPECT_THAT(refused("jlist", Array::from<double>({2, 5}, {2})), HasSubstr("jlist holds 5, expected 2 to ns_b = 3"));
  EXPECT_THAT(refused("jlist", Array::from<double>({3, 2}, {2})), HasSubstr("jlist does not increase at 2"));
  EXPECT_THAT(refused("jlist", Array::from<double>({2}, {1})),
              HasSubstr("bmnc_b has the shape (2, 2), expected (1, 2)"));
  EXPECT_THAT(refused("iota_b", Array::from<double>({0, 1}, {2})),
              HasSubstr("iota_b has the shape (2,), expected (3,)"));
  EXPECT_THAT(refused("ixm_b", Array::from<double>({1, 1}, {2})), HasSubstr("no mode (0,0)"));
  EXPECT_THAT(refused("ixn_b", Array::from<double>({0, 1}, {2})), HasSubstr("not a multiple of the 2 field periods"));
}

TEST(Boozmn, BothVariantsOfOtherProgramsAreRead) {
  SONDE_NEED_DATA(data);
  const auto read = [&](const char* name) { return read_boozmn((data / "neoclassical" / name).string()); };
  const BoozerFile li383 = read("boozmn_li383_1.4m.nc");
  EXPECT_THAT(li383.s, ElementsAre(0.5 / 48, 1.5 / 48, 2.5 / 48, 23.5 / 48, 47.5 / 48));
  EXPECT_EQ(li383.modes.size(), 3478);
  EXPECT_EQ(li383.mboz, 54);
  EXPECT_EQ(li383.nboz, 32);
  EXPECT_NEAR(*li383.psi_a, 0.514386 / (2 * std::numbers::pi), 1e-12);
  EXPECT_NEAR(li383.b.cosines(2)[0], 1.5512611854, 1e-10);
  const BoozerFile hsx = read("boozmn_HSX_QHS_vacuum_ns201.nc");  // reduced: its flux of 0.0 counts as absent
  EXPECT_FALSE(hsx.psi_a);
  EXPECT_EQ(hsx.periods, 4);
  EXPECT_TRUE(read("boozmn_LandremanSenguptaPlunk_section5p3.nc").asymmetric);
}

}  // namespace
}  // namespace sonde::neoclassical
