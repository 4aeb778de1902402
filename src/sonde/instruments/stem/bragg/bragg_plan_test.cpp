// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bragg/bragg_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "sonde/engine/math/poisson.h"
#include "sonde/instruments/stem/bragg/test_disks.h"
#include "sonde/instruments/stem/bragg/test_scene.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using stem::testing::disks_of;
using stem::testing::draw_disks;
using stem::testing::draw_lattice;
using stem::testing::DrawnDisk;
using stem::testing::ReferenceSearch;
using stem::testing::Scatter;
using stem::testing::scatter_of;
using stem::testing::settings_for;
using ::testing::HasSubstr;

constexpr double probe_radius = 3.2, probe_edge = 0.6;

struct Search {
  std::string name;
  Index rows, cols;
  double corr_power, sigma_dp, sigma_cc;
  Refinement subpixel;
  double tolerance_px;
};

class BraggPlanAsPublished : public ::testing::TestWithParam<Search> {};

// Not square, with counts that scatter.
TEST_P(BraggPlanAsPublished, FindsTheDisksOfTheFormulas) {
  const Search& search = GetParam();
  DiskSettings settings = settings_for(probe_radius);
  settings.corr_power = search.corr_power;
  settings.sigma_dp = search.sigma_dp;
  settings.sigma_cc = search.sigma_cc;
  settings.subpixel = search.subpixel;
  settings.min_relative_intensity = 0.05;
  settings.max_num_peaks = 7;
  const auto drawn = draw_lattice(search.rows, search.cols, 20.3, 23.8, 12, probe_radius);
  std::vector<double> rates = draw_disks(search.rows, search.cols, drawn, probe_radius, probe_edge, 0.02);
  for (double& rate : rates) rate *= 200;
  std::vector<std::uint32_t> counts(rates.size());
  draw_poisson({.seed = 5, .stream = 1}, rates, counts);
  const KernelSettings kernel{.shape = KernelShape::sigmoid};
  const Probe probe = soft_probe(probe_radius, probe_edge);
  const ReferenceSearch reference(search.rows, search.cols, make_kernel(probe, search.rows, search.cols, kernel),
                                  settings);
  const auto expected = reference.find({counts.begin(), counts.end()});
  const DiskList found = disks_of(BraggPlan::prepare(search.rows, search.cols, probe, kernel, settings), counts);
  ASSERT_GE(expected.size(), 6U);
  ASSERT_EQ(found.disks.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(found.disks[i].qy, expected[i].y, search.tolerance_px) << "disk " << i;
    EXPECT_NEAR(found.disks[i].qx, expected[i].x, search.tolerance_px) << "disk " << i;
    EXPECT_NEAR(found.disks[i].intensity / expected[i].value, 1, 1e-3) << "disk " << i;
  }
}

// Sums of 10^3 terms in float, of which the flattest maxima are ten times as wide as the pixel: 1e-6 of the height are
// 1e-4 px of the place. Of newton with sigma_cc = 2 the Gaussian over pixels stands for that over frequencies.
INSTANTIATE_TEST_SUITE_P(
    All, BraggPlanAsPublished,
    ::testing::Values(Search{"none", 40, 48, 1, 0, 2, Refinement::none, 0},
                      Search{"poly", 40, 48, 1, 0, 2, Refinement::poly, 2e-4},
                      Search{"poly_of_odd_columns", 40, 47, 1, 0, 2, Refinement::poly, 2e-4},
                      Search{"poly_of_odd_rows", 41, 48, 1, 0.8, 2, Refinement::poly, 2e-4},
                      Search{"poly_hybrid", 40, 48, 0.7, 0, 2, Refinement::poly, 1e-3},
                      Search{"poly_phase", 40, 48, 0, 0, 3, Refinement::poly, 1e-3},
                      Search{"multicorr", 40, 48, 1, 0, 2, Refinement::multicorr, 1e-3},
                      Search{"multicorr_hybrid_odd", 41, 47, 0.7, 0, 2, Refinement::multicorr, 1e-3},
                      Search{"newton", 40, 48, 1, 0, 2, Refinement::newton, 5e-4},
                      Search{"newton_little_smoothing", 40, 48, 1, 0, 0.5, Refinement::newton, 5e-4},
                      Search{"gaussian2d", 40, 48, 1, 0, 2, Refinement::gaussian2d, 5e-4},
                      Search{"gaussian2d_hybrid_odd", 41, 47, 0.7, 0, 2, Refinement::gaussian2d, 1e-3},
                      Search{"newton_hybrid_odd", 41, 47, 0.7, 0, 2, Refinement::newton, 1e-3}),
    [](const auto& each) { return each.param.name; });

std::vector<float> one_disk(double y, double x, Index rows = 40, Index cols = 48) {
  const std::vector<DrawnDisk> drawn = {{y, x, 1000}};
  const auto pattern = draw_disks(rows, cols, drawn, probe_radius, probe_edge);
  return {pattern.begin(), pattern.end()};
}

BraggPlan plan_for(const DiskSettings& settings, KernelShape shape = KernelShape::ring, Index rows = 40,
                   Index cols = 48) {
  return BraggPlan::prepare(rows, cols, soft_probe(probe_radius, probe_edge), {.shape = shape}, settings);
}

