// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/invert/stage_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/instruments/maxwell/invert/test_invert.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

constexpr double sample_dt = 1e-9;
constexpr Index filter_steps = 700;

/// A long burst around sample 350, in the middle of the trace.
Gather burst(double frequency) {
  Gather gather(filter_steps, 1);
  for (Index n = 0; n < filter_steps; ++n) {
    const double t = static_cast<double>(n) - 350;
    gather.samples[static_cast<std::size_t>(n)] =
        std::exp(-t * t / 5000) * std::cos(2 * std::numbers::pi * frequency * sample_dt * t);
  }
  return gather;
}

double passed(const Band& band, double frequency) {
  const Gather before = burst(frequency);
  Gather after = before;
  stage_filter(band, sample_dt, filter_steps).apply(before.traces(), after.traces());
  return after.samples[350] / before.samples[350];
}

TEST(StageFilter, PassesHalfAtItsLimits) {
  // A burst of 100 samples is 3 MHz wide; the response bends by 1e-2 over that.
  EXPECT_NEAR(passed({0, 100e6}, 100e6), 0.5, 0.01);
  EXPECT_NEAR(passed({50e6, 200e6}, 50e6), 0.5, 0.02);
}

TEST(StageFilter, PassesItsBandOnly) {
  EXPECT_NEAR(passed({0, 100e6}, 40e6), 1, 2e-3);     // 1 / (1 + 0.4^8) = 0.9993
  EXPECT_NEAR(passed({0, 100e6}, 250e6), 0, 2e-3);    // 1 / (1 + 2.5^8) = 7e-4
  EXPECT_NEAR(passed({80e6, 300e6}, 30e6), 0, 2e-3);  // 0.375^8 = 4e-4
}

TEST(StageFilter, AddsNoPhase) {
  Gather symmetric = burst(60e6);
  stage_filter({20e6, 80e6}, sample_dt, filter_steps).apply(symmetric.traces(), symmetric.traces());
  for (std::size_t lag = 1; lag < 200; ++lag)
    EXPECT_NEAR(symmetric.samples[350 - lag], symmetric.samples[350 + lag], 1e-12);
}

TEST(StageFilter, IsItsOwnTranspose) {
  const TraceFilter filter = stage_filter({20e6, 80e6}, sample_dt, filter_steps);
  Gather a(filter_steps, 2), b(filter_steps, 2);
  a.samples = testing::random_numbers(a.samples.size(), 1);
  b.samples = testing::random_numbers(b.samples.size(), 2);
  Gather there = a, back = b;
  filter.apply(a.traces(), there.traces());
  filter.apply(b.traces(), back.traces());
  EXPECT_NEAR(testing::product(there.samples, b.samples), testing::product(a.samples, back.samples), 1e-11);
}

TEST(TraceFilter, TransposeIsExactForAComplexResponse) {
  TraceSpectrum spectrum(33);
  std::vector<TraceFilter::Complex> response;
  const auto parts = testing::random_numbers(2 * static_cast<std::size_t>(spectrum.frequencies()), 3);
  for (std::size_t k = 0; 2 * k < parts.size(); ++k) response.emplace_back(parts[2 * k], parts[2 * k + 1]);
  const TraceFilter filter(std::move(spectrum), response);
  Gather a(33, 3), b(33, 3);
  a.samples = testing::random_numbers(99, 4);
  b.samples = testing::random_numbers(99, 5);
  Gather there = a, back = b;
  filter.apply(a.traces(), there.traces());
  filter.apply_transpose(b.traces(), back.traces());
  EXPECT_NEAR(testing::product(there.samples, b.samples), testing::product(a.samples, back.samples), 1e-13);
}

TEST(TraceFilter, NoiseGainIsTheNormOfTheFilter) {
  const Index n = 40;
  const TraceFilter filter = stage_filter({0, 90e6}, sample_dt, n);
  double squares = 0;
  for (Index i = 0; i < n; ++i) {
    Gather unit(n, 1);
    unit.samples[static_cast<std::size_t>(i)] = 1;
    filter.apply(unit.traces(), unit.traces());
    squares += testing::product(unit.samples, unit.samples);
  }
  EXPECT_NEAR(filter.noise_gain(), std::sqrt(squares / static_cast<double>(n)), 1e-12);
}

TEST(StageFilter, BandsWithoutMeaningAreErrors) {
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [] {
                                         (void)stage_filter({2e8, 1e8}, sample_dt, 10);
                                       }),
              ::testing::HasSubstr("band 200000000 to 100000000 Hz; expected 0 <= low < high"));
}

TEST(TraceFilter, TracesWithoutSamplesAreAnError) {
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [] { TraceSpectrum(0); }),
              ::testing::HasSubstr("a trace has 0 samples; at least 1"));
}

}  // namespace
}  // namespace sonde::maxwell
