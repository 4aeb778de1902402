// SPDX-License-Identifier: Apache-2.0
// Disks on a background that falls steeply: what is subtracted, what is found with it and what without.
#include "sonde/instruments/stem/bragg/pattern_background.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "sonde/engine/math/poisson.h"
#include "sonde/instruments/stem/bragg/bragg_options.h"
#include "sonde/instruments/stem/bragg/test_disks.h"
#include "sonde/instruments/stem/bragg/test_scene.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using stem::testing::disks_of;
using stem::testing::draw_disks;
using stem::testing::DrawnDisk;
using stem::testing::ReferenceSearch;
using stem::testing::settings_for;
using ::testing::HasSubstr;

/// A square lattice of weak disks about a bright one, on b exp(-r / c) about the same place.
struct SteepScene {
  static constexpr double radius = 4, edge = 0.6;
  Index rows = 112, cols = 120;
  double y = 54.3, x = 61.8, spacing = 17;
  double height = 16, steep = 200, length = 16;
  std::uint64_t seed = 1;

  [[nodiscard]] std::vector<DrawnDisk> disks() const {
    std::vector<DrawnDisk> disks;
    for (int h = -2; h <= 2; ++h)
      for (int k = -2; k <= 2; ++k)
        disks.push_back(
            {y + spacing * h + 0.7 * k, x - 0.7 * h + spacing * k, h == 0 && k == 0 ? 20 * height : height});
    return disks;
  }

  [[nodiscard]] double background(Index row, Index col) const {
    return steep * std::exp(-std::hypot(static_cast<double>(row) - y, static_cast<double>(col) - x) / length) + 0.05;
  }

  [[nodiscard]] std::vector<std::uint16_t> counts() const {
    std::vector<double> rates = draw_disks(rows, cols, disks(), radius, edge);
    for (std::size_t i = 0; i < rates.size(); ++i)
      rates[i] += background(static_cast<Index>(i) / cols, static_cast<Index>(i) % cols);
    std::vector<std::uint32_t> drawn(rates.size());
    draw_poisson({.seed = seed, .stream = 3}, rates, drawn);
    return {drawn.begin(), drawn.end()};
  }

  [[nodiscard]] Probe probe() const {
    Probe probe = soft_probe(radius, edge);
    probe.row = y;
    probe.col = x;
    return probe;
  }

  [[nodiscard]] BraggPlan plan(PatternBackground background, KernelShape kernel,
                               Refinement subpixel = Refinement::newton) const {
    DiskSettings settings = settings_for(radius);
    settings.background = background;
    settings.subpixel = subpixel;
    settings.max_num_peaks = 40;
    return BraggPlan::prepare(rows, cols, probe(), {.shape = kernel}, settings);
  }

  /// Share of the drawn disks, the direct one left out, that have one found nearer than 1.5 px.
  [[nodiscard]] double recall(const DiskList& found) const {
    double there = 0;
    const auto drawn = disks();
    for (const DrawnDisk& disk : drawn) {
      if (disk.height > height) continue;
      for (const BraggDisk& one : found.disks)
        if (std::hypot(static_cast<double>(one.qy) - disk.y, static_cast<double>(one.qx) - disk.x) < 1.5) {
          ++there;
          break;
        }
    }
    return there / static_cast<double>(drawn.size() - 1);
  }
};

/// How a background is taken from patterns of some shape.
struct Subtraction {
  std::string name;
  Index rows, cols;
  PatternBackground background;
  double corr_power = 1;
  std::size_t least = 5;  // disks found
};

class PatternBackgroundAsDefined : public ::testing::TestWithParam<Subtraction> {};

