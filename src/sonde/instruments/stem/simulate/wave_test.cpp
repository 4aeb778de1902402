// SPDX-License-Identifier: Apache-2.0
// Patterns of phase objects: what a wave does in closed form.
#include "sonde/instruments/stem/simulate/wave.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

Optics small_optics() {
  Optics optics;
  optics.rows = 32;
  optics.cols = 40;
  optics.dose = 1000;
  optics.centre_row = 14.7;
  optics.centre_col = 20.4;
  optics.disk_radius = 7;
  optics.edge_width = 0.6;
  return optics;
}

struct Sums {
  double total = 0, row = 0, col = 0;
};

Sums sums_of(const PhasePatterns& patterns, const Optics& optics, Index scan_row, Index scan_col,
             const Beam& beam = {}) {
  Model::Scratch scratch;
  std::vector<double> rate(static_cast<std::size_t>(optics.rows * optics.cols));
  patterns.rates(scan_row, scan_col, beam, scratch, rate);
  Sums sums;
  for (Index row = 0; row < optics.rows; ++row)
    for (Index col = 0; col < optics.cols; ++col) {
      const double value = rate[static_cast<std::size_t>(row * optics.cols + col)];
      sums.total += value;
      sums.row += value * static_cast<double>(row);
      sums.col += value * static_cast<double>(col);
    }
  return {sums.total, sums.row / sums.total, sums.col / sums.total};
}

TEST(PhasePatterns, HaveTheDoseAndLieAtTheCentreWithoutASpecimen) {
  const Optics optics = small_optics();
  const PhasePatterns patterns(optics, {.scan_rows = 3, .scan_cols = 4});
  Beam beam;
  beam.shift_row = 0.8;
  beam.shift_col = -1.3;
  const Sums sums = sums_of(patterns, optics, 1, 2, beam);
  EXPECT_NEAR(sums.total, 1000, 1e-9);
  // The tails of a probe of soft aperture at the edge of the window: 1e-4 of its amplitude.
  EXPECT_NEAR(sums.row, 15.5, 2e-3);
  EXPECT_NEAR(sums.col, 19.1, 2e-3);
}

// Near the foot of a hill that is wide against the probe the phase is a slope, which shifts the pattern as a whole.
TEST(PhasePatterns, ASlopeOfThePhaseShiftsThePattern) {
  const Optics optics = small_optics();
  for (const bool transpose : {false, true}) {
    SCOPED_TRACE(transpose);
    const double width = 400, height = 900, turn = 0.5;
    const PhasePatterns patterns(optics, {.scan_rows = 1,
                                          .scan_cols = 1,
                                          .rotation = turn,
                                          .transpose = transpose,
                                          .hills = {{.y = 0, .x = width, .height = height, .width = width}}});
    // The gradient points to the hill, along +x of the scan: height / width exp(-1/2) rad/A.
    const double k = height / width * std::exp(-0.5) / (2 * std::numbers::pi) / 0.05;
    // On the detector: T R(-turn) (k, 0).
    const double x = k * std::cos(turn), y = -k * std::sin(turn);
    const Sums sums = sums_of(patterns, optics, 0, 0);
    // The curvature of the phase and the tails of the probe.
    EXPECT_NEAR(sums.col, optics.centre_col + (transpose ? y : x), 5e-3);
    EXPECT_NEAR(sums.row, optics.centre_row + (transpose ? x : y), 5e-3);
  }
}

TEST(PhasePatterns, TheProbeAveragesThePhase) {
  const Optics optics = small_optics();
  const PhasePatterns patterns(optics, {.scan_rows = 5, .scan_cols = 5, .step = 0.4, .hills = {{.width = 1.5}}});
  EXPECT_NEAR(patterns.phase(2, 2), 1, 1e-12);
  EXPECT_NEAR(patterns.phase(2, 4), std::exp(-0.64 / 4.5), 1e-12);
  EXPECT_LT(patterns.seen_phase(2, 2), 0.97);  // lower than the top
  EXPECT_GT(patterns.seen_phase(2, 2), patterns.seen_phase(2, 3));
  const PhasePatterns flat(optics, {.scan_rows = 5, .scan_cols = 5, .step = 0.4, .hills = {{.width = 1e4}}});
  EXPECT_NEAR(flat.seen_phase(2, 2), 1, 1e-5);
}

TEST(PhasePatterns, LengthsBelowZeroAreRefused) {
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input, [] { PhasePatterns(small_optics(), {.step = 0}); }),
              ::testing::HasSubstr("a scan step of 0; expected a number above 0"));
  EXPECT_THAT(
      testing::error_of(ErrorKind::bad_input, [] { PhasePatterns(small_optics(), {.hills = {{.width = -1}}}); }),
      ::testing::HasSubstr("a width of a hill of -1"));
}

}  // namespace
}  // namespace sonde::stem