TEST(BraggPlan, HasNoBiasBetweenPixels) {
  const BraggPlan plan = plan_for(settings_for(probe_radius));
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      const double y = 19.5 + i / 16.0, x = 23.5 + j / 16.0;
      const DiskList found = disks_of(plan, one_disk(y, x));
      ASSERT_EQ(found.disks.size(), 1U);
      // The kernel has pixels of no extent, the drawn disk real ones.
      EXPECT_NEAR(found.disks[0].qy, y, 2e-3);
      EXPECT_NEAR(found.disks[0].qx, x, 2e-3);
    }
}

// Between two pixels whose correlation is equal bit for bit there is one peak.
TEST(BraggPlan, APlateauOfTwoPixelsIsOnePeak) {
  DiskSettings settings = settings_for(probe_radius);
  settings.subpixel = Refinement::poly;
  settings.min_peak_spacing = 0;
  settings.min_relative_intensity = 0.5;
  const BraggPlan plan = plan_for(settings);
  for (const auto& [y, x] : {std::pair(20.5, 24.0), {20.0, 24.5}, {20.5, 24.5}}) {
    const DiskList found = disks_of(plan, one_disk(y, x));
    ASSERT_EQ(found.disks.size(), 1U);
    EXPECT_NEAR(found.disks[0].qy, y, 0.02);
    EXPECT_NEAR(found.disks[0].qx, x, 0.02);
  }
}

TEST(BraggPlan, DisksOfAFrameDoNotDependOnTheOthers) {
  const BraggPlan plan = plan_for(settings_for(probe_radius));
  std::vector<float> both = one_disk(18.2, 20.7), second = one_disk(22.9, 30.1);
  const DiskList alone = disks_of(plan, second);
  both.insert(both.end(), second.begin(), second.end());
  const DiskList together = disks_of(plan, both);
  ASSERT_EQ(together.ends, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(together.disks[1].qy, alone.disks[0].qy);
  EXPECT_EQ(together.disks[1].qx, alone.disks[0].qx);
  EXPECT_EQ(together.disks[1].intensity, alone.disks[0].intensity);
}

TEST(BraggPlan, FiltersSayWhatTheyRemoved) {
  const std::vector<DrawnDisk> drawn = {{20, 24, 1000}, {20, 36, 500}, {20, 12, 20},
                                        {8, 24, 300},   {8, 31, 200},  {37, 40, 800}};
  std::vector<double> pattern = draw_disks(40, 48, drawn, 2.4, 0.4);
  // Where nothing is, rounding has maxima: this hill has one, in the corner.
  for (std::size_t i = 0; i < pattern.size(); ++i)
    pattern[i] += 2 + std::cos(2 * M_PI * static_cast<double>(i / 48) / 40) +
                  std::cos(2 * M_PI * static_cast<double>(i % 48) / 48);
  DiskSettings settings;
  settings.subpixel = Refinement::none;
  settings.sigma_cc = 1;
  settings.min_peak_spacing = 7.5;
  settings.edge_boundary = 4;
  settings.min_relative_intensity = 0.1;
  settings.max_num_peaks = 2;
  const BraggPlan plan = BraggPlan::prepare(40, 48, soft_probe(2.4, 0.4), {.shape = KernelShape::flat}, settings);
  const DiskList found = disks_of(plan, std::vector<float>(pattern.begin(), pattern.end()));
  EXPECT_EQ(found.filters.found, 6U);
  EXPECT_EQ(found.filters.edge, 1U);      // row 37
  EXPECT_EQ(found.filters.relative, 1U);  // the height 20
  EXPECT_EQ(found.filters.spacing, 1U);   // 7 px from a brighter one
  EXPECT_EQ(found.filters.number, 1U);
  EXPECT_EQ(found.filters.kept(), 2U);
  ASSERT_EQ(found.disks.size(), 2U);
  EXPECT_EQ(found.disks[0].qx, 24);
  EXPECT_EQ(found.disks[1].qx, 36);
}

TEST(BraggPlan, OfNothingFindsNothing) {
  const BraggPlan plan = plan_for(settings_for(probe_radius));
  const DiskList found = disks_of(plan, std::vector<std::uint16_t>(40 * 48, 0));
  EXPECT_TRUE(found.disks.empty());
  EXPECT_EQ(found.ends.size(), 1U);
}

TEST(BraggPlan, AnEdgeThatLeavesNothingIsRefused) {
  DiskSettings settings;
  settings.edge_boundary = 20;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)plan_for(settings); }),
              HasSubstr("an edge of 20 px leaves nothing of a detector of 40 x 48 pixels\nhint: give a smaller "
                        "--edge-boundary"));
}

// 300 numbers each: an rms is known to 1 / sqrt(600) = 4 %, three of these are 12 %.
TEST(BraggPlan, ScattersAsTheKernelLets) {
  const Scatter sigmoid = scatter_of({KernelShape::sigmoid}, 1e4, 150),
                ring = scatter_of({KernelShape::ring}, 1e4, 150),
                poisson = scatter_of({KernelShape::poisson}, 1e4, 150);
  EXPECT_GT(sigmoid.over_bound, 0.88 * 1.4);
  EXPECT_LT(sigmoid.over_bound, 1.12 * 1.65);
  EXPECT_LT(ring.over_bound, 1.12 * 1.25);
  EXPECT_LT(poisson.over_bound, 1.12 * 1.12);
}

TEST(BraggPlan, VariancesAreThoseOfTheScatter) {
  EXPECT_NEAR(scatter_of({KernelShape::ring}, 1e3, 150).pull, 1, 0.12);
  EXPECT_NEAR(scatter_of({KernelShape::sigmoid}, 1e4, 150).pull, 1, 0.12);
}

}  // namespace
}  // namespace sonde::stem
