// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/simulate/specimen.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sonde::stem {
namespace {

const Specimen& specimen() {
  static const Specimen one(30, 5);
  return one;
}

double share(const Beam& beam) {
  double sum = beam.disk + beam.halo + beam.wide;
  for (int i = 0; i < beam.spot_count; ++i) sum += beam.spots[static_cast<std::size_t>(i)].weight;
  return sum;
}

TEST(Specimen, ElectronsAreConserved) {
  for (int i = 0; i < 100; ++i)
    for (int j = 0; j < 100; ++j) {
      const Beam beam = specimen().beam(0.01 * i - 0.495, 0.01 * j - 0.495);
      ASSERT_NEAR(share(beam), 1, 1e-12) << i << " " << j;
      ASSERT_GE(beam.disk, 0) << i << " " << j;
      for (int spot = 0; spot < beam.spot_count; ++spot)
        ASSERT_GE(beam.spots[static_cast<std::size_t>(spot)].weight, 0) << i << " " << j;
    }
}

TEST(Specimen, TheHoleIsEmpty) {
  const Beam beam = specimen().beam(0.47, -0.43);
  EXPECT_EQ(beam.spot_count, 0);
  EXPECT_GT(beam.disk, 0.98);
  EXPECT_NEAR(beam.shift_row, 0, 1e-6);
  EXPECT_NEAR(beam.shift_col, 0, 1e-6);
}

TEST(Specimen, HeavyParticlesScatterToHighAngles) {
  double heavy = 1, light = 0;
  for (const Particle& particle : specimen().particles()) {
    const double wide = specimen().beam(particle.row, particle.col).wide;
    if (particle.heavy && particle.radius > 0.05) heavy = std::min(heavy, wide);
    if (!particle.heavy) light = std::max(light, wide);
  }
  EXPECT_GT(heavy, 2 * light);
}

TEST(Specimen, RimsPullTheBeamInwards) {
  for (const Particle& particle : specimen().particles()) {
    if (!particle.heavy || particle.corners != 0) continue;
    SCOPED_TRACE(particle.row);
    EXPECT_GT(specimen().beam(particle.row - 0.9 * particle.radius, particle.col).shift_row, 1);
    EXPECT_LT(specimen().beam(particle.row + 0.9 * particle.radius, particle.col).shift_row, -1);
  }
}

TEST(Specimen, IsTheSamePictureAtEverySize) {
  const auto coarse = scan_over(specimen(), 50, 50, 0), fine = scan_over(specimen(), 150, 150, 0);
  const Beam a = coarse(20, 11), b = fine(61, 34);  // the middle one of the nine that share the coarse pixel
  EXPECT_NEAR(a.disk, b.disk, 1e-12);
  EXPECT_NEAR(a.shift_row, b.shift_row, 1e-9);
}

TEST(Specimen, ScansOfUnequalSidesShowItUndistorted) {
  // Twice as wide: the middle half of the columns is the square scan.
  const auto square = scan_over(specimen(), 60, 60, 0), wide = scan_over(specimen(), 60, 120, 0);
  EXPECT_NEAR(square(17, 12).disk, wide(17, 42).disk, 1e-12);
}

}  // namespace
}  // namespace sonde::stem
