// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/signal/resample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sonde/instruments/maxwell/signal/sample_offset.h"
#include "sonde/instruments/maxwell/signal/test_series.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::dot;
using sonde::testing::error_of;
using sonde::testing::expect_transposes;
using sonde::testing::random_series;
using sonde::testing::SeriesList;
using std::numbers::pi;
using ::testing::HasSubstr;

/// Samples of a pulse at (n + offset) step, outer steps being 1: a Gaussian of 3 steps under a carrier whose spectrum
/// is below exp(-(pi - 1.2)^2 9 / 2) = 4e-8 at the Nyquist frequency, and less than 1e-16 at the ends of 60 steps.
SeriesList pulse(Index samples, double step, double offset) {
  SeriesList series(1, samples);
  for (Index n = 0; n < samples; ++n) {
    const double t = (static_cast<double>(n) + offset) * step - 30;
    series(0, n) = std::exp(-t * t / 18) * std::cos(1.2 * t);
  }
  return series;
}
constexpr double beyond_nyquist = 1e-7;  // what is cut of the pulse, at both ends of the spectrum

double largest_difference(const SeriesList& a, const SeriesList& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) largest = std::max(largest, std::abs(a.values[i] - b.values[i]));
  return largest;
}

class ResampleAt : public ::testing::TestWithParam<double> {};

TEST_P(ResampleAt, UpsamplingKeepsTheTimesOfABandLimitedPulse) {
  for (const Index ratio : {2, 3, 5}) {
    SeriesList outer = pulse(60, 1, GetParam()), inner(1, 60 * ratio);
    upsample({.ratio = ratio}, GetParam(), outer.view(), inner.view());
    EXPECT_LT(largest_difference(inner, pulse(60 * ratio, 1 / static_cast<double>(ratio), GetParam())), beyond_nyquist)
        << ratio;
  }
}

TEST_P(ResampleAt, DownsamplingKeepsTheTimesOfABandLimitedPulse) {
  for (const Index ratio : {2, 3, 5}) {
    SeriesList outer(1, 61), inner = pulse(61 * ratio, 1 / static_cast<double>(ratio), GetParam());
    downsample({.ratio = ratio, .time_pad_frac = 0.1}, GetParam(), inner.view(), outer.view());
    EXPECT_LT(largest_difference(outer, pulse(61, 1, GetParam())), beyond_nyquist) << ratio;
  }
}

TEST_P(ResampleAt, RatioOneIsTheIdentity) {
  const Resampling how{.freq_taper_frac = 0.5, .time_pad_frac = 0.5, .time_taper = true};
  SeriesList x = random_series(2, 20, 1), y(2, 20);
  upsample(how, GetParam(), x.view(), y.view());
  EXPECT_EQ(x.values, y.values);
  y = SeriesList(2, 20);
  downsample(how, GetParam(), x.view(), y.view());
  EXPECT_EQ(x.values, y.values);
}

struct ResampleCase {
  Resampling how;
  Index samples;
};

TEST_P(ResampleAt, EachHasItsTranspose) {
  const ResampleCase cases[] = {
      {{.ratio = 2}, 32},
      {{.ratio = 3}, 31},
      {{.ratio = 4, .freq_taper_frac = 0.3}, 30},
      {{.ratio = 2, .time_pad_frac = 0.35}, 29},
      {{.ratio = 5, .freq_taper_frac = 1, .time_pad_frac = 1, .time_taper = true}, 17},
      {{.ratio = 3}, 1},
      {{.ratio = 1}, 8},
  };
  for (const auto& [how, samples] : cases) {
    SCOPED_TRACE(how.ratio);
    const SeriesList outer = random_series(3, samples, 2), inner = random_series(3, samples * how.ratio, 3);
    const double offset = GetParam();
    expect_transposes(
        outer, inner, [&, h = how](auto in, auto out) { upsample(h, offset, in, out); },
        [&, h = how](auto in, auto out) { upsample_transpose(h, offset, in, out); });
    expect_transposes(
        inner, outer, [&, h = how](auto in, auto out) { downsample(h, offset, in, out); },
        [&, h = how](auto in, auto out) { downsample_transpose(h, offset, in, out); });
  }
}

INSTANTIATE_TEST_SUITE_P(Offsets, ResampleAt,
                         ::testing::Values(sample_offset::magnetic_source, sample_offset::electric_source,
                                           sample_offset::electric_record));

