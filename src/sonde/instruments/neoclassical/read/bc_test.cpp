// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/read/bc.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/read/boozmn.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double pi = std::numbers::pi;

/// B = b + e cos(theta) - 0.01 cos(theta - 5 zeta), so that <1/B^2> is known to first order in the small harmonic.
std::string text(double jacobian_factor = 1, double flux = -2, double curr_tor = 1e4) {
  std::string made = "CC title\n m0b n0b nsurf nper flux a R\n 1 1 2 5 " + fmt::format("{}", flux) + " 0.5 5.5\n";
  for (const double s : {0.25, 0.75}) {
    const double b = 3, e = 0.3, iota = 0.9 + 0.1 * s;
    const double mu0 = 4e-7 * pi, g = mu0 * -1.8e7 * 5 / (2 * pi), i = mu0 * curr_tor / (2 * pi);
    const double mean = std::pow(b * b - e * e, -1.5) * b;  // of 1 / (b + e cos)^2
    const double jacobian = -4 * pi * pi / 5 * (2 / (2 * pi)) * std::abs(g + iota * i) * mean * jacobian_factor;
    made += " s iota curr_pol/nper curr_tor pprime sqrt g(0,0)\n [A] [A] dp/ds (dV/ds)/nper\n";
    made += fmt::format(" {} {} -1.8E+07 {} 0.0 {:.8e}\n", s, iota, curr_tor, jacobian);
    made += "    m    n r/[m] z/[m] (phib-phi)*nper/twopi bmn/[T]\n";
    made += fmt::format(" 0 0 5.5 0.0 0.0 {}\n 1 0 0.5 0.5 0.1 {}\n", b, e);
    if (s > 0.5) made += " 1 1 0.0 0.0 0.01 1.0E-4\n";
  }
  return made;
}

TEST(Bc, UnitsSignsAndModesAreThoseOfTheFormat) {
  const BoozerFile file = parse_bc(text(), "x.bc");
  EXPECT_EQ(file.periods, 5);
  EXPECT_EQ(file.sign_jacobian, -1);
  EXPECT_NEAR(*file.psi_a, -1 / pi, 1e-15);
  EXPECT_THAT(file.s, ElementsAre(0.25, 0.75));
  EXPECT_NEAR(file.b_zeta[0], -18, 1e-12);  // mu0 curr_pol nper / 2 pi = 2e-7 (-1.8e7) 5
  EXPECT_NEAR(file.b_theta[1], 2e-3, 1e-15);
  EXPECT_THAT(file.modes, ElementsAre(Mode{0, 0}, Mode{1, 0}, Mode{1, -1}));  // phase m theta - n nper zeta
  EXPECT_THAT(file.b.cosine, ElementsAre(3, 0.3, 0, 3, 0.3, 1e-4));           // absent on the first surface
  EXPECT_NEAR(file.zeta_shift.sine[1], 0.1 * 2 * pi / 5, 1e-15);
  EXPECT_FALSE(file.asymmetric);
}

TEST(Bc, TenColumnsAreCosinesAndSines) {
  std::string asymmetric = text();
  for (const char* row : {" 0 0 5.5 0.0 0.0 3", " 1 0 0.5 0.5 0.1 0.3", " 1 1 0.0 0.0 0.01 1.0E-4"})
    for (std::size_t at = asymmetric.find(std::string(row) + "\n"); at != std::string::npos;
         at = asymmetric.find(std::string(row) + "\n")) {
      const std::string start(row, 4), b = std::string(row).substr(std::string(row).rfind(' '));
      asymmetric.replace(at, std::string(row).size(), start + " 1 2 3 4 5 6" + b + " 1e-5");
    }
  const BoozerFile file = parse_bc(asymmetric, "x.bc");
  EXPECT_TRUE(file.asymmetric);
  EXPECT_EQ(file.b.sine[1], 1e-5);
  EXPECT_EQ(file.r.sine[1], 2);
  EXPECT_EQ(file.z.cosine[1], 3);
}

TEST(Bc, WhatDoesNotBelongTogetherIsRefused) {
  const auto refused = [](const std::string& bad) {
    return error_of(ErrorKind::bad_file, [&] { (void)parse_bc(bad, "x.bc"); });
  };
  EXPECT_THAT(refused(text(1.001)), AllOf(HasSubstr("at s = 0.25 sqrtg(0,0)"), HasSubstr("psi_a (G + iota I)")));
  EXPECT_THAT(refused(text(1, 2)), HasSubstr("differ in sign"));
  EXPECT_THAT(refused(text(1, 0)), HasSubstr("line 3: flux is 0"));
  const auto changed = [](const std::string& from, const std::string& to) {
    std::string made = text();
    made.replace(made.find(from), from.size(), to);
    return made;
  };
  EXPECT_THAT(refused(text().substr(0, 250)), HasSubstr("x.bc"));
  EXPECT_THAT(refused(changed("1 1 2 5", "1 1 3 5")), HasSubstr("2 of 3 surfaces: the file is cut off"));
  EXPECT_THAT(refused(changed(" 0 0 5.5 0.0 0.0 3", " 0 0 5.5 0.0 3")), HasSubstr("line 8: 5 columns"));
  EXPECT_THAT(refused(changed(" 0 0 5.5 0.0 0.0 3", " 0 0 5.5 0.0 0.0 -3")), HasSubstr("bmn(0,0) is -3"));
  EXPECT_THAT(refused(changed(" 0 0 5.5 0.0 0.0 3", " 0 0 5.5 0.0 0.0 nan")),
              HasSubstr("bmn: \"nan\" is not a finite"));
  EXPECT_THAT(refused(changed(" 1 0 0.5", " 0 0 0.5")), HasSubstr("m = 0, n = 0 twice"));
  EXPECT_THAT(refused(changed(" 0.75 ", " 0.15 ")), HasSubstr("s = 0.15 does not increase"));
  EXPECT_THAT(refused("CC\n"), HasSubstr("no line m0b n0b"));
}

TEST(Bc, TheStandardCaseOfW7xIsConsistentOnEverySurface) {
  SONDE_NEED_DATA(data);
  // Reading checks sqrtg(0,0), signs and b00 of all 97 surfaces.
  BoozerFile file = read_bc((data / "neoclassical/w7x-sc1.bc").string());
  ASSERT_EQ(file.s.size(), 97);
  EXPECT_EQ(file.ns, 99);
  EXPECT_EQ(file.sign_jacobian, -1);
  Notes notes;
  const RadialProfile profile = profile_at(file, 0.25, {}, notes);
  EXPECT_NEAR(profile.b_zeta, -17.885, 1e-3);  // spec of the format and of this file
  EXPECT_NEAR(profile.b00, 3.089, 1e-3);
  EXPECT_NEAR(profile.iota, 0.8701, 1e-4);

  const sonde::testing::TemporaryFolder folder;
  write_boozmn(folder.file("b.nc"), file);
  const BoozerFile again = read_boozmn(folder.file("b.nc"));
  EXPECT_EQ(again.b.cosine, file.b.cosine);
  EXPECT_EQ(std::vector(again.iota.begin() + 1, again.iota.end()), file.iota);  // the file begins at the second node
  EXPECT_EQ(std::vector(again.b_zeta.begin() + 1, again.b_zeta.end()), file.b_zeta);
}

}  // namespace
}  // namespace sonde::neoclassical
