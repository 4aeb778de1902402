// SPDX-License-Identifier: Apache-2.0
// Standard errors of centres of mass against the scatter of drawn patterns, and thresholds from the corners.
#include "sonde/instruments/stem/phase/centres.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>

#include "sonde/engine/math/poisson.h"
#include "sonde/instruments/stem/correct/mask_bit.h"
#include "sonde/instruments/stem/load/visit_frames.h"
#include "sonde/instruments/stem/pass/memory_source.h"
#include "sonde/instruments/stem/phase/corner_noise.h"
#include "tests/support/budget.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::plenty;

constexpr Index lines = 50, steps = 80, frame_rows = 12, frame_cols = 17;

/// The same blob at every position, in so many counts on average, over a background of rate `dark` per pixel.
Dataset drawn_scan(double counts, double dark, Operation* beside = nullptr) {
  std::vector<double> rates(static_cast<std::size_t>(frame_rows * frame_cols));
  double sum = 0;
  for (Index p = 0; p < frame_rows * frame_cols; ++p) {
    const double down = static_cast<double>(p / frame_cols) - 4.7, right = static_cast<double>(p % frame_cols) - 9.2;
    sum += rates[static_cast<std::size_t>(p)] = std::exp(-down * down / 4 - right * right / 12);
  }
  for (double& rate : rates) rate = rate * counts / sum + dark;
  std::vector<std::uint16_t> values;
  std::vector<std::uint32_t> drawn(rates.size());
  for (Index i = 0; i < lines * steps; ++i) {
    draw_poisson({7, static_cast<std::uint64_t>(i)}, rates, drawn);
    values.insert(values.end(), drawn.begin(), drawn.end());
  }
  LoadOptions options;
  options.hot_pixels = BadPixelAction::none;
  options.layout = LayoutChoice::file;
  return load(std::make_unique<testing::MemorySource<std::uint16_t>>(lines, steps, frame_rows, frame_cols, values),
              options, plenty(), Device::cpu(),
              beside == nullptr ? std::span<Operation* const>() : std::span(&beside, 1));
}

