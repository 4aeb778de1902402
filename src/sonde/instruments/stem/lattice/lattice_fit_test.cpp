// SPDX-License-Identifier: Apache-2.0
// The lattice of one pattern: exact disks, noise of known size, outliers, and sets that determine nothing.
#include "sonde/instruments/stem/lattice/lattice_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "sonde/engine/math/random.h"

namespace sonde::stem {
namespace {

const Basis usual{23, 2, -4, 21};

std::vector<LatticePeak> disks_on(const Basis& basis, double q0_x, double q0_y, Index order = 2) {
  std::vector<LatticePeak> disks;
  for (Index h = -order; h <= order; ++h)
    for (Index k = -order; k <= order; ++k)
      disks.push_back({q0_x + static_cast<double>(h) * basis.g1_x + static_cast<double>(k) * basis.g2_x,
                       q0_y + static_cast<double>(h) * basis.g1_y + static_cast<double>(k) * basis.g2_y,
                       100.0 / static_cast<double>(1 + h * h + k * k)});
  return disks;
}

void expect_basis(const LatticeFit& fit, const Basis& expected, double tolerance) {
  EXPECT_EQ(fit.outcome, FitOutcome::fitted);
  EXPECT_NEAR(fit.basis.g1_x, expected.g1_x, tolerance);
  EXPECT_NEAR(fit.basis.g1_y, expected.g1_y, tolerance);
  EXPECT_NEAR(fit.basis.g2_x, expected.g2_x, tolerance);
  EXPECT_NEAR(fit.basis.g2_y, expected.g2_y, tolerance);
}

// A tenth longer and ten degrees turned: at third order the disks are farther off than half a lattice vector.
TEST(LatticeFit, FollowsALargeStrainToEveryOrder) {
  const double angle = 10 * std::numbers::pi / 180, c = 1.1 * std::cos(angle), s = 1.1 * std::sin(angle);
  const Basis strained{c * usual.g1_x - s * usual.g1_y, s * usual.g1_x + c * usual.g1_y,
                       c * usual.g2_x - s * usual.g2_y, s * usual.g2_x + c * usual.g2_y};
  const LatticeFit fit = fit_lattice(disks_on(strained, 80.3, 61.7, 3), 80, 62, usual, {});
  expect_basis(fit, strained, 1e-11);
  EXPECT_EQ(fit.peaks, 49);
  EXPECT_NEAR(fit.q0_x, 80.3, 1e-11);
  EXPECT_NEAR(fit.residual, 0, 1e-11);
}

TEST(LatticeFit, ASiteMistakenForTheOriginChangesIndicesOnly) {
  const LatticeFit fit = fit_lattice(disks_on(usual, 80, 62), 80 + usual.g1_x, 62 + usual.g1_y, usual, {});
  expect_basis(fit, usual, 1e-11);
  EXPECT_NEAR(fit.q0_x, 80 + usual.g1_x, 1e-11);
}

class LatticeFitOfWeight : public ::testing::TestWithParam<PeakWeight> {};

// Errors have the variance that each weight is made for; `variance` has them with the disks, `intensity_squared` is for
// none.
TEST_P(LatticeFitOfWeight, ScattersByItsCovariance) {
  Random random(11, static_cast<std::uint64_t>(GetParam()));
  constexpr int trials = 2000;
  const LatticeFitOptions options{.max_peak_spacing = 4, .weights = GetParam()};
  const std::vector<LatticePeak> exact = disks_on(usual, 80.3, 61.7);
  double squares[4] = {};
  double chi = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<LatticePeak> disks = exact;
    for (LatticePeak& disk : disks) {
      disk.intensity *= 0.2 + 1.6 * random.uniform();
      const bool uniform = GetParam() == PeakWeight::uniform, root = GetParam() == PeakWeight::sqrt;
      const double sigma = uniform ? 0.1 : root ? std::pow(disk.intensity, -0.25) / 3 : 1 / std::sqrt(disk.intensity);
      disk.x += sigma * random.normal();
      disk.y += sigma * random.normal();
      disk.var_x = disk.var_y = sigma * sigma;
    }
    const LatticeFit fit = fit_lattice(disks, 80, 62, usual, options);
    ASSERT_EQ(fit.outcome, FitOutcome::fitted);
    const double misses[4] = {fit.basis.g1_x - usual.g1_x, fit.basis.g1_y - usual.g1_y, fit.basis.g2_x - usual.g2_x,
                              fit.basis.g2_y - usual.g2_y};
    for (std::size_t i = 0; i < 4; ++i) squares[i] += misses[i] * misses[i] / fit.covariance[i][i] / trials;
    chi += fit.over_sigma * fit.over_sigma / trials;
  }
  // Pulls of 44 degrees of freedom have a variance of 44 / 42, of the sandwich somewhat more; by chance 3 % in 2000.
  for (const double square : squares) EXPECT_NEAR(std::sqrt(square), 1.03, 0.07);
  EXPECT_NEAR(chi, 1, 0.03);
}

INSTANTIATE_TEST_SUITE_P(Weights, LatticeFitOfWeight,
                         ::testing::Values(PeakWeight::intensity, PeakWeight::uniform, PeakWeight::sqrt,
                                           PeakWeight::intensity_squared, PeakWeight::variance));

TEST(LatticeFit, LeavesOutliersOut) {
  Random random(3);
  std::vector<LatticePeak> disks = disks_on(usual, 80, 62);
  for (LatticePeak& disk : disks) {
    disk.x += 0.02 * random.normal();
    disk.y += 0.02 * random.normal();
  }
  disks[3].x += 1.5;
  disks[17].y -= 1.2;
  const LatticeFitOptions uniform{.weights = PeakWeight::uniform};
  const LatticeFit fit = fit_lattice(disks, 80, 62, usual, uniform);
  expect_basis(fit, usual, 0.02);  // five standard errors of 0.02 / sqrt(50)
  EXPECT_EQ(fit.peaks, 23);
  EXPECT_LT(fit.residual, 0.03);
  LatticeFitOptions plain = uniform;
  plain.robust = false;
  EXPECT_GT(fit_lattice(disks, 80, 62, usual, plain).residual, 0.2);
}

TEST(LatticeFit, TheNearestOfTwoDisksAtASiteCounts) {
  std::vector<LatticePeak> disks = disks_on(usual, 80, 62);
  LatticePeak twin = disks[6];
  twin.x += 1.1;
  twin.intensity *= 5;
  disks.push_back(twin);
  expect_basis(fit_lattice(disks, 80, 62, usual, {}), usual, 1e-11);
}

TEST(LatticeFit, DisksFarFromTheirSitesAreNotOnTheLattice) {
  std::vector<LatticePeak> disks = disks_on(usual, 80, 62);
  disks.push_back({80 + usual.g1_x / 2, 62 + usual.g1_y / 2, 100});
  EXPECT_EQ(fit_lattice(disks, 80, 62, usual, {}).peaks, 25);
}

TEST(LatticeFit, OneLineOfDisksIsRefused) {
  std::vector<LatticePeak> disks;
  for (int h = -3; h <= 3; ++h) disks.push_back({80 + h * usual.g1_x, 62 + h * usual.g1_y, 10});
  const LatticeFit fit = fit_lattice(disks, 80, 62, usual, {});
  EXPECT_EQ(fit.outcome, FitOutcome::collinear);
  EXPECT_EQ(fit.peaks, 7);
}

TEST(LatticeFit, TooFewDisksAreRefused) {
  std::vector<LatticePeak> disks = disks_on(usual, 80, 62, 1);
  disks.resize(4);
  EXPECT_EQ(fit_lattice(disks, 80, 62, usual, {}).outcome, FitOutcome::few_disks);
  for (int i = 0; i < 3; ++i) disks.push_back({80 + usual.g1_x * (1.5 + i), 62 + usual.g2_y * 0.5, 10});
  EXPECT_EQ(fit_lattice(disks, 80, 62, usual, {}).outcome, FitOutcome::few_on_lattice);
  EXPECT_EQ(fit_lattice({}, 80, 62, usual, {}).outcome, FitOutcome::few_disks);
}

TEST(LatticeFit, NegativeIntensitiesHaveNoWeight) {
  std::vector<LatticePeak> disks = disks_on(usual, 80, 62);
  for (LatticePeak& disk : disks) disk.intensity = -1;
  EXPECT_NE(fit_lattice(disks, 80, 62, usual, {}).outcome, FitOutcome::fitted);
}

}  // namespace
}  // namespace sonde::stem
