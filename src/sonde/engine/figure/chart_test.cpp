// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/figure/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "sonde/engine/base/log.h"
#include "sonde/engine/base/process.h"
#include "sonde/engine/report/json.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;

Chart example() {
  Facet lines{
      .title = "time against size",
      .x = {.title = "frames", .log = true},
      .y = {.title = "time", .unit = "s", .log = true},
      .series = {{.name = "one_thread", .x = {1, 10, 100}, .y = {0.1, 1, 10}},
                 {.name = "O'Brien", .x = {1, 10, 100}, .y = {0.2, NAN, 5}, .low = {0.1, 1, 4}, .high = {0.3, 2, 6}}},
      .references = {{.value = 2, .label = "limit"}}};
  Facet bars{.x = {.title = "rate", .unit = "GB/s"},
             .series = {{.name = "now", .y = {1, 2}, .mark = Mark::bars}},
             .categories = {"read", "decode"},
             .references = {{.value = 1.5, .label = "machine"}}};
  return {.title = "example", .facets = {lines, bars}};
}

bool gnuplot_is_there() { return program_output({"gnuplot", "--version"}).has_value(); }

TEST(Chart, ScriptNamesItsPicturesAndKeepsTheNumbers) {
  const std::string script = chart_script(example(), "speed");
  EXPECT_THAT(script, HasSubstr("set output 'speed.png'"));
  EXPECT_THAT(script, HasSubstr("set output 'speed.pdf'"));
  EXPECT_THAT(script, HasSubstr("$facet0_0 << EOD\n1 0.1\n10 1\n100 10\nEOD\n"));
  EXPECT_THAT(script, HasSubstr("$facet0_1 << EOD\n1 0.2 0.1 0.3\n\n100 5 4 6\nEOD\n"));
}

TEST(Chart, TextsLoseTheirSpecialMeanings) {
  const std::string script = chart_script(example(), "speed");
  EXPECT_THAT(script, HasSubstr("title 'one\\_thread'"));
  EXPECT_THAT(script, HasSubstr("title 'O''Brien'"));
}

TEST(Chart, LongNamesOfBarsTakeSeveralLines) {
  Chart chart;
  chart.facets.resize(1);
  chart.facets[0].categories = {"short", "item switch: the same right after another detector"};
  chart.facets[0].series = {{.name = "", .y = {1, 2}, .mark = Mark::bars}};
  EXPECT_THAT(chart_script(chart, "chart"),
              HasSubstr(R"(('short' 0, 'item switch: the same right' . "\n" . 'after another detector' 1))"));
}

// 680 pixels of one pair of axes, at 10 for a letter of the title.
TEST(Chart, TitlesTakeTheLinesThatTheyNeed) {
  Chart chart = example();
  chart.facets.pop_back();
  chart.title = "Μονοενεργειακοί and forty more letters of a title that is long (R0 = 1.4 m)";
  const std::string script = chart_script(chart, "x", {".png"});
  EXPECT_THAT(script, HasSubstr("is long' . \"\\n\" . '(R0 = 1.4 m)' font ',14'"));
  chart.title = "Μονοενεργειακοί and forty more letters of a title that is short";
  EXPECT_THAT(chart_script(chart, "x", {".png"}), HasSubstr("is short' font ',14'"));
}

TEST(Chart, AnAxisWithinADecadeEndsAtItsValues) {
  Chart chart = example();
  ASSERT_TRUE(chart.facets[0].x.log);
  chart.facets[0].series = {{.name = "", .x = {7, 11}, .y = {1, 2}}};
  EXPECT_THAT(chart_script(chart, "x", {".png"}), HasSubstr("set xrange [5.38"));
}

TEST(Chart, AReferenceBeyondTheDataIsInsideTheAxis) {
  Chart chart = example();
  chart.facets[1].references = {{.value = 20, .label = "machine"}};
  EXPECT_THAT(chart_script(chart, "x"), HasSubstr("set xrange [0:21.2]"));
}

// gnuplot refuses a logarithmic axis on which nothing can be shown.
TEST(Chart, AnAxisWithoutPositiveValuesIsNotLogarithmic) {
  Chart chart = example();
  ASSERT_TRUE(chart.facets[0].y.log);
  chart.facets[0].series = {{.name = "", .x = {7, 11}, .y = {0, 0}}};
  EXPECT_THAT(chart_script(chart, "x"), ::testing::Not(HasSubstr("logscale y")));
}

