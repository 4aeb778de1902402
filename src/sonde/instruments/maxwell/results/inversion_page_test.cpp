// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/inversion_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Index page_steps = 64;

/// Two shots with two receivers that record 0.1 GHz; what is computed is nine tenths of it.
InversionResult page_result() {
  InversionResult made;
  made.title = "A <test>";
  made.grid = {.mode = Mode::tm2d, .cells = {4, 1, 6}, .spacing = {0.1, 1, 0.2}};
  made.start = {std::vector<double>(24, 4), std::vector<double>(24, 1e-3)};
  made.model = made.start;
  made.model.eps_r[9] = 5;
  made.stages = {{.band = {0, 6e7}}, {}};
  const double none = std::nan("");
  made.history = {{.objective = 1, .chi2 = none},
                  {.iteration = 1, .objective = 0.1, .chi2 = none},
                  {.stage = 1, .objective = 1, .chi2 = none}};
  made.ends = {{0, StopReason::iterations}, {1, StopReason::noise_level}};
  made.observed = {.spacing = {0.1, 1, 0.2}, .dt = 1e-9, .steps = page_steps};
  const SurveyShot shot{.sources = {{Component::Ey, {1, 0, 1}}},
                        .receivers = {{Component::Ey, {0, 0, 2}}, {Component::Ey, {1, 0, 2}}}};
  made.observed.shots = {shot, shot};
  for (Index n = 0; n < page_steps; ++n)
    for (int trace = 0; trace < 4; ++trace)
      made.observed.samples.push_back(std::sin(2 * std::numbers::pi * 0.1 * static_cast<double>(n)));
  made.predicted = made.observed;
  for (double& each : made.predicted.samples) each *= 0.9;
  made.given_sources = made.sources = {std::vector<double>(page_steps, 1), std::vector<double>(page_steps, 1)};
  made.run_file = "[model]\neps_r = 4\n";
  return made;
}

TEST(InversionPage, ShowsModelRecordsAndMisfit) {
  const std::string page = inversion_page(page_result(), "run_fwi");
  for (const char* part : {"A &lt;test&gt;", "<h2>Model</h2>", "<h2>Records</h2>", "<h2>Misfit</h2>", "eps_r = 4",
                           "to 60 MHz", "the records are explained to their noise"})
    EXPECT_THAT(page, HasSubstr(part));
  EXPECT_THAT(page, Not(HasSubstr("<h2>Source</h2>")));
  EXPECT_THAT(page, Not(HasSubstr("of the error of eps_r")));
}

TEST(InversionPage, ShowsTheSourceThatWasEstimatedAndTheTruthThatIsKnown) {
  InversionResult result = page_result();
  result.sources[0][3] = 2;
  result.truth = result.start;
  result.truth->eps_r[9] = 6;
  const std::string page = inversion_page(result, "run_fwi");
  EXPECT_THAT(page, HasSubstr("<h2>Source</h2>"));
  EXPECT_THAT(page, HasSubstr("<b>50 %</b><span>of the error of eps_r remain"));
}

TEST(InversionPage, SaysWhatTheUncertaintyLeavesOut) {
  InversionResult result = page_result();
  EXPECT_THAT(inversion_page(result, "run_fwi"), Not(HasSubstr("<h2>Uncertainty</h2>")));
  result.uncertainty = {.deviation = {std::vector<double>(24, 0.3), {}, {}}, .information = {50, 2, 0.1}};
  result.prior = 0.5;
  const std::string page = inversion_page(result, "run_fwi");
  EXPECT_THAT(page, HasSubstr("<h2>Uncertainty</h2>"));
  EXPECT_THAT(page, HasSubstr("The records decide 2 of the 3 directions"));
  EXPECT_THAT(page, HasSubstr("a true error may be larger."));
  EXPECT_THAT(page, Not(HasSubstr("a larger inversion.uncertainty")));
}

TEST(InversionPictures, HaveAPanelMoreWhereTheTruthIsKnown) {
  InversionResult result = page_result();
  const Index narrow = model_picture(result).shape()[1];
  result.truth = result.start;
  EXPECT_GT(model_picture(result).shape()[1], narrow);
}

TEST(InversionPictures, RefuseAShotThatIsNotThere) {
  EXPECT_EQ(error_of(ErrorKind::bad_input, [] { (void)gather_picture(page_result(), 2); }),
            "error: shot 3: the records have 2");
}

TEST(InversionCharts, HaveALineForEachStage) {
  const Chart chart = misfit_chart(page_result());
  ASSERT_EQ(chart.facets.size(), 1U);
  ASSERT_EQ(chart.facets[0].series.size(), 2U);
  EXPECT_EQ(chart.facets[0].series[1].x, std::vector<double>{2});
}

TEST(InversionCharts, ShowTheSpectrumWithTheLimitsOfStages) {
  const Chart chart = spectrum_chart(page_result());
  const Facet& facet = chart.facets.at(0);
  ASSERT_EQ(facet.series.size(), 3U);
  const std::vector<double>& measured = facet.series[0].y;
  const auto peak = static_cast<std::size_t>(std::ranges::max_element(measured) - measured.begin());
  EXPECT_NEAR(facet.series[0].x[peak], 100, 1000.0 / page_steps);  // MHz, to a line of the spectrum
  EXPECT_NEAR(facet.series[2].y[peak] / measured[peak], 0.1, 1e-9);
  ASSERT_EQ(facet.references.size(), 1U);
  EXPECT_EQ(facet.references[0].value, 60);
}

}  // namespace
}  // namespace sonde::maxwell
