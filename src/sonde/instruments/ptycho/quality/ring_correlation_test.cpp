// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/quality/ring_correlation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using Wave = std::vector<complex128>;
Wave noise(std::mt19937& generator, Index count) {
  std::normal_distribution<double> normal;
  Wave wave;
  for (Index i = 0; i < count; ++i) wave.emplace_back(normal(generator), normal(generator));
  return wave;
}

View<const complex128, 2> square(const Wave& wave, Index n) { return {wave.data(), n, n}; }

double folded(Index i, Index n) { return static_cast<double>(2 * i < n ? i : i - n); }

TEST(RingCorrelation, OfEqualImagesIsOneEverywhere) {
  std::mt19937 generator(1);
  const Wave wave = noise(generator, 20 * 20);
  Wave other = wave;
  for (complex128& value : other) value *= complex128(0, -3);  // a factor is nothing
  const RingCorrelation found = ring_correlation(square(wave, 20), square(other, 20));
  EXPECT_EQ(found.correlation.size(), 10u);
  for (const double value : found.correlation) EXPECT_NEAR(value, 1, 1e-12);
  EXPECT_FALSE(found.crossing());
  EXPECT_FALSE(found.resolution());
}

TEST(RingCorrelation, IsTheFormulaOnOblongPixels) {
  constexpr Index rows = 8, cols = 6;
  const double pixel_row = 0.5, pixel_col = 0.7;
  std::mt19937 generator(2);
  const Wave a = noise(generator, rows * cols), b = noise(generator, rows * cols);
  const RingCorrelation found = ring_correlation({a.data(), rows, cols}, {b.data(), rows, cols}, pixel_row, pixel_col);
  const double width = 1 / (rows * pixel_row);
  ASSERT_GE(found.correlation.size(), 3u);
  for (std::size_t ring = 0; ring < found.correlation.size(); ++ring) {
    complex128 product = 0;
    double power_a = 0, power_b = 0, n = 0;
    for (Index k = 0; k < rows; ++k)
      for (Index l = 0; l < cols; ++l) {
        const double frequency = std::hypot(folded(k, rows) / (rows * pixel_row), folded(l, cols) / (cols * pixel_col));
        if (std::round(frequency / width) != static_cast<double>(ring)) continue;
        complex128 fa = 0, fb = 0;
        for (Index r = 0; r < rows; ++r)
          for (Index c = 0; c < cols; ++c) {
            const auto y = static_cast<double>(r), x = static_cast<double>(c);
            const double window = (0.5 - 0.5 * std::cos(2 * std::numbers::pi * (y + 0.5) / rows)) *
                                  (0.5 - 0.5 * std::cos(2 * std::numbers::pi * (x + 0.5) / cols));
            const complex128 turn =
                std::polar(window, -2 * std::numbers::pi *
                                       (y * static_cast<double>(k) / rows + x * static_cast<double>(l) / cols));
            fa += turn * a[static_cast<std::size_t>(r * cols + c)];
            fb += turn * b[static_cast<std::size_t>(r * cols + c)];
          }
        product += fa * std::conj(fb);
        power_a += std::norm(fa);
        power_b += std::norm(fb);
        ++n;
      }
    EXPECT_EQ(static_cast<double>(found.pixels[ring]), n);
    EXPECT_NEAR(found.frequency[ring], static_cast<double>(ring) * width, 1e-14);
    EXPECT_NEAR(found.correlation[ring], std::abs(product) / std::sqrt(power_a * power_b), 1e-12);
    EXPECT_NEAR(found.half_bit[ring], (0.2071 + 1.9102 / std::sqrt(n)) / (1.2071 + 0.9102 / std::sqrt(n)), 1e-12);
  }
}

