// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/assessment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "sonde/instruments/ptycho/optics/probe.h"
#include "sonde/instruments/ptycho/scan/probe_support.h"
#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Judged : public ::testing::Test {
 protected:
  Judged() : probe_(gaussian_probe(pixel_sampling(64, 64), 10)) {
    scan_.sampling = pixel_sampling(64, 64);
    scan_.stored = scan_.window = {64, 64};
    diameter_ = probe_diameter(probe_, scan_.sampling);
  }
  void raster(double row, double col) {
    scan_.positions = raster_positions({.rows = 6, .cols = 6, .step_row = row, .step_col = col, .rotation = 0.2});
  }
  [[nodiscard]] ScanAssessment assessment() const { return assess_scan(scan_, spacing_of_active(scan_), probe_); }
  [[nodiscard]] std::vector<std::string> of_overlap() const {
    return overlap_warnings(assessment(), scan_, spacing_of_active(scan_));
  }
  [[nodiscard]] std::vector<std::string> of_positions() const {
    return position_warnings(scan_, spacing_of_active(scan_), object_extent(scan_.positions, {64, 64}));
  }

  Array probe_;
  Scan scan_;
  double diameter_ = 0;
};

TEST_F(Judged, TheLongerStepDecidesTheOverlap) {
  raster(0.7 * diameter_, 0.2 * diameter_);
  EXPECT_NEAR(assessment().along, 0.8, 1e-9);
  EXPECT_NEAR(assessment().overlap, 0.3, 1e-9);
  EXPECT_NEAR(assessment().worst, 0.8, 1e-9);
  EXPECT_THAT(of_overlap(),
              ElementsAre(AllOf(HasSubstr("overlap by 80 % along the shorter step and 30 % along the longer"),
                                HasSubstr("below 60 %"))));
  raster(0.3 * diameter_, 0.3 * diameter_);
  EXPECT_EQ(assessment().text(), "neighbours overlap by 70 %");
  EXPECT_THAT(of_overlap(), IsEmpty());
  EXPECT_THAT(of_positions(), IsEmpty());
}

TEST_F(Judged, AProbeThatDoesNotFitIntoItsWindowIsTold) {
  raster(2, 2);
  probe_ = gaussian_probe(pixel_sampling(64, 64), 45);
  ASSERT_GT(assessment().diameter, 64);
  EXPECT_THAT(of_overlap(), ElementsAre(AllOf(HasSubstr("its window 64 px"), HasSubstr("defocus"))));
}

TEST_F(Judged, AProbeWithinOnePixelIsReportedWithoutAnOverlap) {
  raster(2, 2);
  probe_ = gaussian_probe(pixel_sampling(64, 64), 0.01);
  EXPECT_EQ(assessment().overlap, 0);
  EXPECT_THAT(of_overlap(), ElementsAre(HasSubstr("the probe is narrower than an object pixel of 1 px")));
}

TEST_F(Judged, AFrameThatNearlyStandsAloneIsNamedByItsOwnNumber) {
  raster(0.2 * diameter_, 0.2 * diameter_);
  scan_.skip = {3};
  scan_.positions[20] = {-diameter_, -diameter_};
  EXPECT_LT(assessment().worst, 0);
  EXPECT_THAT(of_overlap(), ElementsAre(HasSubstr("frame 20 is ")));
}

TEST_F(Judged, AFrameThatMakesTheObjectHugeIsNamed) {
  raster(2, 2);
  scan_.positions[17] = {0, 3000};
  EXPECT_THAT(of_positions(), ElementsAre(AllOf(HasSubstr("frame 17 is "), HasSubstr("x 30"), HasSubstr("pixels"))));
}

TEST_F(Judged, PositionsThatRepeatAreCounted) {
  raster(2, 2);
  scan_.positions[5] = scan_.positions[6] = scan_.positions[7];
  EXPECT_THAT(of_positions(), ElementsAre("2 of 36 positions repeat another frame's"));
}

TEST_F(Judged, OnePlaceForAllFramesIsRefused) {
  scan_.positions.assign(36, {12, 13});
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)spacing_of_active(scan_); }),
              HasSubstr("all 36 frames are at one place, (12, 13)"));
  scan_.positions.resize(1);
  EXPECT_NO_THROW((void)spacing_of_active(scan_));
}