TEST(Chart, ValueHoldsEverySeries) {
  const Value value = chart_value(example());
  EXPECT_EQ(value.find("facets")->items()[1].find("categories")->items()[1].as_text(), "decode");
  EXPECT_EQ(to_json(*value.find("facets")->items()[0].find("series")->items()[0].find("y"), -1), "[0.1,1.0,10.0]");
}

TEST(Chart, IsDrawnAsPngAndPdf) {
  if (!gnuplot_is_there()) GTEST_SKIP() << "no gnuplot";
  const testing::TemporaryFolder folder;
  const ChartFiles files = write_chart(folder.file("its speed_of {1}'s"), example());
  ASSERT_EQ(files.pictures.size(), 2u);
  EXPECT_GT(std::filesystem::file_size(folder.file("its speed_of {1}'s.png")), 5000u);
  const auto pdf = testing::read_bytes(folder.file("its speed_of {1}'s.pdf"));
  EXPECT_EQ(std::string(pdf.begin(), pdf.begin() + 5), "%PDF-");
  EXPECT_EQ(read_json(files.data).find("title")->as_text(), "example");
  // Two pictures, data and script; no work folder is left.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 4);
}

TEST(Chart, AnEndingInCapitalsIsThatOfAPictureUnderTheNameThatWasGiven) {
  if (!gnuplot_is_there()) GTEST_SKIP() << "no gnuplot";
  const testing::TemporaryFolder folder;
  EXPECT_THAT(write_chart(folder.file("a.PNG"), example()).pictures, ::testing::ElementsAre(folder.file("a.PNG")));
  EXPECT_GT(std::filesystem::file_size(folder.file("a.PNG")), 5000u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 3);
}

TEST(Chart, APictureThatIsAskedForComesAlone) {
  if (!gnuplot_is_there()) GTEST_SKIP() << "no gnuplot";
  const testing::TemporaryFolder folder;
  for (const std::string& ending : chart_endings()) {
    const ChartFiles files = write_chart(folder.file("v1.2" + ending), example());
    EXPECT_EQ(files.pictures, std::vector{folder.file("v1.2" + ending)});
    EXPECT_EQ(files.all(),
              (std::vector{folder.file("v1.2" + ending), folder.file("v1.2.chart.json"), folder.file("v1.2.gp")}));
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 5);
  const auto svg = testing::read_bytes(folder.file("v1.2.svg"));
  EXPECT_THAT(std::string(svg.begin(), svg.end()), HasSubstr("<svg "));
  // A dot in the name of several is no ending.
  EXPECT_EQ(write_chart(folder.file("v1.3"), example()).pictures[1], folder.file("v1.3.pdf"));
}

TEST(Chart, FilesThatAreNoChartsStayAsTheyAre) {
  for (const char* taken : {"run.chart.json", "run.gp"}) {
    const testing::TemporaryFolder folder;
    testing::write_bytes(folder.file(taken), {'m', 'i', 'n', 'e'});
    EXPECT_THAT(testing::error_of(ErrorKind::bad_input, [&] { (void)write_chart(folder.file("run"), example()); }),
                HasSubstr(std::string(taken) + ": a file that sonde did not write as the "));
    EXPECT_EQ(testing::read_bytes(folder.file(taken)).size(), 4U);
  }
}

