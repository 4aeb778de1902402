// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/optics/aberrations.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
using std::numbers::pi;
using ::testing::HasSubstr;

constexpr double lambda = 0.025, alpha = 0.018, phi = 0.7;
// A handful of operations on numbers of at most a few hundred radians.
constexpr double tolerance = 1e-12;

struct Term {
  int n, m;
};
class EachAberration : public ::testing::TestWithParam<Term> {};

TEST_P(EachAberration, BendsTheWaveAsItsDefinitionSays) {
  const auto [n, m] = GetParam();
  Aberrations lens;
  lens.set(fmt::format("C{}{}", n, m), 1234.5);
  double angle = 0;
  if (m > 0) {
    angle = 0.3;
    lens.set(fmt::format("phi{}{}", n, m), angle);
  }
  double power = 1;
  for (int i = 0; i <= n; ++i) power *= alpha;
  const double expected = 2 * pi / lambda * power / (n + 1) * 1234.5 * std::cos(m * (phi - angle));
  EXPECT_NEAR(lens.chi(alpha, phi, lambda), expected, tolerance * std::max(1.0, std::abs(expected)));
}

INSTANTIATE_TEST_SUITE_P(All, EachAberration,
                         ::testing::Values(Term{1, 0}, Term{1, 2}, Term{2, 1}, Term{2, 3}, Term{3, 0}, Term{3, 2},
                                           Term{3, 4}, Term{4, 1}, Term{4, 3}, Term{4, 5}, Term{5, 0}, Term{5, 2},
                                           Term{5, 4}, Term{5, 6}));

TEST(Aberrations, AddUp) {
  Aberrations both, one, other;
  both.set("C10", -150);
  one.set("C10", -150);
  both.set("C30", 1e7);
  other.set("C30", 1e7);
  EXPECT_NEAR(both.chi(alpha, phi, lambda), one.chi(alpha, phi, lambda) + other.chi(alpha, phi, lambda), 1e-11);
}

TEST(Aberrations, DefocusIsTheSameInFrequencies) {
  Aberrations lens;
  lens.set("C10", 200);
  const double k = alpha / lambda;
  EXPECT_NEAR(lens.chi(alpha, phi, lambda), pi * lambda * 200 * k * k, 1e-12);
}

TEST(Aberrations, AliasesAreOtherNamesOfTheSame) {
  Aberrations alias, plain;
  alias.set("defocus", 150);
  alias.set("Cs", 1.2e7);
  alias.set("C5", 3e7);
  plain.set("C10", -150);
  plain.set("C30", 1.2e7);
  plain.set("C50", 3e7);
  EXPECT_EQ(alias, plain);
  EXPECT_EQ(plain.get("defocus"), 150);
  EXPECT_EQ(plain.get("Cs"), 1.2e7);
}

TEST(Aberrations, UnknownNamesComeWithTheNearest) {
  const std::string text = error_of(ErrorKind::bad_input, [] { Aberrations().set("phi11", 1); });
  EXPECT_THAT(text, HasSubstr("unknown aberration \"phi11\""));
  EXPECT_THAT(text, HasSubstr("did you mean"));
  EXPECT_THAT(text, HasSubstr("phi12"));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { Aberrations().set("defokus", 1); }), HasSubstr("\"defocus\""));
}

TEST(Aberrations, RoundOnesHaveNoAngle) {
  error_of(ErrorKind::bad_input, [] { Aberrations().set("phi10", 1); });
  error_of(ErrorKind::bad_input, [] { (void)Aberrations().get("phi30"); });
}

TEST(Aberrations, ValuesAreFinite) {
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { Aberrations().set("C30", std::numeric_limits<double>::infinity()); }),
              HasSubstr("C30 = inf"));
}

TEST(Aberrations, EveryNameIsTaken) {
  EXPECT_EQ(Aberrations::names().size(), 14u + 11u + 3u);
  for (const std::string& name : Aberrations::names()) {
    SCOPED_TRACE(name);
    Aberrations lens;
    lens.set(name, 0.5);
    EXPECT_EQ(lens.get(name), 0.5);
  }
}

}  // namespace
}  // namespace sonde::ptycho
