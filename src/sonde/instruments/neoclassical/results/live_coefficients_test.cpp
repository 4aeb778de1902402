// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/results/live_coefficients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::neoclassical {
namespace {

/// Two radii, three collisionalities, and so many fields; nothing is solved.
CoefficientTables unsolved(std::size_t fields) {
  CoefficientTables tables{.field_name = "Er_tilde",
                           .rho = {0.25, 0.5},
                           .nu_v = {1e-3, 1e-2, 1e-1},
                           .D11_unit = "m^-3 T^-2",
                           .D31_unit = "m^-1 T^-1"};
  for (std::size_t f = 0; f < fields; ++f) tables.fields.push_back(1e-3 * static_cast<double>(f));
  for (auto* table : {&tables.D11, &tables.D31, &tables.D13, &tables.D33, &tables.onsager_residual})
    table->resize(6 * fields);
  return tables;
}

TEST(LiveCoefficients, PointsThatAreNotSolvedAreLeftOut) {
  CoefficientTables tables = unsolved(2);
  tables.D11[2] = 5;  // radius 0, nu 1, field 0
  tables.D31[2] = -0.5;
  tables.D13[2] = 0.5;
  tables.D33[2] = 7;
  LiveCoefficients live;
  live.add(0, 1, 0);
  const Value panels = live.options(tables);
  const Value& curves = *panels.find("D11");
  EXPECT_EQ(curves.find("hint")->as_text(), "rho = 0.25");
  EXPECT_EQ(curves.find("y")->find("unit")->as_text(), "D11 (m^-3 T^-2)");
  EXPECT_EQ(curves.find("x")->find("unit")->as_text(), "1/m");
  EXPECT_TRUE(curves.find("log")->find("x")->as_bool());
  ASSERT_EQ(curves.find("curves")->items().size(), 2U);
  const Value& first = curves.find("curves")->items()[0];
  EXPECT_EQ(first.find("name")->as_text(), "Er_tilde = 0");
  ASSERT_EQ(first.find("y")->items().size(), 3U);
  EXPECT_TRUE(first.find("y")->items()[0].is_null());
  EXPECT_EQ(first.find("y")->items()[1].as_real(), 5);
  EXPECT_TRUE(first.find("y")->items()[2].is_null());
  // A logarithmic axis has magnitudes.
  EXPECT_EQ(panels.find("D31")->find("y")->find("unit")->as_text(), "|D31| (m^-1 T^-1)");
  EXPECT_EQ(panels.find("D31")->find("curves")->items()[0].find("y")->items()[1].as_real(), 0.5);
}

TEST(LiveCoefficients, TheRadiusOfTheLastPointIsDrawnAndPointsWithoutAnAnswerAreMarked) {
  LiveCoefficients live;
  live.add(0, 0, 0);
  live.add(1, 2, 1, "too coarse");
  const Value panels = live.options(unsolved(2));
  EXPECT_EQ(panels.find("D11")->find("hint")->as_text(), "rho = 0.5");
  const Value& table = *panels.find("points");
  ASSERT_EQ(table.find("rows")->items().size(), 2U);
  const Value& newest = table.find("rows")->items()[0];
  EXPECT_EQ(newest.items()[0].as_text(), "0.5");
  EXPECT_EQ(newest.items()[1].as_text(), "0.1");
  EXPECT_TRUE(newest.items()[3].is_null());
  EXPECT_EQ(newest.items()[6].as_text(), "too coarse");
  ASSERT_EQ(table.find("failed")->items().size(), 1U);
  EXPECT_EQ(table.find("failed")->items()[0].as_whole(), 0);
}

TEST(LiveCoefficients, OfManyFieldsEightAreDrawnEvenly) {
  const Value panels = LiveCoefficients().options(unsolved(12));
  const Value& curves = *panels.find("D11");
  EXPECT_EQ(curves.find("hint")->as_text(), "rho = 0.25, 8 of 12 fields");
  ASSERT_EQ(curves.find("curves")->items().size(), 8U);
  EXPECT_EQ(curves.find("curves")->items()[7].find("name")->as_text(), "Er_tilde = 0.011");
}

TEST(LiveCoefficients, ATwelfthPointIsTheLastThatIsListed) {
  LiveCoefficients live;
  for (Index i = 0; i < 20; ++i) live.add(0, i % 3, 0);
  EXPECT_EQ(live.options(unsolved(1)).find("points")->find("rows")->items().size(), 12U);
}

}  // namespace
}  // namespace sonde::neoclassical
