// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/traces_chart.h"

#include <gtest/gtest.h>

#include "sonde/instruments/maxwell/results/gprmax_result.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

GprmaxOutput line_of_three() {
  GprmaxOutput output{.title = "a line", .iterations = 2, .runs = 3, .dt = 1e-9};
  output.spacing = {0.01, 0.01, 0.01};
  output.rx_steps = {2, 0, 0};
  output.receivers.push_back(
      {"Rx(1,1,1)", {0.5, 0, 0}, {{Component::Ez, {1, 2, 3, -9, 5, 6}}, {Component::Ex, {0, 0, 1, 0, 0, 0}}}});
  return output;
}

TEST(Ascan, HasOnePairOfAxesForEachComponentInNanoseconds) {
  const Chart chart = ascan_chart("one", 2e-9, {{"Ez", "V/m", {1, 2, 3}}, {"Hx", "A/m", {4, 5, 6}}});
  ASSERT_EQ(chart.facets.size(), 2U);
  EXPECT_EQ(chart.facets[1].y.unit, "A/m");
  EXPECT_EQ(chart.facets[0].series.front().x, (std::vector<double>{0, 2, 4}));
}

TEST(Bscan, ShowsTheStrongestComponentOverPositionWithTimeDownwards) {
  const Chart chart = traces_chart(line_of_three(), {});
  const Facet& facet = chart.facets.front();
  EXPECT_EQ(facet.map->title, "Ez (V/m)");
  EXPECT_NEAR(facet.map->x.back(), 0.54, 1e-12);
  EXPECT_EQ(facet.map->z, (std::vector<double>{1, 2, 3, -9, 5, 6}));
  EXPECT_GT(*facet.y.low, *facet.y.high);
}

TEST(Bscan, OfALineThatRunsBackwardsAscends) {
  GprmaxOutput output = line_of_three();
  output.rx_steps = {-2, 0, 0};
  const Chart chart = traces_chart(output, {});
  EXPECT_EQ(chart.facets.front().map->z, (std::vector<double>{3, 2, 1, 6, 5, -9}));
  EXPECT_LT(chart.facets.front().map->x.front(), chart.facets.front().map->x.back());
}

TEST(Bscan, CountsTimeFromTimeZeroAndTracesThatAreUneven) {
  const Chart chart = line_chart(
      {.traces = 3, .samples = 2, .values = {1, 2, 3, 4, 5, 6}, .dt = 1e-9, .time_zero = 1e-9, .positions = {0, 1, 5}});
  EXPECT_EQ(chart.facets.front().map->y, (std::vector<double>{-1, 0}));
  EXPECT_EQ(chart.facets.front().map->x, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(chart.facets.front().map->title, "amplitude (count)");
}

TEST(Traces, ThatTheFileDoesNotHaveAreNamed) {
  using sonde::testing::error_of;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { (void)traces_chart(line_of_three(), {.receiver = 4}); }),
              ::testing::HasSubstr("receiver 5: the file has 1"));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { (void)traces_chart(line_of_three(), {.component = Component::Hx}); }),
              ::testing::HasSubstr("receiver Rx(1,1,1) has no Hx"));
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [] {
                         (void)bscan_chart({.traces = 1, .samples = 2, .values = {1, 2}});
                       }),
              ::testing::HasSubstr("1 trace: a B-scan has at least two"));
}

}  // namespace
}  // namespace sonde::maxwell
