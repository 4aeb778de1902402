// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/direct/scan_lattice.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

const Sampling sampling = electron_sampling(32, 32, 200, 2);
constexpr Raster raster{.rows = 5, .cols = 7, .step_row = 0.5, .step_col = 0.4, .transpose = false, .rotation = 0.3};

std::vector<Point> points() { return in_pixels(raster_positions(raster), sampling); }

TEST(ScanLattice, GivesBackTheStepsOfARaster) {
  const ScanLattice lattice = scan_lattice(points(), LatticeShape{5, 7}, sampling);
  // Rows and columns turned counter-clockwise by 0.3: row' = row cos - col sin, col' = col cos + row sin.
  EXPECT_NEAR(lattice.down.row, 0.5 * std::cos(0.3), 1e-12);
  EXPECT_NEAR(lattice.down.col, 0.5 * std::sin(0.3), 1e-12);
  EXPECT_NEAR(lattice.across.row, -0.4 * std::sin(0.3), 1e-12);
  EXPECT_NEAR(lattice.across.col, 0.4 * std::cos(0.3), 1e-12);
  const std::vector<Point> again = lattice.positions(), expected = raster_positions(raster);
  for (std::size_t j = 0; j < again.size(); ++j) {
    EXPECT_NEAR(again[j].row, expected[j].row, 1e-12);
    EXPECT_NEAR(again[j].col, expected[j].col, 1e-12);
  }
}

TEST(ScanLattice, FindsTheLinesOfAList) {
  const ScanLattice lattice = scan_lattice(points(), std::nullopt, sampling);
  EXPECT_EQ(lattice.rows, 5);
  EXPECT_EQ(lattice.cols, 7);
}

TEST(ScanLattice, FrequenciesAreDualToTheSteps) {
  const ScanLattice lattice = scan_lattice(points(), LatticeShape{5, 7}, sampling);
  const Point u = lattice.row_frequency(), v = lattice.col_frequency();
  EXPECT_NEAR(u.row * lattice.down.row + u.col * lattice.down.col, 1.0 / 5, 1e-12);
  EXPECT_NEAR(u.row * lattice.across.row + u.col * lattice.across.col, 0, 1e-12);
  EXPECT_NEAR(v.row * lattice.down.row + v.col * lattice.down.col, 0, 1e-12);
  EXPECT_NEAR(v.row * lattice.across.row + v.col * lattice.across.col, 1.0 / 7, 1e-12);
}

TEST(ScanLattice, TurnsLikeARaster) {
  Raster further = raster;
  further.rotation += 0.2;
  const std::vector<Point> expected = raster_positions(further);
  const std::vector<Point> found = scan_lattice(points(), LatticeShape{5, 7}, sampling).turned(0.2).positions();
  for (std::size_t j = 0; j < found.size(); ++j) {
    EXPECT_NEAR(found[j].row, expected[j].row, 1e-12);
    EXPECT_NEAR(found[j].col, expected[j].col, 1e-12);
  }
}

TEST(ScanLattice, RefusesPositionsThatAreNoRaster) {
  std::vector<Point> list = points();
  list[17].col += 0.2 / sampling.pixel_col();
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [&] {
                         (void)scan_lattice(list, LatticeShape{5, 7}, sampling);
                       }),
              HasSubstr("direct methods need a regular raster, but frame 17 is"));
}

TEST(ScanLattice, RefusesLinesOfDifferentLengths) {
  std::vector<Point> list = points();
  list.pop_back();
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)scan_lattice(list, std::nullopt, sampling); }),
              HasSubstr("34 positions are not a whole number of lines of 7"));
}

TEST(ScanLattice, RefusesALine) {
  const std::vector<Point> line = raster_positions({.rows = 1, .cols = 30, .step_row = 1, .step_col = 1});
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)scan_lattice(line, std::nullopt, sampling); }),
              HasSubstr("the scan has 1 x 30 positions: at least 4 x 4 are needed"));
}

TEST(ScanLattice, NeedsACalibration) {
  (void)error_of(ErrorKind::not_supported, [&] { (void)scan_lattice(points(), std::nullopt, pixel_sampling(32, 32)); });
}

}  // namespace
}  // namespace sonde::ptycho
