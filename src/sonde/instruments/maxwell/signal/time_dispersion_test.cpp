// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/signal/time_dispersion.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sonde/instruments/maxwell/signal/sample_offset.h"
#include "sonde/instruments/maxwell/signal/test_series.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::dot;
using sonde::testing::expect_transposes;
using sonde::testing::random_series;
using sonde::testing::SeriesList;

/// u' = v + g, v' = -w0^2 u, that is u'' = -w0^2 u + g', with the solution u = -x / s^2 exp(-x^2 / (2 s^2)), x = t -
/// t0, v = -w0^2 exp(-x^2 / (2 s^2)). The drive that belongs to it brings the oscillator to rest again.
struct Oscillator {
  double w0 = 0.4, s = 6, t0 = 80;

  [[nodiscard]] double bell(double t) const { return std::exp(-(t - t0) * (t - t0) / (2 * s * s)); }
  [[nodiscard]] double u(double t) const { return -(t - t0) / (s * s) * bell(t); }
  [[nodiscard]] double v(double t) const { return -w0 * w0 * bell(t); }
  [[nodiscard]] double g(double t) const {
    const double x = (t - t0) / s;
    return (x * x - 1) / (s * s) * bell(t) - v(t);
  }
};

struct Records {
  SeriesList electric, magnetic;  // u at (n + 1) dt, v at (n + 1/2) dt
};

/// Leapfrog: u at whole steps, v and g at half steps.
Records leapfrog(const Oscillator& system, SeriesList drive, double dt) {
  Records records{SeriesList(1, drive.samples), SeriesList(1, drive.samples)};
  double u = 0, v = 0;
  for (Index n = 0; n < drive.samples; ++n) {
    v -= dt * system.w0 * system.w0 * u;
    u += dt * (v + drive(0, n));
    records.electric(0, n) = u;
    records.magnetic(0, n) = v;
  }
  return records;
}

SeriesList drive_of(const Oscillator& system, Index samples, double dt) {
  SeriesList drive(1, samples);
  for (Index n = 0; n < samples; ++n)
    drive(0, n) = system.g((static_cast<double>(n) + sample_offset::electric_source) * dt);
  return drive;
}

struct RelativeErrors {
  double u, v;
};

RelativeErrors errors_of(const Oscillator& system, Records records, double dt) {
  double u = 0, v = 0, of_u = 0, of_v = 0;
  for (Index n = 0; n < records.electric.samples; ++n) {
    const double exact_u = system.u((static_cast<double>(n) + sample_offset::electric_record) * dt);
    const double exact_v = system.v((static_cast<double>(n) + sample_offset::magnetic_record) * dt);
    u += std::pow(records.electric(0, n) - exact_u, 2);
    v += std::pow(records.magnetic(0, n) - exact_v, 2);
    of_u += exact_u * exact_u;
    of_v += exact_v * exact_v;
  }
  return {std::sqrt(u / of_u), std::sqrt(v / of_v)};
}

RelativeErrors uncorrected(double dt) {
  const Oscillator system;
  const auto samples = static_cast<Index>(200 / dt);
  return errors_of(system, leapfrog(system, drive_of(system, samples, dt), dt), dt);
}

RelativeErrors corrected(double dt) {
  const Oscillator system;
  SeriesList drive = drive_of(system, static_cast<Index>(200 / dt), dt);
  disperse_source(sample_offset::electric_source, drive.view(), drive.view());
  Records records = leapfrog(system, drive, dt);
  correct_record(sample_offset::electric_record, records.electric.view(), records.electric.view());
  correct_record(sample_offset::magnetic_record, records.magnetic.view(), records.magnetic.view());
  return errors_of(system, records, dt);
}

TEST(TimeDispersion, OfAnOscillatorIsSecondOrderInTheStep) {
  const RelativeErrors coarse = uncorrected(1), fine = uncorrected(0.5);
  EXPECT_GT(coarse.u, 1e-2);
  EXPECT_GT(coarse.v, 1e-2);
  EXPECT_NEAR(coarse.u / fine.u, 4, 0.2);  // the next order of the error is dt^2 of it
  EXPECT_NEAR(coarse.v / fine.v, 4, 0.2);
}

TEST(TimeDispersion, OfAnOscillatorIsRemovedToRounding) {
  // Phases are products of frequencies up to pi and times up to 200: 200 pi eps = 1.4e-13. The pulse has exp(-72) of
  // its spectrum at w dt = 2.
  const RelativeErrors error = corrected(1);
  EXPECT_LT(error.u, 2e-13);
  EXPECT_LT(error.v, 2e-13);
}

class TimeDispersionAt : public ::testing::TestWithParam<double> {};

TEST_P(TimeDispersionAt, EachMapHasItsTranspose) {
  const double offset = GetParam();
  for (const Index samples : {1, 2, 63, 64, 65, 150}) {
    SCOPED_TRACE(samples);
    const SeriesList x = random_series(18, samples, 1), y = random_series(18, samples, 2);  // more than one block
    expect_transposes(
        x, y, [&](auto in, auto out) { disperse_source(offset, in, out); },
        [&](auto in, auto out) { disperse_source_transpose(offset, in, out); });
    expect_transposes(
        x, y, [&](auto in, auto out) { correct_record(offset, in, out); },
        [&](auto in, auto out) { correct_record_transpose(offset, in, out); });
  }
}

INSTANTIATE_TEST_SUITE_P(Offsets, TimeDispersionAt, ::testing::Values(0, 0.5, 1));

TEST(TimeDispersion, TheRecordMapUndoesTheSourceMap) {
  const Oscillator system;
  SeriesList x = drive_of(system, 200, 1), y(1, 200);
  disperse_source(0.5, x.view(), y.view());
  correct_record(0.5, y.view(), y.view());
  for (std::size_t n = 0; n < x.values.size(); ++n)
    ASSERT_NEAR(x.values[n], y.values[n], 1e-12 * std::sqrt(dot(x, x))) << n;  // as above
}

}  // namespace
}  // namespace sonde::maxwell
