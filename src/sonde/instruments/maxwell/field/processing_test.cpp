// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/field/processing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <numbers>

#include "sonde/instruments/maxwell/field/test_line.h"
#include "sonde/instruments/maxwell/grid/constants.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::error_of;
using std::numbers::pi;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using testing::small_line;

/// Samples of a function of time.
FieldLine line_of_function(Index samples, double dt, const std::function<double(double)>& at, Index traces = 1) {
  FieldLine line{.title = "made", .traces = traces, .samples = samples, .dt = dt};
  for (Index i = 0; i < traces; ++i)
    for (Index n = 0; n < samples; ++n) line.values.push_back(static_cast<float>(at(static_cast<double>(n) * dt)));
  return line;
}

double ricker(double t, double f) {
  const double u = std::pow(pi * f * t, 2);
  return (1 - 2 * u) * std::exp(-u);
}

std::string refused(const std::function<void(FieldLine&)>& body) {
  return error_of(ErrorKind::bad_input, [&] {
    FieldLine line = small_line();
    body(line);
  });
}

TEST(Dewow, OfAStraightTraceLeavesNothingAwayFromItsEnds) {
  FieldLine line = line_of_function(101, 1e-9, [](double t) { return 3 + 2e9 * t; });
  dewow(line, 10e-9);
  for (Index n = 5; n < 96; ++n) EXPECT_NEAR(line.values[static_cast<std::size_t>(n)], 0, 1e-4) << n;  // float32 of 200
  EXPECT_THAT(line.history, ElementsAre("dewow: less the mean of 11 samples, 10 ns"));
}

TEST(Dewow, TakesOnePeriodOfTheNominalFrequency) {
  FieldLine line = line_of_function(101, 1e-9, [](double) { return 1; });
  line.nominal_frequency = 50e6;
  dewow(line, 0);
  EXPECT_THAT(line.history, ElementsAre("dewow: less the mean of 21 samples, 20 ns"));
}

TEST(Background, OfEqualTracesIsAllOfThem) {
  FieldLine line = line_of_function(
      50, 1e-9, [](double t) { return std::sin(1e9 * t); }, 7);
  remove_background(line, 0);
  for (const float value : line.values) EXPECT_NEAR(value, 0, 1e-7);
}

TEST(Background, AboutEachTraceIsTheMeanOfItsNeighbours) {
  FieldLine line{.traces = 4, .samples = 1, .values = {1, 2, 6, 1}, .dt = 1e-9};
  remove_background(line, 3);
  EXPECT_THAT(line.values, ElementsAre(-0.5, -1, 3, -2.5));
}

TEST(TimeZero, CutsWholeSamplesAndKeepsTheRest) {
  FieldLine line = small_line();
  cut_to_time_zero(line, line.time_zero);  // 1.5 samples
  EXPECT_EQ(line.samples, 3);
  EXPECT_THAT(line.values, ElementsAre(-2, 3, -4, 60, -70, 80, -1000, 1100, -32768));
  EXPECT_NEAR(line.time_zero, 0.125e-9, 1e-20);
}

TEST(TimeZero, BeforeTheRecordCutsNothing) {
  FieldLine line = small_line();
  cut_to_time_zero(line, -1e-9);
  EXPECT_EQ(line.values, small_line().values);
  EXPECT_EQ(line.time_zero, -1e-9);
}

TEST(TimeZero, OfASampleButForRoundingIsThatSample) {
  FieldLine line = small_line();
  cut_to_time_zero(line, 2 * line.dt * (1 - 1e-15));
  EXPECT_EQ(line.samples, 2);
  EXPECT_EQ(line.time_zero, 0);
}

TEST(TimeZero, OfTheFirstBreakIsWhereTheMagnitudeReachesATenth) {
  FieldLine line{.traces = 2, .samples = 4, .values = {0, 0.5, -3, 20, 0, -0.5, 3, -20}, .dt = 2e-9};
  EXPECT_DOUBLE_EQ(first_break(line), 4e-9);
}

TEST(Subtract, TakesTraceByTraceOrTheMean) {
  FieldLine line = small_line();
  subtract(line, small_line());
  EXPECT_THAT(line.values, ::testing::Each(0));
  FieldLine air{.title = "air", .traces = 2, .samples = 4, .values = {0, 0, 0, 2, 2, 2, 2, 2}, .dt = 0.25e-9};
  line = small_line();
  subtract(line, air);
  EXPECT_THAT(std::vector<float>(line.values.begin(), line.values.begin() + 4), ElementsAre(0, -3, 2, -6));
  EXPECT_EQ(line.history.back(), "subtracted the mean trace of air");
}

