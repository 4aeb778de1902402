// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "sonde/engine/math/poisson.h"
#include "sonde/instruments/stem/bragg/bragg_plan.h"
#include "sonde/instruments/stem/bragg/test_disks.h"
#include "sonde/instruments/stem/bragg/test_scene.h"

namespace sonde::stem {
namespace {

using stem::testing::disks_of;
using stem::testing::draw_disks;
using stem::testing::DrawnDisk;
using stem::testing::Scatter;
using stem::testing::scatter_of;
using stem::testing::Scene;
using stem::testing::settings_for;

constexpr double radius = 5, edge = 0.7;
// What a fit to pixels finds: their extent has a variance of 1/12, an edge one of pi^2 w^2 / 3.
const double edge_of_pixels = std::sqrt(edge * edge + 0.25 / (M_PI * M_PI));
constexpr Index rows = 48, cols = 56;

DiskSettings settings_with(Refinement subpixel) {
  DiskSettings settings = settings_for(radius);
  settings.subpixel = subpixel;
  settings.min_relative_intensity = 0.2;
  // Disks nearer than two radii are wanted.
  settings.min_peak_spacing = 1.2 * radius;
  settings.sigma_cc = 1;
  return settings;
}

BraggPlan plan_of(const DiskSettings& settings, const std::vector<std::uint8_t>& good = {}) {
  // A trench would be over neighbours.
  return BraggPlan::prepare(rows, cols, soft_probe(radius, edge_of_pixels),
                            {.shape = KernelShape::ring, .inner = radius, .outer = radius + 1.5}, settings, good);
}

const BraggDisk& nearest(const DiskList& list, double y, double x) {
  return *std::min_element(list.disks.begin(), list.disks.end(), [&](const BraggDisk& a, const BraggDisk& b) {
    return std::hypot(a.qy - y, a.qx - x) < std::hypot(b.qy - y, b.qx - x);
  });
}

double distance(const BraggDisk& disk, double y, double x) {
  return std::hypot(static_cast<double>(disk.qy) - y, static_cast<double>(disk.qx) - x);
}

std::vector<std::uint32_t> counts_of(const std::vector<double>& rates, std::uint64_t stream) {
  std::vector<std::uint32_t> counts(rates.size());
  draw_poisson({31, stream}, rates, counts);
  return counts;
}

// 300 numbers: an rms is known to 1 / sqrt(600) = 4 %, three of these are 12 %.
TEST(LikelyPlaces, ScatterByTheCramerRaoBoundAndSaySo) {
  for (const double counts : {1e3, 1e4, 1e6}) {
    const Scatter scatter = scatter_of({KernelShape::ring, Refinement::mle}, counts, 150);
    EXPECT_NEAR(scatter.over_bound, 1, 0.12) << counts;
    EXPECT_NEAR(scatter.pull, 1, 0.12) << counts;
  }
}

TEST(LikelyPlaces, HaveNoBiasBetweenPixels) {
  DiskSettings settings = settings_for(Scene::radius);
  settings.max_num_peaks = 1;
  settings.subpixel = Refinement::mle;
  const BraggPlan plan = BraggPlan::prepare(Scene::side, Scene::side, soft_probe(Scene::radius, Scene::edge),
                                            {.shape = KernelShape::ring}, settings);
  const Scene scene{1e6};
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      const double y = 15.5 + i / 16.0, x = 15.5 + j / 16.0;
      const DiskList found = disks_of(plan, scene.rates(y, x));
      ASSERT_EQ(found.disks.size(), 1U);
      EXPECT_LT(distance(found.disks[0], y, x), 0.005);
    }
}

/// -log of the Poisson likelihood of the counts within `reach` of a place, but for terms of the counts only.
double minus_log_likelihood(const std::vector<std::uint32_t>& counts, const std::array<double, 4>& p, double from_y,
                            double from_x, double reach) {
  double sum = 0;
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col) {
      const auto r = static_cast<double>(row), c = static_cast<double>(col);
      if (std::hypot(r - from_y, c - from_x) > reach) continue;
      const double mean = p[0] + p[1] / (1 + std::exp((std::hypot(r - p[2], c - p[3]) - radius) / edge_of_pixels));
      sum += mean - static_cast<double>(counts[static_cast<std::size_t>(row * cols + col)]) * std::log(mean);
    }
  return sum;
}

