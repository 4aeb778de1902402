// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "sonde/instruments/stem/view/line_profile.h"
#include "sonde/instruments/stem/view/spectrum.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

constexpr double pi = std::numbers::pi;

template <class Value>
std::vector<double> image_of(Index rows, Index cols, Value&& value) {
  std::vector<double> image;
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) image.push_back(value(static_cast<double>(r), static_cast<double>(c)));
  return image;
}
View<const double, 2> view(const std::vector<double>& image, Index rows, Index cols) {
  return {image.data(), rows, cols};
}

TEST(Spectrum, AWaveIsOnePairOfPeaks) {
  const Index rows = 24, cols = 30;
  const auto image =
      image_of(rows, cols, [](double r, double c) { return 7 + 2 * std::cos(2 * pi * (3 * r / 24 + 5 * c / 30)); });
  const std::vector<float> magnitude = fourier_magnitude(view(image, rows, cols), Window::none);
  const auto peak = spectrum_peak({magnitude.data(), rows, cols});
  ASSERT_TRUE(peak);
  EXPECT_EQ(peak->row, rows / 2 + 3);
  EXPECT_EQ(peak->col, cols / 2 + 5);
  EXPECT_DOUBLE_EQ(peak->row_frequency, 3.0 / 24);
  EXPECT_DOUBLE_EQ(peak->col_frequency, 5.0 / 30);
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) {
      const bool wave = (r == 15 && c == 20) || (r == 9 && c == 10);
      // Half the amplitude times the pixels, at both frequencies; f32 rounding of that elsewhere.
      EXPECT_NEAR(magnitude[static_cast<std::size_t>(r * cols + c)], wave ? 720 : 0, 1e-4) << r << " " << c;
    }
}

TEST(Spectrum, TheMeanIsTakenAwayBeforeTheWindow) {
  const auto flat = image_of(16, 16, [](double, double) { return 5; });
  for (const Window window : {Window::none, Window::hann})
    for (const float size : fourier_magnitude(view(flat, 16, 16), window)) EXPECT_EQ(size, 0);
}

TEST(Spectrum, TheHannWindowSpreadsAWaveOverItsNeighbours) {
  const Index n = 32;
  const auto image = image_of(n, n, [](double r, double) { return std::cos(2 * pi * 6 * r / 32); });
  const std::vector<float> magnitude = fourier_magnitude(view(image, n, n), Window::hann);
  // sin^2 = 1/2 - cos/2: half stays, a quarter goes to each neighbour, in both directions.
  const auto at = [&](Index row, Index col) { return magnitude[static_cast<std::size_t>(row * n + col)]; };
  EXPECT_NEAR(at(22, 16), 512 * 0.25, 1e-4);
  EXPECT_NEAR(at(23, 16), 512 * 0.125, 1e-4);
  EXPECT_NEAR(at(22, 17), 512 * 0.125, 1e-4);
  EXPECT_NEAR(at(23, 17), 512 * 0.0625, 1e-4);
  EXPECT_NEAR(at(24, 16), 0, 1e-4);
}

TEST(Spectrum, EmptyPositionsCountAsTheMean) {
  auto image = image_of(8, 8, [](double r, double) { return r < 4 ? 1 : 3; });
  auto filled = image;
  image[5] = std::numeric_limits<double>::quiet_NaN();
  filled[5] = 0;  // the mean of the others
  double sum = 0;
  for (std::size_t i = 0; i < image.size(); ++i) sum += i == 5 ? 0 : image[i];
  filled[5] = sum / 63;
  const auto a = fourier_magnitude(view(image, 8, 8), Window::none);
  const auto b = fourier_magnitude(view(filled, 8, 8), Window::none);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5);
}

TEST(Spectrum, ASinglePixelHasNoPeak) {
  const std::vector<float> one = {3};
  EXPECT_FALSE(spectrum_peak({one.data(), 1, 1}));
}

TEST(LineProfile, APlaneIsALineInAnyDirection) {
  const auto image = image_of(40, 50, [](double r, double c) { return 2 * r - 3 * c + 1; });
  for (const double width : {1.0, 4.0}) {
    const LineProfile profile = line_profile(view(image, 40, 50), {5.5, 7.25}, {30, 41}, width);
    const double length = std::hypot(24.5, 33.75);
    EXPECT_LE(profile.step_px, 1);
    EXPECT_NEAR(profile.step_px * static_cast<double>(profile.values.size() - 1), length, 1e-12);
    for (std::size_t i = 0; i < profile.values.size(); ++i) {
      const double s = static_cast<double>(i) * profile.step_px / length;
      // Bilinear interpolation is exact for a plane, and so is the mean over lines on both sides.
      ASSERT_NEAR(profile.values[i], 2 * (5.5 + 24.5 * s) - 3 * (7.25 + 33.75 * s) + 1, 1e-10);
    }
  }
}

