// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/profiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/instruments/neoclassical/transport/profile_file.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::HasSubstr;

TEST(Profiles, TheStandardPlasmaIsNeutralAndItsSlopesAreDerivatives) {
  const double a_b = 0.5, h = 1e-6;
  for (const double rho : {0.1, 0.5, 0.9}) {
    const std::vector<Population> plasma = standard_plasma({}, rho, a_b), out = standard_plasma({}, rho + h, a_b),
                                  in = standard_plasma({}, rho - h, a_b);
    double charge = 0, charge_slope = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      charge += plasma[a].species.charge * plasma[a].density;
      charge_slope += plasma[a].species.charge * plasma[a].density_slope;
      const double wide = 2 * h * a_b;
      EXPECT_NEAR(plasma[a].density_slope, (out[a].density - in[a].density) / wide, 1e-6 * 1e21);
      EXPECT_NEAR(plasma[a].temperature_slope / ((out[a].temperature - in[a].temperature) / wide), 1, 1e-8);
    }
    EXPECT_EQ(charge, 0);
    EXPECT_EQ(charge_slope, 0);
  }
  EXPECT_NEAR(standard_plasma({}, 0, 1)[0].density, 4.81e20, 1e8);
  EXPECT_NEAR(standard_plasma({}, 1, 1)[1].temperature / elementary_charge, 700, 1e-9);
  error_of(ErrorKind::bad_input, [] { (void)standard_plasma({}, 1.1, 1); });
}

constexpr const char* table = R"(# a plasma
rho, n_e, T_e, T_D, n_D, Er
0, 1e20, 2000, 1800, 1e20, 0
0.5, 8e19, 1000, 900, 8e19, -1.5e3   # mid radius
1, 2E19, 100, 90, 2e19, -2000
)";

TEST(Profiles, ATableIsReadByTheNamesOfItsColumns) {
  const TemporaryFolder folder;
  std::ofstream(folder.file("p.csv")) << table;
  const TabulatedProfiles profiles = read_profiles(folder.file("p.csv"));
  const std::vector<Population> plasma = profiles.plasma(0.5, 2);
  ASSERT_EQ(plasma.size(), 2);
  const Population& e = plasma[0].species.name == "e" ? plasma[0] : plasma[1];
  const Population& d = plasma[0].species.name == "e" ? plasma[1] : plasma[0];
  EXPECT_EQ(e.density, 8e19);
  EXPECT_EQ(d.temperature, 900 * elementary_charge);
  EXPECT_EQ(profiles.radial_field(0.5), -1500);
  // Equal intervals, secants -2000 and -1800 eV per rho: their harmonic mean, over a_b = 2.
  EXPECT_NEAR(e.temperature_slope / elementary_charge, -2 / (1 / 2000.0 + 1 / 1800.0) / 2, 1e-9);
}

TEST(Profiles, TheSameAsHdf5) {
  const TemporaryFolder folder;
  Hdf5Writer writer(folder.file("p.h5"));
  writer.array("/rho", Array::from<double>({0, 1}, {2}));
  writer.array("/n_e", Array::from<double>({2e19, 1e19}, {2}));
  writer.array("/T_e", Array::from<double>({300, 100}, {2}));
  writer.finish();
  const TabulatedProfiles profiles = read_profiles(folder.file("p.h5"));
  EXPECT_EQ(profiles.plasma(0.5, 1)[0].density, 1.5e19);
  EXPECT_FALSE(profiles.radial_field(0.5));
}

TEST(Profiles, WhatIsNoProfileIsNamedWithItsPlace) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string text = table;
    text.replace(text.find(from), from.size(), to);
    std::ofstream(folder.file("p.csv")) << text;
    return error_of(ErrorKind::bad_file, [&] { (void)read_profiles(folder.file("p.csv")); });
  };
  EXPECT_THAT(refused("rho,", "s,"), HasSubstr("p.csv: there is no column rho"));
  EXPECT_THAT(refused("T_e", "T_T"), HasSubstr("there is no column n_T"));
  EXPECT_THAT(refused("Er\n", "E\n"), HasSubstr("a column E is not known"));
  EXPECT_THAT(refused("T_e", "n_e"), HasSubstr("two columns are named n_e"));
  EXPECT_THAT(refused("1000,", "abc,"), HasSubstr("line 4, column T_e: \"abc\" is not a number"));
  EXPECT_THAT(refused("1000,", ""), HasSubstr("line 4 has 5 columns"));
  EXPECT_THAT(refused("1000,", "0,"), HasSubstr("T_e is 0 in place 2"));
  EXPECT_THAT(refused("8e19,", "nan,"), HasSubstr("n_e is nan in place 2"));
  EXPECT_THAT(refused("0.5,", "0,"), HasSubstr("do not increase"));
  EXPECT_THAT(refused("\n1, 2E19", "\n2, 2E19"), HasSubstr("expected 0 <= rho <= 1"));
  std::ofstream(folder.file("p.csv")) << "rho, n_W, T_W\n0, 1, 1\n1, 1, 1\n";
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)read_profiles(folder.file("p.csv")); }),
              HasSubstr("no species \"W\""));
  std::ofstream(folder.file("p.csv")) << "";
  error_of(ErrorKind::bad_file, [&] { (void)read_profiles(folder.file("p.csv")); });
  error_of(ErrorKind::bad_file, [&] { (void)read_profiles(folder.file("none.csv")); });
}

TEST(Profiles, BeyondTheTableNothingIsGuessed) {
  const TabulatedProfiles profiles({0.2, 0.8}, {{species("e"), {1e20, 1e20}, {100, 50}}});
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)profiles.plasma(0.1, 1); }),
              HasSubstr("rho = 0.1: the profiles are given from 0.2 to 0.8"));
  error_of(ErrorKind::bad_input, [&] { (void)profiles.radial_field(0.9); });
}

}  // namespace
}  // namespace sonde::neoclassical
