// SPDX-License-Identifier: Apache-2.0
// Patterns of strained crystals: where real-space lattices, dose and symmetry put the disks.
#include "sonde/instruments/stem/simulate/disk_lattice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/stem/simulate/simulate.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::stem {
namespace {

constexpr double turned = 3 * std::numbers::pi / 180;

Optics disk_optics() {
  Optics optics;
  optics.rows = 96;
  optics.cols = 112;
  optics.dose = 1e4;
  optics.centre_row = 46.3;
  optics.centre_col = 56.9;
  optics.disk_radius = 4;
  optics.edge_width = 0.7;
  optics.halo_length = 12;
  return optics;
}

DiskScan crystal() {
  DiskScan scan;
  scan.scan_rows = 5;
  scan.scan_cols = 10;
  scan.undeformed = {15, 2, -3, 17};
  scan.deformation = {.e_xx = 0.03, .e_yy = -0.02, .e_xy = 0.01, .theta = turned};
  scan.falloff = 30;
  return scan;
}

// A crystal with vectors a1, a2 has the reciprocal lattice with a_i . g_j = 1 for i = j, else 0. Points of the deformed
// crystal are moved one after the other, first stretched along x and y, sheared, then turned.
void expect_reciprocal(const LatticeVectors& g, const Deformation& d, const LatticeVectors& undeformed) {
  const double area = undeformed.g1_x * undeformed.g2_y - undeformed.g1_y * undeformed.g2_x;
  const double a[2][2] = {{undeformed.g2_y / area, -undeformed.g2_x / area},
                          {-undeformed.g1_y / area, undeformed.g1_x / area}};
  for (int i = 0; i < 2; ++i) {
    const double x = a[i][0] + d.e_xx * a[i][0] + d.e_xy * a[i][1];
    const double y = a[i][1] + d.e_xy * a[i][0] + d.e_yy * a[i][1];
    // Turning +x towards +y adds to the angle.
    const double angle = std::atan2(y, x) + d.theta, length = std::hypot(x, y);
    const double moved_x = length * std::cos(angle), moved_y = length * std::sin(angle);
    EXPECT_NEAR(moved_x * g.g1_x + moved_y * g.g1_y, i == 0 ? 1 : 0, 1e-12);
    EXPECT_NEAR(moved_x * g.g2_x + moved_y * g.g2_y, i == 1 ? 1 : 0, 1e-12);
  }
}

TEST(DiskPatterns, TheLatticeIsReciprocalToTheDeformedCrystal) {
  DiskScan scan = crystal();
  for (const StrainField field :
       {StrainField::uniform, StrainField::gradient, StrainField::step, StrainField::rotation}) {
    SCOPED_TRACE(static_cast<int>(field));
    scan.field = field;
    const DiskPatterns patterns(disk_optics(), scan);
    expect_reciprocal(patterns.vectors(4, 8), patterns.deformation(4, 8), scan.undeformed);
  }
}

TEST(DiskPatterns, FieldsChangeOverTheScanAsTheyAreNamed) {
  DiskScan scan = crystal();
  const auto at = [&](StrainField field, Index row, Index col) {
    scan.field = field;
    return DiskPatterns(disk_optics(), scan).deformation(row, col);
  };
  EXPECT_EQ(at(StrainField::uniform, 0, 0).e_xx, 0.03);
  EXPECT_NEAR(at(StrainField::gradient, 2, 9).e_xx, 0.45 * 0.03, 1e-15);
  EXPECT_NEAR(at(StrainField::gradient, 2, 0).e_yy, 0.45 * 0.02, 1e-15);
  EXPECT_EQ(at(StrainField::step, 1, 5).e_xy, 0);
  EXPECT_EQ(at(StrainField::step, 1, 6).e_xy, 0.01);
  EXPECT_EQ(at(StrainField::rotation, 4, 3).e_xx, 0);
  EXPECT_NEAR(at(StrainField::rotation, 4, 3).theta, 0.4 * turned, 1e-15);
}

// Tension along x of the scan pulls the reciprocal lattice together along x of the scan; with the axes exchanged and
// no turn, that is along y of the detector.
TEST(DiskPatterns, StrainIsAlongTheAxesOfTheScan) {
  DiskScan scan = crystal();
  scan.deformation = {.e_xx = 0.1};
  scan.transpose = true;
  const LatticeVectors exchanged = DiskPatterns(disk_optics(), scan).vectors(0, 0);
  EXPECT_NEAR(exchanged.g1_x, 15, 1e-12);
  EXPECT_NEAR(exchanged.g2_y, 17 / 1.1, 1e-12);
  scan.transpose = false;
  scan.rotation = std::numbers::pi / 2;  // +x of the detector is +y of the scan
  const LatticeVectors quarter = DiskPatterns(disk_optics(), scan).vectors(0, 0);
  EXPECT_NEAR(quarter.g1_x, 15, 1e-12);
  EXPECT_NEAR(quarter.g2_y, 17 / 1.1, 1e-12);
}

// The centre of mass within 6 px of where a disk should be: nearly nine edge widths from its edge, and from the next
// one's.
TEST(DiskPatterns, DisksAreAtTheLatticeAndHaveTheirCounts) {
  DiskScan scan = crystal();
  scan.background = 0;
  Optics optics = disk_optics();
  optics.disk_radius = 2.5;
  optics.edge_width = 0.4;
  const DiskPatterns patterns(optics, scan);
  std::vector<double> rate(static_cast<std::size_t>(optics.rows * optics.cols));
  Beam beam;
  beam.shift_row = 0.4;
  beam.shift_col = -0.3;
  patterns.rates(3, 7, beam, rate);
  const LatticeVectors g = patterns.vectors(3, 7);
  for (const auto& [h, k] : {std::pair{0, 0}, {1, 0}, {0, 1}, {-2, 1}, {1, -2}}) {
    SCOPED_TRACE(::testing::Message() << h << " " << k);
    const double row = optics.centre_row + 0.4 + h * g.g1_y + k * g.g2_y;
    const double col = optics.centre_col - 0.3 + h * g.g1_x + k * g.g2_x;
    double sum = 0, down = 0, across = 0;
    for (Index y = 0; y < optics.rows; ++y)
      for (Index x = 0; x < optics.cols; ++x) {
        const double dy = static_cast<double>(y) - row, dx = static_cast<double>(x) - col;
        if (std::hypot(dy, dx) > 6) continue;
        const double value = rate[static_cast<std::size_t>(y * optics.cols + x)];
        sum += value;
        down += value * dy;
        across += value * dx;
      }
    // 2e-4 of a plateau is cut off there by whole pixels, on some tens of them at 6 px.
    EXPECT_NEAR(down / sum, 0, 2e-3);
    EXPECT_NEAR(across / sum, 0, 2e-3);
    EXPECT_NEAR(sum / patterns.disk_counts(3, 7, h, k), 1, 1e-3);
  }
}

TEST(DiskPatterns, DisksAndBackgroundHaveTheDose) {
  DiskScan scan = crystal();
  Optics optics = disk_optics();
  scan.orders = 1;  // all of them well inside the detector
  const DiskPatterns patterns(optics, scan);
  std::vector<double> rate(static_cast<std::size_t>(optics.rows * optics.cols));
  patterns.rates(0, 0, {}, rate);
  double sum = 0;
  for (const double value : rate) sum += value;
  EXPECT_NEAR(sum / optics.dose, 1, 5e-5);  // the table of the disk at 1/32 px, linear between
}

TEST(DiskPatterns, IntensitiesVaryFromPatternToPattern) {
  DiskScan scan = crystal();
  const DiskPatterns patterns(disk_optics(), scan);
  EXPECT_NE(patterns.disk_counts(0, 0, 1, 0), patterns.disk_counts(0, 1, 1, 0));
  scan.seed = 2;
  EXPECT_NE(DiskPatterns(disk_optics(), scan).disk_counts(0, 0, 1, 0), patterns.disk_counts(0, 0, 1, 0));
  scan.excitation = 0;
  scan.field = StrainField::step;  // unstrained at the first columns
  const DiskPatterns even(disk_optics(), scan);
  EXPECT_EQ(even.disk_counts(0, 0, 1, 0), even.disk_counts(0, 1, 1, 0));
  EXPECT_EQ(even.disk_counts(0, 0, 1, 0), even.disk_counts(0, 0, -1, 0));  // Friedel pairs
}

TEST(DiskPatterns, WhatIsNoCrystalIsRefused) {
  DiskScan scan = crystal();
  scan.undeformed = {10, 5, -20, -10};
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input, [&] { DiskPatterns(disk_optics(), scan); }),
              ::testing::HasSubstr("lattice vectors (10, 5) and (-20, -10) are along one line"));
  scan = crystal();
  scan.deformation.e_yy = -0.6;
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input, [&] { DiskPatterns(disk_optics(), scan); }),
              ::testing::HasSubstr("a strain of 0.6; expected -0.5 to 0.5"));
}

