// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/guided_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sonde/instruments/neoclassical/transport/radial_transport.h"
#include "sonde/instruments/neoclassical/transport/test_source.h"
#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;
using testing::three_roots;

using Current = std::function<double(double)>;

/// Levels that are off by `first`, then a quarter of that, and so on, in waves.
CurrentGuide guide_of(const Current& current, double first, int levels, double cost = 1) {
  return {.levels = levels,
          .make = [=](int level) -> Current {
            return [=](double er) {
              return current(er) + first * std::pow(0.25, level) * std::sin(er / 900 + 2.0 * level);
            };
          },
          .cost = [=](int) { return cost; }};
}

void expect_same(const GuidedRoots& guided, const AmbipolarRoots& plain) {
  ASSERT_EQ(guided.found.roots.size(), plain.roots.size());
  EXPECT_EQ(guided.found.chosen, plain.chosen);
  for (std::size_t i = 0; i < plain.roots.size(); ++i) {
    EXPECT_NEAR(guided.found.roots[i].E_r, plain.roots[i].E_r, 1e-3);  // two tolerances of the search
    EXPECT_EQ(guided.found.roots[i].kind, plain.roots[i].kind);
  }
}

TEST(GuidedSearch, FindsTheRootsOfTheCurrentProperWithFewOfIt) {
  Index asked = 0;
  const Current counted = [&](double er) {
    ++asked;
    return three_roots(er);
  };
  const GuidedRoots made = guided_roots(counted, guide_of(three_roots, 10, 3), {});
  expect_same(made, ambipolar_roots(three_roots, {}));
  EXPECT_EQ(made.asked, asked) << "no field twice";
  EXPECT_LT(asked, 40);
  EXPECT_GT(made.error, 0);
}

TEST(GuidedSearch, FindsAPairThatTheGuidesHide) {
  // Two roots 1.2 kV/m apart where the current hardly dips below 0: every guide has it above.
  const Current dip = [](double er) { return std::pow((er - 5e3) / 1e3, 2) - 0.36 + 1e-3 * (er + 2e4) / 1e3; };
  CurrentGuide guide;
  guide.make = [&](int level) -> Current {
    return
        [&dip, level](double er) { return dip(er) + (level == 0 ? 2.0 : 1.0) * std::exp(-std::abs(er - 5e3) / 4e3); };
  };
  guide.cost = [](int) { return 1e9; };
  ASSERT_EQ(ambipolar_roots(dip, {}).roots.size(), 2);
  expect_same(guided_roots(dip, guide, {}), ambipolar_roots(dip, {}));
}

TEST(GuidedSearch, ACloserGuideIsMadeWhereItCostsLess) {
  EXPECT_EQ(guided_roots(three_roots, guide_of(three_roots, 10, 5, 1e9), {}).level, 1);
  const GuidedRoots close = guided_roots(three_roots, guide_of(three_roots, 10, 5, 0.1), {});
  EXPECT_EQ(close.level, 2) << "which leaves no point of the grid in doubt";
  EXPECT_LT(close.error, guided_roots(three_roots, guide_of(three_roots, 10, 5, 1e9), {}).error);
}

TEST(GuidedSearch, WithoutARootAndWithACurrentThatIsNoNumber) {
  const Current one = [](double) { return 1.0; };
  const GuidedRoots none = guided_roots(one, guide_of(one, 0.1, 2), {});
  EXPECT_TRUE(none.found.roots.empty());
  EXPECT_FALSE(none.found.chosen);
  EXPECT_EQ(none.asked, 0);
  const Current broken = [](double) { return std::nan(""); };
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)guided_roots(one, guide_of(broken, 0.1, 2), {}); }),
              HasSubstr("the current at E_r = "));
}

TEST(GuidedSearch, ByTablesOfASurfaceGivesTheRootsOfItsCoefficients) {
  Index asked = 0;
  testing::Formula stellarator([&](double nu_hat, double er_hat) {
    ++asked;
    const double d11 = 1e-6 * nu_hat / (nu_hat * nu_hat + 30 * er_hat * er_hat + 1e-12) + 1e-7 * nu_hat;
    return Dij{d11, 0.02, -0.02, 0.4 / nu_hat};
  });
  stellarator.varying = 1.5e-7;
  const testing::FormulaEverywhere source(stellarator);
  const std::vector<RadialInput> input{{0.5, testing::mixed_plasma(), std::nullopt, 0}};
  for (const std::optional<int> order : {std::optional<int>(), std::optional<int>(2)}) {
    TransportOptions options;
    options.sonine_order = order;
    options.energies = 24;
    asked = 0;
    const RadialResult plain = radial_transport(source, input, options).at(0);
    const Index of_plain = asked;
    EXPECT_EQ(plain.search.fields, 0);
    options.search = FieldSearch::guided;
    asked = 0;
    const RadialResult guided = radial_transport(source, input, options).at(0);
    ASSERT_EQ(guided.roots.roots.size(), plain.roots.roots.size());
    EXPECT_NEAR(guided.E_r, plain.E_r, 1e-3);
    EXPECT_LT(asked, of_plain / 8);
    EXPECT_GT(guided.search.table_points, 100);
    EXPECT_LT(guided.search.fields, 20);
    ASSERT_EQ(guided.search.by_table.size(), 3);
    EXPECT_NEAR(guided.search.by_table[1].L11 / guided.L[1].L11, 1, 0.02);
    EXPECT_NE(guided.search.by_table[1].L11, guided.L[1].L11);
  }
}

}  // namespace
}  // namespace sonde::neoclassical
