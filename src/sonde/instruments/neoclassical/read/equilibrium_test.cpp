// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/read/equilibrium.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "sonde/engine/base/error.h"
#include "sonde/engine/options/fields.h"
#include "sonde/engine/options/toml.h"
#include "sonde/instruments/neoclassical/read/test_equilibria.h"
#include "tests/support/child.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using sonde::testing::write_small_wout;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

SurfaceOptions options_from_toml(const std::string& text) {
  SurfaceOptions options;
  Fields fields(options);
  parse_toml(text, "run.toml", fields);
  return options;
}

std::string refused_surface(const SurfaceOptions& options, ErrorKind kind = ErrorKind::bad_input) {
  return error_of(kind, [&] { (void)read_surface(options); });
}

TEST(ReadSurface, AnAnalyticSurfaceIsItsKeys) {
  const Surface surface = read_surface(options_from_toml(R"(
type = "analytic"
m = [0, 1, 1]
n = [0, 0, -1]
b_cos = [2.0, 0.1, 0.02]
b_sin = [0.0, 0.0, 0.01]
nfp = 3
iota = 0.4
psi_p = -0.5
b_theta = 0.1
b_zeta = -6.0
)"))
                              .surface;
  EXPECT_EQ(surface.periods, 3);
  EXPECT_EQ(surface.b.cosine_of({1, -1}), 0.02);
  EXPECT_EQ(surface.b.sine, (std::vector<double>{0, 0, 0.01}));
  EXPECT_FALSE(surface.symmetric());
  EXPECT_EQ(surface.psi_scale, -0.5);
  EXPECT_DOUBLE_EQ(std::get<BoozerField>(surface.field).jacobian_b2, 5.96);
  EXPECT_EQ(read_surface(options_from_toml("type = \"example\"")).surface.source, "analytic-demo");
  EXPECT_EQ(read_surface(options_from_toml("path = \"analytic-demo\"")).surface.periods, 5);
}

TEST(ReadSurface, AnalyticKeysThatMakeNoSenseAreNamed) {
  SurfaceOptions options;
  options.m = {"0", "1"};
  options.n = {"0"};
  options.b_cos = {"1", "0.1"};
  EXPECT_THAT(refused_surface(options), HasSubstr("[surface] nfp is missing"));
  options.nfp = 3;
  options.iota = options.psi_p = options.b_theta = 0.5;
  EXPECT_THAT(refused_surface(options), HasSubstr("[surface] b_zeta is missing"));
  options.b_zeta = 1;
  EXPECT_THAT(refused_surface(options), HasSubstr("have 2, 1, 2 and 0 items"));
  options.n = {"0", "x"};
  EXPECT_THAT(refused_surface(options), HasSubstr("[surface] n: \"x\" is not a finite number"));
  options.n = {"0", "0.5"};
  EXPECT_THAT(refused_surface(options), HasSubstr("expected whole numbers"));
  options.m = options.n = {"0", "0"};
  EXPECT_THAT(refused_surface(options), HasSubstr("m = 0, n = 0 is given twice"));
  options.n = {"0", "1"};
  options.psi_p = 0;
  EXPECT_THAT(refused_surface(options), HasSubstr("dpsi/dr is zero"));
  options.psi_p = 1;
  options.s = 0.5;
  EXPECT_THAT(refused_surface(options), HasSubstr("analytic: one surface in Boozer angles: s has no meaning here"));
  options.s.reset();
  options.signgs = 1;
  EXPECT_THAT(refused_surface(options), HasSubstr("signgs has no meaning here"));
  EXPECT_THAT(refused_surface({}), HasSubstr("[surface] path is missing"));
}

TEST(ReadSurface, UnknownKeysAreErrorsThatNameTheNearest) {
  EXPECT_THAT(error_of(ErrorKind::bad_file, [] { (void)options_from_toml("signgss = 1"); }), HasSubstr("signgs"));
  EXPECT_EQ(options_from_toml("psi_n = 0.25").s, 0.25);  // NTX's spelling
  EXPECT_EQ(options_from_toml("min_bmn_to_load = 1e-4").min_bmn, 1e-4);
}

TEST(ReadSurface, TheKindIsRecognisedByContent) {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder.file(name)) << text;
  };
  write("a", "&datain\n");
  write("b", "CC Boozer\n");
  write("c", "nfp 5\n0 0 1\n");
  write("d", std::string("\0\1\2", 3));
  write_small_wout(folder.file("e"));
  Contents contents;
  contents.add("bmnc_b", 1.0);
  write_netcdf(folder.file("f"), contents, NetcdfFormat::netcdf4);
  Contents other;
  other.add("temperature", 1.0);
  write_netcdf(folder.file("g"), other, NetcdfFormat::classic);
  const auto recognised = [&](const char* name) { return recognise_surface(folder.file(name)); };
  EXPECT_EQ(recognised("a"), SurfaceType::dkes);
  EXPECT_EQ(recognised("b"), SurfaceType::bc);
  EXPECT_EQ(recognised("c"), SurfaceType::dkes);
  EXPECT_EQ(recognised("e"), SurfaceType::vmec);
  EXPECT_EQ(recognised("f"), SurfaceType::boozmn);
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)recognised("d"); }), HasSubstr("neither NetCDF nor text"));
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)recognised("g"); }), HasSubstr("neither bmnc_b"));
}

