// SPDX-License-Identifier: Apache-2.0
// Patterns of grains: where the reflections of a crystal are, with their counts.
#include "sonde/instruments/stem/simulate/grain_patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>
#include <vector>

#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/stem/orient/euler_angles.h"
#include "sonde/instruments/stem/orient/test_crystals.h"
#include "sonde/instruments/stem/read/acquisition.h"
#include "sonde/instruments/stem/simulate/simulate.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::stem {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

constexpr double wavelength = 0.0250793;  // A, at 200 kV

Optics grain_optics() {
  Optics optics;
  optics.rows = 96;
  optics.cols = 112;
  optics.dose = 1e4;
  optics.centre_row = 46.3;
  optics.centre_col = 56.9;
  optics.disk_radius = 2.5;
  optics.edge_width = 0.4;
  optics.halo_length = 12;
  return optics;
}

/// Gold with the beam along [0 0 1] and its x along the columns, and turned by a quarter of a right angle.
GrainScan two_orientations() {
  GrainScan scan;
  scan.scan_rows = 7;
  scan.scan_cols = 12;
  scan.crystals = {list_reflections(gold(), 0.8)};
  scan.beam.wavelength = wavelength;
  scan.orientations = {orientation_of({0, 0, 0}), orientation_of({std::numbers::pi / 8, 0, 0})};
  scan.q_pixel = 0.035;
  scan.background = 0;
  return scan;
}

/// Counts within 5 px of a place, nearly nine edge widths from the edge, and where their centre is.
struct Seen {
  double counts = 0, row = 0, col = 0;
};
Seen seen_at(const Optics& optics, const std::vector<double>& rate, double row, double col) {
  Seen seen;
  for (Index y = 0; y < optics.rows; ++y)
    for (Index x = 0; x < optics.cols; ++x) {
      if (std::hypot(static_cast<double>(y) - row, static_cast<double>(x) - col) > 6) continue;
      const double value = rate[static_cast<std::size_t>(y * optics.cols + x)];
      seen.counts += value;
      seen.row += value * static_cast<double>(y);
      seen.col += value * static_cast<double>(x);
    }
  seen.row /= seen.counts;
  seen.col /= seen.counts;
  return seen;
}

// Of gold 200 is 2/a = 0.49044 1/A long; s of it is -lambda g^2/2 there, which is also that of 020.
TEST(GrainPatterns, DisksAreWhereTheReflectionsAreWithTheirCounts) {
  const Optics optics = grain_optics();
  const GrainPatterns patterns(optics, two_orientations());
  std::vector<double> rate(static_cast<std::size_t>(optics.rows * optics.cols));
  Beam beam;
  beam.shift_row = 0.4;
  beam.shift_col = -0.3;
  const double row = optics.centre_row + 0.4, col = optics.centre_col - 0.3, far = 2 / 4.078 / 0.035;
  Index seen[2] = {};
  for (Index at = 0; at < 7 * 12; ++at) {
    const Index grain = patterns.grain_at(at / 12, at % 12);
    if (++seen[grain] > 1) continue;
    SCOPED_TRACE(grain);
    patterns.rates(at / 12, at % 12, beam, rate);
    EXPECT_NEAR(seen_at(optics, rate, row, col).counts, 0.5 * optics.dose, 1e-3 * optics.dose);
    // Bunge's phi1 turns the crystal about z in the frame of the sample, from the columns towards the rows.
    const double angle = grain == 0 ? 0 : std::numbers::pi / 8;
    double of_200 = 0;
    for (int quarter = 0; quarter < 4; ++quarter) {
      const double turn = angle + quarter * std::numbers::pi / 2;
      const double y = row + far * std::sin(turn), x = col + far * std::cos(turn);
      const Seen disk = seen_at(optics, rate, y, x);
      // 2e-4 of a plateau is cut off there by whole pixels, on some tens of them at 6 px.
      EXPECT_NEAR(disk.row, y, 2e-3);
      EXPECT_NEAR(disk.col, x, 2e-3);
      of_200 += disk.counts / 4;
    }
    // Intensities of 200 and 220 in the ratio of |F|^2 exp(-s^2 / (2 sigma^2)).
    const double turn = angle + std::numbers::pi / 4, far_220 = far * std::numbers::sqrt2;
    const double of_220 = seen_at(optics, rate, row + far_220 * std::sin(turn), col + far_220 * std::cos(turn)).counts;
    const auto intensity = [](const Miller& hkl) {
      const double square = std::pow(hkl[0] / 4.078, 2) + std::pow(hkl[1] / 4.078, 2), s = wavelength * square / 2;
      return std::norm(structure_factor(gold(), hkl)) * std::exp(-s * s / (2 * 0.02 * 0.02));
    };
    EXPECT_NEAR(of_220 / of_200, intensity({2, 2, 0}) / intensity({2, 0, 0}), 2e-3);
    EXPECT_NEAR(4 * of_200 + 4 * of_220, 0.5 * optics.dose, 1e-3 * optics.dose);
  }
  EXPECT_GT(seen[0], 0);
  EXPECT_GT(seen[1], 0);
}