TEST(Resample, DownsamplingUndoesUpsamplingBelowNyquist) {
  SeriesList x = random_series(2, 31, 4), inner(2, 93), y(2, 31);  // an odd length has no Nyquist frequency
  upsample({.ratio = 3}, 0.5, x.view(), inner.view());
  downsample({.ratio = 3}, 0.5, inner.view(), y.view());
  EXPECT_LT(largest_difference(x, y), 1e-14);  // transforms of numbers of order 1
}

TEST(Resample, TheNyquistFrequencyIsRemoved) {
  SeriesList alternating(1, 16), inner(1, 32);
  for (Index n = 0; n < 16; ++n) alternating(0, n) = n % 2 == 0 ? 1 : -1;
  upsample({.ratio = 2}, 0, alternating.view(), inner.view());
  EXPECT_LT(std::sqrt(dot(inner, inner)), 1e-14);
}

TEST(Resample, TheTaperOfFrequenciesIsACosineToZero) {
  // 33 frequencies of which 16 are tapered: the j-th of them, j = 1 ... 16, by (1 + cos(pi j / 16)) / 2.
  for (const auto& [k, weight] :
       {std::pair<Index, double>{10, 1}, {16, 1}, {24, 0.5}, {31, (1 - std::cos(pi / 16)) / 2}}) {
    SeriesList outer(1, 64), inner(1, 128);
    for (Index n = 0; n < 64; ++n) outer(0, n) = std::cos(2 * pi * static_cast<double>(k * n) / 64);
    upsample({.ratio = 2, .freq_taper_frac = 0.5}, 0, outer.view(), inner.view());
    EXPECT_NEAR(inner(0, 0), weight, 1e-14) << k;
  }
}

TEST(Resample, TheTaperOfTimeIsAHannWindow) {
  SeriesList outer(1, 10), inner(1, 20);
  std::ranges::fill(outer.values, 1.0);
  upsample({.ratio = 2, .time_taper = true}, 0.5, outer.view(), inner.view());
  for (Index m = 0; m < 20; ++m)
    EXPECT_NEAR(inner(0, m), std::pow(std::sin(pi * static_cast<double>(m) / 19), 2), 1e-15) << m;
}

TEST(Resample, PaddingKeepsTheEndAwayFromTheBeginning) {
  // A step at the end rings into the beginning of a periodic series, as 1 / distance.
  const auto at_start = [](double pad) {
    SeriesList outer(1, 64), inner(1, 128);
    outer(0, 63) = 1;
    upsample({.ratio = 2, .freq_taper_frac = 0.25, .time_pad_frac = pad}, 0, outer.view(), inner.view());
    double largest = 0;
    for (Index m = 0; m < 32; ++m) largest = std::max(largest, std::abs(inner(0, m)));
    return largest;
  };
  EXPECT_GT(at_start(0), 0.1);   // without padding the first sample is the neighbour of the last
  EXPECT_LT(at_start(1), 1e-3);  // 63 samples away, with the spectrum tapered; deepwave's test has 1e-4 at 128
}

TEST(Resample, ReadsRecordsWhoseSeriesAreColumns) {
  const SeriesList columns = random_series(12, 3, 5);  // [sample][series]
  SeriesList rows(3, 12), expected(3, 6), result(6, 3);
  for (Index n = 0; n < 12; ++n)
    for (Index s = 0; s < 3; ++s) rows(s, n) = columns.values[static_cast<std::size_t>(n * 3 + s)];
  downsample({.ratio = 2}, 1, rows.view(), expected.view());
  const auto turned = [](SeriesList& list) {
    View<double, 2> view(list.values.data(), list.samples, list.count);
    view.stride[0] = 1;
    view.stride[1] = list.samples;
    return view;
  };
  SeriesList from = columns;
  downsample({.ratio = 2}, 1, turned(from), turned(result));
  for (Index n = 0; n < 6; ++n)
    for (Index s = 0; s < 3; ++s) EXPECT_EQ(result(n, s), expected(s, n));
}

TEST(Resample, RatiosBelowOneAreRefused) {
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { require_valid(Resampling{.ratio = 0}); }),
              HasSubstr("ratio of time steps = 0; expected at least 1"));
}

TEST(Resample, PartsBeyondOneAreRefused) {
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { require_valid({.freq_taper_frac = 1.5}); }),
              HasSubstr("--freq-taper-frac = 1.5; expected 0 to 1"));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { require_valid({.time_pad_frac = -0.1}); }),
              HasSubstr("--time-pad-frac = -0.1; expected 0 to 1"));
}

}  // namespace
}  // namespace sonde::maxwell