TEST(ReadSurface, AMissingOrForbiddenFileIsABadFile) {
  const TemporaryFolder folder;
  SurfaceOptions options;
  options.path = folder.file("absent.nc");
  EXPECT_THAT(refused_surface(options, ErrorKind::bad_file), HasSubstr("absent.nc: no such file"));
  options.type = SurfaceType::vmec;
  EXPECT_THAT(refused_surface(options, ErrorKind::bad_file), HasSubstr("absent.nc: no such file"));
  options.path = folder.file("secret.nc");
  write_small_wout(options.path);
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  std::filesystem::permissions(options.path, std::filesystem::perms::none);
  for (const SurfaceType type : {SurfaceType::vmec, SurfaceType::boozmn, SurfaceType::bc, SurfaceType::dkes}) {
    options.type = type;
    EXPECT_THAT(sonde::testing::text_from_child([&] {
                  sonde::testing::become_nobody();
                  try {
                    (void)read_surface(options);
                  } catch (const Error& error) {
                    return std::to_string(exit_status(error.kind())) + " " + error.what();
                  }
                  return std::string("read");
                }),
                AllOf(::testing::StartsWith("3 "), HasSubstr("secret.nc: no permission")));
  }
}

TEST(Equilibrium, GivesSurfacesAndProfilesWithoutReadingAgain) {
  const TemporaryFolder folder;
  SurfaceOptions options;
  options.path = folder.file("wout.nc");
  write_small_wout(options.path);
  const Equilibrium equilibrium = Equilibrium::open(options);
  std::filesystem::remove(options.path);
  EXPECT_EQ(equilibrium.type(), SurfaceType::vmec);
  EXPECT_EQ(equilibrium.periods(), 3);
  EXPECT_DOUBLE_EQ(equilibrium.psi_a(), 1 / std::numbers::pi);
  EXPECT_THAT(equilibrium.radii(), ElementsAre(0.125, 0.375, 0.625, 0.875));
  EXPECT_EQ(equilibrium.surface(0.375).surface.iota, 0.43);
  EXPECT_EQ(equilibrium.profile(0.375).iota, 0.43);
  EXPECT_EQ(equilibrium.boozer(), nullptr);
}

TEST(Equilibrium, ARadiusIsChosenInOneWayOnly) {
  const TemporaryFolder folder;
  SurfaceOptions options;
  options.path = folder.file("wout.nc");
  write_small_wout(options.path);
  EXPECT_THAT(refused_surface(options), HasSubstr("none of s, rho and surface_index are given"));
  options.surface_index = 2;
  EXPECT_EQ(read_surface(options).surface.s, 0.625);
  options.rho = 0.5;
  EXPECT_THAT(refused_surface(options), HasSubstr("2 of s, rho and surface_index are given"));
  options.surface_index.reset();
  EXPECT_EQ(read_surface(options).surface.s, 0.25);
  options.rho.reset();
  options.surface_index = 4;
  EXPECT_THAT(refused_surface(options), HasSubstr("surface_index = 4, expected 0 to 3"));
  options.surface_index.reset();
  options.s = 0.05;
  options.vmec_radial_option = 1;
  EXPECT_EQ(read_surface(options).surface.s, 0.375);  // the first and the last node are left out
  options.vmec_radial_option = 2;
  EXPECT_EQ(read_surface(options).surface.s, 0.125);
  EXPECT_THAT(read_surface(options).notes, Contains(HasSubstr("nearest half surface has s = 0.125")));
}

TEST(Equilibrium, SettingsThatContradictTheFileAreRefused) {
  const TemporaryFolder folder;
  SurfaceOptions options;
  options.path = folder.file("wout.nc");
  write_small_wout(options.path);
  options.s = 0.5;
  options.psi_a = 0.5;
  EXPECT_THAT(refused_surface(options), HasSubstr("psi_a = 0.5 was given, but the file has 0.31830989"));
  options.psi_a.reset();
  options.signgs = 1;
  EXPECT_THAT(refused_surface(options), HasSubstr("signgs = 1 was given, but the file has -1"));
  options.signgs.reset();
  options.wout = options.path;
  EXPECT_THAT(refused_surface(options), HasSubstr("this is a wout itself"));
  options.wout.reset();
  options.iota = 0.5;
  EXPECT_THAT(refused_surface(options), HasSubstr("wout.nc: a file: iota has no meaning here"));
}

