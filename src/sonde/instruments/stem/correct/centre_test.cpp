// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/correct/centre.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/index.h"
#include "tests/support/errors.h"
#include "tests/support/patterns.h"

namespace sonde::stem {
namespace {

using sonde::testing::disk;
using sonde::testing::Image;
using sonde::testing::poisson;
using ::testing::HasSubstr;

TEST(CentreByEdge, IsNotDisturbedByHotPixelsOutside) {
  Image image = disk(96, 96, 40.3, 50.6, 12);
  image(5, 80) = 1000;
  image(90, 3) = 1000;
  const Centre centre = image.centre();
  EXPECT_NEAR(centre.row, 40.3, 0.05);
  EXPECT_NEAR(centre.col, 50.6, 0.05);
}

TEST(CentreByEdge, LeavesOutBadRegions) {
  Image image = disk(96, 96, 40.3, 50.6, 15);
  std::vector<std::uint8_t> good(image.value.size(), 1);
  for (Index row = 36; row < 42; ++row)  // a beam stop's arm over a quarter of the edge, with a bright reflection on it
    for (Index col = 0; col < 50; ++col) good[static_cast<std::size_t>(row * 96 + col)] = 0, image(row, col) = 50;
  const Centre centre = image.centre(CentreMethod::edge, good);
  EXPECT_NEAR(centre.row, 40.3, 0.1);
  EXPECT_NEAR(centre.col, 50.6, 0.1);
  EXPECT_NEAR(centre.radius, 15, 0.1);
}

TEST(CentreByEdge, FindsTheCentralOfSeveralDisks) {
  Image image = disk(128, 128, 63.4, 64.2, 9);
  for (const auto& [row, col] : {std::pair{38.0, 64.0}, {89.0, 64.0}, {63.0, 38.0}, {63.0, 90.0}}) {
    const Image other = disk(128, 128, row, col, 9);
    for (std::size_t i = 0; i < image.value.size(); ++i) image.value[i] += 0.6 * other.value[i];
  }
  const Centre centre = image.centre();
  EXPECT_NEAR(centre.row, 63.4, 0.05);
  EXPECT_NEAR(centre.col, 64.2, 0.05);
}

TEST(CentreByEdge, HasNoConfidenceInPureNoise) {
  std::mt19937_64 random(3);
  for (const double mean : {0.1, 5.0, 1000.0}) {
    SCOPED_TRACE(mean);
    Image image(96, 96);
    for (double& value : image.value) value = static_cast<double>(std::poisson_distribution<int>(mean)(random));
    try {
      const Centre centre = image.centre();
      EXPECT_LT(centre.confidence, 0.5);
      EXPECT_FALSE(centre.notes.empty());
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("no disk was found"));
    }
  }
}

TEST(CentreByEdge, AFewScatteredCountsAreAnError) {
  Image image(32, 32);
  image(3, 4) = 1;
  image(20, 9) = 1;
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)image.centre(); }),
              HasSubstr("after a 3x3 median the pattern is flat"));
}

TEST(Centre, AnEmptyPatternIsAnError) {
  for (const auto method :
       {CentreMethod::edge, CentreMethod::threshold, CentreMethod::plateau, CentreMethod::com, CentreMethod::friedel})
    EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)Image(32, 32).centre(method); }),
                HasSubstr("every good pixel of the pattern holds 0"));
}

TEST(Centre, APatternWithoutGoodPixelsIsAnError) {
  const Image image = disk(32, 32, 16, 16, 5);
  EXPECT_THAT(
      sonde::testing::error_of(ErrorKind::bad_input,
                               [&] { (void)image.centre(CentreMethod::com, std::vector<std::uint8_t>(1024, 0)); }),
      HasSubstr("every pixel of the pattern is bad"));
}

TEST(Centre, AMaskOfAnotherSizeIsAnError) {
  const Image image = disk(32, 32, 16, 16, 5);
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [&] { (void)image.centre(CentreMethod::com, std::vector<std::uint8_t>(7, 1)); }),
              HasSubstr("7 values for a pattern of 32 x 32 pixels"));
}