// The maximum by steps that halve, from where newton ended: the likelihood of the same pixels.
TEST(LikelyPlaces, AreWhereTheLikelihoodIsLargest) {
  const std::vector<DrawnDisk> drawn = {{22.3, 27.8, 8}};
  for (const std::uint64_t stream : {1, 2, 3}) {
    const auto counts = counts_of(draw_disks(rows, cols, drawn, radius, edge, 0.4), stream);
    const BraggDisk start = nearest(disks_of(plan_of(settings_with(Refinement::newton)), counts), 22.3, 27.8);
    const BraggDisk found = nearest(disks_of(plan_of(settings_with(Refinement::mle)), counts), 22.3, 27.8);
    std::array<double, 4> p = {0.4, 8, 22.3, 27.8};
    const auto value = [&] {
      return minus_log_likelihood(counts, p, static_cast<double>(start.qy), static_cast<double>(start.qx), radius + 4);
    };
    for (double width = 0.25; width > 1e-5; width /= 2)
      for (int again = 0; again < 6; ++again)
        for (std::size_t i = 0; i < 4; ++i)
          for (const double step : {width, -width}) {
            const double before = value(), kept = p[i];
            p[i] = std::max(1e-3, p[i] + step);
            if (!(value() < before)) p[i] = kept;
          }
    // The scoring ends with steps of less than 1e-4 px, tables are linear over 1/64 px.
    EXPECT_NEAR(found.qy, p[2], 1e-3);
    EXPECT_NEAR(found.qx, p[3], 1e-3);
    EXPECT_LT(std::hypot(found.qy - 22.3, found.qx - 27.8), 4 * std::sqrt(found.var_y + found.var_x));
  }
}

struct Pair {
  double radii;   ///< distance of both, in radii
  double height;  ///< of the second over that of the first
};

class LikelyPlacesOfNeighbours : public ::testing::TestWithParam<Pair> {
 protected:
  [[nodiscard]] std::vector<DrawnDisk> drawn(double height) const {
    const double away = GetParam().radii * radius;
    return {{22.3, 27.1, height}, {22.3 + 0.6 * away, 27.1 + 0.8 * away, height * GetParam().height}};
  }
};

TEST_P(LikelyPlacesOfNeighbours, HaveNoBias) {
  const auto disks = drawn(1000);
  const auto pattern = draw_disks(rows, cols, disks, radius, edge, 2);
  const DiskList found = disks_of(plan_of(settings_with(Refinement::mle)), pattern);
  const DiskList newton = disks_of(plan_of(settings_with(Refinement::newton)), pattern);
  ASSERT_EQ(found.disks.size(), 2U);
  double pulled = 0;
  for (const DrawnDisk& disk : disks) {
    EXPECT_LT(distance(nearest(found, disk.y, disk.x), disk.y, disk.x), 0.005);
    pulled = std::max(pulled, distance(nearest(newton, disk.y, disk.x), disk.y, disk.x));
  }
  EXPECT_GT(pulled, 0.01) << "the maximum of a correlation is pulled";
}

// Of 200 numbers an rms is known to 5 %: three of these.
TEST_P(LikelyPlacesOfNeighbours, ScatterByTheStatedErrors) {
  const BraggPlan plan = plan_of(settings_with(Refinement::mle));
  const auto disks = drawn(40);
  const auto rates = draw_disks(rows, cols, disks, radius, edge, 0.5);
  double pulls = 0, numbers = 0;
  for (std::uint64_t trial = 0; trial < 50; ++trial) {
    const DiskList found = disks_of(plan, counts_of(rates, trial));
    // A disk that has no maximum of its own is not in the model.
    if (found.disks.size() != 2) continue;
    for (const DrawnDisk& disk : disks) {
      const BraggDisk& at = nearest(found, disk.y, disk.x);
      pulls += std::pow(static_cast<double>(at.qy) - disk.y, 2) / static_cast<double>(at.var_y) +
               std::pow(static_cast<double>(at.qx) - disk.x, 2) / static_cast<double>(at.var_x);
      numbers += 2;
    }
  }
  EXPECT_GE(numbers, 160);
  EXPECT_NEAR(std::sqrt(pulls / numbers), 1, 0.15);
}