TEST(Resample, KeepsABandLimitedPulse) {
  // 30 samples per period of the highest frequency that matters, 2.8 f.
  const double f = 100e6, dt = 0.4e-9;
  const auto pulse = [&](double t) { return ricker(t - 60e-9, f); };
  for (const double finer : {0.13e-9, 0.4e-9, 0.9e-9}) {
    SCOPED_TRACE(finer);
    FieldLine line = line_of_function(301, dt, pulse);
    resample(line, finer);
    ASSERT_EQ(line.samples, static_cast<Index>(std::floor(300 * dt / finer + 1e-9)) + 1);
    for (Index n = 0; n < line.samples; ++n)  // side lobes of the window: 1e-4
      EXPECT_NEAR(line.values[static_cast<std::size_t>(n)], pulse(static_cast<double>(n) * finer), 2e-4) << n;
  }
}

TEST(Resample, DampsWhatTheNewStepCannotHold) {
  FieldLine line = line_of_function(401, 1e-9, [](double t) { return std::sin(2 * pi * 400e6 * t); });
  resample(line, 4e-9);  // up to 125 MHz
  for (Index n = 20; n < 80; ++n) EXPECT_NEAR(line.values[static_cast<std::size_t>(n)], 0, 1e-3) << n;
}

TEST(Gain, CompensatesSpreadingAndLossUpToItsLimit) {
  FieldLine line = line_of_function(100, 1e-9, [](double) { return 1; });
  line.nominal_frequency = 100e6;  // a period of 10 ns
  line.time_zero = 10e-9;
  apply_gain(line, 0.5, 40);
  EXPECT_FLOAT_EQ(line.values[5], 1);
  EXPECT_FLOAT_EQ(line.values[20], 1);
  EXPECT_NEAR(line.values[30], 2 * std::pow(10, 0.5 * 10 / 20), 1e-5);
  EXPECT_FLOAT_EQ(line.values[99], 100);
}

/// Of a dipole across its axis and of a line source at the distance r in a lossless ground, both driven by a Ricker
/// wavelet: the spectra times the closed forms (Balanis 2012, sections 4.2 and 11.2), summed over frequencies.
struct TwoFields {
  FieldLine dipole, line_source;
};

TwoFields two_fields(double r, double eps_r, double f) {
  using Complex = std::complex<double>;
  const Complex j(0, 1);
  const double dt = 1 / (40 * f), window = 4096 * dt, delay = 1.5 / f;
  std::vector<double> three(512), two(512);
  for (Index m = 1; static_cast<double>(m) / window < 5 * f; ++m) {
    const double w = 2 * pi * static_cast<double>(m) / window, k = w * std::sqrt(eps_r) / c0, kr = k * r;
    // The spectrum of a Ricker wavelet, its constant left out.
    const Complex source = std::pow(w / f, 2) * std::exp(-std::pow(w / (2 * pi * f), 2)) * std::exp(-j * w * delay);
    const Complex dipole = -j * w * mu0 * (1.0 - j / kr - 1 / (kr * kr)) * std::exp(-j * kr) / (4 * pi * r);
    const Complex line = -w * mu0 / 4 * Complex(std::cyl_bessel_j(0, kr), -std::cyl_neumann(0, kr));
    for (std::size_t n = 0; n < 512; ++n) {
      const Complex wave = std::exp(j * w * (static_cast<double>(n) * dt));
      three[n] += (source * dipole * wave).real();
      two[n] += (source * line * wave).real();
    }
  }
  const auto line_with = [dt](const std::vector<double>& samples) {
    return FieldLine{.traces = 1, .samples = 512, .values = {samples.begin(), samples.end()}, .dt = dt};
  };
  return {line_with(three), line_with(two)};
}

double relative_error(const FieldLine& made, const FieldLine& wanted) {
  double difference = 0, sum = 0;
  for (std::size_t n = 0; n < wanted.values.size(); ++n) {
    difference += std::pow(double{made.values[n]} - double{wanted.values[n]}, 2);
    sum += std::pow(double{wanted.values[n]}, 2);
  }
  return std::sqrt(difference / sum);
}

