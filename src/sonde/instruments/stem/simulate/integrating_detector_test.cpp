// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/simulate/integrating_detector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "sonde/instruments/stem/simulate/frames.h"
#include "sonde/instruments/stem/simulate/simulate.h"

namespace sonde::stem {
namespace {

using ::testing::Each;

constexpr Index high = 40, wide = 54, in_frame = high * wide;

std::vector<std::uint32_t> exposed(const IntegratingDetector& detector, Index frame,
                                   std::vector<std::uint32_t> counts) {
  IntegratingDetector::Scratch scratch;
  detector.expose(frame, counts, scratch);
  return counts;
}

std::vector<std::uint32_t> no_electrons() { return std::vector<std::uint32_t>(static_cast<std::size_t>(in_frame)); }

IntegratingDetector detector_with(const IntegratingSettings& settings) {
  return {high, wide, settings, std::vector<std::uint8_t>(static_cast<std::size_t>(in_frame))};
}

TEST(IntegratingDetector, WithoutElectronsHasNoiseAboutItsDarkImage) {
  const IntegratingDetector detector = detector_with({.noise = 3, .dark = 100, .dark_spread = 0, .seed = 5});
  const auto values = exposed(detector, 7, no_electrons());
  double sum = 0, squares = 0;
  for (const std::uint32_t value : values) {
    sum += value;
    squares += (value - 100.0) * (value - 100.0);
  }
  // Four standard errors of the mean and the variance of 2160 values; rounding adds a twelfth.
  EXPECT_NEAR(sum / in_frame, 100, 4 * 3 / std::sqrt(in_frame));
  EXPECT_NEAR(squares / in_frame, 9 + 1.0 / 12, 4 * 9 * std::sqrt(2.0 / in_frame));
}

TEST(IntegratingDetector, KeepsTheChargeOfAnElectron) {
  const IntegratingDetector detector =
      detector_with({.cloud = 0.6, .deposit = 1e6, .spread = 0, .noise = 0, .dark = 0});
  auto counts = no_electrons();
  counts[20 * wide + 31] = 1;
  const auto values = exposed(detector, 0, counts);
  std::vector<FallenElectron> fallen;
  detector.electrons(0, counts, fallen);
  ASSERT_EQ(fallen.size(), 1U);
  EXPECT_NEAR(fallen[0].y, 20, 0.5);
  EXPECT_NEAR(fallen[0].x, 31, 0.5);
  double sum = 0, y = 0, x = 0;
  for (Index i = 0; i < in_frame; ++i) {
    const double value = values[static_cast<std::size_t>(i)];
    sum += value;
    y += value * static_cast<double>(i / wide);
    x += value * static_cast<double>(i % wide);
  }
  // Rounded to whole counts in a hundred pixels.
  EXPECT_NEAR(sum, 1e6, 50);
  // The centre of pixels is that of the cloud but for 2 exp(-2 pi^2 sigma^2) / (2 pi) of a pixel at most.
  EXPECT_NEAR(y / sum, static_cast<double>(fallen[0].y), 3e-4);
  EXPECT_NEAR(x / sum, static_cast<double>(fallen[0].x), 3e-4);
}

TEST(IntegratingDetector, DepositsHaveTheMeanAndSpreadOfGumbel) {
  const IntegratingDetector detector = detector_with({.deposit = 30, .spread = 8});
  std::vector<FallenElectron> fallen;
  detector.electrons(3, std::vector<std::uint32_t>(static_cast<std::size_t>(in_frame), 5), fallen);
  const auto n = static_cast<double>(fallen.size());
  EXPECT_EQ(n, 5 * in_frame);
  double sum = 0, squares = 0;
  for (const FallenElectron& electron : fallen) sum += static_cast<double>(electron.deposit);
  for (const FallenElectron& electron : fallen) squares += std::pow(static_cast<double>(electron.deposit) - sum / n, 2);
  const double sigma = 8 * 3.14159265 / std::sqrt(6.0);  // of the distribution; its kurtosis is 5.4
  EXPECT_NEAR(sum / n, 30 + 8 * 0.5772157, 4 * sigma / std::sqrt(n));
  EXPECT_NEAR(squares / n, sigma * sigma, 4 * sigma * sigma * std::sqrt(4.4 / n));
}

TEST(IntegratingDetector, GainMakesChargeOfValues) {
  const IntegratingDetector plain = detector_with({.spread = 0, .noise = 0, .dark = 50});
  const IntegratingDetector uneven =
      detector_with({.spread = 0, .noise = 0, .dark = 50, .dark_spread = 5, .gain_spread = 0.2});
  const std::vector<std::uint32_t> counts(static_cast<std::size_t>(in_frame), 3);
  const auto expected = exposed(plain, 2, counts), values = exposed(uneven, 2, counts);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double corrected =
        (values[i] - static_cast<double>(uneven.dark()[i])) * static_cast<double>(uneven.gain()[i]);
    // Both were rounded.
    EXPECT_NEAR(corrected, expected[i] - 50.0, 0.5 + 0.5 * static_cast<double>(uneven.gain()[i]) + 1e-4);
  }
}

TEST(IntegratingDetector, ADefectPixelKeepsItsChargeToItself) {
  std::vector<std::uint8_t> defect(static_cast<std::size_t>(in_frame));
  defect[100] = 1;
  const IntegratingDetector detector(high, wide, {.deposit = 30, .noise = 0, .dark = 20}, defect);
  auto counts = no_electrons();
  counts[100] = 4;
  auto values = exposed(detector, 0, counts);
  EXPECT_EQ(values[100], 140U);
  values[100] = 20;
  EXPECT_THAT(values, Each(20U));
}

TEST(IntegratingDetector, XraysAreAsManyAsAsked) {
  const IntegratingDetector detector = detector_with({.noise = 0, .dark = 0, .xrays = 2});
  int hits = 0;
  for (Index frame = 0; frame < 200; ++frame)
    for (const std::uint32_t value : exposed(detector, frame, no_electrons())) hits += value >= 500 ? 1 : 0;
  EXPECT_NEAR(hits, 400, 4 * 20);  // four times the root; two in one pixel are rare
}

TEST(SimulatedCounting, FramesAreThoseOfTheElectronsOfTheTruth) {
  SimulateOptions options;
  options.sample = Sample::counting;
  options.scan_shape = "3,5";
  options.detector_shape = "32,44";
  options.masked_pixels = options.hot_pixels = 0;
  options.read_noise = 0;
  options.occupancy = 0.02;
  const Model model = model_of(options);
  Index electrons = 0;
  for (Index frame = 0; frame < model.positions(); ++frame) {
    const Array values = simulate_frames(model, 1, frame, 1, DType::u16);
    double charge = 0, deposits = 0;
    const auto pixels = values.view<std::uint16_t, 3>();
    for (Index row = 0; row < 32; ++row)
      for (Index col = 0; col < 44; ++col) charge += pixels(0, row, col) - 20.0;
    for (const FallenElectron& electron : simulated_electrons(model, 1, frame)) {
      deposits += static_cast<double>(electron.deposit);
      ++electrons;
    }
    // Each value is rounded (a third of a pixel's root of them, five times), and charge beyond the edge is lost.
    EXPECT_NEAR(charge, deposits, 5 * 0.29 * std::sqrt(32 * 44) + 0.03 * deposits);
  }
  EXPECT_NEAR(static_cast<double>(electrons), 0.02 * 32 * 44 * 15, 5 * std::sqrt(0.02 * 32 * 44 * 15));
}

}  // namespace
}  // namespace sonde::stem
