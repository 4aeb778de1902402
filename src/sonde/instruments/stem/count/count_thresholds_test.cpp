// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/count/count_thresholds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "sonde/engine/math/random.h"
#include "sonde/instruments/stem/count/test_counting.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::noisy_values;

constexpr Index sampled = 8, sample_rows = 90, sample_cols = 110, sample_pixels = sample_rows * sample_cols;

FrameSample whole_sample(double sigma, double occupancy, std::uint64_t seed, double pedestal = 20) {
  return {.rows = sample_rows,
          .cols = sample_cols,
          .values = noisy_values(sampled, sample_rows, sample_cols, pedestal, sigma, occupancy, seed),
          .good = {},
          .whole = true};
}

class CountThresholdsOf : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(CountThresholdsOf, NoiseAreThoseOfItsMeanAndSigma) {
  const CountThresholds found = find_thresholds(whole_sample(3, 0, GetParam()), {});
  const NoisePeak& noise = *found.noise;
  // Whole numbers: their variance is larger by a twelfth. Five standard errors, which the window of four sigma makes
  // about 1.6 / sqrt(n) and 2.4 / sqrt(n) of sigma; n = 79200.
  EXPECT_LT(noise.sigma_error, 3 * 3 / std::sqrt(79200.0));
  EXPECT_NEAR(noise.mean, 20, 5 * noise.mean_error);
  EXPECT_NEAR(noise.sigma, std::sqrt(9 + 1.0 / 12), 5 * noise.sigma_error);
  EXPECT_EQ(found.limits.background, noise.mean + 4 * noise.sigma);
  EXPECT_TRUE(std::isinf(found.limits.xray));  // no electrons, or a few values of noise
  EXPECT_THAT(found.warnings, IsEmpty());
}

TEST_P(CountThresholdsOf, CorrectedNoiseAreThoseOfItsMeanAndSigma) {
  FrameSample sample = whole_sample(1.5, 0, GetParam());
  sample.whole = false;
  sample.step = 1;
  Random random(GetParam(), 9);
  for (std::size_t i = 0; i < static_cast<std::size_t>(sample_pixels); ++i) {
    const auto dark = static_cast<float>(20 + 3 * random.normal());
    for (std::size_t frame = 0; frame < sampled; ++frame) {
      float& value = sample.values[frame * sample_pixels + i];
      value = std::round(value + dark - 20) - dark;
    }
  }
  const NoisePeak noise = *find_thresholds(sample, {}).noise;
  EXPECT_NEAR(noise.mean, 0, 5 * noise.mean_error);
  EXPECT_NEAR(noise.sigma, std::sqrt(2.25 + 2.0 / 12), 5 * noise.sigma_error + 0.03);  // rounded twice
}

TEST_P(CountThresholdsOf, ElectronsSeparateThemFromNoise) {
  for (const double occupancy : {0.001, 0.005, 0.02}) {
    SCOPED_TRACE(occupancy);
    const CountThresholds found = find_thresholds(whole_sample(1, occupancy, GetParam()), {});
    // Noise of 1, and a twelfth: 20 + 4 x 1.041 = 24.16. A tenth of a deposit beside it, 3 to 4 sigma above, is in 4 %
    // of pixels at most; those within a sigma of the peak, a tenth of them, widen it by less than a fiftieth.
    EXPECT_NEAR(found.limits.background, 24.16, 0.1);
    // Electrons: 0.8 (30 + 8 g), g of median 0.37 and 0.841-quantile 1.75, and the pedestal: 46.4 and 8.8. The quantile
    // of n electrons is known to 1.6 spreads / sqrt(n), n = 79 or more; four times that, times 11.
    EXPECT_NEAR(found.limits.xray, 46.4 + 10 * 8.8,
                10 * 4 * 1.6 * 8.8 / std::sqrt(sampled * sample_pixels * occupancy));
    EXPECT_GT(found.limits.xray, 90);
    EXPECT_THAT(found.warnings, IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, CountThresholdsOf, ::testing::Values(1, 2, 3, 4));

TEST(CountThresholds, AreTakenAsGiven) {
  const CountThresholds found = find_thresholds(whole_sample(1, 0.01, 1), {.background = 27.5, .xray = 81});
  EXPECT_EQ(found.limits.background, 27.5);
  EXPECT_EQ(found.limits.xray, 81);
  EXPECT_FALSE(found.noise);
  EXPECT_EQ(found.background_because, "given");
}

TEST(CountThresholds, OnTheWrongSideOfEachOtherAreRefused) {
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [] { (void)find_thresholds(whole_sample(1, 0.01, 1), {.background = 30, .xray = 30}); }),
              HasSubstr("the background threshold (30) is not below the x-ray threshold (30)"));
}