TEST(Chart, MessagesOfGnuplotStayInside) {
  if (!gnuplot_is_there()) GTEST_SKIP() << "no gnuplot";
  // A single value: gnuplot warns of an empty range.
  const Chart chart{.facets = {Facet{.series = {{.name = "", .x = {13}, .y = {1}}}}}};
  const testing::TemporaryFolder folder;
  ::testing::internal::CaptureStderr();
  (void)write_chart(folder.file("one"), chart);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(Chart, OneLegendHoldsEveryNameOnce) {
  Chart chart = example();
  chart.facets[1] = chart.facets[0];
  chart.facets[1].series.push_back({.name = "third", .x = {1}, .y = {1}, .symbol = Symbol::cross, .colour = "#123456"});
  chart.one_legend = true;
  const std::string script = chart_script(chart, "x", {".png"});
  for (const char* name : {"title 'one\\_thread'", "title 'O''Brien'", "title 'third'"}) {
    const std::size_t first = script.find(name);
    ASSERT_NE(first, std::string::npos) << name;
    EXPECT_EQ(script.find(name, first + 1), std::string::npos) << name;
  }
  EXPECT_THAT(script, HasSubstr("NaN with points pt 2 ps 1.3 lw 2.2 lc rgb '#123456' title 'third'"));
}

TEST(Chart, AMapHasItsValuesAndLines) {
  const HeightMap map{.x = {0, 1}, .y = {0, 2}, .z = {1, 2, 3, 4}, .title = "B (T)", .contours = {1.5, 2.5}};
  const Chart chart{.facets = {Facet{.x = {.ticks = {{0, "0"}, {1, "one"}}}, .map = map}}};
  const std::string script = chart_script(chart, "b");
  EXPECT_THAT(script, HasSubstr("$map0 << EOD\n0 0 1\n1 0 2\n\n0 2 3\n1 2 4\n\nEOD\n"));
  EXPECT_THAT(script, HasSubstr("levels discrete 1.5,2.5"));
  EXPECT_THAT(script, HasSubstr("set xtics ('0' 0, 'one' 1)"));
  if (gnuplot_is_there()) {
    const testing::TemporaryFolder folder;
    EXPECT_EQ(write_chart(folder.file("b.svg"), chart).pictures.size(), 1U);
  }
  Chart both = chart;
  both.facets[0].map->both_signs = 2.5;
  EXPECT_THAT(chart_script(both, "b"), HasSubstr("set cbrange [-2.5:2.5]"));
  Chart wrong = chart;
  wrong.facets[0].map->z.pop_back();
  EXPECT_EQ(testing::error_of(ErrorKind::bad_input, [&] { (void)chart_script(wrong, "b"); }),
            "error: a map of 3 values on 2 x 2 places");
}

TEST(Chart, IsDrawnInAFolderAmongTheTemporaryFiles) {
  const testing::TemporaryFolder folder;
  // In the place of gnuplot: says where it works, and fails.
  std::ofstream(folder.file("gnuplot")) << "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\npwd > " << folder.file("where")
                                        << "\nexit 1\n";
  std::filesystem::permissions(folder.file("gnuplot"), std::filesystem::perms::owner_all);
  std::filesystem::create_directory(folder.file("temporary"));
  const std::string path = std::getenv("PATH");
  setenv("PATH", (folder.path().string() + ":" + path).c_str(), 1);
  setenv("TMPDIR", folder.file("temporary").c_str(), 1);
  EXPECT_THAT(testing::error_of(ErrorKind::internal, [&] { write_chart(folder.file("a.png"), example()); }),
              HasSubstr("gnuplot does not understand"));
  unsetenv("TMPDIR");
  setenv("PATH", path.c_str(), 1);
  std::string where;
  std::ifstream told(folder.file("where"));
  std::getline(told, where);
  EXPECT_THAT(where, HasSubstr("/temporary/sonde-chart-"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.file("temporary")));
}

TEST(Chart, WithoutGnuplotScriptAndDataAreWritten) {
  const testing::TemporaryFolder folder;
  const std::string path = std::getenv("PATH");
  std::string note;
  const LogSink before = set_log_sink([&](LogLevel, const std::string& message) { note = message; });
  setenv("PATH", "/nowhere", 1);
  const ChartFiles files = write_chart(folder.file("speed"), example());
  setenv("PATH", path.c_str(), 1);
  set_log_sink(before);
  EXPECT_TRUE(files.pictures.empty());
  EXPECT_TRUE(std::filesystem::exists(files.script));
  EXPECT_TRUE(std::filesystem::exists(files.data));
  EXPECT_THAT(note, HasSubstr("gnuplot-nox"));
}

TEST(Chart, PartsThatDifferInLengthAreNamed) {
  Chart chart = example();
  chart.facets[0].series[0].y.pop_back();
  EXPECT_EQ(testing::error_of(ErrorKind::bad_input, [&] { (void)chart_script(chart, "x"); }),
            "error: series \"one_thread\": 2 values for 3 positions, 0 and 0 ends of error bars");
}

TEST(Chart, WithoutFacetsIsRefused) {
  EXPECT_EQ(testing::error_of(ErrorKind::bad_input, [] { (void)chart_script({}, "x"); }),
            "error: a chart without facets");
}

TEST(Chart, AFacetWithoutDataSaysSo) {
  if (!gnuplot_is_there()) GTEST_SKIP() << "no gnuplot";
  const testing::TemporaryFolder folder;
  EXPECT_EQ(write_chart(folder.file("empty"), {.facets = {Facet{.title = "nothing"}}}).pictures.size(), 2u);
}

TEST(Chart, AMissingFolderIsAnIoError) {
  testing::error_of(ErrorKind::io, [] { (void)write_chart("/nowhere/speed", example()); });
}

}  // namespace
}  // namespace sonde
