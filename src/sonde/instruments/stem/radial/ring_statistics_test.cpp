// SPDX-License-Identifier: Apache-2.0
// Medians, spreads and angular orders of rings, beside plain loops and patterns of known symmetry.
#include "sonde/instruments/stem/radial/ring_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <random>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/pass/memory_source.h"
#include "sonde/instruments/stem/radial/radial_result.h"
#include "tests/support/budget.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using stem::testing::MemorySource;
using ::testing::HasSubstr;

constexpr Index ring_scan_rows = 3, ring_scan_cols = 5, ring_rows = 41, ring_cols = 52;
constexpr double ring_centre_row = 19.3, ring_centre_col = 27.6;

/// The pixels of the rings of `about` below, in plain words.
std::vector<Index> pixels_of_ring(Index ring, double width, std::span<const std::uint8_t> good) {
  std::vector<Index> pixels;
  for (Index row = 0; row < ring_rows; ++row)
    for (Index col = 0; col < ring_cols; ++col) {
      const double r =
          std::hypot(static_cast<double>(row) - ring_centre_row, static_cast<double>(col) - ring_centre_col);
      const Index pixel = row * ring_cols + col;
      if (r >= static_cast<double>(ring) * width && r < static_cast<double>(ring + 1) * width &&
          good[static_cast<std::size_t>(pixel)] != 0)
        pixels.push_back(pixel);
    }
  return pixels;
}

RadialOptions ring_options(Index bins, double outer) {
  RadialOptions options;
  options.centre = "19.3,27.6";
  options.split = PixelSplit::none;
  options.bins = bins;
  options.outer = outer;
  options.median = options.spread = true;
  options.orders = 6;
  return options;
}

template <class T>
Dataset ring_scan(const std::vector<T>& stored, const std::vector<std::uint32_t>& mask = {}) {
  auto source = std::make_unique<MemorySource<T>>(ring_scan_rows, ring_scan_cols, ring_rows, ring_cols, stored);
  source->acquisition_to_change().pixel_mask = mask;
  LoadOptions options;
  options.layout = LayoutChoice::file;
  options.hot_pixels = BadPixelAction::none;
  return load(std::move(source), options, sonde::testing::plenty());
}

RadialResult rings_of(const Dataset& dataset, const RadialOptions& options) {
  return make_radial(dataset, options, sonde::testing::plenty());
}

template <class T>
void expect_plain_loops() {
  std::mt19937 random(7);
  std::vector<T> stored(ring_scan_rows * ring_scan_cols * ring_rows * ring_cols);
  for (T& value : stored) value = static_cast<T>(random() % 200);
  std::vector<std::uint32_t> mask(ring_rows * ring_cols, 0);
  for (std::uint32_t& bits : mask) bits = random() % 9 == 0 ? 2 : 0;
  const Dataset dataset = ring_scan(stored, mask);
  const RadialResult result = rings_of(dataset, ring_options(40, 12));  // some rings hold no pixel
  Index empty = 0;
  for (Index ring = 0; ring < 40; ++ring) {
    const std::vector<Index> pixels = pixels_of_ring(ring, 0.3, dataset.good());
    for (Index position = 0; position < 15; ++position) {
      SCOPED_TRACE(::testing::Message() << "ring " << ring << ", position " << position);
      const Index at = position * 40 + ring;
      const auto median = static_cast<double>(static_cast<const float*>(result.medians.data())[at]);
      const auto spread = static_cast<double>(static_cast<const float*>(result.spreads.data())[at]);
      const auto* orders = static_cast<const std::complex<float>*>(result.orders.data()) + at * 7;
      if (pixels.empty()) {
        ++empty;
        EXPECT_TRUE(std::isnan(median) && std::isnan(spread) && std::isnan(orders[3].real()));
        continue;
      }
      std::vector<double> values;
      for (const Index pixel : pixels)
        values.push_back(
            static_cast<double>(stored[static_cast<std::size_t>(position * ring_rows * ring_cols + pixel)]));
      const auto n = static_cast<double>(values.size());
      double sum = 0, squares = 0;
      for (const double value : values) {
        sum += value;
        squares += value * value;
      }
      // Of integers below 200: the sums are exact, and results are stored as f32.
      EXPECT_NEAR(spread, squares / n - sum / n * (sum / n), 1e-6 * 40000);
      for (int m = 0; m < 7; ++m) {
        std::complex<double> order = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
          const double y = static_cast<double>(pixels[i] / ring_cols) - ring_centre_row,
                       x = static_cast<double>(pixels[i] % ring_cols) - ring_centre_col;
          order += values[i] * std::polar(1.0, m * std::atan2(y, x));
        }
        EXPECT_NEAR(std::abs(std::complex<double>(orders[m]) - order / n), 0, 3e-7 * 200);  // f32 of both
      }
      std::sort(values.begin(), values.end());
      EXPECT_EQ(median, (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2);
    }
  }
  EXPECT_GT(empty, 0);
}