TEST(CountThresholds, DoNotSeeBadPixels) {
  FrameSample sample = whole_sample(1, 0.005, 3), good = whole_sample(1, 0.005, 3);
  sample.good.assign(static_cast<std::size_t>(sample_pixels), 1);
  for (const std::size_t pixel : {5U, 500U, 5000U}) {
    sample.good[pixel] = 0;
    for (std::size_t frame = 0; frame < sampled; ++frame) sample.values[frame * sample_pixels + pixel] = 0;
  }
  const double background = find_thresholds(sample, {}).limits.background;
  EXPECT_NEAR(background, find_thresholds(good, {}).limits.background, 0.01);
}

TEST(CountThresholds, OfCountedFramesAreRefused) {
  Random random(5);
  FrameSample sample{.rows = 40, .cols = 50, .values = {}, .good = {}, .whole = true};
  for (Index i = 0; i < 3 * 40 * 50; ++i) sample.values.push_back(random.below(50) == 0 ? 1 : 0);
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)find_thresholds(sample, {}); }),
              HasSubstr("no noise peak was found: a third of all values or more is 0\nhint: frames that are counted "
                        "already need no counting; else give the threshold, --background COUNTS"));
}

TEST(CountThresholds, OfManyCountsInAPixelWarn) {
  // About three counts in a pixel: their Poisson distribution looks like a peak, which begins at 0.
  Random random(6);
  FrameSample sample{.rows = 40, .cols = 50, .values = {}, .good = {}, .whole = true};
  for (Index i = 0; i < 3 * 40 * 50; ++i) {
    int counts = 0;
    for (double left = random.uniform(); left > std::exp(-3.0); left *= random.uniform()) ++counts;
    sample.values.push_back(static_cast<float>(counts));
  }
  EXPECT_THAT(find_thresholds(sample, {}).warnings,
              ElementsAre(HasSubstr("values begin at 0, within two sigma of the noise peak")));
}

TEST(CountThresholds, OfNoiseThatIsNotGaussianWarn) {
  // Two kinds of pixels, whose dark values differ: two peaks.
  Random random(7);
  FrameSample sample{.rows = 40, .cols = 50, .values = {}, .good = {}};
  for (Index i = 0; i < 20 * 40 * 50; ++i)
    sample.values.push_back(static_cast<float>(random.normal() + (i % 3 == 0 ? 0 : 4)));
  EXPECT_THAT(find_thresholds(sample, {}).warnings, ElementsAre(HasSubstr("the noise is not Gaussian")));
}

TEST(CountThresholds, OfFlatValuesAreRefused) {
  Random random(7);
  FrameSample sample{.rows = 40, .cols = 50, .values = {}, .good = {}};
  for (Index i = 0; i < 20 * 40 * 50; ++i) sample.values.push_back(static_cast<float>(10 * random.uniform()));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)find_thresholds(sample, {}); }),
              HasSubstr("no noise peak was found: no Gaussian fits the values around their median"));
}

}  // namespace
}  // namespace sonde::stem
