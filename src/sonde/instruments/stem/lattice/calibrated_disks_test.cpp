// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/lattice/calibrated_disks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace sonde::stem {
namespace {

/// Twelve disks on an ellipse with semi-axes of 30 px along 25 degrees and 20 px, about (40, 50), on one position.
BraggVectors disks_on_ellipse() {
  BraggVectors vectors;
  vectors.scan_rows = vectors.scan_cols = 1;
  vectors.rows = 90;
  vectors.cols = 100;
  vectors.valid = {1};
  const double c = std::cos(25 * std::numbers::pi / 180), s = std::sin(25 * std::numbers::pi / 180);
  for (int i = 0; i < 12; ++i) {
    const double along = 30 * std::cos(i), across = 20 * std::sin(i);
    vectors.qx.push_back(static_cast<float>(40 + along * c - across * s));
    vectors.qy.push_back(static_cast<float>(50 + along * s + across * c));
    vectors.intensity.push_back(1);
  }
  vectors.offsets = {0, 12};
  vectors.calibration.ellipse = Distortion{30, 20, 25 * std::numbers::pi / 180, 24};
  vectors.calibration.origin_x = {40};
  vectors.calibration.origin_y = {50};
  return vectors;
}

double radius_of(const BraggVectors& vectors, std::size_t disk) {
  return std::hypot(vectors.qx[disk] - 40, vectors.qy[disk] - 50);
}

TEST(CalibratedDisks, OnAnEllipseComeToLieOnItsCircle) {
  const BraggVectors vectors = disks_on_ellipse();
  const BraggVectors round = corrected(vectors, find_origins(vectors, OriginChoice::automatic, OriginFit::plane),
                                       *vectors.calibration.ellipse);
  for (std::size_t i = 0; i < 12; ++i) {
    SCOPED_TRACE(i);
    EXPECT_NEAR(radius_of(round, i), 24, 1e-5);  // single precision at 50 px
  }
}

TEST(CalibratedDisks, VariancesGrowAndShrinkWithTheAxes) {
  BraggVectors vectors = disks_on_ellipse();
  vectors.var_x.assign(12, 0.25F);
  vectors.var_y.assign(12, 0.01F);
  const Distortion along_x{.a = 2, .b = 0.5, .theta = 0, .radius = 1};
  const BraggVectors round =
      corrected(vectors, find_origins(vectors, OriginChoice::automatic, OriginFit::plane), along_x);
  EXPECT_FLOAT_EQ(round.var_x[3], 0.0625F);
  EXPECT_FLOAT_EQ(round.var_y[3], 0.04F);
}

TEST(CalibratedDisks, TheOriginOfTheFileIsTakenUnlessAnotherIsAskedFor) {
  const BraggVectors vectors = disks_on_ellipse();
  const DiskOrigins stated = find_origins(vectors, OriginChoice::automatic, OriginFit::plane);
  EXPECT_TRUE(stated.stated);
  EXPECT_EQ(stated.at(0, 0).x, 40);
  EXPECT_EQ(stated.at(0, 0).y, 50);
  const DiskOrigins nearest = find_origins(vectors, OriginChoice::nearest, OriginFit::none);
  EXPECT_FALSE(nearest.stated);
  EXPECT_GE(std::hypot(nearest.at(0, 0).x - 40, nearest.at(0, 0).y - 50), 19.9);  // one of the disks
}

TEST(CalibratedDisks, OfPositionsWithoutAnOriginStay) {
  BraggVectors vectors = disks_on_ellipse();
  vectors.calibration.origin_x = {std::nan("")};
  const DiskOrigins none = find_origins(vectors, OriginChoice::automatic, OriginFit::plane);
  EXPECT_EQ(none.measured.valid[0], 0);
  EXPECT_EQ(corrected(vectors, none, *vectors.calibration.ellipse).qx, vectors.qx);
}

}  // namespace
}  // namespace sonde::stem
