// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/simulate/scan_errors.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sonde::ptycho {
namespace {

const std::vector<Point> nominal = raster_positions({.rows = 20, .cols = 50, .step_row = 2, .step_col = 3});
constexpr Point mean{19, 73.5};

TEST(ActualPositions, WithoutErrorsAreTheNominalOnes) {
  const std::vector<Point> actual = actual_positions(nominal, {}, 1);
  for (std::size_t i = 0; i < nominal.size(); ++i) {
    EXPECT_NEAR(actual[i].row, nominal[i].row, 1e-12);
    EXPECT_NEAR(actual[i].col, nominal[i].col, 1e-12);
  }
}

TEST(ActualPositions, AreScaledAndShearedAboutTheMean) {
  const std::vector<Point> actual = actual_positions(nominal, {.scale = 1.1, .shear = 0.05}, 1);
  for (const std::size_t i : {std::size_t{0}, std::size_t{77}, std::size_t{999}}) {
    EXPECT_NEAR(actual[i].row, mean.row + 1.1 * (nominal[i].row - mean.row), 1e-12);
    EXPECT_NEAR(actual[i].col, mean.col + 1.1 * (nominal[i].col - mean.col) + 0.05 * (nominal[i].row - mean.row),
                1e-12);
  }
}

TEST(ActualPositions, TurnLikeARaster) {
  const std::vector<Point> actual = actual_positions(nominal, {.rotation = 0.2}, 1);
  const std::vector<Point> turned =
      raster_positions({.rows = 20, .cols = 50, .step_row = 2, .step_col = 3, .rotation = 0.2});
  for (std::size_t i = 0; i < nominal.size(); i += 37) {
    EXPECT_NEAR(actual[i].row, turned[i].row, 1e-11);
    EXPECT_NEAR(actual[i].col, turned[i].col, 1e-11);
  }
}

TEST(ActualPositions, DriftEvenlyInTime) {
  const std::vector<Point> actual = actual_positions(nominal, {.drift_row = 4, .drift_col = -1}, 1);
  EXPECT_NEAR(actual.front().row - nominal.front().row, -2, 1e-12);
  EXPECT_NEAR(actual.back().row - nominal.back().row, 2, 1e-12);
  EXPECT_NEAR(actual.back().col - nominal.back().col, -0.5, 1e-12);
  EXPECT_NEAR(actual[333].row - nominal[333].row, 4 * (333.0 / 999 - 0.5), 1e-12);
}

TEST(ActualPositions, JitterHasItsRmsOnBothAxes) {
  const std::vector<Point> actual = actual_positions(nominal, {.jitter = 0.3}, 1);
  double row = 0, col = 0, both = 0;
  for (std::size_t i = 0; i < nominal.size(); ++i) {
    const double down = actual[i].row - nominal[i].row, across = actual[i].col - nominal[i].col;
    row += down * down / 1000;
    col += across * across / 1000;
    both += down * across / 1000;
  }
  // 1000 draws: the rms scatters by 2.2 %, the correlation by 3.2 %; four of these.
  EXPECT_NEAR(std::sqrt(row), 0.3, 0.09 * 0.3);
  EXPECT_NEAR(std::sqrt(col), 0.3, 0.09 * 0.3);
  EXPECT_NEAR(both / 0.09, 0, 0.13);
}

TEST(ActualPositions, DependOnTheSeed) {
  const std::vector<Point> one = actual_positions(nominal, {.jitter = 0.3}, 1);
  EXPECT_EQ(one, actual_positions(nominal, {.jitter = 0.3}, 1));
  EXPECT_NE(one, actual_positions(nominal, {.jitter = 0.3}, 2));
}

}  // namespace
}  // namespace sonde::ptycho