TEST_P(PatternBackgroundAsDefined, LeavesTheDisksOfTheFormulas) {
  const Subtraction& of = GetParam();
  SteepScene scene{.rows = of.rows, .cols = of.cols, .y = 19.3, .x = 23.6, .spacing = 12, .height = 60, .steep = 200};
  DiskSettings settings = settings_for(3);
  settings.background = of.background;
  settings.background_sigma = 5;
  settings.background_row = scene.y;
  settings.background_col = scene.x;
  settings.corr_power = of.corr_power;
  settings.subpixel = Refinement::poly;
  settings.min_relative_intensity = 0.01;
  settings.max_num_peaks = 7;
  Probe probe = soft_probe(3, 0.6);
  const KernelSettings kernel{.shape = KernelShape::flat};
  const auto counts = scene.counts();
  // Nearer than 1.5 radii the background is that of ring 5.
  const ReferenceSearch reference(of.rows, of.cols, make_kernel(probe, of.rows, of.cols, kernel), settings, 4.5);
  const auto expected = reference.find({counts.begin(), counts.end()});
  const DiskList found = disks_of(BraggPlan::prepare(of.rows, of.cols, probe, kernel, settings), counts);
  ASSERT_GE(expected.size(), of.least);
  ASSERT_EQ(found.disks.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    // As those of BraggPlanAsPublished.
    EXPECT_NEAR(found.disks[i].qy, expected[i].y, 1e-3) << "disk " << i;
    EXPECT_NEAR(found.disks[i].qx, expected[i].x, 1e-3) << "disk " << i;
    EXPECT_NEAR(found.disks[i].intensity / expected[i].value, 1, 1e-3) << "disk " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, PatternBackgroundAsDefined,
    ::testing::Values(Subtraction{"constant", 40, 48, PatternBackground::constant, 1, 1},
                      Subtraction{"constant_of_odd_columns", 40, 47, PatternBackground::constant, 1, 1},
                      Subtraction{"radial_median", 40, 48, PatternBackground::radial_median},
                      Subtraction{"radial_median_of_odd_columns", 41, 47, PatternBackground::radial_median},
                      Subtraction{"radial_median_hybrid", 40, 48, PatternBackground::radial_median, 0.7},
                      Subtraction{"dog", 40, 48, PatternBackground::dog},
                      Subtraction{"dog_of_odd_columns", 41, 47, PatternBackground::dog},
                      Subtraction{"dog_hybrid", 40, 48, PatternBackground::dog, 0.7, 1}),
    [](const auto& each) { return each.param.name; });

// A kernel that does not sum to zero climbs a slope; one that does has little to gain.
TEST(BackgroundOfPatterns, OnASteepSlopeDisksAreFoundWithItAndLostWithoutIt) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    SCOPED_TRACE(seed);
    SteepScene scene;
    scene.seed = seed;
    const auto counts = scene.counts();
    const auto recall = [&](PatternBackground background, KernelShape kernel) {
      return scene.recall(disks_of(scene.plan(background, kernel), counts));
    };
    EXPECT_LT(recall(PatternBackground::none, KernelShape::flat), 0.2);  // the farthest four
    EXPECT_GT(recall(PatternBackground::radial_median, KernelShape::flat), 0.95);
    EXPECT_GT(recall(PatternBackground::dog, KernelShape::flat), 0.75);
    // Its logarithm reaches farther, and so do what is left of the slope and neighbours.
    EXPECT_LT(recall(PatternBackground::none, KernelShape::poisson), 0.1);
    EXPECT_GT(recall(PatternBackground::radial_median, KernelShape::poisson), 0.7);
    EXPECT_GT(recall(PatternBackground::none, KernelShape::ring), 0.95);
  }
}

TEST(BackgroundOfPatterns, TheDirectDiskStays) {
  const SteepScene scene;
  const DiskList found = disks_of(scene.plan(PatternBackground::radial_median, KernelShape::ring), scene.counts());
  ASSERT_FALSE(found.disks.empty());
  // 320 counts of a pixel on 200: known to a hundredth.
  EXPECT_NEAR(found.disks[0].qy, scene.y, 0.1);
  EXPECT_NEAR(found.disks[0].qx, scene.x, 0.1);
}