TEST(Centre, ATinyPatternIsAnError) {
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [] { (void)Image(3, 9).centre(); }), HasSubstr("3 x 9"));
}

TEST(Centre, CountsAndFloatsAgree) {
  const Image image = disk(48, 48, 22.3, 25.1, 8);
  std::vector<std::uint64_t> counts;
  std::vector<double> same;
  for (const double value : image.value) {
    counts.push_back(static_cast<std::uint64_t>(std::llround(100 * value)));
    same.push_back(static_cast<double>(counts.back()));
  }
  const Centre a = find_centre(View<const std::uint64_t, 2>(counts.data(), 48, 48), {});
  const Centre b = find_centre(View<const double, 2>(same.data(), 48, 48), {});
  EXPECT_EQ(a.row, b.row);
  EXPECT_EQ(a.radius, b.radius);
}

TEST(CentreByThreshold, FindsADiskToTheWholePixels) {
  const Centre centre = disk(96, 96, 47.25, 50.5, 20).centre(CentreMethod::threshold);
  EXPECT_NEAR(centre.row, 47.25, 0.05);
  EXPECT_NEAR(centre.col, 50.5, 0.05);
  EXPECT_NEAR(centre.radius, 20, 0.3);  // whole pixels: the area of the rim
}

TEST(CentreByThreshold, IsTheCentroidOfThePixelsAboveMeanPlusDeviation) {
  Image image(8, 8);
  image(2, 3) = 10;  // mean 18/64, deviation about 1.6: only this one and its right neighbour pass
  image(2, 4) = 7;
  image(6, 6) = 1;
  const Centre centre = image.centre(CentreMethod::threshold);
  EXPECT_DOUBLE_EQ(centre.row, 2);
  EXPECT_DOUBLE_EQ(centre.col, 3.5);
  EXPECT_DOUBLE_EQ(centre.radius, std::sqrt(2 / std::numbers::pi));
}

TEST(CentreByPlateau, FindsADiskOnABackground) {
  Image image = disk(96, 96, 47.25, 50.5, 20);
  for (double& value : image.value) value = 100 * value + 2;
  const Centre centre = image.centre(CentreMethod::plateau);
  EXPECT_NEAR(centre.row, 47.25, 0.05);
  EXPECT_NEAR(centre.col, 50.5, 0.05);
  EXPECT_NEAR(centre.radius, 20, 0.3);
}

TEST(CentreOfMass, IsTheFirstMomentOfGoodPixels) {
  Image image(8, 8);
  image(1, 2) = 3;
  image(5, 6) = 1;
  image(7, 7) = 1000;
  std::vector<std::uint8_t> good(64, 1);
  good[63] = 0;
  const Centre centre = image.centre(CentreMethod::com, good);
  EXPECT_DOUBLE_EQ(centre.row, (3 * 1 + 5) / 4.0);
  EXPECT_DOUBLE_EQ(centre.col, (3 * 2 + 6) / 4.0);
}

TEST(CentreOfMass, GivesTheRadiusOfAUniformDisk) {
  EXPECT_NEAR(disk(96, 96, 47.25, 50.5, 20).centre(CentreMethod::com).radius, 20, 0.02);
}

TEST(CentreByFriedel, FindsASpotPatternOffTheDetectorsCentre) {
  // Pairs of Gaussian spots of unequal brightness about (53.3, 71.6), no central disk; 1e5 counts.
  std::mt19937_64 random(5);
  Image image(128, 128);
  const double row = 53.3, col = 71.6;
  for (int h = -2; h <= 2; ++h)
    for (int k = -2; k <= 2; ++k) {
      if (h == 0 && k == 0) continue;
      const double strength = 1.0 / (1 + std::abs(3 * h + k));  // equal for +g and -g
      const double y = row + 15 * h + 4 * k, x = col - 5 * h + 14 * k;
      for (Index r = 0; r < 128; ++r)
        for (Index c = 0; c < 128; ++c)
          image(r, c) +=
              strength *
              std::exp(-0.5 * (std::pow(static_cast<double>(r) - y, 2) + std::pow(static_cast<double>(c) - x, 2)) / 4);
    }
  const Centre centre = poisson(image, 1e5, random).centre(CentreMethod::friedel);
  EXPECT_NEAR(centre.row, row, 0.05);
  EXPECT_NEAR(centre.col, col, 0.05);
  EXPECT_GT(centre.confidence, 0.9);
  EXPECT_EQ(centre.radius, 0);
}

