// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/figure/chart_svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/errors.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Chart decay() {
  Facet facet{.title = "R & D",
              .x = {.title = "iteration"},
              .y = {.title = "error", .log = true},
              .series = {{.name = "R_I", .x = {1, 2, 3, 4}, .y = {1, 0.1, NAN, 0.01}, .mark = Mark::lines}},
              .references = {{.value = 0.02, .label = "floor"}}};
  return {.facets = {facet}};
}

/// The numbers of every element `name`, one line each, as an XML parser of its own reads them.
std::string read(const std::string& svg, const std::string& script) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder.file("c.svg")) << svg;
  return testing::python(
      "import sys, xml.etree.ElementTree as E\nn = '{http://www.w3.org/2000/svg}'\nt = E.parse(sys.argv[1])\n" + script,
      folder.file("c.svg"));
}

TEST(ChartSvg, IsWellFormedAndNamesWhatItShows) {
  EXPECT_EQ(read(chart_svg(decay()),
                 "print(t.getroot().get('aria-label'), [e.text for e in t.iter(n + 'text') if e.text in ('R & D', "
                 "'iteration', 'error', 'floor', 'R_I')])\n"),
            "R & D ['R & D', 'iteration', 'error', 'floor', 'R_I']\n");
}

TEST(ChartSvg, EqualRatiosAreEqualDistancesOnALogarithmicAxis) {
  // Two decades below 1 is twice one decade below; the missing value breaks the line, so that the last point is
  // isolated.
  EXPECT_EQ(read(chart_svg(decay()),
                 "d = [e.get('d') for e in t.iter(n + 'path')][0]\n"
                 "p = [tuple(map(float, q.split())) for q in d.replace('M', 'L').split('L')[1:]]\n"
                 "print(len(p), d.count('M'), abs((p[2][1] - p[0][1]) - 2 * (p[1][1] - p[0][1])) < 0.03, "
                 "abs((p[2][0] - p[0][0]) - 3 * (p[1][0] - p[0][0])) < 0.03)\n"),
            "3 2 True True\n");
}

TEST(ChartSvg, MarksAreRound) {
  EXPECT_THAT(axis_marks(0, 10, false, 5), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(axis_marks(1, 1000, true, 10), ElementsAre(1, 10, 100, 1000));
  EXPECT_THAT(axis_marks(0.9, 6, true, 10), ElementsAre(1, 2, 5));
  const std::vector<double> narrow = axis_marks(0.185, 0.213, true, 5);  // no power of ten, no 2 nor 5 but one
  EXPECT_GE(narrow.size(), 3u);
  for (const double mark : narrow) EXPECT_NEAR(std::remainder(mark, 0.005), 0, 1e-12) << mark;
}

TEST(ChartSvg, MarksOfManyDecadesAreWrittenAsPowers) {
  Chart chart = decay();
  chart.facets[0].series[0].y = {1, 1e-2, 1e-4, 1e-6};
  EXPECT_EQ(read(chart_svg(chart),
                 "print([e.text for e in t.iter(n + 'text') if e.text.startswith('10')] == ['10\\u207b\\u2076', "
                 "'10\\u207b\\u2075', '10\\u207b\\u2074', '10\\u207b\\u00b3', '10\\u207b\\u00b2', "
                 "'10\\u207b\\u00b9', '10\\u2070'])\n"),
            "True\n");
}

TEST(ChartSvg, ALabelKeepsAwayFromCurves) {
  // A curve that falls onto its floor at the right: the label of the floor stands at the left.
  Chart chart = decay();
  chart.facets[0].references[0].value = 0.009;
  EXPECT_EQ(read(chart_svg(chart), "print([e.get('text-anchor') for e in t.iter(n + 'text') if e.text == 'floor'])\n"),
            "['start']\n");
}

TEST(ChartSvg, ColoursAndSymbolsAreThoseOfTheSeries) {
  Chart chart = decay();
  chart.facets[0].series[0] = {.name = "", .x = {1, 2}, .y = {1, 1}, .mark = Mark::points, .colour = "#123456"};
  EXPECT_THAT(chart_svg(chart), HasSubstr("fill=\"#123456\""));
  chart.facets[0].series[0].symbol = Symbol::ring;
  EXPECT_THAT(chart_svg(chart), HasSubstr("fill=\"white\" stroke=\"#123456\""));
}

TEST(ChartSvg, RefusesWhatItDoesNotDraw) {
  Chart chart = decay();
  chart.facets[0].series[0] = {.name = "x", .y = {1}, .mark = Mark::bars};
  chart.facets[0].categories = {"one"};
  EXPECT_THAT(testing::error_of(ErrorKind::not_supported, [&] { (void)chart_svg(chart); }), HasSubstr("bars"));
  chart = decay();
  chart.facets[0].map = HeightMap{};
  EXPECT_THAT(testing::error_of(ErrorKind::not_supported, [&] { (void)chart_svg(chart); }), HasSubstr("map"));
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input, [] { (void)chart_svg({}); }), HasSubstr("without facets"));
}

}  // namespace
}  // namespace sonde
