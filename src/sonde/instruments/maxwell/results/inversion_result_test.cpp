// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/inversion_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sonde/engine/run/write_contents.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

InversionResult small_result() {
  InversionResult made;
  made.grid = {.mode = Mode::tm2d, .cells = {2, 1, 3}, .spacing = {0.1, 1, 0.2}};
  made.start = {std::vector<double>(6, 4), std::vector<double>(6, 1e-3)};
  made.model = {{4, 5, 4, 4, 4, 4}, std::vector<double>(6, 2e-3)};
  made.kept = {{0, 3, made.model.eps_r, made.model.sigma}};
  made.history = {{.objective = 1, .misfit = 8, .chi2 = std::nan(""), .evaluations = 1},
                  {.iteration = 1, .objective = 0.25, .misfit = 2, .chi2 = std::nan(""), .evaluations = 3}};
  made.observed = {.spacing = {0.1, 1, 0.2}, .dt = 1e-9, .steps = 2};
  SurveyShot shot{.sources = {{Component::Ey, {1, 0, 1}}}, .receivers = {{Component::Ey, {0, 0, 2}}}};
  made.observed.shots = {shot};
  made.observed.samples = {1, 2};
  made.predicted = made.observed;
  made.predicted.samples = {3, 4};
  made.given_sources = {{5, 6}};
  made.sources = {{7, 8}};
  return made;
}

TEST(InversionResultFile, IsAResultOfItsOwnKindWithRecordsAndAModel) {
  const Contents contents = contents_of(small_result());
  const auto attribute = [&](const std::string& name) {
    for (const auto& [key, value] : contents.attributes())
      if (key == name && std::holds_alternative<std::string>(value)) return std::get<std::string>(value);
    return std::string();
  };
  EXPECT_EQ(attribute("schema"), "sonde.maxwell.inversion/1");
  EXPECT_EQ(attribute("format"), "sonde-maxwell-1");
  EXPECT_EQ(attribute("model/material_location"), "node");
  EXPECT_EQ((contents.find("receivers/data")->values.view<float, 3>()(1, 0, 0)), 4);
  EXPECT_EQ((contents.find("observed/data")->values.view<float, 3>()(1, 0, 0)), 2);
  EXPECT_EQ((contents.find("source/estimated")->values.view<double, 3>()(0, 0, 1)), 8);
  EXPECT_EQ((contents.find("kept/eps_r")->values.view<double, 3>()(0, 0, 1)), 5);
  EXPECT_EQ(contents.find("true/eps_r"), nullptr);
}

TEST(InversionResultFile, HasTheUncertaintyOfWhatWasUnknown) {
  InversionResult result = small_result();
  EXPECT_EQ(contents_of(result).find("uncertainty/eps_r"), nullptr);
  result.uncertainty = {.deviation = {{1, 2, 3, 4, 5, 6}, std::vector<double>(6), {}}, .information = {9, 0.5}};
  const Contents contents = contents_of(result);
  EXPECT_EQ((contents.find("uncertainty/eps_r")->values.view<double, 2>()(1, 0)), 4);
  EXPECT_EQ((contents.find("uncertainty/information")->values.view<double, 1>()(1)), 0.5);
  EXPECT_EQ(contents.find("uncertainty/sigma"), nullptr);
}

TEST(InversionResultFile, IsAModelToCompareWith) {
  const sonde::testing::TemporaryFolder folder;
  const InversionResult result = small_result();
  write_contents(folder.file("result.h5"), contents_of(result));
  EXPECT_EQ(read_true_model(folder.file("result.h5"), result.grid).eps_r, result.model.eps_r);
  GridSpec other = result.grid;
  other.cells[2] = 4;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)read_true_model(folder.file("result.h5"), other); }),
              HasSubstr("/model/eps_r has shape (2, 3); the experiment has (2, 4)"));
}

TEST(InversionHistory, IsATableWithAHead) {
  const std::string text = history_csv(small_result().history, "sonde: a test");
  EXPECT_THAT(text, HasSubstr("# sonde: a test\nstage,iteration,objective,misfit,"));
  EXPECT_THAT(text, HasSubstr("\n1,1,0.25,2,0,nan,0,3\n"));
  EXPECT_TRUE(history_value(small_result().history).items()[1].find("chi2")->is_null());
}

TEST(RemainingMisfit, IsThatOfOneStageOverItsStart) {
  EXPECT_EQ(remaining_misfit(small_result().history, 0), 0.25);
  EXPECT_TRUE(std::isnan(remaining_misfit(small_result().history, 1)));
}

TEST(RemainingError, IsOneAtTheStartAndZeroAtTheTruth) {
  EXPECT_EQ(remaining_error({1, 1}, {1, 1}, {2, 3}), 1);
  EXPECT_EQ(remaining_error({2, 3}, {1, 1}, {2, 3}), 0);
  EXPECT_EQ(remaining_error({1.5, 9}, {1, 1}, {2, 3}, {1, 0}), 0.5);
  EXPECT_TRUE(std::isnan(remaining_error({1}, {1}, {1})));
}

}  // namespace
}  // namespace sonde::maxwell
