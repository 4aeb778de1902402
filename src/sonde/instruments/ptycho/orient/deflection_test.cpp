// SPDX-License-Identifier: Apache-2.0
// Gradients of a phase that is a formula, seen through detectors that are turned and mirrored.
#include "sonde/instruments/ptycho/orient/deflection.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace sonde::ptycho {
namespace {

constexpr double degree = std::numbers::pi / 180;

/// Derivatives of cos(0.21 y + 0.05 x) + 0.7 cos(0.13 y - 0.17 x + 1) + 0.5 sin(0.04 y + 0.19 x).
Point gradient(const Point& at) {
  const double a = -std::sin(0.21 * at.row + 0.05 * at.col), b = -0.7 * std::sin(0.13 * at.row - 0.17 * at.col + 1),
               c = 0.5 * std::cos(0.04 * at.row + 0.19 * at.col);
  return {0.21 * a + 0.13 * b + 0.04 * c, 0.05 * a - 0.17 * b + 0.19 * c};
}

struct Scanned {
  std::vector<Point> nominal, deflections;
};

/// 18 x 18 positions 1.3 apart, in truth transposed and turned.
Scanned scanned(bool transpose, double rotation) {
  Raster raster{.rows = 18, .cols = 18, .step_row = 1.3, .step_col = 1.3};
  Scanned made;
  made.nominal = raster_positions(raster);
  raster.transpose = transpose;
  raster.rotation = rotation;
  for (const Point& at : raster_positions(raster)) made.deflections.push_back(gradient(at));
  return made;
}

double apart_by_half_turns(double a, double b) {
  const double turns = (a - b) / std::numbers::pi;
  return std::abs(turns - std::round(turns)) * std::numbers::pi;
}

TEST(LeastCurl, FindsTheRotationOfEitherHandedness) {
  for (const bool transpose : {false, true})
    for (const double angle : {-130.0, -45.0, -7.0, 0.0, 33.0, 90.0, 151.0}) {
      SCOPED_TRACE(::testing::Message() << angle << (transpose ? " transposed" : ""));
      const Scanned scan = scanned(transpose, angle * degree);
      const LeastCurl found = least_curl(scan.nominal, scan.deflections, transpose);
      const LeastCurl other = least_curl(scan.nominal, scan.deflections, !transpose);
      // Slopes over neighbours 1.3 apart are short by (0.25 1.3)^2 / 6 = 2 % at most, not alike in all directions.
      EXPECT_LT(apart_by_half_turns(found.rotation, angle * degree), 1.5 * degree);
      // At the edge, a fifth of all positions, neighbours lie on one side: there slopes are off by 0.25 1.3 / 2 of
      // themselves, which is 0.16^2 / 5 of the whole power.
      EXPECT_LT(found.curl, 5e-3);
      EXPECT_GT(other.curl, 0.1);
      EXPECT_GE(found.rotation, -std::numbers::pi / 2);
      EXPECT_LE(found.rotation, std::numbers::pi / 2);
    }
}

TEST(CentresOfMass, AreThoseOfTheMeasuredCounts) {
  constexpr Index rows = 6, cols = 5;
  Array frames(Device::cpu(), {3, rows, cols}, DType::u16);
  std::mt19937 generator(2);
  const auto values = frames.view<std::uint16_t, 3>();
  for (Index i = 0; i < values.count(); ++i) values.data[i] = static_cast<std::uint16_t>(generator() % 50);
  for (Index i = 0; i < rows * cols; ++i) values[2].data[i] = 0;
  std::vector<std::uint8_t> good(rows * cols, 1);
  good[7] = good[20] = 0;
  const Measurement measurement(frames, ZeroFrequency::centre, good, AmplitudeStorage::f64);
  const std::vector<Point> found = centres_of_mass(measurement);
  ASSERT_EQ(found.size(), 3u);
  for (Index j = 0; j < 2; ++j) {
    double total = 0, row_sum = 0, col_sum = 0;
    for (Index row = 0; row < rows; ++row)
      for (Index col = 0; col < cols; ++col) {
        if (good[static_cast<std::size_t>(row * cols + col)] == 0) continue;
        total += values(j, row, col);
        row_sum += values(j, row, col) * static_cast<double>(row - rows / 2);
        col_sum += values(j, row, col) * static_cast<double>(col - cols / 2);
      }
    // Rounding of roots that are squared again.
    EXPECT_NEAR(found[static_cast<std::size_t>(j)].row, row_sum / total, 1e-12);
    EXPECT_NEAR(found[static_cast<std::size_t>(j)].col, col_sum / total, 1e-12);
  }
  EXPECT_EQ(found[2], (Point{0, 0}));
}

}  // namespace
}  // namespace sonde::ptycho
