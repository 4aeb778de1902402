// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/read/dkes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/read/text_lines.h"
#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string namelist = R"(&datain
 nzperiod=  5,
 chip = -0.4512,  psip = -0.5237,   ! two on a line
 btheta =  0.0000, bzeta = -14.0876D0,
 borbi(0,0)=  0.24311E+01,
 borbi(1,0)=  0.11149E+00, borbi( 1 , 1 ) =  -.94228E-01
 borbi(-1,1)=+.54553d-02,
)";

std::string without(const std::string& part) {
  std::string text = namelist;
  text.replace(text.find(part), part.size(), " ");
  return text;
}

std::string refused(const std::string& text) {
  return error_of(ErrorKind::bad_file, [&] {
    Notes notes;
    (void)parse_dkes(text, "x.data", notes);
  });
}

TEST(ParseDkes, ReadsWhatFortranWrites) {
  Notes notes;
  const AnalyticSurface read = parse_dkes(namelist, "x.data", notes);
  EXPECT_EQ(read.periods, 5);
  EXPECT_DOUBLE_EQ(read.iota, -(-0.4512) / -0.5237);  // -chip / psip
  EXPECT_EQ(read.psi_p, -0.5237);
  EXPECT_EQ(read.b_theta, 0);
  EXPECT_EQ(read.b_zeta, -14.0876);
  EXPECT_THAT(read.b.modes, ElementsAre(Mode{0, 0}, Mode{0, 1}, Mode{1, 1}, Mode{1, -1}));  // borbi(n, m)
  EXPECT_THAT(read.b.cosine, ElementsAre(2.4311, 0.11149, -0.094228, 0.0054553));
  EXPECT_THAT(notes, IsEmpty());
}

TEST(ParseDkes, OtherKeysAreIgnoredWithANote) {
  Notes notes;
  const std::string more =
      " lalpha = 100 100, cmul = 1e-3, 1e-2 text = 'a = /', flag = .true. mmnn(1,1) = 2*3\n cmul(3) = 1 /";
  EXPECT_EQ(parse_dkes(namelist + more, "x.data", notes).b.modes.size(), 4);
  EXPECT_THAT(notes, ElementsAre("x.data: ignored lalpha, cmul, text, flag and mmnn"));
  EXPECT_EQ(parse_dkes("a title\n" + namelist + "/ borbi(0,0) = 7", "x.data", notes).b.cosine[0], 2.4311);
}

TEST(ParseDkes, ErrorsNameTheKey) {
  EXPECT_THAT(refused(without("nzperiod=  5,")), HasSubstr("x.data: nzperiod is missing"));
  EXPECT_THAT(refused(without("chip = -0.4512,")), HasSubstr("chip is missing"));
  EXPECT_THAT(refused(without("psip = -0.5237,")), HasSubstr("psip is missing"));
  EXPECT_THAT(refused(without("btheta =  0.0000,")), HasSubstr("btheta is missing"));
  EXPECT_THAT(refused(without("bzeta = -14.0876D0,")), HasSubstr("bzeta is missing"));
  EXPECT_THAT(refused(without("borbi(0,0)=  0.24311E+01,")), HasSubstr("borbi(0,0) is missing"));
  EXPECT_THAT(refused(without("psip = -0.5237,") + "psip = 0"), HasSubstr("psip is zero"));
  EXPECT_THAT(refused(namelist + "borbi(1,1) = 3"), HasSubstr("m = 1, n = 1 is given twice"));
  EXPECT_THAT(refused(namelist + "borbi(1,-1) = 3"), HasSubstr("m = -1, n = 1 is given twice"));  // cos(-x) = cos(x)
  EXPECT_THAT(refused(namelist + "chip = 3"), HasSubstr("chip is given twice"));
  EXPECT_THAT(refused(namelist + "borbi(2) = 3"), HasSubstr("borbi(2) has no two whole subscripts"));
  EXPECT_THAT(refused(namelist + "borbi(2,2) = 3, 4"), HasSubstr("borbi(2,2) has 2 values"));
  EXPECT_THAT(refused(namelist + "borbi(2,2) = nan"), HasSubstr("borbi(2,2) = \"nan\" is not a finite number"));
  EXPECT_THAT(refused(without("nzperiod=  5,") + "nzperiod = 2.5"), HasSubstr("number of field periods is 2.5"));
  EXPECT_THAT(refused(namelist + "borbi 3"), HasSubstr("borbi(-1,1) has 3 values"));
  EXPECT_THAT(refused("&datain 3 = 4"), HasSubstr("\"3 = 4\" is not an assignment"));
  EXPECT_THAT(refused("&other"), HasSubstr("there is no namelist datain"));
}

const std::string stellopt = R"(
 &DKES_INDATA
 nzperiod=  3,  ! periods
 lalpha= 100, nrun = 1,
 cmul =   0.1000E-02, efield = 0.1E+03,
 mpolb =  6,  ntorb =  8,  ibbi = 1,
 chip =  -0.1403,  psip = -0.2783,
 btheta =     4.0E-02, bzeta =  -2.0E+00,
 borbi(0,0)=  0.15E+01, borbi(1,1)=  -.60E-01,
 borbi(-2,3)=  0.10E-01,
 mmnn(1,1)=  0,  9,  0,  1,  2,
  3, 4,
 mpol=17, ntor= 26 /
)";

