// SPDX-License-Identifier: Apache-2.0
// Strain against the cell of a crystal: patterns of cells that are deformed in real space.
#include "sonde/instruments/stem/orient/orient_strain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sonde/instruments/stem/orient/orient_result.h"
#include "sonde/instruments/stem/orient/test_crystals.h"
#include "sonde/instruments/stem/orient/test_orientations.h"
#include "tests/support/budget.h"

namespace sonde::stem {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr double strain_pixel = 0.02;  // 1/A

OrientationPlan plan_of_strain(double k_max = 1.5) {
  OrientationOptions options{.voltage = 200, .k_max = k_max};
  options.angle_step_zone_axis = options.angle_step_in_plane = 6;
  return OrientationPlan::prepare(gold(), options);
}

/// A deformation across the beam, along the detector, of which polar decomposition has the angle `turn`.
Mat3 deformation(double xx, double yy, double xy, double turn) {
  const Mat3 stretch{{{1 + xx, xy, 0}, {xy, 1 + yy, 0}, {0, 0, 1}}};
  return times(turn_about({0, 0, 1}, turn), stretch);
}

/// The kinematic pattern of the crystal whose every cell axis a, in the frame of the detector, has become F a. The
/// reciprocal axes are made anew from the deformed ones: b x c / V and so on.
std::vector<DiffractionPeak> peaks_of_deformed(const OrientationPlan& plan, const Orientation& orientation,
                                               const Mat3& f) {
  const Mat3 axes = transposed(times(f, times(transposed(orientation), plan.crystal().cell.axes())));
  const double volume = dot(axes[0], cross(axes[1], axes[2]));
  const Vec3 reciprocal[3] = {scaled(1 / volume, cross(axes[1], axes[2])), scaled(1 / volume, cross(axes[2], axes[0])),
                              scaled(1 / volume, cross(axes[0], axes[1]))};
  std::vector<Reflection> moved = plan.reflections();
  for (Reflection& each : moved) {
    each.g = {};
    for (std::size_t i = 0; i < 3; ++i) each.g = sum(each.g, scaled(each.hkl[i], reciprocal[i]));
    each.length = length(each.g);
  }
  std::vector<DiffractionPeak> peaks;
  const Orientation as_they_are{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  for (const KinematicSpot& spot : kinematic_pattern(moved, as_they_are, plan.beam()))
    peaks.push_back({spot.x, spot.y, spot.intensity});
  return peaks;
}

Strain strain_of_fit(const LatticeFit& fit) { return strain_of(fit.basis, {1, 0, 0, 1}, StrainMeasure::biot); }

TEST(OrientStrain, ADeformedCellGivesItsDeformation) {
  const OrientationPlan plan = plan_of_strain();
  Random random(1);
  for (int i = 0; i < 20; ++i) {
    SCOPED_TRACE(i);
    const Orientation orientation = random_orientation(random);
    const double xx = 0.02 * random.normal(), yy = 0.02 * random.normal(), xy = 0.01 * random.normal();
    const double turn = 0.01 * random.normal();
    const std::vector<DiffractionPeak> peaks = peaks_of_deformed(plan, orientation, deformation(xx, yy, xy, turn));
    const LatticeFit fit = fit_deformation(plan, orientation, peaks, strain_pixel, {});
    if (fit.outcome == FitOutcome::collinear || fit.outcome == FitOutcome::few_on_lattice) continue;
    ASSERT_EQ(fit.outcome, FitOutcome::fitted);
    const Strain strain = strain_of_fit(fit);
    EXPECT_NEAR(strain.xx, xx, 1e-6);
    EXPECT_NEAR(strain.yy, yy, 1e-6);
    EXPECT_NEAR(strain.xy, xy, 1e-6);
    EXPECT_NEAR(strain.theta, turn, 1e-6);
  }
}

// Gold with a cell 1 % larger, made as a crystal of its own.
TEST(OrientStrain, ACellOnePercentLargerReadsOnePercentAlongBothAxes) {
  const OrientationPlan plan = plan_of_strain();
  const Crystal larger = cubic("F m -3 m", "4.11878", "Au1 Au 0 0 0");
  const OrientationPlan of_larger = OrientationPlan::prepare(larger, plan.options());
  Random random(2);
  for (int i = 0; i < 5; ++i) {
    const Orientation orientation = random_orientation(random);
    const LatticeFit fit = fit_deformation(plan, orientation, peaks_of(of_larger, orientation), strain_pixel, {});
    ASSERT_EQ(fit.outcome, FitOutcome::fitted);
    const Strain strain = strain_of_fit(fit);
    EXPECT_NEAR(strain.xx, 0.01, 1e-6);
    EXPECT_NEAR(strain.yy, 0.01, 1e-6);
    EXPECT_NEAR(strain.xy, 0, 1e-6);
    EXPECT_NEAR(strain.theta, 0, 1e-6);
  }
}

/// Root mean square of errors over their standard errors of e_xx, e_yy, e_xy and theta.
std::array<double, 4> strain_pulls(std::uint64_t seed) {
  const OrientationPlan plan = plan_of_strain(2);
  Random random(seed);
  std::array<double, 4> square{};
  double fitted = 0;
  while (fitted < 1000) {
    const Orientation orientation = random_orientation(random);
    std::vector<DiffractionPeak> peaks = peaks_of_deformed(plan, orientation, deformation(0.01, -0.005, 0.004, 0.003));
    double mean = 0;
    for (const DiffractionPeak& peak : peaks) mean += peak.intensity / static_cast<double>(peaks.size());
    std::erase_if(peaks, [&](const DiffractionPeak& peak) { return peak.intensity < 0.02 * mean; });
    for (DiffractionPeak& peak : peaks) {
      const double sigma = 0.05 * strain_pixel / std::sqrt(peak.intensity / mean);
      peak.x += sigma * random.normal();
      peak.y += sigma * random.normal();
    }
    const LatticeFit fit = fit_deformation(plan, orientation, peaks, strain_pixel, {});
    if (fit.outcome != FitOutcome::fitted || fit.peaks < 16) continue;
    ++fitted;
    const Strain strain = strain_of_fit(fit);
    const Strain sigma = strain_sigma(fit.basis, fit.covariance, {1, 0, 0, 1}, StrainMeasure::biot);
    const double pulls[4] = {(strain.xx - 0.01) / sigma.xx, (strain.yy + 0.005) / sigma.yy,
                             (strain.xy - 0.004) / sigma.xy, (strain.theta - 0.003) / sigma.theta};
    for (std::size_t k = 0; k < 4; ++k) square[k] += pulls[k] * pulls[k];
  }
  for (double& each : square) each = std::sqrt(each / fitted);
  return square;
}

// Places with the variance sigma^2 over the intensity, as of counts. A variance of 2 n - 6 residuals of 16 disks or
// more makes the pulls up to sqrt(26 / 24) = 1.04.
TEST(OrientStrain, ErrorsAreThoseThatAreStated) {
  for (const double pull : strain_pulls(3)) {
    EXPECT_GT(pull, 0.9);
    EXPECT_LT(pull, 1.1);
  }
}

/// 3 x 4 positions of one orientation of a deformed crystal, on a detector that is not square.
BraggVectors strained_disks(const OrientationPlan& plan, const Orientation& orientation, const Mat3& f) {
  BraggVectors vectors;
  vectors.scan_rows = 3;
  vectors.scan_cols = 4;
  vectors.rows = 170;
  vectors.cols = 190;
  vectors.offsets = {0};
  vectors.calibration.pixel_inv_a = strain_pixel;
  vectors.calibration.high_tension_v = 200e3;
  const std::vector<DiffractionPeak> peaks = peaks_of_deformed(plan, orientation, f);
  for (Index position = 0; position < vectors.positions(); ++position) {
    const double x = 95 + 0.3 * static_cast<double>(position % 4), y = 84 - 0.2 * static_cast<double>(position / 4);
    const auto add = [&](double qx, double qy, double intensity) {
      vectors.qx.push_back(static_cast<float>(x + qx / strain_pixel));
      vectors.qy.push_back(static_cast<float>(y + qy / strain_pixel));
      vectors.intensity.push_back(static_cast<float>(intensity));
    };
    add(0, 0, 10);
    for (const DiffractionPeak& peak : peaks) add(peak.x, peak.y, peak.intensity);
    vectors.offsets.push_back(vectors.qx.size());
    vectors.valid.push_back(1);
  }
  return vectors;
}

// The orientation is found of the strained disks, so that its tilt errs by up to 0.4 degrees; spots are g_z, at most
// 0.05 1/A, off the plane, which moves them by 3e-4 of g, and neighbours by as much the same way (measured: 1.4e-4).
TEST(OrientStrain, MapsAreAlongTheScanAndAgainstTheCell) {
  const OrientationPlan plan = plan_of_strain();
  const Orientation orientation = orientation_along(normalised({0.35, 0.2, 0.9}));
  OrientOptions options;
  options.strain = true;
  options.plan.angle_step_zone_axis = options.plan.angle_step_in_plane = 4;
  const BraggVectors vectors = strained_disks(plan, orientation, deformation(0.01, -0.005, 0.002, 0));
  const OrientResult result = make_orient(vectors, gold(), options, sonde::testing::plenty());
  ASSERT_TRUE(result.strain);
  EXPECT_EQ(result.strain->fitted(), 12);
  EXPECT_NEAR(result.strain->strain[5].xx, 0.01, 3e-4);
  EXPECT_NEAR(result.strain->strain[5].yy, -0.005, 3e-4);
  EXPECT_NEAR(result.strain->strain[5].xy, 0.002, 3e-4);
  EXPECT_NEAR(result.strain->strain[5].theta, 0, 1e-3);
  EXPECT_THAT(result.warnings, Contains(HasSubstr("x and y are the axes of the detector")));
  EXPECT_THAT(result.lines(), Contains(HasSubstr("strain    of 12 positions against the cell")));
  const Contents contents = result.contents("");
  ASSERT_NE(contents.find("strain/e_xx"), nullptr);
  EXPECT_EQ(contents.find("strain/e_xx")->values.shape(), (Shape{3, 4}));
  EXPECT_EQ(contents.find("lattice/g1_x"), nullptr);
  // A quarter of a turn exchanges the axes.
  options.rotation = 90;
  const OrientResult turned = make_orient(vectors, gold(), options, sonde::testing::plenty());
  EXPECT_TRUE(turned.strain->frame.scan);
  EXPECT_NEAR(turned.strain->strain[5].xx, result.strain->strain[5].yy, 1e-12);
  EXPECT_NEAR(turned.strain->strain[5].xy, -result.strain->strain[5].xy, 1e-12);
  EXPECT_EQ(turned.matches[5].matches[0].orientation, result.matches[5].matches[0].orientation);
}

// A size that puts the disks on the lines of the crystal takes the mean strain with it.
TEST(OrientStrain, AFittedSizeOfAPixelIsNamed) {
  const OrientationPlan plan = plan_of_strain();
  BraggVectors vectors =
      strained_disks(plan, orientation_along(normalised({0.35, 0.2, 0.9})), deformation(0.01, 0.01, 0, 0));
  vectors.calibration.pixel_inv_a.reset();
  OrientOptions options;
  options.strain = true;
  const OrientResult result = make_orient(vectors, gold(), options, sonde::testing::plenty());
  EXPECT_NEAR(result.strain->strain[5].xx, 0, 4e-3);
  EXPECT_THAT(result.warnings,
              Contains(HasSubstr(
                  "the size of a pixel was fitted to the crystal's lines, so that the mean strain is not seen")));
}

TEST(OrientStrain, FewOrCollinearDisksHaveNone) {
  const OrientationPlan plan = plan_of_strain();
  const Orientation along = orientation_along({0, 0, 1});
  std::vector<DiffractionPeak> peaks = peaks_of(plan, along);
  std::erase_if(peaks, [](const DiffractionPeak& peak) { return std::abs(peak.y) > 1e-6; });
  ASSERT_GE(peaks.size(), 4U);
  LatticeFitOptions options;
  options.min_num_peaks = 4;
  EXPECT_EQ(fit_deformation(plan, along, peaks, strain_pixel, options).outcome, FitOutcome::collinear);
  peaks.resize(3);
  EXPECT_EQ(fit_deformation(plan, along, peaks, strain_pixel, options).outcome, FitOutcome::few_disks);
  EXPECT_EQ(fit_deformation(plan, along, {}, strain_pixel, options).outcome, FitOutcome::few_disks);
}

}  // namespace
}  // namespace sonde::stem
