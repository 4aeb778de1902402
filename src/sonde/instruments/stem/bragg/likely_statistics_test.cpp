// SPDX-License-Identifier: Apache-2.0
// The larger runs of the scatter of places.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "sonde/instruments/stem/bragg/test_scene.h"

namespace sonde::stem {
namespace {

using stem::testing::disks_of;
using stem::testing::Scatter;
using stem::testing::scatter_of;
using stem::testing::Scene;
using stem::testing::settings_for;

// 2000 numbers: an rms is known to 1 / sqrt(4000) = 1.6 %.
TEST(LikelyPlacesStatistics, ScatterByAtMost112TimesTheBoundAndSaySo) {
  for (const double counts : {1e3, 1e4, 1e6})
    for (const std::uint64_t seed : {11, 12, 13}) {
      const Scatter scatter = scatter_of({KernelShape::ring, Refinement::mle, seed}, counts, 1000);
      EXPECT_LE(scatter.over_bound, 1.12) << counts << " counts, seed " << seed;
      EXPECT_GE(scatter.over_bound, 0.95) << counts << " counts, seed " << seed;
      EXPECT_NEAR(scatter.pull, 1, 0.1) << counts << " counts, seed " << seed;
    }
}

// With noise: a mean of 16 x 16 places at 10^6 counts, each known to 0.0016 px.
TEST(LikelyPlacesStatistics, HaveNoBiasWithNoise) {
  DiskSettings settings = settings_for(Scene::radius);
  settings.max_num_peaks = 1;
  settings.subpixel = Refinement::mle;
  const BraggPlan plan = BraggPlan::prepare(Scene::side, Scene::side, soft_probe(Scene::radius, Scene::edge),
                                            {.shape = KernelShape::ring}, settings);
  const Scene scene{1e6};
  const double bound = scene.bound(15.5, 15.5);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      const double y = 15.5 + i / 16.0, x = 15.5 + j / 16.0;
      const auto rates = scene.rates(y, x);
      std::vector<std::uint32_t> drawn(rates.size());
      draw_poisson({.seed = 5, .stream = static_cast<std::uint64_t>(16 * i + j)}, rates, drawn);
      const BraggDisk found = disks_of(plan, drawn).disks.at(0);
      // One of 512 numbers is beyond 4.5 standard errors once in 300 runs.
      EXPECT_NEAR(found.qy, y, 0.005 + 4.5 * bound);
      EXPECT_NEAR(found.qx, x, 0.005 + 4.5 * bound);
    }
}

}  // namespace
}  // namespace sonde::stem
