// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/signal/wavelet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::error_of;
using std::numbers::pi;
using ::testing::HasSubstr;

constexpr double rounding = 1e-15;  // of functions of order 1, a few operations

Wavelet native(const std::string& name) { return {.name = name, .frequency = 1}; }
Wavelet gprmax(const std::string& name) { return {.family = WaveletFamily::gprmax, .name = name, .frequency = 1}; }

double slope_of(const Wavelet& wavelet, double t) {
  const double h = 1e-5;
  return (value(wavelet, t + h) - value(wavelet, t - h)) / (2 * h);
}

TEST(NativeWavelet, RickerIsOneAtItsDelayAndPassesThroughZero) {
  EXPECT_EQ(value(native("ricker"), 1), 1);
  EXPECT_NEAR(value(native("ricker"), 1 + 1 / (pi * std::numbers::sqrt2)), 0, rounding);
  EXPECT_NEAR(value(native("ricker"), 1 - 1 / pi), -std::exp(-1), rounding);
}

TEST(NativeWavelet, GaussianFallsToOneOverE) {
  EXPECT_NEAR(value(native("gaussian"), 1 + 1 / pi), std::exp(-1), rounding);
}

TEST(NativeWavelet, GaussianDerivativeHasExtremesOfOne) {
  const double extreme = 1 / (pi * std::numbers::sqrt2);
  EXPECT_NEAR(value(native("gaussian_derivative"), 1 - extreme), 1, rounding);
  EXPECT_NEAR(value(native("gaussian_derivative"), 1 + extreme), -1, rounding);
  EXPECT_NEAR(slope_of(native("gaussian_derivative"), 1 + extreme), 0, 1e-8);  // h^2 times the third derivative, 60
}

TEST(NativeWavelet, MorletIsACosineUnderAGaussianOfItsCycles) {
  EXPECT_NEAR(value(native("morlet"), 1.5), -std::exp(-pi * pi / 36), rounding);
  Wavelet one = native("morlet");
  one.cycles = 1;
  EXPECT_NEAR(value(one, 1.5), -std::exp(-pi * pi / 4), rounding);
}

TEST(NativeWavelet, SineBurstIsACosineUnderAHannWindow) {
  EXPECT_EQ(value(native("sine_burst"), 1), 1);
  EXPECT_NEAR(value(native("sine_burst"), 1.5), -0.75, rounding);  // (1 + cos(pi / 3)) / 2
  EXPECT_EQ(value(native("sine_burst"), 2.5), 0);
  EXPECT_EQ(value(native("sine_burst"), -0.6), 0);
}

TEST(NativeWavelet, HasTheDelayAndAmplitudeThatAreGiven) {
  const Wavelet wavelet{.name = "ricker", .frequency = 2, .delay = 3, .amplitude = -5};
  EXPECT_EQ(value(wavelet, 3), -5);
  EXPECT_NEAR(value(wavelet, 3 + 1 / (2 * pi)), 5 * std::exp(-1), 5 * rounding);
}

TEST(GprmaxWavelet, GaussianHasItsPeakAfterOnePeriod) {
  EXPECT_EQ(value(gprmax("gaussian"), 1), 1);
  EXPECT_NEAR(value(gprmax("gaussian"), 1 + 1 / (pi * std::numbers::sqrt2)), std::exp(-1), rounding);
}

TEST(GprmaxWavelet, GaussiandotIsTheSlopeOfTheGaussian) {
  // h^2 / 6 times the third derivative, below 600, is 1e-8; the rounding of the quotient 1e-11.
  for (const double t : {0.7, 0.9, 1.0, 1.05, 1.4}) {
    EXPECT_NEAR(value(gprmax("gaussiandot"), t), slope_of(gprmax("gaussian"), t), 1e-7) << t;
    EXPECT_EQ(value(gprmax("gaussianprime"), t), value(gprmax("gaussiandot"), t));
  }
}

TEST(GprmaxWavelet, GaussiandoubleprimeIsTheSlopeOfGaussianprime) {
  for (const double t : {0.7, 0.9, 1.0, 1.05, 1.4})  // fourth derivative of the Gaussian: below 2e4
    EXPECT_NEAR(value(gprmax("gaussiandoubleprime"), t), slope_of(gprmax("gaussianprime"), t), 1e-6) << t;
}