TEST(ParseDkesOfStellopt, HasTheAnglesAndSignsOfVmec) {
  Notes notes;
  const AnalyticSurface read = parse_dkes(stellopt, "x", notes);
  EXPECT_TRUE(is_namelist(stellopt));
  EXPECT_DOUBLE_EQ(read.iota, 0.1403 / 0.2783);  // chip / psip
  EXPECT_EQ(read.psi_p, -0.2783);
  // The phase m theta - n zeta.
  EXPECT_THAT(read.b.modes, ElementsAre(Mode{0, 0}, Mode{1, -1}, Mode{3, 2}));
  EXPECT_THAT(notes, ElementsAre("x: ignored lalpha, nrun, cmul, efield, mpolb, ntorb, ibbi, mmnn, mpol and ntor",
                                 HasSubstr("left-handed angles")));
  const Surface surface = make_surface(read);
  const auto& field = std::get<BoozerField>(surface.field);
  const double g_iota_i = -2 + read.iota * 0.04;
  EXPECT_DOUBLE_EQ(field.jacobian_b2, -g_iota_i);  // sqrt(g) by psi, of which r runs against: left-handed by r
  EXPECT_EQ(field.flux, -1);
}

TEST(ParseDkesOfStellopt, WhatWouldBeReadAsSomethingElseIsRefused) {
  const auto changed = [](const std::string& from, const std::string& to) {
    std::string text = stellopt;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  const auto unsupported = [](const std::string& text) {
    return error_of(ErrorKind::not_supported, [&] {
      Notes notes;
      (void)parse_dkes(text, "x", notes);
    });
  };
  EXPECT_THAT(unsupported(changed("ibbi = 1", "ibbi = 2")), HasSubstr("x: borbi is not |B|"));
  EXPECT_THAT(unsupported(changed("ibbi = 1", "nvalsb = 0, 1")), HasSubstr("list nvalsb"));
  EXPECT_THAT(refused(changed("bzeta =  -2.0", "bzeta =  2.0")), HasSubstr("psip = -0.2783 and bzeta + iota btheta"));
  EXPECT_THAT(refused(changed("borbi(0,0)=  0.15E+01,", " ")), HasSubstr("borbi(0,0) is missing"));
}

TEST(ParseTable, ReadsScalarsAndRows) {
  const AnalyticSurface read = parse_table(
      "# m n B\nnfp 5\niota = 0.85\npsi_p 1\nb_theta 0.05\nb_zeta=1\n0 0 1.0\n1 0 6e-2  ! helical\n1 -1, .025\n",
      "t.txt");
  EXPECT_EQ(read.periods, 5);
  EXPECT_EQ(read.iota, 0.85);
  EXPECT_THAT(read.b.modes, ElementsAre(Mode{0, 0}, Mode{1, 0}, Mode{1, -1}));
  EXPECT_THAT(read.b.cosine, ElementsAre(1, 0.06, 0.025));
}

TEST(ParseTable, ErrorsNameTheLine) {
  const auto refuse = [](const std::string& text) {
    return error_of(ErrorKind::bad_file, [&] { (void)parse_table(text, "t.txt"); });
  };
  EXPECT_THAT(refuse("nfp 5\niotta 1"), HasSubstr("t.txt, line 2: unknown key iotta; did you mean \"iota\"?"));
  EXPECT_THAT(refuse("1 2 x"), HasSubstr("line 1: \"x\" is not a finite number"));
  EXPECT_THAT(refuse("1.5 2 3"), HasSubstr("line 1: m and n are not whole numbers"));
  EXPECT_THAT(refuse("1 2 3 4"), HasSubstr("line 1: expected"));
  EXPECT_THAT(refuse("nfp 5\niota 1\nchip 1\npsip 1\nbtheta 1\nbzeta 1\n0 0 1"), HasSubstr("both iota and chip"));
  EXPECT_THAT(refuse("nfp 5\niota 1\npsip 1\nbtheta 1\nbzeta 1\n1 0 1"), HasSubstr("m = 0, n = 0 is missing"));
  EXPECT_THAT(refuse(""), HasSubstr("nfp is missing"));
}

TEST(FortranNumber, KnowsItsForms) {
  EXPECT_EQ(fortran_number("-.94228E-01"), -0.094228);
  EXPECT_EQ(fortran_number("+1.5D+3"), 1500.0);
  EXPECT_EQ(fortran_number("2."), 2.0);
  for (const char* text : {"", "+", "1.5x", "1.5D", "inf", "nan", "1e999", "--1"})
    EXPECT_FALSE(fortran_number(text)) << text;
}

TEST(AnalyticDemo, IsThatOfTheTheory) {
  const Surface surface = make_surface(analytic_demo());
  EXPECT_EQ(surface.periods, 5);
  EXPECT_EQ(surface.b.cosine_of({1, 1}), 0.025);
  const auto& field = std::get<BoozerField>(surface.field);
  EXPECT_DOUBLE_EQ(field.jacobian_b2, 1 + 0.85 * 0.05);  // |B_zeta + iota B_theta|
  EXPECT_EQ(field.flux, 1);
}

}  // namespace
}  // namespace sonde::neoclassical