TEST(GrainPatterns, AllPositionsOfAGrainAreNearestToOnePoint) {
  GrainScan scan = two_orientations();
  scan.scan_rows = 30;
  scan.scan_cols = 41;
  scan.orientations = random_orientations(3, 9);
  const GrainPatterns patterns(grain_optics(), scan);
  std::vector<Index> count(9);
  // Cells of Voronoi are convex: between two positions of a grain on a row or column there is no other grain.
  for (Index row = 0; row < 30; ++row) {
    std::vector<bool> left(9);
    for (Index col = 0; col < 41; ++col) {
      const auto grain = static_cast<std::size_t>(patterns.grain_at(row, col));
      ++count[grain];
      EXPECT_FALSE(left[grain]) << row << " " << col;
      if (col > 0 && patterns.grain_at(row, col - 1) != patterns.grain_at(row, col))
        left[static_cast<std::size_t>(patterns.grain_at(row, col - 1))] = true;
    }
  }
  EXPECT_GE(std::count_if(count.begin(), count.end(), [](Index each) { return each > 0; }), 7);
  scan.seed = 2;
  EXPECT_NE(GrainPatterns(grain_optics(), scan).grain_at(15, 20), -1);
}

// The mean angle of even turns is pi/2 + 2/pi, its standard deviation 0.645 (Miles, Biometrika 52 (1965) 636).
TEST(GrainPatterns, RandomOrientationsPreferNoDirection) {
  const std::vector<Orientation> turns = random_orientations(5, 4000);
  double angle = 0, square = 0;
  for (const Orientation& turn : turns) {
    EXPECT_NEAR(determinant(turn), 1, 1e-12);
    angle += std::acos(std::clamp((trace(turn) - 1) / 2, -1.0, 1.0)) / 4000;
    square += turn[0][2] * turn[0][2] / 4000;
  }
  EXPECT_NEAR(angle, std::numbers::pi / 2 + 2 / std::numbers::pi, 4 * 0.645 / std::sqrt(4000));
  EXPECT_NEAR(square, 1.0 / 3, 4 * std::sqrt(4.0 / 45 / 4000));
  EXPECT_EQ(random_orientations(5, 3)[2], turns[2]);
  EXPECT_NE(random_orientations(6, 3)[2], turns[2]);
}

TEST(GrainPatterns, WhatIsNoMapOfGrainsIsRefused) {
  GrainScan scan = two_orientations();
  scan.orientations.clear();
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { GrainPatterns(grain_optics(), scan); }),
            "error: 0 grains; expected 1 or more");
  scan = two_orientations();
  scan.diffracted = 1.5;
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { GrainPatterns(grain_optics(), scan); }),
            "error: a diffracted share of 1.5; expected 0 to 1");
  scan.diffracted = 0.5;
  scan.q_pixel = 0;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { GrainPatterns(grain_optics(), scan); }),
              HasSubstr("q pixel 0 1/A; expected a size above 0"));
  scan.q_pixel = 0.02;
  scan.background = -1;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { GrainPatterns(grain_optics(), scan); }),
              HasSubstr("a share of the background of -1; expected 0 to 1"));
}

class SimulatedGrains : public ::testing::Test {
 protected:
  SimulatedGrains() {
    std::ofstream(folder_.file("gold.cif"))
        << cell_text("4.078", "4.078", "4.078") << group_text("F m -3 m") << sites_text("Au1 Au 0 0 0");
    options_.output = folder_.file("scan_master.h5");
    options_.scan_shape = "3,5";
    options_.detector_shape = "72,80";
    options_.sample = Sample::crystal;
    options_.crystal = {folder_.file("gold.cif")};
    options_.grains = 3;
  }
  sonde::testing::TemporaryFolder folder_;
  SimulateOptions options_;
};

