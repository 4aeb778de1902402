// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/count/noise_peak.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "sonde/engine/math/random.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ValueHistogram, HoldsWhatIsBeyondInItsEnds) {
  const std::vector<float> values = {-7, -0.25F, 0.25F, 1, 1.75F, 2, 9};
  const ValueHistogram made = ValueHistogram::of(values, -0.5, 2.4, 1);
  EXPECT_THAT(made.counts, ElementsAre(3, 1, 3));
  EXPECT_EQ(made.middle(1), 1);
}

/// The expected counts of a Gaussian in bins of this width about whole multiples of it, without a tail.
ValueHistogram exact_peak(double amplitude, double mean, double sigma, double width) {
  ValueHistogram made{
      .first = std::floor((mean - 6 * sigma) / width) * width - width / 2, .width = width, .counts = {}};
  while (made.middle(made.counts.size()) < mean + 6 * sigma) {
    const double z = (made.middle(made.counts.size()) - mean) / sigma;
    made.counts.push_back(static_cast<std::uint64_t>(std::llround(amplitude * std::exp(-0.5 * z * z))));
  }
  return made;
}

TEST(NoisePeak, IsFoundWhereCountsAreGaussian) {
  for (const double width : {0.05, 1.0}) {
    SCOPED_TRACE(width);
    const NoisePeak peak = fit_noise_peak(exact_peak(1e9, 20.3, 1.7, width));
    // Counts rounded to whole numbers: half a count in 1e9 at the top, 5e-8 of the counts three sigma away.
    EXPECT_NEAR(peak.mean, 20.3, 1e-7);
    EXPECT_NEAR(peak.sigma, 1.7, 1e-7);
    EXPECT_NEAR(peak.amplitude, 1e9, 100);
    EXPECT_LT(peak.misfit, 1e-8);
  }
}

/// Values of known mean and sigma, continuous.
ValueHistogram drawn_peak(std::size_t count, double mean, double sigma, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<float>(mean + sigma * random.normal()));
  return ValueHistogram::of(values, mean - 6 * sigma, mean + 6 * sigma, sigma / 20);
}

TEST(NoisePeak, HasTheErrorsThatItReports) {
  constexpr int trials = 60;
  double mean_squares = 0, sigma_squares = 0;
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    const NoisePeak peak = fit_noise_peak(drawn_peak(10'000, -3, 2, seed));
    mean_squares += std::pow((peak.mean + 3) / peak.mean_error, 2);
    sigma_squares += std::pow((peak.sigma - 2) / peak.sigma_error, 2);
  }
  // A mean of 60 squares of normal numbers: 1 +- sqrt(2 / 60) = 0.18; four times that.
  EXPECT_NEAR(mean_squares / trials, 1, 0.73);
  EXPECT_NEAR(sigma_squares / trials, 1, 0.73);
}

TEST(NoisePeak, ErrorsFallWithTheRootOfTheCounts) {
  const NoisePeak few = fit_noise_peak(drawn_peak(4'000, 5, 1, 1)), many = fit_noise_peak(drawn_peak(64'000, 5, 1, 2));
  // Of a window the errors are known to a few percent, like its sigma.
  EXPECT_NEAR(few.mean_error / many.mean_error, 4, 0.6);
  EXPECT_NEAR(few.sigma_error / many.sigma_error, 4, 0.6);
}

TEST(NoisePeak, IsNotDrawnAsideByATail) {
  ValueHistogram histogram = exact_peak(1e6, 0, 2, 0.1);
  // Deposits from 8 sigma on, a tenth of all values: a fit to everything would be wider by half.
  histogram.counts.resize(histogram.counts.size() + 400, 0);
  for (std::size_t bin = 0; bin < histogram.counts.size(); ++bin)
    if (histogram.middle(bin) > 16) histogram.counts[bin] = 20'000;
  const NoisePeak peak = fit_noise_peak(histogram);
  EXPECT_NEAR(peak.mean, 0, 1e-4);
  EXPECT_NEAR(peak.sigma, 2, 1e-4);
}

TEST(NoisePeak, OfTwoValuesIsRefused) {
  const ValueHistogram two{.first = -0.5, .width = 1, .counts = {900, 0, 0, 0, 0, 0, 100}};
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)fit_noise_peak(two); }),
              HasSubstr("the values have no noise peak"));
}

}  // namespace
}  // namespace sonde::stem
