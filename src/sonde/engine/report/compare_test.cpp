// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/report/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/engine/report/json.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;

Value report(double median, double mad, int samples, const std::string& phase = "iterate") {
  Value value;
  Value inner;
  inner["name"] = phase;
  inner["first_s"] = 1.0;
  inner["steady_s"]["median"] = median;
  inner["steady_s"]["min"] = median - mad;
  inner["steady_s"]["mad"] = mad;
  inner["steady_s"]["samples"] = samples;
  Value outer;
  outer["name"] = "run";
  outer["first_s"] = 2.0;
  outer["phases"].push_back(inner);
  value["phases"].push_back(outer);
  value["options"]["batch"] = 64;
  value["memory"]["peak_rss_bytes"] = 1 << 20;
  value["results"]["frames"] = 100;
  return value;
}

Verdict verdict(const Value& before, const Value& after) { return compare_reports(before, after).phases.at(1).verdict; }

TEST(Compare, AChangeBeyondTheSpreadCounts) {
  EXPECT_EQ(verdict(report(1.00, 0.01, 50), report(1.10, 0.01, 50)), Verdict::slower);
  EXPECT_EQ(verdict(report(1.00, 0.01, 50), report(0.90, 0.01, 50)), Verdict::faster);
}

TEST(Compare, AChangeWithinTheSpreadIsNoise) {
  // sigma of each median is 1.2533 x 1.4826 x 0.1 / sqrt(9) = 0.062; of their difference 0.088; three of those 0.26.
  EXPECT_EQ(verdict(report(1.00, 0.1, 9), report(1.25, 0.1, 9)), Verdict::same);
  EXPECT_EQ(verdict(report(1.00, 0.1, 9), report(1.28, 0.1, 9)), Verdict::slower);
}

TEST(Compare, RunsWithoutSpreadStillHaveAFloor) {
  EXPECT_EQ(verdict(report(1.00, 0, 50), report(1.02, 0, 50)), Verdict::same);
  EXPECT_EQ(verdict(report(1.00, 0, 50), report(1.04, 0, 50)), Verdict::slower);
}

TEST(Compare, FewSamplesDecideNothing) {
  EXPECT_EQ(verdict(report(1.00, 0.01, 3), report(2.00, 0.01, 50)), Verdict::unknown);
}

TEST(Compare, PhasesAreNamedFromTheOutsideIn) {
  EXPECT_EQ(compare_reports(report(1, 0, 9), report(1, 0, 9)).phases.at(1).phase, "run / iterate");
}

TEST(Compare, PhasesOnOneSideAreTold) {
  const Comparison comparison = compare_reports(report(1, 0, 9, "old"), report(1, 0, 9, "new"));
  ASSERT_EQ(comparison.phases.size(), 3u);
  EXPECT_EQ(comparison.phases[1].verdict, Verdict::only_before);
  EXPECT_EQ(comparison.phases[2].verdict, Verdict::only_after);
}

TEST(Compare, DifferencesOfOptionsAndResultsAreListed) {
  Value after = report(1, 0, 9);
  after["options"]["batch"] = 32;
  after["results"]["frames"] = 90;
  const Comparison comparison = compare_reports(report(1, 0, 9), after);
  EXPECT_THAT(comparison.differences, ::testing::ElementsAre("options.batch: 64 -> 32"));
  EXPECT_THAT(comparison.results, ::testing::ElementsAre("frames: 100 -> 90"));
}

TEST(Compare, TextGivesChangeNoiseAndVerdict) {
  const std::string text = comparison_text(compare_reports(report(1.00, 0, 50), report(1.10, 0, 50)));
  EXPECT_THAT(text, HasSubstr("run / iterate"));
  EXPECT_THAT(text, HasSubstr("+10.0 %"));
  EXPECT_THAT(text, HasSubstr("3.0 %  slower"));
  EXPECT_THAT(text, HasSubstr("peak memory"));
}

TEST(Compare, ForeignTreesAreEmptyReports) { EXPECT_TRUE(compare_reports(Value(), Value(3)).phases.empty()); }

TEST(Compare, ValueHoldsTheVerdicts) {
  const Value value = comparison_value(compare_reports(report(1.00, 0, 50), report(1.10, 0, 50)));
  EXPECT_EQ(value.find("phases")->items()[1].find("verdict")->as_text(), "slower");
}

}  // namespace
}  // namespace sonde