TEST_F(SimulatedGrains, TheTruthHoldsGrainsAndOrientations) {
  options_.euler = "30,20,10; 0,45,0";
  simulate(options_);
  const Hdf5File file = Hdf5File::open(folder_.file("scan_truth.h5"));
  const Array grain = file.dataset("/grain").read();
  ASSERT_EQ(grain.shape(), (Shape{3, 5}));
  const GrainPatterns patterns = grain_patterns_of(read_truth(folder_.file("scan_truth.h5")));
  EXPECT_EQ((grain.view<std::uint32_t, 2>()(2, 4)), static_cast<std::uint32_t>(patterns.grain_at(2, 4)));
  const Array orientation = file.dataset("/orientation").read();
  ASSERT_EQ(orientation.shape(), (Shape{2, 3, 3}));
  // A tilt by 45 degrees about x: the beam is along (0, sin, cos) of the passive turn.
  const auto matrix = orientation.view<double, 3>();
  EXPECT_NEAR(matrix(1, 0, 0), 1, 1e-15);
  EXPECT_NEAR(matrix(1, 1, 2), std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(matrix(1, 2, 2), std::sqrt(0.5), 1e-15);
}

// Grains take the crystals in turn; the nearest reflection of both, 111 of gold, decides the radius.
TEST_F(SimulatedGrains, TheTruthHoldsTheCrystalOfEveryGrain) {
  std::ofstream(folder_.file("iron.cif"))
      << cell_text("2.8665", "2.8665", "2.8665") << group_text("I m -3 m") << sites_text("Fe1 Fe 0 0 0");
  const double radius = disk_radius_of(options_), length = camera_length_of(options_);
  options_.crystal = {folder_.file("iron.cif"), folder_.file("gold.cif")};
  EXPECT_EQ(disk_radius_of(options_), radius);
  EXPECT_EQ(camera_length_of(options_), length);
  simulate(options_);
  const Hdf5File file = Hdf5File::open(folder_.file("scan_truth.h5"));
  const Array phase = file.dataset("/phase").read(), grain = file.dataset("/grain").read();
  ASSERT_EQ(phase.shape(), (Shape{3, 5}));
  for (Index at = 0; at < 15; ++at)
    EXPECT_EQ((phase.view<std::uint8_t, 2>()(at / 5, at % 5)), (grain.view<std::uint32_t, 2>()(at / 5, at % 5)) % 2);
  EXPECT_EQ(read_truth(folder_.file("scan_truth.h5")).crystal, options_.crystal);
  // Grain 1 is of gold: its disks are at the lengths of gold's reflections.
  const GrainPatterns patterns = grain_patterns_of(options_);
  EXPECT_EQ(patterns.phase(1), 1);
  EXPECT_EQ(patterns.phase(2), 0);
}

// As of the file that is written: 1e-4 m over the camera length is an angle, over the wavelength a reciprocal length.
TEST_F(SimulatedGrains, TheSizeOfAPixelIsThatOfTheFile) {
  EXPECT_NEAR(grain_patterns_of(options_).q_pixel(), 1e-4 / camera_length_of(options_) / wavelength, 1e-7);
  // All reflections are on the detector, and disks of neighbours do not touch.
  const double reach = 1.5 / grain_patterns_of(options_).q_pixel() + disk_radius_of(options_);
  EXPECT_LT(reach, 36 - 1);
  EXPECT_GT(reach, 36 - 5);
  EXPECT_NEAR(disk_radius_of(options_) * grain_patterns_of(options_).q_pixel(), 0.3 * std::sqrt(3) / 4.078, 1e-6);
  options_.camera_length = 0.2;
  options_.disk_radius = 1.5;
  EXPECT_NEAR(grain_patterns_of(options_).q_pixel(), 1e-4 / 0.2 / wavelength, 1e-6);
  EXPECT_EQ(disk_radius_of(options_), 1.5);
}

TEST_F(SimulatedGrains, WhatIsMissingIsNamed) {
  options_.euler = "1,2";
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { (void)model_of(options_); }),
            "error: euler \"1,2\"; expected three angles for each grain, PHI1,PHI,PHI2;...");
  options_.crystal = {};
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { (void)model_of(options_); }),
            "error: no crystal was given\nhint: give --crystal FILE.cif");
}

}  // namespace
}  // namespace sonde::stem