TEST(RingStatistics, ArePlainLoopsOverWholePixelsOfBytes) { expect_plain_loops<std::uint8_t>(); }
TEST(RingStatistics, ArePlainLoopsOverWholePixelsOfFloats) { expect_plain_loops<float>(); }

TEST(RingStatistics, AModulatedRingHasItsOrderOnly) {
  // A (1 + b cos(4 (phi - 0.3))): c_0 = A, c_4 = A b / 2 exp(4 i 0.3), no other order.
  std::vector<float> stored(ring_scan_rows * ring_scan_cols * ring_rows * ring_cols);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const auto pixel = static_cast<Index>(i) % (ring_rows * ring_cols);
    const double y = static_cast<double>(pixel / ring_cols) - ring_centre_row,
                 x = static_cast<double>(pixel % ring_cols) - ring_centre_col;
    stored[i] = static_cast<float>(50 * (1 + 0.4 * std::cos(4 * (std::atan2(y, x) - 0.3))));
  }
  const RadialResult result = rings_of(ring_scan(stored), ring_options(2, 18));
  const auto* orders = static_cast<const std::complex<float>*>(result.orders.data()) + 7;  // the ring from 9 to 18
  // Its 760 pixels are nearly even in angle: a lattice leaves at most its edge, some 2 pi (9 + 18) pixels of either
  // sign, of which a random walk leaves sqrt(170) / 760 of the amplitude.
  const double uneven = 50 * std::sqrt(170.0) / 760;
  for (int m = 0; m < 7; ++m) {
    const std::complex<double> expected = m == 0 ? 50 : m == 4 ? std::polar(10.0, 4 * 0.3) : 0;
    EXPECT_LT(std::abs(std::complex<double>(orders[m]) - expected), uneven) << m;
  }
}

TEST(RingStatistics, SpreadsOfPoissonCountsAreTheirMean) {
  std::mt19937 random(11);
  std::poisson_distribution<int> counts(30);
  std::vector<std::uint16_t> stored(ring_scan_rows * ring_scan_cols * ring_rows * ring_cols);
  for (std::uint16_t& value : stored) value = static_cast<std::uint16_t>(counts(random));
  const RadialResult result = rings_of(ring_scan(stored), ring_options(2, 18));
  double spread = 0;
  for (Index position = 0; position < 15; ++position)
    spread += static_cast<double>(static_cast<const float*>(result.spreads.data())[position * 2 + 1]) / 15;
  // Of 15 x 760 pixels: a variance of Poisson counts scatters by sqrt(2 / n + 1 / (30 n)) of itself, 1.4 %.
  EXPECT_NEAR(spread, 30, 4 * 0.014 * 30);
  EXPECT_NEAR(result.fluctuation[1], 1.0 / 30, 4 * 0.014 / 30);
}

TEST(RingStatistics, AreTheSameForAnyThreads) {
  std::mt19937 random(5);
  std::vector<std::uint16_t> stored(ring_scan_rows * ring_scan_cols * ring_rows * ring_cols);
  for (std::uint16_t& value : stored) value = static_cast<std::uint16_t>(random() % 1000);
  std::vector<std::vector<float>> all;
  for (const int threads : {1, 2, 7}) {
    set_thread_count(threads);
    const RadialResult result = rings_of(ring_scan(stored), ring_options(9, 18));
    const auto* orders = static_cast<const float*>(result.orders.data());
    all.emplace_back(orders, orders + 2 * result.orders.count());
  }
  set_thread_count(0);
  EXPECT_EQ(all[0], all[1]);
  EXPECT_EQ(all[0], all[2]);
}

TEST(RingStatistics, OrdersOfSectorsAreRefused) {
  RadialOptions options = ring_options(2, 18);
  options.azimuth = 4;
  EXPECT_THAT(
      sonde::testing::error_of(ErrorKind::usage, [&] { options.check(); }),
      HasSubstr(
          "angular orders are those of whole rings, but rings have 4 sectors\nhint: leave out --orders or --azimuth"));
}

}  // namespace
}  // namespace sonde::stem
