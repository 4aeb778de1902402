// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/radial/radial_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "sonde/instruments/stem/pass/memory_source.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using stem::testing::MemorySource;
using ::testing::HasSubstr;

constexpr Index map_rows = 5, map_cols = 7, tall = 30, wide = 36;

/// Rings about a centre: each pixel holds its distance, rounded, and ten more below; each pattern one more than the
/// last.
template <class T>
std::unique_ptr<MemorySource<T>> ringed() {
  std::vector<T> values;
  for (Index position = 0; position < map_rows * map_cols; ++position)
    for (Index row = 0; row < tall; ++row)
      for (Index col = 0; col < wide; ++col)
        values.push_back(
            static_cast<T>(std::lround(std::hypot(static_cast<double>(row - 14), static_cast<double>(col - 17))) +
                           (row > 14 ? 10 : 0) + position));
  return std::make_unique<MemorySource<T>>(map_rows, map_cols, tall, wide, std::move(values));
}

LoadOptions plain_load() {
  LoadOptions options;
  options.layout = LayoutChoice::file;
  options.hot_pixels = BadPixelAction::none;
  return options;
}

template <class T>
Dataset loaded() {
  return load(ringed<T>(), plain_load(), Budget(std::size_t{1} << 30, "test"));
}

RadialResult radial_of(const Dataset& dataset, const RadialOptions& options) {
  return make_radial(dataset, options, Budget(std::size_t{1} << 28, "test"));
}

RadialOptions about_the_centre() {
  RadialOptions options;
  options.centre = "14,17";
  options.split = PixelSplit::none;
  options.bins = 12;
  options.inner = 0.5;
  options.outer = 12.5;
  return options;
}

TEST(RadialResult, RingsAndHalvesHoldWhatWasDrawn) {
  const Dataset dataset = loaded<std::uint16_t>();
  RadialOptions options = about_the_centre();
  options.azimuth = 2;
  const RadialResult result = radial_of(dataset, options);
  const float* means = static_cast<const float*>(result.means.data());
  for (const Index position : {0, 4, 34})
    for (Index ring = 0; ring < 12; ++ring) {
      const auto at = [&](Index half) { return static_cast<double>(means[(position * 12 + ring) * 2 + half]); };
      // Half an angle from the columns toward the rows: rows below the centre, which have ten more; the centre's own
      // row to the right counts as angle 0 and has none.
      EXPECT_NEAR(at(1), static_cast<double>(ring + 1 + position), 1e-4);
      EXPECT_GT(at(0), static_cast<double>(ring + 1 + position) + 5);
      EXPECT_LT(at(0), static_cast<double>(ring + 1 + position) + 10);
    }
}

TEST(RadialResult, TheMeanOfTheScanIsTheMeanOfItsProfiles) {
  const Dataset dataset = loaded<std::uint16_t>();
  const RadialResult result = radial_of(dataset, about_the_centre());
  for (Index ring = 0; ring < 12; ++ring) {
    const auto bin = static_cast<std::size_t>(ring);
    double sum = 0;
    for (Index position = 0; position < dataset.positions(); ++position)
      sum += static_cast<double>(static_cast<const float*>(result.means.data())[position * 12 + ring]);
    EXPECT_NEAR(result.mean[bin], sum / static_cast<double>(dataset.positions()), 1e-4);  // profiles are f32
    // Of whole pixels the variance of the mean is the mean over the number of counted pixels.
    EXPECT_NEAR(result.variance[bin], result.mean[bin] / (result.plan.area()[bin] * 35), 1e-12);
  }
}

TEST(RadialResult, FloatsHaveNoVariance) {
  const Dataset dataset = loaded<float>();
  const RadialResult result = radial_of(dataset, about_the_centre());
  EXPECT_TRUE(result.variances.empty());
  EXPECT_TRUE(result.variance.empty());
  EXPECT_EQ(result.contents("c").find("radial/variance"), nullptr);
  EXPECT_NE(result.contents("c").find("radial/mean"), nullptr);
}

