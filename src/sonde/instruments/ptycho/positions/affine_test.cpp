// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/positions/affine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace sonde::ptycho {
namespace {

std::vector<Point> raster() {
  std::vector<Point> points;
  for (int row = 0; row < 5; ++row)
    for (int col = 0; col < 7; ++col) points.push_back({10.0 + 3 * row, 4.0 + 2 * col});
  return points;
}

TEST(Affine, FindsScaleRotationAndShift) {
  const std::vector<Point> from = raster();
  std::vector<Point> to;
  const double angle = 0.02, scale = 1.03;
  for (const Point& p : from)
    to.push_back({5 + scale * (std::cos(angle) * p.row - std::sin(angle) * p.col),
                  -2 + scale * (std::sin(angle) * p.row + std::cos(angle) * p.col)});
  const Affine fit = fit_affine(from, to);
  EXPECT_NEAR(fit.scale(), scale, 1e-12);
  EXPECT_NEAR(fit.rotation(), angle, 1e-12);
  EXPECT_NEAR(fit.shear(), 0, 1e-12);
  for (std::size_t i = 0; i < from.size(); ++i) {
    EXPECT_NEAR(fit.apply(from[i]).row, to[i].row, 1e-12);
    EXPECT_NEAR(fit.apply(from[i]).col, to[i].col, 1e-12);
  }
}

TEST(Affine, ShearIsHalfTheDifferenceOfTheStretches) {
  const std::vector<Point> from = raster();
  std::vector<Point> to;
  for (const Point& p : from) to.push_back({1.1 * p.row, 0.9 * p.col});
  EXPECT_NEAR(fit_affine(from, to).shear(), 0.1, 1e-12);
  EXPECT_NEAR(fit_affine(from, to).scale(), std::sqrt(1.1 * 0.9), 1e-12);
}

TEST(Affine, ALineOfPositionsIsShiftedOnly) {
  const std::vector<Point> from{{0, 0}, {1, 1}, {2, 2}, {3, 3}}, to{{1, 0}, {3, 2}, {5, 4}, {7, 6}};
  const Affine fit = fit_affine(from, to);
  EXPECT_EQ(fit.row_row, 1);
  EXPECT_EQ(fit.row_col, 0);
  EXPECT_NEAR(fit.apply({1.5, 1.5}).row, 4, 1e-12);
}

}  // namespace
}  // namespace sonde::ptycho