TEST(To2d, OfADipoleIsALineSourceButForTheNearField) {
  // Five wavelengths: 9 / (8 k r) is 3.6 % at the peak of the spectrum, more below it.
  const double f = 100e6, eps_r = 6, wavelength = c0 / std::sqrt(eps_r) / f;
  const double five = 5 * wavelength;
  TwoFields fields = two_fields(five, eps_r, f);
  to_2d(fields.dipole, eps_r, std::vector<double>{five * std::sqrt(eps_r) / c0});
  const double error = relative_error(fields.dipole, fields.line_source);
  EXPECT_GT(error, 0.02);
  EXPECT_LT(error, 0.045);
}

TEST(To2d, HasHalfTheErrorAtTwiceTheDistance) {
  const double f = 100e6, eps_r = 6, wavelength = c0 / std::sqrt(eps_r) / f;
  std::vector<double> errors;
  for (const double r : {2 * wavelength, 4 * wavelength}) {
    TwoFields fields = two_fields(r, eps_r, f);
    to_2d(fields.dipole, eps_r, std::vector<double>{r * std::sqrt(eps_r) / c0});
    errors.push_back(relative_error(fields.dipole, fields.line_source));
  }
  EXPECT_NEAR(errors[0] / errors[1], 2, 0.2);  // the next term is of order 1 / (k r)^2
}

TEST(To2d, WithTheTimesOfTheSamplesDiffersByTheLengthOfThePulse) {
  const double f = 100e6, eps_r = 6, r = 5 * c0 / std::sqrt(eps_r) / f, delay = 1.5 / f;
  TwoFields fields = two_fields(r, eps_r, f);
  fields.dipole.time_zero = delay;  // the middle of the wavelet leaves then
  to_2d(fields.dipole, eps_r);
  // Half a period more or less within five: sqrt(1 +- 0.1).
  EXPECT_LT(relative_error(fields.dipole, fields.line_source), 0.07);
}

TEST(Processing, IsDoneInOrderAndRecorded) {
  FieldLine line = line_of_function(
      100, 1e-9, [](double t) { return std::sin(1e8 * t); }, 3);
  line.nominal_frequency = 50e6;
  process(line, {.time_zero = 5e-9, .dewow = 0, .background = 0, .dt = 2e-9, .eps_r_2d = 4, .gain = 0.1});
  EXPECT_THAT(line.history,
              ElementsAre("time zero at 5 ns, 5 samples before it cut off", "dewow: less the mean of 21 samples, 20 ns",
                          "background: less the mean of all traces", "resampled from 1 to 2 ns",
                          "3D to 2D with eps_r 4 and the times of the samples",
                          "gain: t and 0.1 dB/ns from 20 ns on, at most 60 dB"));
}

TEST(Processing, WithoutMeaningIsRefused) {
  EXPECT_THAT(refused([](FieldLine& line) {
                subtract(line, FieldLine{.title = "air", .traces = 1, .samples = 2, .dt = 1e-9});
              }),
              HasSubstr("air: 2 samples of 1 ns to subtract from 4 of 0.25 ns; expected the same"));
  EXPECT_THAT(refused([](FieldLine& line) { cut_to_time_zero(line, 1e-9); }),
              HasSubstr("time zero at 1 ns; the record ends at 1 ns"));
  EXPECT_THAT(refused([](FieldLine& line) {
                line.nominal_frequency = 0;
                dewow(line, 0);
              }),
              HasSubstr("line: its nominal frequency is not known; give the window of the running mean"));
  EXPECT_THAT(refused([](FieldLine& line) { dewow(line, -1); }), HasSubstr("a window of -1 s; expected a time"));
  EXPECT_THAT(refused([](FieldLine& line) { remove_background(line, -1); }),
              HasSubstr("a background of -1 traces; expected 0 or more"));
  EXPECT_THAT(refused([](FieldLine& line) { resample(line, 0); }),
              HasSubstr("0 ns from 4 samples of 0.25 ns; expected 0.001 to 4 times as much"));
  EXPECT_THAT(refused([](FieldLine& line) { to_2d(line, 0.5); }),
              HasSubstr("a mean eps_r of 0.5; expected at least 1"));
  EXPECT_THAT(refused([](FieldLine& line) {
                to_2d(line, 4, std::vector<double>{1, 2});
              }),
              HasSubstr("2 times of arrival; expected one for each of 3 traces"));
  EXPECT_THAT(refused([](FieldLine& line) { apply_gain(line, 1, 0); }),
              HasSubstr("a gain of 1 dB/ns up to 0 dB; expected numbers below 1000"));
}

}  // namespace
}  // namespace sonde::maxwell