TEST(Equilibrium, ABoozmnWithoutFluxNeedsItsWout) {
  SONDE_NEED_DATA(data);
  SurfaceOptions options;
  options.path = (data / "neoclassical/boozmn_HSX_QHS_vacuum_ns201.nc").string();
  options.s = 0.25;
  EXPECT_THAT(refused_surface(options), AllOf(HasSubstr("no toroidal flux of the edge"), HasSubstr("--wout")));
  options.wout = (data / "neoclassical/wout_HSX_QHS_vacuum_ns201.nc").string();
  const ReadSurface read = read_surface(options);
  EXPECT_NEAR(std::get<BoozerField>(read.surface.field).flux, 2.6771688118 / (2 * std::numbers::pi), 1e-10);
  options.wout.reset();
  options.psi_a = 2.6771688118 / (2 * std::numbers::pi);
  EXPECT_EQ(read_surface(options).surface.b.cosine, read.surface.b.cosine);
  EXPECT_THAT(read_surface(options).notes, Contains(HasSubstr("signgs = -1")));
  options.psi_a = -0.4;
  EXPECT_THAT(refused_surface(options, ErrorKind::bad_file), HasSubstr("differ in sign"));
  options.psi_a.reset();
  options.wout = (data / "neoclassical/wout_li383_1.4m.nc").string();
  EXPECT_THAT(refused_surface(options), HasSubstr("has 4 field periods"));
}

TEST(Equilibrium, AFluxBesideThatOfTheFileMayOnlyRoundIt) {
  SONDE_NEED_DATA(data);
  SurfaceOptions options;
  options.path = (data / "neoclassical/boozmn_li383_1.4m.nc").string();
  options.s = 0.5;
  options.snap = true;
  const double own = Equilibrium::open(options).psi_a();
  options.psi_a = 1.005 * own;
  EXPECT_THAT(read_surface(options).notes, Contains(HasSubstr("as given; the file has")));
  for (const double factor : {1.02, -1.0, 2 * std::numbers::pi}) {
    options.psi_a = factor * own;
    EXPECT_THAT(refused_surface(options),
                AllOf(HasSubstr("was given, but the file has"), HasSubstr("leave out --psi-a")));
  }
}

/// An equilibrium of another device with as many field periods gives numbers that look like some.
TEST(Equilibrium, AWoutOfAnotherEquilibriumIsRefused) {
  SONDE_NEED_DATA(data);
  const auto pair = [&](const std::string& boozmn, const std::string& wout) {
    SurfaceOptions options;
    options.path = (data / "neoclassical" / ("boozmn_" + boozmn + ".nc")).string();
    options.wout = (data / "neoclassical" / ("wout_" + wout + ".nc")).string();
    return options;
  };
  for (const char* name : {"HSX_QHS_vacuum_ns201", "LandremanSenguptaPlunk_section5p3", "circular_tokamak",
                           "li383_1.4m", "up_down_asymmetric_tokamak"}) {
    SCOPED_TRACE(name);
    EXPECT_NO_THROW((void)Equilibrium::open(pair(name, name)));
  }
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [&] { (void)Equilibrium::open(pair("li383_1.4m", "LandremanSenguptaPlunk_section5p3")); }),
              AllOf(HasSubstr("is not of the equilibrium"), HasSubstr("psi_a is 0.0818")));
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [&] { (void)Equilibrium::open(pair("circular_tokamak", "up_down_asymmetric_tokamak")); }),
              HasSubstr("is not of the equilibrium"));
}

TEST(Equilibrium, WhatIsNoneIsCalledSoBeforeItsSettingsAre) {
  const TemporaryFolder folder;
  SurfaceOptions options;
  options.path = folder.file("notes.txt");
  options.s = 0.5;
  std::ofstream(options.path) << "";
  EXPECT_THAT(refused_surface(options, ErrorKind::bad_file), HasSubstr("notes.txt: not an equilibrium"));
  std::ofstream(options.path) << "somebody's notes\n";
  EXPECT_THAT(refused_surface(options, ErrorKind::bad_file), HasSubstr("notes.txt: not an equilibrium"));
}

/// B_zeta of the Boozer file is that of the wout: one equilibrium, two files.
TEST(Equilibrium, BothFilesOfOneEquilibriumAgree) {
  SONDE_NEED_DATA(data);
  const auto open = [&](const char* name) {
    SurfaceOptions options;
    options.path = (data / "neoclassical" / name).string();
    return Equilibrium::open(options);
  };
  const Equilibrium vmec = open("wout_li383_1.4m.nc"), boozer = open("boozmn_li383_1.4m.nc");
  EXPECT_DOUBLE_EQ(vmec.psi_a(), boozer.psi_a());
  for (const double s : boozer.radii()) {
    EXPECT_NEAR(vmec.profile(s).b_zeta, boozer.profile(s).b_zeta, 1e-12);
    EXPECT_NEAR(vmec.profile(s).b_theta, boozer.profile(s).b_theta, 1e-12);
    EXPECT_NEAR(vmec.profile(s).iota, boozer.profile(s).iota, 1e-12);
  }
  EXPECT_NEAR(*boozer.profile(0.5 / 48).r00, 1.45, 0.1);
}

}  // namespace
}  // namespace sonde::neoclassical