TEST(SimulatedDisks, TheTruthHoldsLatticeAndStrain) {
  const sonde::testing::TemporaryFolder folder;
  SimulateOptions options;
  options.output = folder.file("scan_master.h5");
  options.scan_shape = "2,5";
  options.detector_shape = "48,56";
  options.sample = Sample::disks;
  options.disk_radius = 3;
  options.lattice = "11,1,-2,10";
  simulate(options);
  const Hdf5File file = Hdf5File::open(folder.file("scan_truth.h5"));
  EXPECT_EQ((file.dataset("/g1_x").read().view<double, 2>()(1, 0)), 11);
  EXPECT_EQ((file.dataset("/g2_y").read().view<double, 2>()(0, 1)), 10);
  EXPECT_EQ((file.dataset("/e_yy").read().view<double, 2>()(1, 4)), -0.01);
  EXPECT_NEAR((file.dataset("/theta").read().view<double, 2>()(1, 4)), std::numbers::pi / 180, 1e-15);
}

TEST(SimulatedDisks, OptionsAreNumbers) {
  SimulateOptions options;
  options.sample = Sample::disks;
  options.strain = "0.1,0.2";
  EXPECT_THAT(testing::error_of(ErrorKind::usage, [&] { (void)model_of(options); }),
              ::testing::HasSubstr("strain \"0.1,0.2\"; expected three numbers, EXX,EYY,EXY"));
  options.strain = "0,0,0";
  options.lattice = "1,2,3";
  EXPECT_THAT(testing::error_of(ErrorKind::usage, [&] { (void)model_of(options); }),
              ::testing::HasSubstr("lattice \"1,2,3\"; expected four numbers, G1X,G1Y,G2X,G2Y"));
}

}  // namespace
}  // namespace sonde::stem