double mean_square(const std::vector<double>& values, double centre) {
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return sum / static_cast<double>(values.size());
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

TEST(CentreErrorsOfCounts, AreTheScatterOfPatterns) {
  constexpr double counts = 400, patterns = lines * steps;
  CentreSums sums;
  const Dataset dataset = drawn_scan(counts, 0, &sums);
  const Centres centres = centres_of(dataset, sums, 1);
  ASSERT_EQ(centres.field.missing(), 0);
  // Five standard errors of a standard deviation over so many patterns, and terms of the order of 1 / counts: the
  // spread about a measured centre is smaller than that about the true one.
  const double tolerance = 5 / std::sqrt(2 * patterns) + 2 / counts;
  for (const auto& [position, sigma] :
       {std::pair(&centres.field.x, &centres.errors.x), std::pair(&centres.field.y, &centres.errors.y)})
    EXPECT_NEAR(std::sqrt(mean_square(*position, mean_of(*position)) / mean_square(*sigma, 0)), 1, tolerance);
  EXPECT_GT(mean_of(centres.errors.x), 1.5 * mean_of(centres.errors.y));  // the blob is sqrt(3) wider that way
}

TEST(CentreErrorsOfCounts, CentresAreThoseOfTheMoments) {
  CentreSums sums;
  const Dataset dataset = drawn_scan(30, 0, &sums);
  const VectorField moments = centre_field(dataset, 25), field = centres_of(dataset, sums, 25).field;
  EXPECT_GT(field.missing(), 100);
  for (std::size_t i = 0; i < field.x.size(); ++i) {
    ASSERT_EQ(field.valid[i], moments.valid[i]);
    if (field.valid[i] == 0) continue;
    ASSERT_EQ(field.x[i], moments.x[i]);
    ASSERT_EQ(field.y[i], moments.y[i]);
  }
}

/// Of all deflections zero on average, the errors of counts are all there is.
TEST(CountingNoiseOfDeflections, IsAllOfThemWhereNothingDeflects) {
  CentreSums sums;
  const Dataset dataset = drawn_scan(400, 0, &sums);
  Centres centres = centres_of(dataset, sums, 1);
  const double x = mean_of(centres.field.x), y = mean_of(centres.field.y);
  for (double& value : centres.field.x) value -= x;
  for (double& value : centres.field.y) value -= y;
  const auto noise = counting_noise(centres.field, centres.errors);
  ASSERT_TRUE(noise.has_value());
  EXPECT_NEAR(noise->share, 1, 2 * (5 / std::sqrt(2.0 * lines * steps) + 2 / 400.0));  // of squares
  EXPECT_NEAR(noise->median_px / noise->deflection_px, 1, 0.1);  // errors of all positions are nearly the same
  EXPECT_FALSE(counting_noise(make_field(3, 4), {}).has_value());
}

TEST(CornerNoise, IsThatOfItsPixels) {
  const double dark = 2.5;
  const Dataset dataset = drawn_scan(400, dark);
  const CornerNoise noise = corner_noise(dataset);
  EXPECT_EQ(noise.pixels, 4);  // one in each corner of 12 rows
  EXPECT_EQ(noise.frames, 256);
  // The blob adds less than 0.01 there. Five standard errors of 1024 values; of a Poisson distribution the variance of
  // the squared deviation is 2 dark^2 + dark.
  EXPECT_NEAR(noise.mean, dark, 5 * std::sqrt(dark / 1024) + 0.01);
  EXPECT_NEAR(noise.sigma * noise.sigma, dark, 5 * std::sqrt((2 * dark * dark + dark) / 1024) + 0.01);
  EXPECT_DOUBLE_EQ(noise.threshold(), noise.mean + 3 * noise.sigma);
}

TEST(CornerNoise, AThresholdTakesTheBackgroundAway) {
  const Dataset dataset = drawn_scan(4000, 2.5);
  CentreSums sums(corner_noise(dataset).threshold());
  Operation* const operation = &sums;
  visit_frames(dataset, "centres", std::span(&operation, 1));
  const Centres above = centres_of(dataset, sums, 1);
  const VectorField all = centre_field(dataset, 1);
  // The background of 510 counts about (5.5, 8) draws the centre of all counts by 11 % of the way there.
  EXPECT_NEAR(mean_of(all.y), 4.7 + 0.8 * 510 / 4510, 0.01);
  EXPECT_NEAR(mean_of(above.field.y), 4.7, 0.02);
  EXPECT_LT(above.errors.counts_kept, 0.92);
  EXPECT_GT(above.errors.counts_kept, 0.85);
  EXPECT_EQ(above.errors.threshold, sums.threshold());
}

TEST(CornerNoise, NeedsAGoodPixel) {
  std::vector<std::uint16_t> values(static_cast<std::size_t>(3 * 4 * frame_rows * frame_cols), 1);
  auto source = std::make_unique<testing::MemorySource<std::uint16_t>>(3, 4, frame_rows, frame_cols, values);
  auto& mask = source->acquisition_to_change().pixel_mask;
  mask.assign(static_cast<std::size_t>(frame_rows * frame_cols), 0);
  for (const Index pixel : {Index{0}, frame_cols - 1, (frame_rows - 1) * frame_cols, frame_rows * frame_cols - 1})
    mask[static_cast<std::size_t>(pixel)] = mask_bit::dead;
  const Dataset dataset = load(std::move(source), {}, plenty());
  EXPECT_EQ(sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)corner_noise(dataset); }),
            "error: memory: no pixel in the corners of the detector is good, so they give no threshold\n"
            "hint: give --threshold in counts");
}

}  // namespace
}  // namespace sonde::stem