TEST(CentreByFriedel, FindsAHaloThatTheDetectorCuts) {
  Image image(96, 128);
  for (Index r = 0; r < 96; ++r)
    for (Index c = 0; c < 128; ++c)
      image(r, c) = std::exp(-std::hypot(static_cast<double>(r) - 30.5, static_cast<double>(c) - 80.25) / 8);
  const Centre centre = image.centre(CentreMethod::friedel);
  EXPECT_NEAR(centre.row, 30.5, 0.1);
  EXPECT_NEAR(centre.col, 80.25, 0.1);
}

TEST(CentreByFriedel, WorksOnLargeDetectors) {
  const Centre centre = disk(300, 512, 140.5, 260.5, 40).centre(CentreMethod::friedel);
  EXPECT_NEAR(centre.row, 140.5, 0.05);
  EXPECT_NEAR(centre.col, 260.5, 0.05);
}

TEST(CentreMethod, UnknownNamesListTheKnownOnes) {
  EXPECT_EQ(parse_centre_method("plateau"), CentreMethod::plateau);
  const std::string text = sonde::testing::error_of(ErrorKind::usage, [] { (void)parse_centre_method("edges"); });
  EXPECT_THAT(text, HasSubstr("did you mean \"edge\"?"));
  EXPECT_THAT(text, HasSubstr("known: edge, threshold, plateau, com and friedel"));
}

/// Poisson-like noise about a mean, from a fixed sequence.
std::vector<double> noise(Index side, double mean) {
  std::mt19937_64 random(3);
  std::poisson_distribution<int> counts(mean);
  std::vector<double> values;
  for (Index i = 0; i < side * side; ++i) values.push_back(counts(random));
  return values;
}

TEST(FindDisk, NoiseIsNoDisk) {
  std::vector<double> values = noise(24, 5);
  const View<const double, 2> pattern(values.data(), 24, 24);
  const std::string error =
      sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)find_disk(pattern, {}, CentreMethod::edge); });
  EXPECT_THAT(error, ::testing::HasSubstr("no bright-field disk was found"));
  EXPECT_THAT(error, ::testing::HasSubstr("--centre ROW,COL and --radius"));
}

// A disk larger than the detector has an edge on the few rays that end in its corners: circles through so few points
// may be anywhere.
TEST(FindDisk, AnEdgeOnFewRaysIsNoDisk) {
  std::vector<double> values;
  for (Index row = 0; row < 48; ++row)
    for (Index col = 0; col < 48; ++col)
      values.push_back(std::hypot(static_cast<double>(row) - 27, static_cast<double>(col) - 24) < 32.5 ? 50 : 1);
  const View<const double, 2> pattern(values.data(), 48, 48);
  const Centre edge = find_centre(pattern, {});
  EXPECT_GT(edge.confidence, 0);
  EXPECT_LT(edge.confidence, 0.1);
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)find_disk(pattern, {}, CentreMethod::edge); }),
              HasSubstr("% of the rays cross an edge, at least 10 % are needed"));
}

TEST(FindDisk, AFaintSpotIsFoundByThreshold) {
  // 9 counts more in a spot of 13 pixels: too few for an edge, but brighter than all but a few of the others.
  std::vector<double> values = noise(24, 5);
  for (Index row = 0; row < 24; ++row)
    for (Index col = 0; col < 24; ++col)
      if (std::hypot(static_cast<double>(row) - 10, static_cast<double>(col) - 13) <= 2)
        values[static_cast<std::size_t>(row * 24 + col)] += 60;
  const View<const double, 2> pattern(values.data(), 24, 24);
  const Centre found = find_disk(pattern, {}, CentreMethod::edge);
  EXPECT_NEAR(found.row, 10, 0.5);
  EXPECT_NEAR(found.col, 13, 0.5);
}

}  // namespace
}  // namespace sonde::stem