INSTANTIATE_TEST_SUITE_P(All, LikelyPlacesOfNeighbours,
                         ::testing::Values(Pair{1.6, 1}, Pair{1.7, 0.8}, Pair{1.8, 1}, Pair{1.8, 0.7}, Pair{2, 0.5}));

TEST(LikelyPlaces, LeaveBadPixelsOut) {
  const std::vector<DrawnDisk> drawn = {{22.3, 27.8, 1000}};
  auto pattern = draw_disks(rows, cols, drawn, radius, edge, 2);
  std::vector<std::uint8_t> good(pattern.size(), 1);
  // A part of the edge at one side.
  for (Index row = 20; row < 25; ++row)
    for (Index col = 31; col < 34; ++col) good[static_cast<std::size_t>(row * cols + col)] = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] *= good[i];
  const DiskSettings settings = settings_with(Refinement::mle);
  EXPECT_LT(distance(nearest(disks_of(plan_of(settings, good), pattern), 22.3, 27.8), 22.3, 27.8), 0.005);
  EXPECT_GT(distance(nearest(disks_of(plan_of(settings), pattern), 22.3, 27.8), 22.3, 27.8), 0.05);
}

// A probe that is brighter at one side, as its image shows.
TEST(LikelyPlaces, AreThoseOfTheMeasuredImage) {
  const auto uneven = [](double y, double x) {
    const std::vector<DrawnDisk> parts = {{y, x, 700}, {y + 0.8, x - 1.1, 500}};
    return draw_disks(rows, cols, parts, radius, edge, 0);
  };
  Probe probe = soft_probe(radius + 1, edge);
  probe.row = 24;
  probe.col = 28;
  probe.rows = rows;
  probe.cols = cols;
  probe.image = uneven(probe.row, probe.col);
  const BraggPlan plan =
      BraggPlan::prepare(rows, cols, probe, {.shape = KernelShape::ring}, settings_with(Refinement::mle));
  for (const double shift : {0.0, 0.25, 0.5, 0.8}) {
    auto pattern = uneven(22 + shift, 27 - shift);
    for (double& value : pattern) value += 3;
    // Between the pixels of an edge of 0.7 px cubics are wrong by up to 1 %.
    EXPECT_LT(distance(nearest(disks_of(plan, pattern), 22 + shift, 27 - shift), 22 + shift, 27 - shift), 0.01);
  }
}

TEST(LikelyPlaces, OfAGainAreThoseOfTheElectrons) {
  const std::vector<DrawnDisk> drawn = {{22.3, 27.8, 8}};
  const auto counts = counts_of(draw_disks(rows, cols, drawn, radius, edge, 0.4), 4);
  auto scaled = counts;
  for (std::uint32_t& value : scaled) value *= 5;
  for (const Refinement subpixel : {Refinement::mle, Refinement::newton}) {
    DiskSettings settings = settings_with(subpixel);
    const BraggDisk expected = disks_of(plan_of(settings), counts).disks.at(0);
    settings.gain = 5;
    const BraggDisk found = disks_of(plan_of(settings), scaled).disks.at(0);
    EXPECT_NEAR(found.qy, expected.qy, 1e-4);
    EXPECT_NEAR(found.var_y / expected.var_y, 1, 1e-3);
    EXPECT_NEAR(found.var_x / expected.var_x, 1, 1e-3);
  }
}

TEST(LikelyPlaces, OfNoiseAreNumbers) {
  const auto counts = counts_of(std::vector<double>(static_cast<std::size_t>(rows * cols), 0.02), 5);
  DiskSettings settings = settings_with(Refinement::mle);
  settings.min_relative_intensity = 0;
  for (const BraggDisk& disk : disks_of(plan_of(settings), counts).disks) {
    EXPECT_TRUE(disk.qy >= 0 && disk.qy < rows && disk.qx >= 0 && disk.qx < cols);
    EXPECT_FALSE(disk.var_y <= 0);
  }
}

}  // namespace
}  // namespace sonde::stem