/// How many of n pixels of a ring are independent when the image had a Hann window: n^2 / sum |rho(k - k')|^2, with rho
/// the transform of the squared window, 1, 2/3, 1/6 at distances 0, 1, 2 along each axis.
double independent(Index n, Index ring) {
  std::vector<std::pair<Index, Index>> members;
  for (Index k = 0; k < n; ++k)
    for (Index l = 0; l < n; ++l)
      if (std::round(std::hypot(folded(k, n), folded(l, n))) == static_cast<double>(ring)) members.emplace_back(k, l);
  const auto rho = [n](Index a, Index b) {
    const Index distance = std::min((a - b + n) % n, (b - a + n) % n);
    return distance == 0 ? 1 : distance == 1 ? 2.0 / 3 : distance == 2 ? 1.0 / 6 : 0;
  };
  double sum = 0;
  for (const auto& [k, l] : members)
    for (const auto& [p, q] : members) sum += std::pow(rho(k, p) * rho(l, q), 2);
  const auto count = static_cast<double>(members.size());
  return count * count / sum;
}

TEST(RingCorrelation, OfIndependentNoiseIsAboveTheThresholdAsOftenAsChanceHasIt) {
  constexpr Index n = 32;
  constexpr int draws = 200;
  constexpr std::size_t from = 3;  // below, too few pixels are independent for the law
  std::mt19937 generator(3);
  double above = 0;
  RingCorrelation found;
  for (int draw = 0; draw < draws; ++draw) {
    const Wave a = noise(generator, n * n), b = noise(generator, n * n);
    found = ring_correlation(square(a, n), square(b, n));
    for (std::size_t ring = from; ring < found.correlation.size(); ++ring)
      above += found.correlation[ring] > found.half_bit[ring] ? 1 : 0;
  }
  // Of m independent complex numbers in each of two sets, P(|C| > t) = (1 - t^2)^(m - 1).
  double expected = 0;
  for (std::size_t ring = from; ring < found.correlation.size(); ++ring)
    expected += draws * std::pow(1 - std::pow(found.half_bit[ring], 2), independent(n, static_cast<Index>(ring)) - 1);
  EXPECT_GT(expected, 60);  // of 2600
  // Four standard deviations of the count, and a fifth for a law that takes neighbours to be merely fewer.
  EXPECT_NEAR(above, expected, 4 * std::sqrt(expected) + 0.2 * expected);
}

TEST(RingCorrelation, OfABandLimitedPairCrossesAtTheLimit) {
  constexpr Index n = 64;
  constexpr double limit = 12, pixel = 0.25;
  std::mt19937 generator(4);
  std::normal_distribution<double> normal;
  Wave signal(n * n);
  for (Index k = 0; k < n; ++k)
    for (Index l = 0; l < n; ++l) {
      if (std::hypot(folded(k, n), folded(l, n)) > limit) continue;
      const complex128 amplitude(normal(generator), normal(generator));
      for (Index r = 0; r < n; ++r)
        for (Index c = 0; c < n; ++c)
          signal[static_cast<std::size_t>(r * n + c)] +=
              amplitude *
              std::polar(1.0, 2 * std::numbers::pi * static_cast<double>((k * r + l * c) % n) / static_cast<double>(n));
    }
  Wave a = noise(generator, n * n), b = noise(generator, n * n);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] += signal[i];
    b[i] += signal[i];
  }
  const RingCorrelation found = ring_correlation(square(a, n), square(b, n), pixel, pixel);
  ASSERT_TRUE(found.crossing());
  // The window spreads the signal over two more rings, with a tenth of its amplitude at the second.
  EXPECT_GT(*found.crossing() * n * pixel, limit - 0.5);
  EXPECT_LT(*found.crossing() * n * pixel, limit + 3);
  EXPECT_EQ(*found.resolution(), 1 / *found.crossing());
  EXPECT_EQ(found.to_value().find("resolution")->as_real(), *found.resolution());
}

TEST(RingCorrelation, OfImagesOfUnlikeSizesIsRefused) {
  const Wave wave(36, 1);
  EXPECT_EQ(sonde::testing::error_of(ErrorKind::bad_input,
                                     [&] {
                                       (void)ring_correlation({wave.data(), 6, 6}, {wave.data(), 4, 9});
                                     }),
            "error: a ring correlation of 6 x 6 with 4 x 9 pixels");
}

}  // namespace
}  // namespace sonde::ptycho
