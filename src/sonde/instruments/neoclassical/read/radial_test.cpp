// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/read/radial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <cmath>

namespace sonde::neoclassical {
namespace {

using ::testing::ElementsAre;

TEST(RadialRule, ANodeGivesItsOwnRow) {
  const std::vector<double> nodes{0.1, 0.3, 0.7}, profile{2, -5, 0.3};
  for (std::size_t j = 0; j < nodes.size(); ++j) EXPECT_EQ(radial_rule(nodes, nodes[j])(profile), profile[j]);
  EXPECT_EQ(radial_rule(std::vector{0.5}, 0.2)(std::vector{4.0}), 4.0);
}

TEST(RadialRule, IsTheCubicHermiteOfCentralSlopes) {
  const std::vector<double> nodes{0.0, 1.0, 3.0, 4.0}, f{1, 2, -1, 0.5};
  // Cell 1..3: value and slope at both ends, evaluated at t = 1/4 by the Hermite basis.
  const double h = 2, t = 0.25, left = (f[2] - f[0]) / 3, right = (f[3] - f[1]) / 3;
  const double expected = f[1] * (2 * t * t * t - 3 * t * t + 1) + h * left * (t * t * t - 2 * t * t + t) +
                          f[2] * (3 * t * t - 2 * t * t * t) + h * right * (t * t * t - t * t);
  EXPECT_NEAR(radial_rule(nodes, 1.5)(f), expected, 1e-15);
  EXPECT_FALSE(radial_rule(nodes, 1.5).continued);
  EXPECT_TRUE(radial_rule(nodes, -0.1).continued);
  EXPECT_TRUE(radial_rule(nodes, 4.1).continued);
}

TEST(RadialRule, ContinuesTheEndCellsCubic) {
  // Four values of a cubic decide it: those of the end cell, extrapolated by Lagrange's formula.
  const std::vector<double> nodes{0.5, 1.5, 2.5, 3.5}, f{1, 4, -2, 3};
  const auto at = [&](double s) { return radial_rule(nodes, s)(f); };
  const std::vector<double> x{0.6, 0.9, 1.2, 1.4};
  double expected = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    double product = at(x[i]);
    for (std::size_t j = 0; j < x.size(); ++j)
      if (j != i) product *= (0.1 - x[j]) / (x[i] - x[j]);
    expected += product;
  }
  EXPECT_NEAR(at(0.1), expected, 1e-11);  // Lagrange's weights are about 1e3
}

RC_GTEST_PROP(RadialRuleProperty, StraightLinesAreExact, (double slope, double offset)) {
  slope = std::fmod(slope, 1e6);
  offset = std::fmod(offset, 1e6);
  const std::vector<double> nodes{0.01, 0.2, 0.25, 0.6, 1.0};
  std::vector<double> line;
  for (const double s : nodes) line.push_back(offset + slope * s);
  for (const double s : {0.0, 0.1, 0.22, 0.5, 0.99})
    RC_ASSERT(std::abs(radial_rule(nodes, s)(line) - (offset + slope * s)) <=
              1e-14 * (std::abs(offset) + std::abs(slope)));
}

TEST(RadialRule, CombinesWholeTables) {
  const HarmonicTable table{2, 2, {1, 2, 3, 4}, {10, 20, 30, 40}};
  const Series series = radial_rule(std::vector{0.0, 1.0}, 0.5)(table, {{0, 0}, {1, 0}});
  EXPECT_THAT(series.cosine, ElementsAre(2, 3));
  EXPECT_THAT(series.sine, ElementsAre(20, 30));
  const HarmonicTable even{1, 1, {5}, {}};
  EXPECT_TRUE(radial_rule(std::vector{0.5}, 0.5)(even, {{0, 0}}).sine.empty());
}

}  // namespace
}  // namespace sonde::neoclassical