TEST(LineProfile, AGaussianHasItsWidth) {
  const double sigma = 6, expected = 2 * std::sqrt(2 * std::log(2.0)) * sigma;
  const auto image = image_of(101, 101, [&](double r, double c) {
    return 10 + 100 * std::exp(-((r - 50.3) * (r - 50.3) + (c - 49.6) * (c - 49.6)) / (2 * sigma * sigma));
  });
  // Bilinear interpolation and straight lines between samples are off by curvature / 8 per pixel squared, twice:
  // (1 / sigma^2) / 4 of the height, over a slope at half height of 0.59 / sigma: 0.07 px on each side at most.
  const LineProfile along = line_profile(view(image, 101, 101), {50.3, 5}, {50.3, 95}, 1);
  ASSERT_TRUE(along.fwhm_px);
  EXPECT_NEAR(*along.fwhm_px, expected, 0.14);
  const LineProfile across = line_profile(view(image, 101, 101), {15.3, 14.6}, {85.3, 84.6}, 1);
  ASSERT_TRUE(across.fwhm_px);
  EXPECT_NEAR(*across.fwhm_px, expected, 0.14);
}

TEST(LineProfile, AWideLineTakesTheMeanAcross) {
  // A ridge that falls off to both sides: |t| over 5 lines is (2 + 1 + 0 + 1 + 2) / 5.
  const auto image = image_of(21, 21, [](double r, double) { return std::abs(r - 10); });
  for (const double value : line_profile(view(image, 21, 21), {10, 3}, {10, 17}, 5).values)
    EXPECT_DOUBLE_EQ(value, 1.2);
}

TEST(LineProfile, OnlyThePartOnTheImageIsTaken) {
  const auto image = image_of(5, 7, [](double r, double c) { return 10 * r + c; });
  const LineProfile profile = line_profile(view(image, 5, 7), {2, -3}, {2, 4}, 1);
  EXPECT_DOUBLE_EQ(profile.p0.col, -0.5);
  EXPECT_DOUBLE_EQ(profile.p1.col, 4);
  const LineProfile inside = line_profile(view(image, 5, 7), {2, -0.5}, {2, 4}, 1);
  EXPECT_EQ(profile.values, inside.values);
  EXPECT_EQ(profile.step_px, inside.step_px);
}

TEST(LineProfile, CostsTheImageHoweverFarItsEndsAreAndHoweverWideItIs) {
  const auto image = image_of(30, 40, [](double r, double c) { return r + c; });
  const LineProfile profile = line_profile(view(image, 30, 40), {-990000, -990000}, {990000, 990000}, 10000);
  // The diagonal from (-0.5, -0.5) to (29.5, 29.5) is 42.4 pixels long.
  EXPECT_EQ(profile.values.size(), 44U);
  // A line that is wide enough meets the whole image at each of its places; the mean is that of what it meets.
  const LineProfile all = line_profile(view(image, 30, 40), {-990000, -990000}, {990000, 990000}, 102);
  ASSERT_EQ(profile.values.size(), all.values.size());
  for (std::size_t i = 1; i < all.values.size(); ++i)  // two lines beside the corner meet nothing there
    EXPECT_EQ(profile.values[i], all.values[i]) << "as many lines as can meet the image, in the same places";
  EXPECT_EQ(line_profile(view(image, 30, 40), {5, 0}, {5, 39}, 1e6).values,
            line_profile(view(image, 30, 40), {5, 0}, {5, 39}, 102).values);
}

TEST(LineProfile, ALineBesideTheImageIsRefused) {
  const auto image = image_of(5, 7, [](double, double) { return 1; });
  for (const auto& [p0, p1] : {std::pair(Place{-1, 0}, Place{-1, 6}),
                               {Place{0, 7}, Place{4, 8}},
                               {Place{9, 9}, Place{9, 9}},
                               {Place{-3, 3}, Place{3, -9}}})
    EXPECT_THAT(
        sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)line_profile(view(image, 5, 7), p0, p1, 1); }),
        ::testing::HasSubstr("does not cross the 5 x 7 pixels of the image"));
}

TEST(LineProfile, AWidthNeedsBothSides) {
  EXPECT_EQ(full_width_at_half_maximum({0, 1, 2, 3, 4}), std::nullopt);
  EXPECT_EQ(full_width_at_half_maximum({2, 2, 2}), std::nullopt);
  EXPECT_EQ(full_width_at_half_maximum({}), std::nullopt);
  EXPECT_DOUBLE_EQ(*full_width_at_half_maximum({0, 0, 4, 0, 0}), 1);
  EXPECT_DOUBLE_EQ(*full_width_at_half_maximum({1, 1, 5, 5, 5, 1}), 3);  // the base is not zero
}

}  // namespace
}  // namespace sonde::stem