TEST(GprmaxWavelet, NormalisedOnesHaveAPeakOfOne) {
  EXPECT_NEAR(value(gprmax("gaussiandotnorm"), 1 - 1 / (2 * pi)), 1, rounding);
  EXPECT_NEAR(value(gprmax("gaussiandotnorm"), 1 + 1 / (2 * pi)), -1, rounding);
  EXPECT_EQ(value(gprmax("gaussiandotdotnorm"), std::numbers::sqrt2), -1);
  EXPECT_EQ(value(gprmax("ricker"), std::numbers::sqrt2), 1);
}

TEST(GprmaxWavelet, RickerIsTheNativeOneWithALongerDelay) {
  Wavelet same = native("ricker");
  same.delay = std::numbers::sqrt2;
  for (const double t : {0.8, 1.2, 1.5, 2.1}) {
    EXPECT_NEAR(value(gprmax("ricker"), t), value(same, t), rounding) << t;
    EXPECT_NEAR(value(gprmax("gaussiandotdot"), t), -2 * pi * pi * value(same, t), 20 * rounding) << t;
  }
}

TEST(GprmaxWavelet, SineIsOnePeriod) {
  EXPECT_NEAR(value(gprmax("sine"), 0.25), 1, rounding);
  EXPECT_NEAR(value(gprmax("sine"), 0.75), -1, rounding);
  EXPECT_EQ(value(gprmax("sine"), 1.25), 0);
  EXPECT_EQ(value(gprmax("sine"), -0.25), 0);
}

TEST(GprmaxWavelet, ContsineRisesForFourPeriods) {
  EXPECT_NEAR(value(gprmax("contsine"), 0.25), 1.0 / 16, rounding);
  EXPECT_NEAR(value(gprmax("contsine"), 2.25), 9.0 / 16, 10 * rounding);
  EXPECT_NEAR(value(gprmax("contsine"), 7.25), 1, 50 * rounding);
  EXPECT_EQ(value(gprmax("contsine"), -0.25), 0);
}

TEST(GprmaxWavelet, ImpulseIsOneTimeStep) {
  EXPECT_THAT(sampled(gprmax("impulse"), 3, 1e-11, 0), ::testing::ElementsAre(1, 0, 0));
  EXPECT_THAT(sampled(gprmax("impulse"), 3, 1e-11, 0.5), ::testing::ElementsAre(1, 0, 0));
}

TEST(Wavelet, IsSampledAtItsOffset) {
  const Wavelet wavelet{.name = "ricker", .frequency = 5e8};
  const std::vector<double> samples = sampled(wavelet, 300, 1e-11, 0.5);
  ASSERT_EQ(samples.size(), 300u);
  EXPECT_EQ(samples[0], value(wavelet, 0.5e-11));
  EXPECT_EQ(samples[222], value(wavelet, 222.5 * 1e-11));
}

TEST(Wavelet, RickerHasTheSpectrumOfTheTextbook) {
  // |S(f)| = 2 f^2 / (sqrt(pi) f0^3) exp(-f^2 / f0^2) (Wang 2015, Geophysics 80, A31, up to the units of the
  // transform). Delayed by three periods the wavelet starts at exp(-89); sums of so smooth a function are integrals.
  const double dt = 0.02, f0 = 1;
  const std::vector<double> samples = sampled({.name = "ricker", .frequency = f0, .delay = 3}, 300, dt, 0.5);
  for (const double f : {0.2, 0.5, 1.0, 1.7, 2.5, 4.0}) {
    std::complex<double> sum = 0;
    for (std::size_t n = 0; n < samples.size(); ++n)
      sum += samples[n] * std::polar(dt, -2 * pi * f * (static_cast<double>(n) + 0.5) * dt);
    EXPECT_NEAR(std::abs(sum), 2 * f * f / std::sqrt(pi) * std::exp(-f * f), 1e-14) << f;
  }
}

TEST(HighestFrequency, OfARickerIsKnown) {
  // x^2 exp(1 - x^2) = 0.01 at x = 2.763757. Between the points of the transform the spectrum is taken as straight: its
  // step is 0.02 f0 and it falls over 0.2 f0, so that the error is below (0.02 / 0.2)^2 / 8 of 0.2 f0.
  const std::vector<double> samples = sampled({.name = "ricker", .frequency = 4e8, .delay = 5e-9}, 600, 2e-11, 0.5);
  EXPECT_NEAR(highest_frequency(samples, 2e-11) / 4e8, 2.763757, 3e-4);
}

