// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/panel/report_page.h"

#include "sonde/engine/report/json.h"
#include "sonde/engine/report/report.h"
#include "tests/support/errors.h"

namespace sonde::panel {
namespace {

// The numbers of the schema's own example, so that every expectation can be worked out by hand.
const char* const example = R"({
  "schema": "sonde.report/1", "command": "stem load", "version": "0.1.0", "status": "ok",
  "host": {"cpu": "EPYC", "cores": 2, "memory_bytes": 1073741824}, "device": {"name": "EPYC"},
  "build": {"simd": "AVX3"},
  "options": {"det_bin": "4", "mask": {"edge": 2}},
  "choices": [{"what": "tier", "value": "host", "because": "fits"}],
  "phases": [{"name": "load", "calls": 1, "first_s": 2.5,
              "phases": [{"name": "decode", "calls": 101, "prepare_s": 0.5, "first_s": 0.02,
                          "steady_s": {"median": 0.01, "min": 0.009, "mad": 0.001, "samples": 100},
                          "bytes": 1e9, "traffic": "memory", "bandwidth_fraction": 0.83, "flops_fraction": 0.25}]}],
  "memory": {"peak_rss_bytes": 1048576, "peak_device_bytes": 0,
             "limits": {"host": {"bytes": 2097152, "because": "--memory"}}},
  "checks": [{"name": "equal", "value": 2e-8, "tolerance": 1e-6, "pass": true},
             {"name": "finite", "value": null, "tolerance": 0, "pass": false}],
  "results": {"frames": 9, "centre": {"row": 3.5}, "images": [{"name": "BF", "sum": 7}, {"name": "HAADF", "path": "a.npy"}]}
})";

Page example_page() { return report_page(parse_json(example, "example")); }

const Value& options_of(const Page& page, std::string_view id) {
  for (const Panel& panel : page.panels)
    if (panel.id == id) return panel.options;
  ADD_FAILURE() << "no panel " << id;
  static const Value none;
  return none;
}

std::string fact(const Value& options, std::string_view name) {
  for (const Value& each : options.find("facts")->items())
    if (text_at(each, "name") == name) return text_at(each, "value");
  return "";
}

TEST(ReportPage, HasOnePanelForEachPartOfTheReport) {
  const Page page = example_page();
  EXPECT_EQ(page.title, "stem load");
  EXPECT_EQ(page.view, "report");
  std::vector<std::string> panels;
  for (const Panel& panel : page.panels) panels.push_back(panel.id + ":" + panel.type);
  EXPECT_THAT(panels, ::testing::ElementsAre("run:facts", "phases:chart", "memory:chart", "choices:table",
                                             "checks:table", "results:facts", "results.images:table", "options:facts"));
  EXPECT_TRUE(page.actions.empty());
}

TEST(ReportPage, SaysWhatRanWhere) {
  const Page page = example_page();
  const Value& run = options_of(page, "run");
  EXPECT_EQ(fact(run, "processor"), "EPYC");
  EXPECT_EQ(fact(run, "memory"), "1.00 GiB");
  EXPECT_EQ(fact(run, "simd"), "AVX3");
  EXPECT_EQ(fact(run, "error"), "") << "an absent member is left out";
}

TEST(ReportPage, BarsHoldTheTimeOfAllCalls) {
  const Page page = example_page();
  const Value& bars = *options_of(page, "phases").find("bars");
  ASSERT_EQ(bars.size(), 2U);
  const Value& decode = bars.items()[1];
  EXPECT_EQ(decode.find("depth")->as_whole(), 1) << "inner phases follow their outer one";
  EXPECT_DOUBLE_EQ(number_at(decode, "value"), 0.5 + 0.02 + 100 * 0.01);
  double parts = 0;
  for (const Value& part : decode.find("parts")->items()) parts += number_at(part, "value");
  EXPECT_DOUBLE_EQ(parts, number_at(decode, "value")) << "the parts make up the bar";
  EXPECT_EQ(text_at(decode, "note"), "101 calls, 10 ms each");
  EXPECT_EQ(text_at(bars.items()[0], "note"), "");
}

TEST(ReportPage, FractionsNameTheLimitOfTheMachine) {
  const Page page = example_page();
  const Value& fractions = *options_of(page, "phases").find("bars")->items()[1].find("fractions");
  ASSERT_EQ(fractions.size(), 2U);
  EXPECT_EQ(text_at(fractions.items()[0], "of"), "memory");
  EXPECT_EQ(number_at(fractions.items()[0], "value"), 0.83);
  EXPECT_EQ(text_at(fractions.items()[1], "of"), "multiply-add");
}

TEST(ReportPage, MemoryStandsBesideItsLimit) {
  const Page page = example_page();
  const Value& bars = *options_of(page, "memory").find("bars");
  ASSERT_EQ(bars.size(), 1U) << "no device was used";
  EXPECT_EQ(number_at(bars.items()[0], "value"), 1048576);
  EXPECT_EQ(number_at(bars.items()[0], "limit"), 2097152);
  EXPECT_EQ(text_at(bars.items()[0], "note"), "1.00 MiB of 2.00 MiB: --memory");
}

TEST(ReportPage, FailedChecksAreMarked) {
  const Page page = example_page();
  const Value& checks = options_of(page, "checks");
  EXPECT_EQ(*checks.find("failed"), Value(std::vector<int>{1}));
  EXPECT_EQ(checks.find("rows")->items()[0].items()[3], Value("pass"));
  EXPECT_EQ(checks.find("rows")->items()[1].items()[1], Value("")) << "not-a-number was written as null";
}

TEST(ReportPage, ResultsBecomeFactsAndTables) {
  const Page page = example_page();
  EXPECT_EQ(fact(options_of(page, "results"), "centre.row"), "3.5");
  EXPECT_EQ(fact(options_of(page, "results"), "images"), "") << "rows are in their own table";
  const Value& images = options_of(page, "results.images");
  EXPECT_EQ(*images.find("columns"), Value(std::vector<std::string>{"name", "sum", "path"}));
  EXPECT_EQ(images.find("rows")->items()[1], Value(Value::List{"HAADF", "", "a.npy"}));
  EXPECT_EQ(fact(options_of(page, "options"), "mask.edge"), "2");
}

TEST(ReportPage, ShowsAReportThatWasJustMade) {
  Report report("demo");
  report.phase("work").end();
  const Page page = report_page(report.to_value());
  EXPECT_EQ(text_at(options_of(page, "phases").find("bars")->items()[0], "name"), "work");
  EXPECT_GT(number_at(options_of(page, "memory").find("bars")->items()[0], "value"), 0);
}

TEST(ReportPage, AReportOfNothingIsAnEmptyPage) { EXPECT_TRUE(report_page(Value::object()).panels.empty()); }

TEST(ReportPage, AListThatIsNoneIsRefused) {
  Value report;
  report["checks"] = "all";
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)report_page(report); }),
              ::testing::HasSubstr("expected list, found text"));
}

}  // namespace
}  // namespace sonde::panel