TEST(DoseAdvice, IsForAmplitudesOfLessThanACountPerPixel) {
  const auto advice = [](double counts, const char* engine, const char* loss) {
    const std::shared_ptr<EngineSetup> setup = engine_kind(engine).setup();
    Fields fields;
    setup->describe(fields);
    if (*loss != 0) fields.assign_text("loss", loss, "loss");
    return dose_advice(counts, std::vector<EngineRun>{{engine, 10, setup}});
  };
  EXPECT_THAT(advice(0.3, "gd", ""), AllOf(HasSubstr("0.3 counts per pixel"), HasSubstr("loss = \"poisson\"")));
  EXPECT_THAT(advice(0.3, "dm", ""), HasSubstr("which dm compares"));
  EXPECT_EQ(advice(0.3, "gd", "poisson"), "");
  EXPECT_EQ(advice(0.3, "ml", ""), "");
  EXPECT_EQ(advice(1, "gd", ""), "");
}

TEST_F(Judged, AScanThatHardlyMovesOnIsDoubtful) {
  raster(0.002, 0.002);
  EXPECT_THAT(of_positions(), ElementsAre(HasSubstr("moves by 0.002 object pixels")));
}

TEST(FitWarnings, AFitNearTheNoiseHasNone) {
  EXPECT_THAT(
      fit_warnings({.r_intensity = 0.095, .last_r_intensity = 0.095, .r_free = 0.11, .floor = 0.1, .overlap = 0.7}),
      IsEmpty());
}

TEST(FitWarnings, HeldOutFramesThatAreExplainedLessWellAreReported) {
  const FitFacts fit{.r_intensity = 0.1, .last_r_intensity = 0.1, .r_free = 0.125, .floor = 0.1, .overlap = 0.7};
  EXPECT_THAT(fit_warnings(fit), ElementsAre(HasSubstr("R_free is 1.25 times R_I")));
  FitFacts unknown_floor = fit;
  unknown_floor.floor = 0;
  EXPECT_THAT(fit_warnings(unknown_floor), ElementsAre(HasSubstr("R_free is 1.25 times R_I")));
  FitFacts below = fit;  // too few counts for the unknowns: both are near the floor, on either side of it
  below.r_intensity = below.last_r_intensity = 0.09;
  below.r_free = 0.115;
  EXPECT_THAT(fit_warnings(below), ElementsAre(HasSubstr("R_free is 1.28 times R_I")));
  below.r_free = 0.105;
  EXPECT_THAT(fit_warnings(below), IsEmpty());
}

TEST(FitWarnings, NameTheCountsPerUnitThatWouldExplainTheFit) {
  // Units of 25 per count have 5 times the relative noise of as many counts.
  FitFacts fit{.r_intensity = 0.5, .last_r_intensity = 0.5, .floor = 0.1, .overlap = 0.7};
  EXPECT_THAT(fit_warnings(fit), ElementsAre(HasSubstr("data.counts_per_unit is 0.04")));
  fit.r_intensity = fit.last_r_intensity = 0.05;
  EXPECT_THAT(fit_warnings(fit), ElementsAre(HasSubstr("data.counts_per_unit is 4")));
  fit.counts_per_unit = 10;
  EXPECT_THAT(fit_warnings(fit), ElementsAre(HasSubstr("data.counts_per_unit is 40")));
}

TEST(FitWarnings, BothSidesOfTheFloorAreReportedAndNoFloorIsNone) {
  FitFacts fit{.r_intensity = 0.35, .last_r_intensity = 0.35, .floor = 0.1, .overlap = 0.7};
  EXPECT_THAT(fit_warnings(fit), ElementsAre(HasSubstr("R_I is 3.5 times its floor")));
  fit.r_intensity = fit.last_r_intensity = 0.07;
  EXPECT_THAT(fit_warnings(fit), ElementsAre(HasSubstr("noise is fitted")));
  fit.floor = 0;
  EXPECT_THAT(fit_warnings(fit), IsEmpty());
}

}  // namespace
}  // namespace sonde::ptycho