// Of medians they are not: disks that cover much of a ring raise its median, beside them as well.
TEST(BackgroundOfPatterns, StatedErrorsAreThoseOfTheScatter) {
  for (const PatternBackground background : {PatternBackground::constant, PatternBackground::dog}) {
    SCOPED_TRACE(name(background));
    double squares = 0, count = 0;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      SteepScene scene;
      scene.seed = seed;
      scene.steep = 4;
      scene.height = 30;
      const DiskList found = disks_of(scene.plan(background, KernelShape::ring), scene.counts());
      for (const DrawnDisk& disk : scene.disks())
        for (const BraggDisk& one : found.disks) {
          const double dy = static_cast<double>(one.qy) - disk.y, dx = static_cast<double>(one.qx) - disk.x;
          if (disk.height > scene.height || std::hypot(dy, dx) > 1) continue;
          squares += dy * dy / static_cast<double>(one.var_y) + dx * dx / static_cast<double>(one.var_x);
          count += 2;
        }
    }
    EXPECT_GT(count, 280);
    // 288 numbers: 4 % by chance, three of these.
    EXPECT_NEAR(std::sqrt(squares / count), 1, 0.12);
  }
}

TEST(BackgroundOfPatterns, BadPixelsAreLeftOutOfMediansAndStayEmpty) {
  constexpr Index rows = 12, cols = 15;
  DiskSettings settings;
  settings.background = PatternBackground::constant;
  std::vector<std::uint8_t> good(rows * cols, 1);
  std::vector<float> pattern(rows * cols, 5);
  // More than half of the pixels: a median of all would be theirs.
  for (std::size_t i = 0; i < 100; ++i) {
    good[i] = 0;
    pattern[i] = i < 60 ? 0 : 80;
  }
  const PatternRings rings(settings, rows, cols, 0, good);
  PatternRings::Room room;
  rings.subtract(pattern.data(), room);
  EXPECT_EQ(pattern[0], 0) << "it has no value";
  EXPECT_EQ(pattern[70], 75) << "it was interpolated";
  EXPECT_EQ(pattern[150], 0);
}

// The median of an even number is between the two in the middle; rings without a good pixel have their neighbours'.
TEST(BackgroundOfPatterns, RingsWithoutPixelsAreBridged) {
  constexpr Index rows = 21, cols = 25;
  DiskSettings settings;
  settings.background = PatternBackground::radial_median;
  settings.background_row = 10;
  settings.background_col = 12;
  std::vector<std::uint8_t> good(rows * cols, 1);
  std::vector<float> pattern(rows * cols);
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col) {
      const double r = std::hypot(static_cast<double>(row - 10), static_cast<double>(col - 12));
      const auto i = static_cast<std::size_t>(row * cols + col);
      const double ring = std::floor(r + 0.5);
      if (ring == 6) good[i] = 0;
      pattern[i] = static_cast<float>(100 - 3 * ring);
    }
  const std::vector<float> before = pattern;
  const PatternRings rings(settings, rows, cols, 0, good);
  PatternRings::Room room;
  rings.subtract(pattern.data(), room);
  const auto at = [&](Index row, Index col) { return static_cast<std::size_t>(row * cols + col); };
  EXPECT_FLOAT_EQ(pattern[at(10, 18)], 0) << "on the line between rings 5 and 7";
  EXPECT_FLOAT_EQ(pattern[at(10, 16)], 0);
  EXPECT_FLOAT_EQ(pattern[at(0, 12)], 0);
}

TEST(BackgroundOfPatterns, CombinationsWithoutAMeaningAreRefused) {
  BraggOptions options;
  options.background = PatternBackground::radial_median;
  EXPECT_NO_THROW(options.check());
  options.subpixel = Refinement::mle;
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { options.check(); }),
            "error: --subpixel mle: its likelihood is that of the counts, with a background of their own; expected "
            "--background none\nhint: leave out --background or give another --subpixel");
  options = {};
  options.background_sigma = 9;
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { options.check(); }),
              HasSubstr("--background-sigma: no Gaussian is subtracted with --background none; expected --background "
                        "dog"));
}

}  // namespace
}  // namespace sonde::stem