TEST(HighestFrequency, OfAGaussianIsKnown) {
  // exp(-f^2 / f0^2) = 0.01 at f = sqrt(ln 100) f0; as above.
  const std::vector<double> samples = sampled({.name = "gaussian", .frequency = 4e8, .delay = 5e-9}, 600, 2e-11, 0.5);
  EXPECT_NEAR(highest_frequency(samples, 2e-11) / 4e8, std::sqrt(std::log(100)), 3e-4);
}

TEST(HighestFrequency, OfAnImpulseIsThatOfNyquist) {
  const std::vector<double> samples = sampled(gprmax("impulse"), 10, 0.5, 0);
  EXPECT_EQ(highest_frequency(samples, 0.5), 1);
}

TEST(HighestFrequency, OfNothingIsZero) {
  EXPECT_EQ(highest_frequency(std::vector<double>(5), 1), 0);
  EXPECT_EQ(highest_frequency({}, 1), 0);
}

TEST(WaveletTable, IsPiecewiseLinearAndZeroOutside) {
  const WaveletTable table{.name = "pulse", .times = {1, 2, 4}, .values = {3, 5, -1}};
  EXPECT_EQ(value(table, 1), 3);
  EXPECT_EQ(value(table, 1.5), 4);
  EXPECT_EQ(value(table, 3), 2);
  EXPECT_EQ(value(table, 4), -1);
  EXPECT_EQ(value(table, 0.999), 0);
  EXPECT_EQ(value(table, 4.001), 0);
  EXPECT_THAT(sampled(table, 4, 1, 0.5), ::testing::ElementsAre(0, 4, 3.5, 0.5));
}

TEST(WaveletTable, OfUnequalListsIsRefused) {
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [] {
                         (void)sampled(WaveletTable{"pulse", {1, 2}, {3}}, 1, 1, 0);
                       }),
              HasSubstr("wavelet \"pulse\": 2 times and 1 values; expected as many, at least 1"));
}

TEST(WaveletTable, OfTimesThatDoNotIncreaseIsRefused) {
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [] {
                         require_valid(WaveletTable{"pulse", {1, 1}, {3, 4}});
                       }),
              HasSubstr("wavelet \"pulse\": time 1 s is followed by 1 s; expected later times"));
}

TEST(Wavelet, OfAnotherSetIsUnknown) {
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { (void)value(native("rickr"), 0); }),
              AllOf(HasSubstr("unknown wavelet \"rickr\"; did you mean \"ricker\"?"),
                    HasSubstr("the wavelets are ricker, gaussian, gaussian_derivative, morlet and sine_burst")));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { require_valid(gprmax("morlet")); }),
              HasSubstr("unknown wavelet \"morlet\""));
}

TEST(Wavelet, NeedsAFrequency) {
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { require_valid(Wavelet{}); }),
              HasSubstr("wavelet \"ricker\": frequency = 0 Hz; expected a number > 0"));
}

TEST(Wavelet, NeedsCyclesAboveZero) {
  const Wavelet wavelet{.name = "morlet", .frequency = 1, .cycles = -1};
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { require_valid(wavelet); }),
              HasSubstr("wavelet \"morlet\": cycles = -1; expected a number > 0"));
}

TEST(Wavelet, NeedsAFiniteAmplitude) {
  const Wavelet wavelet{.frequency = 1, .amplitude = std::numeric_limits<double>::infinity()};
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { require_valid(wavelet); }),
              HasSubstr("wavelet \"ricker\": amplitude = inf; expected a finite number"));
}

TEST(Wavelet, NeedsAFiniteDelay) {
  const Wavelet wavelet{.frequency = 1, .delay = -std::numeric_limits<double>::infinity()};
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { require_valid(wavelet); }),
              HasSubstr("wavelet \"ricker\": delay = -inf s; expected a finite number"));
}

TEST(GprmaxWavelet, HasNoDelayOfItsOwn) {
  Wavelet wavelet = gprmax("ricker");
  wavelet.delay = 2;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { require_valid(wavelet); }),
              HasSubstr("wavelet \"ricker\": delay = 2 s; the delay of a gprMax wavelet follows from its frequency"));
}

}  // namespace
}  // namespace sonde::maxwell