TEST(RadialResult, AxesAndUnitsAreWritten) {
  const Dataset dataset = loaded<std::uint16_t>();
  RadialOptions options = about_the_centre();
  options.azimuth = 4;
  const Contents contents = radial_of(dataset, options).contents("the command");
  const Contents::Variable* mean = contents.find("radial/mean");
  ASSERT_NE(mean, nullptr);
  EXPECT_EQ(mean->dimensions, (std::vector<std::string>{"scan row", "scan column", "radius", "angle"}));
  EXPECT_EQ(mean->values.shape(), (Shape{map_rows, map_cols, 12, 4}));
  EXPECT_EQ(mean->unit(), "counts");
  const Contents::Variable* radius = contents.find("radius");
  ASSERT_NE(radius, nullptr);
  EXPECT_EQ(radius->unit(), "px");
  EXPECT_NEAR(static_cast<const double*>(radius->values.data())[0], 1, 1e-12);
  EXPECT_NEAR(static_cast<const double*>(contents.find("angle")->values.data())[1], 3 * std::acos(-1.0) / 4, 1e-12);
}

TEST(RadialResult, UnitsFollowTheCalibration) {
  Calibration calibration;
  calibration.detector_step_mrad = Quantity{0.5, StatedBy::file};
  EXPECT_EQ(radial_scale("f", calibration, 2, RadialUnit::automatic).unit, "mrad");
  EXPECT_DOUBLE_EQ(radial_scale("f", calibration, 2, RadialUnit::mrad).per_px, 1);
  EXPECT_EQ(radial_scale("f", calibration, 2, RadialUnit::px).unit, "px");
  EXPECT_THAT(
      error_of(ErrorKind::bad_input, [&] { (void)radial_scale("f.h5", calibration, 1, RadialUnit::inverse_angstrom); }),
      HasSubstr("f.h5: the reciprocal size of a detector pixel is not known"));
  calibration.detector_step_inv_a = Quantity{0.02, StatedBy::file};
  EXPECT_EQ(radial_scale("f", calibration, 1, RadialUnit::automatic).unit, "1/A");
  EXPECT_DOUBLE_EQ(radial_scale("f", calibration, 3, RadialUnit::inverse_angstrom).per_px, 0.06);
  EXPECT_EQ(radial_scale("f", {}, 1, RadialUnit::automatic).unit, "px");
}

TEST(RadialResult, SaysHowManyCountsLieInTheRings) {
  const Dataset dataset = loaded<std::uint16_t>();
  RadialOptions options = about_the_centre();
  options.inner = 0;
  options.outer.reset();
  options.split = PixelSplit::full;
  options.bins.reset();
  EXPECT_NEAR(radial_of(dataset, options).inside, 1, 1e-6);  // shares are single precision
  options.outer = 5;
  EXPECT_LT(radial_of(dataset, options).inside, 0.1);
}

TEST(RadialResult, BinsArePlannedBeforeTheCentreIsKnown) {
  const Dataset dataset = loaded<std::uint16_t>();
  RadialOptions options = about_the_centre();
  options.inner = 0;
  options.bins.reset();
  options.outer.reset();
  options.azimuth = 3;
  EXPECT_GE(options.most_bins(tall, wide), radial_of(dataset, options).plan.bins().count());
  options.bins = 7;
  EXPECT_EQ(options.most_bins(tall, wide), 21);
}

TEST(RadialResult, RefusesWhatDoesNotFit) {
  const Dataset dataset = loaded<std::uint16_t>();
  EXPECT_THAT(
      error_of(ErrorKind::budget, [&] { (void)make_radial(dataset, about_the_centre(), Budget(1000, "test")); }),
      HasSubstr("radial profiles"));
  RadialOptions options = about_the_centre();
  options.outer = 0.25;
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { options.check(); }),
              HasSubstr("is not larger than the inner one (0.5)"));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)radial_of(dataset, options); }),
              HasSubstr("is not larger than the inner one"));
}

}  // namespace
}  // namespace sonde::stem
